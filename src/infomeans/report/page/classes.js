// Clusters against classes: a table whose cells are the darker the more of the class they hold.
function mixedColour(share) {
  const [ground, ink] = [colour("paper"), colour("accent")].map(channels);
  return ground.map((part, at) => Math.round(part + (ink[at] - part) * share));
}
function brightness(rgb) {
  const [r, g, b] = rgb.map((part) => (part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function heatCell(count, total, about) {
  const share = total ? count / total : 0, cell = make("td", { title: `${about}: ${counted(count)}, ${percent(share)} of the class` }, count ? grouped(count) : "");
  if (!count) return cell;
  const ground = mixedColour(0.06 + 0.94 * share);
  cell.style.background = `rgb(${ground})`;
  cell.style.color = brightness(ground) > 0.179 ? "#000" : "#fff";
  return cell;
}

// The number keeps names apart that are the same.
const columnName = (c) => (names.given[c] ? `${shortened(names.given[c], 16)} (${c})` : String(c));

function drawConfusion(place) {
  const { counts, classes, clusters } = content.confusion;
  const head = make("tr", {}, make("th", { scope: "col" }, "class"), ...clusters.map((c) => make("th", { scope: "col" }, signOf(c), columnName(c))));
  const rows = counts.map((row, at) => {
    const total = row.reduce((a, b) => a + b, 0);
    return make("tr", {}, make("th", { scope: "row", title: classes[at] }, shortened(classes[at])),
      ...row.map((count, column) => heatCell(count, total, `class ${classes[at]}, cluster ${columnName(clusters[column])}`)));
  });
  place.replaceChildren(make("table", { className: "heat" }, make("thead", {}, head), make("tbody", {}, ...rows)));
}

function nameClusters() {
  document.querySelectorAll("#per-cluster td[data-cluster]").forEach((cell) => {
    const cluster = Number(cell.dataset.cluster), name = names.given[cluster];
    cell.textContent = name ? `${name} (${cluster})` : String(cluster);
  });
}
