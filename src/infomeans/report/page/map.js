// The map: a WebGL scatter, filters, the sample under the pointer and the one that is kept.
const plot = byId("plot"), tip = byId("tip");
const MOST_WITHOUT_WEBGL = 4000;
const hasWebgl = !!document.createElement("canvas").getContext("webgl");
const filter = { hidden: new Set(), low: 0, high: 1, class: "" };
let shown = [], kept = null, waiting = 0;

function passes(i) {
  const sure = confidenceOf[i];
  if (filter.hidden.has(names.root(clusterOf[i]))) return false;
  if (sure < filter.low - 0.005 || sure > filter.high + 0.005) return false;
  if (filter.class === "wrong") return content.matched[clusterOf[i]] !== classOf[i];
  return filter.class === "" || classOf[i] === Number(filter.class);
}

function mapTraces() {
  const roots = names.roots(), places = new Map(roots.map((root) => [root, []]));
  const rootOf = Array.from({ length: k }, (_, cluster) => names.root(cluster));
  shown = [];
  for (let i = 0; i < n; i++) {
    if (!passes(i)) continue;
    shown.push(i);
    places.get(rootOf[clusterOf[i]]).push(i);
  }
  const step = hasWebgl ? 1 : Math.max(1, Math.ceil(shown.length / MOST_WITHOUT_WEBGL));
  const size = n > 20000 ? 3 : n > 3000 ? 5 : 8;
  return roots.map((root) => {
    const all = places.get(root), mine = step === 1 ? all : all.filter((_, j) => j % step === 0);
    return {
      type: hasWebgl ? "scattergl" : "scatter", mode: "markers", name: names.of(root), customdata: mine,
      x: Float32Array.from(mine, (i) => X[i]), y: Float32Array.from(mine, (i) => Y[i]),
      marker: { color: colourOf(root), symbol: symbolOf(root), size, opacity: n > 20000 ? 0.6 : 0.8, line: { width: 0 } },
      hoverinfo: "none",
    };
  });
}

const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const centres = content.clusters.map((_, cluster) => {
  const xs = [], ys = [];
  for (let i = 0; i < n; i++) if (clusterOf[i] === cluster) { xs.push(X[i]); ys.push(Y[i]); }
  return xs.length ? [middle(xs), middle(ys)] : null;
});

function mapLayout() {
  const few = names.roots().length <= 30;
  const bare = { showgrid: false, zeroline: false, showticklabels: false, ticks: "", title: "", showline: false };
  const annotations = names.roots().filter((root) => few && centres[root] && !filter.hidden.has(root)).map((root) => ({
    x: centres[root][0], y: centres[root][1], text: escapeText(names.given[root] || String(root)), showarrow: false,
    font: { size: 13, color: colour("ink") }, bgcolor: colour("paper"), bordercolor: colourOf(root),
    borderwidth: 2, borderpad: 2, opacity: 0.9, captureevents: false,
  }));
  return baseLayout({
    showlegend: false, dragmode: "pan", hovermode: "closest", hoverdistance: 12, annotations,
    margin: { l: 8, r: 8, t: 8, b: 8 }, uirevision: "map",
    shapes: kept === null ? [] : [ring(kept)],
    xaxis: bare, yaxis: bare,
  });
}

const escapeText = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

function ring(i) {
  return {
    type: "circle", xref: "x", yref: "y", xsizemode: "pixel", ysizemode: "pixel", xanchor: X[i], yanchor: Y[i],
    x0: -11, x1: 11, y0: -11, y1: 11, line: { color: colour("ink"), width: 2.5 },
  };
}

function drawMap() {
  waiting = 0;
  Plotly.react(plot, mapTraces(), mapLayout(), {
    responsive: true, scrollZoom: true, displaylogo: false, doubleClick: "reset",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "toImage"],
  });
  byId("shown").textContent = `${grouped(shown.length)} of ${grouped(n)}`;
}

function drawMapSoon() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(drawMap);
}

function keep(i) {
  kept = i;
  byId("chosen").replaceChildren(make("h3", {}, "Sample"), make("div", { className: "details" }, ...details(i, 144)));
  Plotly.relayout(plot, { shapes: [ring(i)] });
}

function showTip(i, event) {
  tip.replaceChildren(...details(i));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = event.clientX + 18 + width > innerWidth ? event.clientX - width - 18 : event.clientX + 18;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, Math.min(event.clientY - height / 2, innerHeight - height - 4)) + "px";
}

function watchMap() {
  plot.on("plotly_hover", ({ points: [point], event }) => showTip(point.customdata, event));
  plot.on("plotly_unhover", () => { tip.hidden = true; });
  plot.on("plotly_click", ({ points: [point] }) => { tip.hidden = true; keep(point.customdata); });
}

// The keyboard does what the mouse does.
function scale(axis, factor, shift) {
  const [from, to] = plot._fullLayout[axis].range, half = ((to - from) / 2) * factor;
  const centre = (from + to) / 2 + shift * (to - from);
  return [centre - half, centre + half];
}
plot.addEventListener("keydown", (event) => {
  const moves = { ArrowLeft: [1, -0.1, 0], ArrowRight: [1, 0.1, 0], ArrowUp: [1, 0, 0.1], ArrowDown: [1, 0, -0.1],
    "+": [0.8, 0, 0], "=": [0.8, 0, 0], "-": [1.25, 0, 0] };
  if (event.key in moves) {
    const [factor, dx, dy] = moves[event.key];
    Plotly.relayout(plot, { "xaxis.range": scale("xaxis", factor, dx), "yaxis.range": scale("yaxis", factor, dy) });
  } else if (event.key === "0") {
    Plotly.relayout(plot, { "xaxis.autorange": true, "yaxis.autorange": true });
  } else if ((event.key === "n" || event.key === "p") && shown.length) {
    const at = kept === null ? -1 : shown.indexOf(kept), step = event.key === "n" ? 1 : -1;
    keep(shown[(at + step + shown.length + (at < 0 && step < 0 ? 1 : 0)) % shown.length]);
  } else return;
  event.preventDefault();
});

function drawLegend() {
  const sizes = new Map();
  content.clusters.forEach((cluster, c) => sizes.set(names.root(c), (sizes.get(names.root(c)) || 0) + cluster.size));
  byId("legend").replaceChildren(...names.roots().map((root) => {
    const box = make("input", { type: "checkbox", checked: !filter.hidden.has(root) });
    box.dataset.cluster = root;
    box.addEventListener("change", () => {
      if (box.checked) filter.hidden.delete(root); else filter.hidden.add(root);
      drawMapSoon();
    });
    const name = make("span", { className: "name", title: names.of(root) }, names.of(root));
    return make("li", {}, make("label", {}, box, signOf(root), name, make("span", { className: "count" }, grouped(sizes.get(root)))));
  }));
}

function showOnly(root) {
  names.roots().forEach((other) => (other === root ? filter.hidden.delete(other) : filter.hidden.add(other)));
  drawLegend();
  drawMap();
  byId("map").scrollIntoView();
  plot.focus({ preventScroll: true });
}

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
if (!hasWebgl) {
  const some = n > MOST_WITHOUT_WEBGL ? ` It shows about ${grouped(MOST_WITHOUT_WEBGL)} of the samples at a time.` : "";
  byId("map-note").textContent = "This browser has no WebGL, so the map is a plain one." + some;
}
