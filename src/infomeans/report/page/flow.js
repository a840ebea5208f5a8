// The flow of samples between the clusters of two runs: two columns of bars, and bands between them.
function stack(cells, side, from, to) {
  const totals = new Map();
  for (const cell of cells) totals.set(cell[side], (totals.get(cell[side]) || 0) + cell[2]);
  const order = [...totals.keys()].sort((a, b) => from(a) - from(b)), bars = new Map();
  const all = [...totals.values()].reduce((a, b) => a + b, 0) || 1, gap = Math.min(6, (0.3 * to) / order.length);
  const unit = (to - gap * (order.length - 1)) / all;
  let top = 0;
  for (const cluster of order) {
    const height = totals.get(cluster) * unit;
    bars.set(cluster, { top, height, used: 0, unit });
    top += height + gap;
  }
  return bars;
}

const totalOf = (cells, side, cluster) => cells.reduce((sum, cell) => sum + (cell[side] === cluster ? cell[2] : 0), 0);

// The left clusters by number; the right ones beside those that they stand for. Numbers are of all cells,
// also of those too small for a band.
function flowPicture(cells, all, partner, nameOf, tell) {
  const width = Math.min(1000, Math.max(300, byId("sankey").clientWidth)), narrow = width < 500, edge = narrow ? 76 : 150, thick = 14, most = Math.max(new Set(cells.map((c) => c[0])).size, new Set(cells.map((c) => c[1])).size);
  const height = Math.min(900, Math.max(240, 34 * most)), back = new Map(Object.entries(partner).map(([a, b]) => [b, Number(a)]));
  const left = stack(cells, 0, (a) => a, height), right = stack(cells, 1, (b) => (back.has(b) ? back.get(b) : 1e6 + b), height);
  const rank = new Map([...right.keys()].map((cluster, at) => [cluster, at])), picture = draw("svg", { viewBox: `0 -4 ${width} ${height + 8}`, role: "img", "aria-label": "Flow of samples between the clusters of two runs" });
  const ordered = [...cells].sort((p, q) => p[0] - q[0] || rank.get(p[1]) - rank.get(q[1]));
  for (const [a, b, count] of ordered) {
    const from = left.get(a), to = right.get(b), x0 = edge + thick, x1 = width - edge - thick, middle = (x0 + x1) / 2;
    const [h0, h1, y0, y1] = [count * from.unit, count * to.unit, from.top + from.used, to.top + to.used];
    from.used += h0;
    to.used += h1;
    const band = draw("path", { class: "band", style: `fill: ${hueName(a)}`, d: `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}V${y1 + h1}C${middle} ${y1 + h1} ${middle} ${y0 + h0} ${x0} ${y0 + h0}Z` });
    const about = `${nameOf(0, a)} → ${nameOf(1, b)}: ${grouped(count)} ${count === 1 ? "sample" : "samples"}`;
    band.append(draw("title", {}, about));
    band.addEventListener("pointerenter", () => tell(about));
    picture.append(band);
  }
  for (const [side, bars] of [left, right].entries()) {
    for (const [cluster, { top, height: high }] of bars) {
      const x = side ? width - edge - thick : edge, middle = top + high / 2 + 4.5;
      const tint = side ? (back.has(cluster) ? hueName(back.get(cluster)) : "var(--field)") : hueName(cluster);
      picture.append(draw("rect", { x, y: top, width: thick, height: Math.max(1, high), style: `fill: ${tint}` }));
      if (high > 7 || bars.size < 30) picture.append(draw("text", { x: side ? x + thick + 7 : x - 7, y: middle, "text-anchor": side ? "start" : "end" }, narrow ? shortened(nameOf(side, cluster), 9) : `${shortened(nameOf(side, cluster), 14)} (${grouped(totalOf(all, side, cluster))})`));
    }
  }
  return picture;
}
