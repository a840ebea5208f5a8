// Which samples the map shows: by cluster, confidence and class.
const filter = { hidden: new Set(), low: 0, high: 1, class: "" };

function passes(i, root) {
  const sure = confidenceOf[i];
  if (filter.hidden.has(root)) return false;
  if (sure < filter.low - 0.005 || sure > filter.high + 0.005) return false;
  if (filter.class === "wrong") return hasClass(i) && content.matched[clusterOf[i]] !== classOf[i];
  return filter.class === "" || classOf[i] === Number(filter.class);
}

function drawLegend() {
  byId("legend").replaceChildren(...names.roots().map((root) => {
    const box = make("input", { type: "checkbox", checked: !filter.hidden.has(root) });
    box.dataset.cluster = root;
    box.addEventListener("change", () => {
      if (box.checked) filter.hidden.delete(root); else filter.hidden.add(root);
      drawMapSoon();
    });
    const name = make("span", { className: "name", title: names.of(root) }, names.of(root));
    return make("li", {}, make("label", {}, box, signOf(root), name, make("span", { className: "count" }, grouped(sizeOf(root)))));
  }));
}

function showAll() {
  filter.hidden.clear();
  Object.assign(filter, { low: 0, high: 1, class: "" });
  byId("low").value = 0;
  byId("high").value = 1;
  byId("low-out").textContent = "0.00";
  byId("high-out").textContent = "1.00";
  if (classOf) byId("class").value = "";
}

function showOnly(root) {
  showAll();
  names.roots().forEach((other) => (other === root ? filter.hidden.delete(other) : filter.hidden.add(other)));
  drawLegend();
  const legend = byId("legend"), row = legend.querySelector(`[data-cluster="${root}"]`).closest("li");
  legend.scrollTop = row.offsetTop - legend.offsetTop;
  showWhole();
  drawMap();
  byId("map").scrollIntoView();
  plot.focus({ preventScroll: true });
}

byId("everything").addEventListener("click", () => { showAll(); drawLegend(); drawMap(); plot.focus(); });
byId("everything").addEventListener("pointerdown", (event) => event.stopPropagation());
byId("all").addEventListener("click", () => { filter.hidden.clear(); drawLegend(); drawMapSoon(); });
byId("none").addEventListener("click", () => { names.roots().forEach((root) => filter.hidden.add(root)); drawLegend(); drawMapSoon(); });
for (const [end, other] of [["low", "high"], ["high", "low"]]) {
  byId(end).addEventListener("input", () => {
    filter[end] = Number(byId(end).value);
    if (filter.low > filter.high) { filter[other] = filter[end]; byId(other).value = filter[end]; }
    byId("low-out").textContent = filter.low.toFixed(2);
    byId("high-out").textContent = filter.high.toFixed(2);
    drawMapSoon();
  });
}
if (classOf) {
  content.classes.names.forEach((name, c) => byId("class").append(make("option", { value: c }, name)));
  byId("class").addEventListener("change", () => { filter.class = byId("class").value; drawMapSoon(); });
}
