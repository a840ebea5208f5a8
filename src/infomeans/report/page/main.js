// Draw it all, the first view first.
drawCards();
drawLegend();
measure();
charts.set("plot", drawMap);
drawDoubtful();
drawStrange();
drawTree();
drawTraining();
if (content.confusion) chart("chart-confusion", drawConfusion);
nameClusters();
names.listeners.push((regrouped) => {
  drawLegend();
  drawMapSoon();
  tellKept();
  drawDoubtful();
  drawStrange();
  drawTree();
  nameClusters();
  if (regrouped) drawCards();
  if (charts.has("chart-confusion")) drawConfusion(byId("chart-confusion"));
});
page.classList.add("drawn");
