// One cluster by itself: its name, what it is like, and all its members, which load as one scrolls.
const clusterView = byId("cluster-view"), CHUNK = 120;
let viewed = null, waitingMembers = [], drawnMembers = 0;

const natural = new Intl.Collator("en", { numeric: true });
const ORDERS = {
  typical: (list) => [...list],
  doubtful: (list) => [...list].sort((a, b) => sureOfGroup(a) - sureOfGroup(b) || rankOf[b] - rankOf[a]),
  id: (list) => [...list].sort((a, b) => natural.compare(idOf(a), idOf(b))),
};

function memberRow(i) {
  const d = content.table.names.length, shownColumns = Math.min(d, 8);
  const button = sampleButton(i, 44, waitingMembers);
  const cells = Array.from({ length: shownColumns }, (_, f) => make("td", {}, exact(rowValues[i * d + f])));
  return make("tr", {}, make("th", { scope: "row" }, button), make("td", {}, sureOfGroup(i).toFixed(2)), ...cells);
}
function memberTable() {
  const heads = ["id", "confidence", ...content.table.names.slice(0, 8)].map((name) => make("th", { scope: "col", title: name }, name));
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody"));
}

function moreMembers() {
  const next = waitingMembers.slice(drawnMembers, drawnMembers + CHUNK);
  drawnMembers += next.length;
  const place = byId("members");
  if (content.table) place.querySelector("tbody").append(...next.map(memberRow));
  else place.append(...next.map((i) => sampleButton(i, innerWidth < 500 ? 56 : 64, waitingMembers)));
  const size = sizeOf(viewed), whole = waitingMembers.length < size ? `; the page holds ${grouped(waitingMembers.length)} of its ${grouped(size)}` : "";
  byId("members-end").textContent = (drawnMembers < waitingMembers.length
    ? `${grouped(drawnMembers)} of ${grouped(waitingMembers.length)}; scroll for more` : `all ${grouped(drawnMembers)} are shown`) + whole;
}
// The end is watched anew after each load: a watcher tells only of changes.
const endWatcher = new IntersectionObserver((entries) => {
  if (!entries.some((entry) => entry.isIntersecting) || !clusterView.open || drawnMembers >= waitingMembers.length) return;
  moreMembers();
  watchEnd();
}, { root: clusterView, rootMargin: "400px" });
function watchEnd() {
  endWatcher.unobserve(byId("members-end"));
  endWatcher.observe(byId("members-end"));
}

function drawMembers() {
  waitingMembers = ORDERS[byId("members-order").value](membersOf(viewed));
  drawnMembers = 0;
  byId("members").className = content.table ? "scroll" : "thumbs";
  byId("members").replaceChildren(...(content.table ? [memberTable()] : []));
  const size = sizeOf(viewed), held = waitingMembers.length;
  byId("members-title").textContent = held < size ? `${grouped(held)} of its ${grouped(size)} samples` : "All samples";
  moreMembers();
  watchEnd();
}

function prototypesOf(root) {
  if (!content.prototypes) return [];
  return names.members(root).slice(0, 3).filter((member) => content.prototypes.images[member]).map((member) => make("figure", { className: "prototype" },
    make("img", { src: content.prototypes.images[member], alt: `prototype of cluster ${member}` }),
    make("figcaption", {}, content.prototypes.title)));
}

// What the tree says of a cluster: what it would merge with first, and the two parts of a split.
function treeOf(root) {
  const said = content.tree && content.tree.clusters[root], parts = [];
  if (!said) return parts;
  const others = said.merges_with.filter((other) => names.root(other) !== root).flatMap((other) => [" ", signOf(names.root(other)), " ", names.of(other)]);
  if (others.length) parts.push(make("p", { className: "row" }, "Would merge first with", ...others));
  said.parts.forEach((list, at) => parts.push(
    make("h3", {}, `${at ? "… and" : "Would part into"} ${counted(said.sizes[at])} like these`),
    make("div", { className: "thumbs" }, ...sampleButtons(list))));
  return parts;
}

function fillCluster(root) {
  viewed = root;
  byId("cluster-title").replaceChildren(signOf(root), names.of(root));
  byId("cluster-about").replaceChildren(...prototypesOf(root), make("div", { className: "grow" },
    make("p", {}, `${counted(sizeOf(root))}.`), measures(root), ...partsLine(root), make("div", { className: "row" }, ...mergeChoice(root))),
  ...(content.features ? [make("div", { className: "grow" }, ...tellingFeatures(root, 6))] : []));
  byId("cluster-tree").replaceChildren(...treeOf(root));
  drawMembers();
}
function openCluster(root) {
  fillCluster(root);
  clusterView.showModal();
  clusterView.scrollTop = 0;
  clusterView.focus();
}
byId("members-order").addEventListener("change", drawMembers);
byId("cluster-map").addEventListener("click", () => { clusterView.close(); showOnly(viewed); });
names.listeners.push((regrouped) => {
  if (!clusterView.open) return;
  if (regrouped) fillCluster(names.root(viewed));
  else byId("cluster-title").replaceChildren(signOf(viewed), names.of(viewed));
});
