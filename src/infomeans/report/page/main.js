// Draw it all, the first view first.
drawLegend();
measure();
drawCards();
drawDoubtful();
charts.set("plot", drawMap);
// A record has what every method has, and the terms that the loss of this one names.
const SHARED = ["phase", "epoch", "loss", "mi", "h_k", "h_k_x", "score", "delta_q", "vote_weight", "empty", "back_to", "seconds"];
const terms = [...new Set(records.flatMap((record) => Object.keys(record)))].filter((name) => !SHARED.includes(name));
if (records.length) {
  const dashes = ["dash", "dot", "dashdot", "longdash"];
  const lines = terms.map((name, at) => [name, name, dashes[at % dashes.length]]);
  chart("chart-loss", EPOCH_HEIGHT, epochChart("loss", [["loss", "loss"], ...lines], false));
  chart("chart-information", EPOCH_HEIGHT, epochChart("nats", [["mi", "I(X;K)"], ["h_k", "H(K)", "dash"], ["h_k_x", "H(K|X)", "dot"], ["score", "I(K;K')", "dashdot"]].filter(([name]) => records.some((record) => (record[name] ?? null) !== null)), false));
  chart("chart-change", EPOCH_HEIGHT, epochChart("change of the targets", [["delta_q", "mean squared change"]], true));
}
const fields = ["loss", ...terms, "mi", "h_k", "h_k_x", "score", "delta_q", "vote_weight", "empty", "seconds"]
  .filter((field) => records.some((record) => (record[field] ?? null) !== null));
figures("epochs", ["phase", "epoch", ...fields], () => records.map((record) => [record.phase, record.epoch + 1,
  ...fields.map((field) => ((record[field] ?? null) === null ? "" : Number(record[field].toPrecision(4))))]));
if (content.confusion) {
  chart("chart-confusion", confusionHeight, confusionChart);
  figures("confusion", ["class", ...content.confusion.clusters], () => content.confusion.counts.map((row, at) => [content.confusion.classes[at], ...row]));
}
nameClusters();
names.listeners.push((regrouped) => {
  drawLegend();
  drawMapSoon();
  tellKept();
  drawDoubtful();
  nameClusters();
  if (regrouped) drawCards();
  if (content.confusion && charts.has("chart-confusion")) confusionChart(byId("chart-confusion"));
});
