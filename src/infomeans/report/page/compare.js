// The agreement, shaded; and the flow between the clusters of two runs.
document.querySelectorAll("#matrix [data-share]").forEach((cell) => {
  cell.style.background = `color-mix(in srgb, var(--accent) ${Math.max(0, 45 * cell.dataset.share)}%, transparent)`;
});

const from = byId("from"), to = byId("to"), least = byId("least");
content.titles.forEach((title, run) => {
  from.append(make("option", { value: run, selected: run === 0 }, title));
  to.append(make("option", { value: run, selected: run === 1 }, title));
});

function cells(a, b) {
  if (a === b) return [];
  const flow = content.flows.find((one) => one.from === Math.min(a, b) && one.to === Math.max(a, b));
  return a < b ? flow.cells : flow.cells.map(([left, right, count]) => [right, left, count]);
}

const faint = (colour) => colour + "66";
const nameIn = (run, cluster) => content.names[run][cluster] || String(cluster);

function drawFlow(place) {
  const a = Number(from.value), b = Number(to.value), all = cells(a, b);
  const total = all.reduce((sum, cell) => sum + cell[2], 0);
  const kept = all.filter((cell) => cell[2] >= total * Number(least.value));
  const lefts = [...new Set(kept.map((cell) => cell[0]))], rights = [...new Set(kept.map((cell) => cell[1]))];
  const looks = [...lefts, ...rights].map((cluster) => content.looks[cluster]);
  Plotly.react(place, [{
    type: "sankey", arrangement: "snap", valueformat: ",d",
    node: {
      label: [...lefts.map((c) => escapeText(nameIn(a, c))), ...rights.map((c) => escapeText(nameIn(b, c)))], color: looks,
      pad: lefts.length > 40 ? 3 : 10, thickness: 14, line: { width: 0 }, hovertemplate: "%{label}: %{value} samples<extra></extra>",
    },
    link: {
      source: kept.map((cell) => lefts.indexOf(cell[0])), target: kept.map((cell) => lefts.length + rights.indexOf(cell[1])),
      value: kept.map((cell) => cell[2]), color: kept.map((cell) => faint(content.looks[cell[0]])),
      hovertemplate: "%{source.label} → %{target.label}: %{value} samples<extra></extra>",
    },
  }], baseLayout({ height: Math.max(380, 24 * Math.max(lefts.length, rights.length)), margin: { l: 8, r: 8, t: 16, b: 16 } }), plainConfig);
}
chart("sankey", 380, drawFlow);
[from, to, least].forEach((select) => select.addEventListener("change", redraw));
