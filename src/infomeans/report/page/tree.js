// How the clusters would merge: a row for each, and lines that join them, the next merge first.
const TREE_ROW = 30;

// The clusters in an order in which those that merge are side by side.
function treeOrder(merges) {
  const lists = new Map(content.clusters.map((_, cluster) => [cluster, [cluster]]));
  for (const [one, other] of merges) {
    lists.set(one, [...lists.get(one), ...lists.get(other)]);
    lists.delete(other);
  }
  return merges.length ? lists.get(merges[merges.length - 1][0]) : [];
}

function treeLines(merges, order) {
  const width = Math.max(60, byId("tree-lines").clientWidth), step = (width - 16) / merges.length;
  const ends = new Map(order.map((cluster, at) => [cluster, { x: 0, y: (at + 0.5) * TREE_ROW }]));
  const height = order.length * TREE_ROW;
  const picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Tree of the clusters; the merges are listed in words below" });
  merges.forEach(([one, other], at) => {
    const a = ends.get(one), b = ends.get(other), x = (at + 1) * step;
    const line = draw("path", { class: at ? "join" : "join next", d: `M${a.x} ${a.y}H${x}V${b.y}H${b.x}` });
    line.append(draw("title", {}, `merge ${at + 1}: ${names.of(one)} and ${names.of(other)}`));
    picture.append(line);
    ends.set(one, { x, y: (a.y + b.y) / 2 });
  });
  return picture;
}

function treeButton(cluster) {
  const root = names.root(cluster), next = content.tree.parts_next === cluster;
  const button = make("button", { type: "button", className: "branch" }, signOf(root), make("span", { className: "name" }, names.of(cluster)),
    ...(next ? [make("span", { className: "note" }, "parts next")] : []), make("span", { className: "count" }, grouped(content.clusters[cluster].size)));
  button.addEventListener("click", () => openCluster(root));
  return make("li", {}, button);
}

function drawTree() {
  if (!content.tree) return;
  const { merges, parts_next: parting, clusters } = content.tree, order = treeOrder(merges);
  const [one, other] = merges.find(([a, b]) => names.root(a) !== names.root(b)) || [];
  const together = new Map(order.map((cluster) => [cluster, [cluster]]));
  byId("tree-words").replaceChildren(...merges.map(([one, other]) => {
    const said = [one, other].map((cluster) => together.get(cluster).map((member) => "cluster " + member + (names.title(member) ? ` (${names.title(member)})` : "")).join(" + "));
    together.set(one, [...together.get(one), ...together.get(other)]);
    return make("li", {}, said.join(" with "));
  }));
  const joined = one === undefined ? "" : `The next to merge would be ${names.of(one)} and ${names.of(other)}.`;
  const parts = parting === null ? "" : ` The next to part would be ${names.of(parting)}, into ${clusters[parting].sizes.map(grouped).join(" and ")} samples.`;
  byId("tree-next").textContent = joined + parts;
  byId("tree-clusters").replaceChildren(...order.map(treeButton));
  byId("tree-lines").replaceChildren(treeLines(merges, order));
}
addEventListener("resize", () => { if (content.tree) drawTree(); });
