// How training went, and clusters against classes; in figures too, for those who cannot see charts.
function figures(id, head, rows) {
  const details = byId(id);
  if (!details) return;
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("table")) return;
    const line = (cells, tag) => make("tr", {}, ...cells.map((cell) => make(tag, {}, String(cell))));
    const table = make("table", {}, make("thead", {}, line(head, "th")), make("tbody", {}, ...rows().map((row) => line(row, "td"))));
    details.append(make("div", { className: "scroll", tabIndex: 0 }, table));
  });
}

const records = content.history, phases = [];
records.forEach((record, at) => {
  if (!phases.length || phases[phases.length - 1].name !== record.phase) phases.push({ name: record.phase, from: at });
  phases[phases.length - 1].to = at;
});

const EPOCH_HEIGHT = 330;
function epochChart(title, lines, log) {
  return (place) => {
    const traces = lines.map(([field, name, dash], index) => ({
      type: "scatter", mode: "lines+markers", name, x: records.map((_, at) => at + 1),
      y: records.map((record) => record[field] ?? null), line: { color: content.palette[index], width: 2, dash },
      marker: { size: 4 }, connectgaps: false, hovertemplate: `${name} %{y:.4g}<extra></extra>`,
    })).filter((trace) => trace.y.some((value) => value !== null));
    const shapes = phases.map(({ from, to }, index) => ({
      type: "rect", xref: "x", yref: "paper", x0: from + 0.5, x1: to + 1.5, y0: 0, y1: 1, layer: "below",
      line: { width: 0 }, fillcolor: colour("grid"), opacity: index % 2 ? 0.75 : 0.3,
    }));
    // A phase too short for its name has it upright, inside.
    const annotations = phases.map(({ name, from, to }) => {
      const narrow = (to - from + 1) / records.length < 0.12;
      return {
        x: (from + to) / 2 + 1, y: 1, xref: "x", yref: "paper", yanchor: narrow ? "top" : "bottom", showarrow: false,
        text: name, textangle: narrow ? -90 : 0, font: { size: 12, color: colour("soft") },
      };
    });
    Plotly.react(place, traces, baseLayout({
      height: EPOCH_HEIGHT, shapes, annotations, showlegend: true, legend: { orientation: "h", x: 0, y: -0.3, yanchor: "top" }, hovermode: "x unified",
      xaxis: { title: { text: "epoch", standoff: 4 }, zeroline: false, range: [0.5, records.length + 0.5] },
      yaxis: { title: { text: title }, type: log ? "log" : "linear", exponentformat: "power" },
      margin: { l: 64, r: 16, t: 28, b: 40 },
    }), plainConfig);
  };
}

const confusionHeight = content.confusion && Math.min(900, Math.max(360, 120 + 26 * content.confusion.classes.length));
function confusionChart(place) {
  const { counts, classes, clusters } = content.confusion;
  const share = counts.map((row) => { const total = row.reduce((a, b) => a + b, 0) || 1; return row.map((v) => v / total); });
  // Names no closer to each other than they are high.
  const step = Math.ceil((16 * classes.length) / (confusionHeight - 120)), named = classes.map((_, i) => i).filter((i) => i % step === 0);
  const few = classes.length <= 15 && clusters.length <= 15 && place.clientWidth > 500;
  // The number keeps names apart that are the same.
  const columns = clusters.map((c) => (names.given[c] ? `${escapeText(shortened(names.given[c], 16))} (${c})` : String(c)));
  Plotly.react(place, [{
    type: "heatmap", z: share, customdata: counts, x: columns, y: classes.map((_, i) => i), zmin: 0, zmax: 1, xgap: 1, ygap: 1,
    colorscale: isDark() ? [[0, "#1b212b"], [0.02, "#22384f"], [1, "#7db8f5"]] : [[0, "#ffffff"], [0.02, "#e3eef9"], [1, "#0b5cad"]],
    text: few ? counts.map((row) => row.map((v) => (v ? grouped(v) : ""))) : undefined, texttemplate: few ? "%{text}" : undefined,
    hovertext: counts.map((row, i) => row.map(() => escapeText(classes[i]))),
    hovertemplate: "class %{hovertext}, cluster %{x}: %{customdata} samples, %{z:.1%} of the class<extra></extra>",
    colorbar: { title: { text: "of the class" }, tickformat: ".0%", thickness: 12 }, showscale: place.clientWidth > 500,
  }], baseLayout({
    height: confusionHeight,
    xaxis: { title: { text: "cluster" }, type: "category", showgrid: false },
    yaxis: {
      title: { text: "class", standoff: 12 }, autorange: "reversed", showgrid: false, zeroline: false,
      tickvals: named, ticktext: named.map((i) => escapeText(shortened(classes[i]))),
    },
  }), plainConfig);
}

function nameClusters() {
  document.querySelectorAll("#per-cluster td[data-cluster]").forEach((cell) => {
    const cluster = Number(cell.dataset.cluster), name = names.given[cluster];
    cell.textContent = name ? `${name} (${cluster})` : String(cluster);
  });
}
