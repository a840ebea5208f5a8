// What sets the clusters of a table apart, in words and in the units of the table.
const featuresOf = (cluster) => (content.features ? content.features[cluster] : []);

function featureRow(feature) {
  const { name, word, value, all, ends, middle, at, at_all } = feature;
  const words = make("div", { className: "words" }, make("span", { className: "what", title: name }, name), ` ${word}: `,
    make("strong", {}, value), make("span", { className: "hint" }, ` (all ${all})`));
  const mark = (kind, left, width) => {
    const element = make("i", { className: kind });
    element.style.left = 100 * left + "%";
    if (width !== undefined) element.style.width = Math.max(1, 100 * width) + "%";
    return element;
  };
  const strip = make("div", { className: "strip", role: "img" });
  strip.setAttribute("aria-label", `${value} on a scale from ${ends[0]} to ${ends[1]}, all ${all}`);
  if (middle) strip.append(mark("middle", middle[0], middle[1] - middle[0]));
  else strip.append(mark("middle", 0, at));
  strip.append(mark("all", at_all), mark("at", at));
  return make("li", {}, words, make("div", { className: "scale" }, make("span", {}, ends[0]), strip, make("span", {}, ends[1])));
}

function tellingFeatures(root, most) {
  const members = names.members(root).filter((member) => content.clusters[member].size);
  if (!content.features) return [];
  return members.slice(0, 3).flatMap((member) => {
    const rows = featuresOf(member).slice(0, most), list = make("ul", { className: "apart" }, ...rows.map(featureRow));
    const title = members.length > 1 ? [make("h4", {}, `What sets cluster ${member} apart`)] : [];
    if (!rows.length) return [...title, make("p", { className: "hint" }, "No feature sets it apart: all are near the mean.")];
    return [...title, list];
  });
}
