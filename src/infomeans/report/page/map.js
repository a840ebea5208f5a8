// The map: a WebGL scatter, filters, the sample under the pointer and the one that is kept.
const plot = byId("plot"), tip = byId("tip");
const MOST_WITHOUT_WEBGL = 4000;
const hasWebgl = !!document.createElement("canvas").getContext("webgl");
const filter = { hidden: new Set(), low: 0, high: 1, class: "" };
let shown = [], kept = null, waiting = 0;

function passes(i, root) {
  const sure = confidenceOf[i];
  if (filter.hidden.has(root)) return false;
  if (sure < filter.low - 0.005 || sure > filter.high + 0.005) return false;
  if (filter.class === "wrong") return content.matched[clusterOf[i]] !== classOf[i];
  return filter.class === "" || classOf[i] === Number(filter.class);
}

function mapTraces() {
  const roots = names.roots(), places = new Map(roots.map((root) => [root, []]));
  const rootOf = Array.from({ length: k }, (_, cluster) => names.root(cluster));
  shown = [];
  for (let i = 0; i < n; i++) {
    const root = rootOf[clusterOf[i]];
    if (!passes(i, root)) continue;
    shown.push(i);
    places.get(root).push(i);
  }
  const step = hasWebgl ? 1 : Math.max(1, Math.ceil(shown.length / MOST_WITHOUT_WEBGL));
  return roots.map((root) => {
    const all = places.get(root), mine = step === 1 ? all : all.filter((_, j) => j % step === 0);
    return {
      type: hasWebgl ? "scattergl" : "scatter", mode: "markers", name: names.of(root), customdata: mine,
      x: Float32Array.from(mine, (i) => X[i]), y: Float32Array.from(mine, (i) => Y[i]),
      marker: {
        color: colourOf(root), symbol: markerSign(root), size: markerSize(), opacity: n > 20000 ? 0.7 : 0.85,
        line: { width: isDark() && n <= 20000 ? 0.5 : 0, color: colour("soft") },
      },
      hoverinfo: "none",
    };
  });
}

// The nearer one looks, the larger the signs. Of very many samples they are dots until their shapes
// can be told, for dots are drawn twice as fast.
let nearness = 1;
const markerSize = () => Math.min(10, (n > 20000 ? 3 : n > 3000 ? 5 : 8) * Math.sqrt(nearness));
const markerSign = (root) => (n > 20000 && markerSize() < 6 ? "circle" : symbolOf(root));

const quantile = (values, share) => values.sort((a, b) => a - b)[Math.floor(share * (values.length - 1))];
// Where a cluster's label stands: above most of its points, so as not to hide them.
const centres = content.clusters.map((_, cluster) => {
  const xs = [], ys = [];
  for (let i = 0; i < n; i++) if (clusterOf[i] === cluster) { xs.push(X[i]); ys.push(Y[i]); }
  return xs.length ? [quantile(xs, 0.5), quantile(ys, 0.9)] : null;
});

// A group's label stands at the largest of its clusters.
function centreOf(root) {
  const largest = names.members(root).reduce((a, b) => (content.clusters[b].size > content.clusters[a].size ? b : a));
  return centres[largest];
}

function mapLayout() {
  const few = names.roots().length <= 30;
  const bare = { showgrid: false, zeroline: false, showticklabels: false, ticks: "", title: "", showline: false };
  const annotations = names.roots().filter((root) => few && centreOf(root) && !filter.hidden.has(root)).map((root) => ({
    x: centreOf(root)[0], y: centreOf(root)[1], text: escapeText(shortened(names.given[root] || String(root))), showarrow: false, yanchor: "bottom", yshift: 6,
    font: { size: 13, color: colour("ink") }, bgcolor: colour("paper"), bordercolor: colourOf(root),
    borderwidth: 2, borderpad: 2, opacity: 0.9, captureevents: false,
  }));
  return baseLayout({
    showlegend: false, dragmode: "pan", hovermode: "closest", hoverdistance: 12, annotations,
    margin: { l: 8, r: 8, t: 8, b: 8 }, uirevision: "map",
    shapes: kept === null ? [] : [ring(kept)],
    xaxis: bare, yaxis: { ...bare, scaleanchor: "x" },
  });
}

function ring(i) {
  return {
    type: "circle", xref: "x", yref: "y", xsizemode: "pixel", ysizemode: "pixel", xanchor: X[i], yanchor: Y[i],
    x0: -11, x1: 11, y0: -11, y1: 11, line: { color: colour("ink"), width: 2.5 },
  };
}

function drawMap() {
  waiting = 0;
  Plotly.react(plot, mapTraces(), mapLayout(), {
    responsive: true, scrollZoom: true, displaylogo: false, displayModeBar: false, doubleClick: "reset",
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
  const { xaxis, yaxis } = plot._fullLayout;
  const inside = (axis, value) => value > axis.range[0] && value < axis.range[1];
  const around = (axis, value) => axis.range.map((end) => end - (axis.range[0] + axis.range[1]) / 2 + value);
  const view = inside(xaxis, X[i]) && inside(yaxis, Y[i]) ? {}
    : { "xaxis.range": around(xaxis, X[i]), "yaxis.range": around(yaxis, Y[i]) };
  Plotly.relayout(plot, { shapes: [ring(i)], ...view });
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
  const whole = plot._fullLayout.xaxis.range[1] - plot._fullLayout.xaxis.range[0];
  let resting = 0;
  const rest = () => { clearTimeout(resting); resting = setTimeout(resize, 250); };
  const resize = () => {
    if (plot._dragging) { rest(); return; }
    const [from, to] = plot._fullLayout.xaxis.range, now = Math.max(1, whole / (to - from));
    if (Math.abs(Math.log(now / nearness)) < 0.3) return;
    nearness = now;
    Plotly.restyle(plot, { "marker.size": markerSize(), "marker.symbol": names.roots().map(markerSign) });
  };
  plot.on("plotly_relayout", rest);
  plot.on("plotly_unhover", () => { tip.hidden = true; });
  plot.on("plotly_click", ({ points: [point] }) => { tip.hidden = true; keep(point.customdata); });
}

// The keyboard does what the mouse does.
function scale(axis, factor, shift) {
  const [from, to] = plot._fullLayout[axis].range, half = ((to - from) / 2) * factor;
  const centre = (from + to) / 2 + shift * (to - from);
  return [centre - half, centre + half];
}
function zoom(factor, dx = 0, dy = 0) {
  Plotly.relayout(plot, { "xaxis.range": scale("xaxis", factor, dx), "yaxis.range": scale("yaxis", factor, dy) });
}
const wholeMap = () => Plotly.relayout(plot, { "xaxis.autorange": true, "yaxis.autorange": true });
byId("nearer").addEventListener("click", () => zoom(0.7));
byId("farther").addEventListener("click", () => zoom(1.4));
byId("whole").addEventListener("click", wholeMap);
plot.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const moves = { ArrowLeft: [1, -0.1, 0], ArrowRight: [1, 0.1, 0], ArrowUp: [1, 0, 0.1], ArrowDown: [1, 0, -0.1],
    "+": [0.8, 0, 0], "=": [0.8, 0, 0], "-": [1.25, 0, 0] };
  if (event.key in moves) {
    zoom(...moves[event.key]);
  } else if (event.key === "0") {
    wholeMap();
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
