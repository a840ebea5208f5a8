// The samples, unpacked from what the page carries.
const points = content.points;
const X = unpack(points.x, Float32Array), Y = unpack(points.y, Float32Array);
const clusterOf = unpack(points.cluster, Uint32Array), secondOf = unpack(points.second, Uint32Array);
const confidenceOf = unpack(points.confidence, Float32Array), runnerUpOf = unpack(points.runner_up, Float32Array);
const classOf = content.classes ? unpack(content.classes.of, Uint32Array) : null;
const hasClass = (i) => classOf && classOf[i] < content.classes.names.length;
const rowValues = content.table ? unpack(content.table.values, content.table.exact ? Float64Array : Float32Array) : null;
const n = X.length;
const idOf = (i) => content.ids ? content.ids[i] : String(i);

// The samples by cluster, the most typical first; and where each of them stands there.
const ranked = unpack(content.order, Uint32Array), rankOf = new Uint32Array(n);
ranked.forEach((i, at) => { rankOf[i] = at; });
const segments = content.clusters.map(() => [0, 0]);
ranked.forEach((i, at) => {
  const segment = segments[clusterOf[i]];
  if (segment[1] === 0) segment[0] = at;
  segment[1] = at + 1;
});

// All members of a group that the page has, the most typical first; its clusters take turns.
function membersOf(root) {
  const lists = names.members(root).map((member) => ranked.subarray(...segments[member]));
  if (lists.length === 1) return lists[0];
  const placed = lists.flatMap((list) => Array.from(list, (i, at) => [at / list.length, i]));
  return placed.sort((a, b) => a[0] - b[0]).map(([, i]) => i);
}

// Whether the second choice of a sample is another cluster still, after merging.
const divided = (i) => names.root(clusterOf[i]) !== names.root(secondOf[i]);
const sureOfGroup = (i) => confidenceOf[i] + (divided(i) || clusterOf[i] === secondOf[i] ? 0 : runnerUpOf[i]);

function details(i, side = 112) {
  const parts = [];
  if (content.thumbs && side) {
    const picture = make("span", { className: "thumb", role: "img" });
    picture.setAttribute("aria-label", "picture of " + idOf(i));
    paintThumb(picture, i, side);
    parts.push(picture);
  }
  const line = (text, className = "") => parts.push(make("div", { className }, text));
  line(idOf(i), "id");
  const sure = `${names.of(clusterOf[i])}, confidence ${sureOfGroup(i).toFixed(3)}`;
  parts.push(make("div", { className: "row" }, signOf(names.root(clusterOf[i])), sure));
  if (divided(i) && confidenceOf[i] < 0.9995) line("else " + names.of(secondOf[i]), "hint");
  if (hasClass(i)) line("true class " + content.classes.names[classOf[i]], "hint");
  if (rowValues) {
    const d = content.table.names.length, body = make("tbody");
    content.table.names.forEach((name, f) => {
      body.append(make("tr", {}, make("td", {}, name), make("td", {}, exact(rowValues[i * d + f]))));
    });
    parts.push(make("table", {}, body));
    if (d < content.table.of) line(`the ${d} of ${content.table.of} features that tell most`, "hint");
  }
  return parts;
}
