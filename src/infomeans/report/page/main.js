// Draw it all, the first view first.
drawLegend();
drawMap();
watchMap();
drawCards();
drawDoubtful();
charts.set("plot", drawMap);
if (history.length) {
  chart("chart-loss", epochChart("loss", [["loss", "loss"], ["reconstruction", "reconstruction", "dash"], ["clustering", "clustering", "dot"]], false));
  chart("chart-information", epochChart("nats", [["mi", "I(X;K)"], ["h_k", "H(K)", "dash"], ["h_k_x", "H(K|X)", "dot"]], false));
  chart("chart-change", epochChart("change of the targets", [["delta_q", "mean squared change"]], true));
}
if (content.confusion) chart("chart-confusion", confusionChart);
names.listeners.push((regrouped) => {
  drawLegend();
  drawMapSoon();
  drawDoubtful();
  if (regrouped) drawCards();
  if (content.confusion && charts.has("chart-confusion")) confusionChart(byId("chart-confusion"));
});
