// The clusters as cards, and the doubtful samples.
function sum(root, value) {
  return names.members(root).reduce((total, c) => total + value(content.clusters[c]), 0);
}
const sizeOf = (root) => sum(root, (cluster) => cluster.size);
const sureOf = (root) => sizeOf(root) ? sum(root, (c) => c.size * (c.confidence || 0)) / sizeOf(root) : 0;

function mixed(root, kind) {
  const lists = names.members(root).map((c) => content.clusters[c][kind]);
  const most = Math.max(...lists.map((list) => list.length));
  const turns = Array.from({ length: most }, (_, turn) => lists.map((list) => list[turn]));
  return turns.flat().filter((i) => i !== undefined).slice(0, 12);
}

function samplesRow(title, samples) {
  if (!samples.length) return [];
  return [make("h4", {}, title), make("div", { className: "thumbs" }, ...samples.map((i) => sampleButton(i)))];
}

function featureTable(root) {
  const rows = content.clusters[root].features || [];
  if (!rows.length) return [];
  const widest = Math.max(...content.clusters.flatMap((c) => (c.features || []).map((f) => Math.abs(f.distance))));
  const body = make("tbody", {}, ...rows.map((feature) => {
    const share = 50 * Math.min(1, Math.abs(feature.distance) / (widest || 1));
    const bar = make("i");
    bar.style.width = share + "%";
    bar.style.left = (feature.distance < 0 ? 50 - share : 50) + "%";
    const meter = make("div", { className: "meter", title: `${feature.distance.toFixed(2)} deviations from the mean of all` }, bar);
    const name = make("td", { title: feature.name }, feature.name);
    return make("tr", {}, name, make("td", {}, String(Number(feature.mean.toPrecision(4)))), make("td", { className: "far" }, meter));
  }));
  return [make("h4", {}, "What sets it apart: mean, and distance from the mean of all"), make("table", {}, body)];
}

function mergeChoice(root) {
  const others = names.roots().filter((other) => other !== root);
  if (!others.length) return [];
  const select = make("select", { className: "merge" }, make("option", { value: "" }, "merge with …"),
    ...others.map((other) => make("option", { value: other }, names.of(other))));
  select.setAttribute("aria-label", "Merge " + names.of(root) + " with");
  select.addEventListener("change", () => {
    const other = Number(select.value);
    tell(`${names.of(root)} and ${names.of(other)} are one now.`);
    names.merge(root, other);
    byId("cluster-" + names.root(root)).querySelector("input").focus();
  });
  return [select];
}

function partsLine(root) {
  const members = names.members(root);
  if (members.length < 2) return [];
  const line = make("div", { className: "parts" }, "clusters ");
  members.forEach((member) => {
    const button = make("button", { type: "button" }, member + " ✕");
    button.setAttribute("aria-label", `Take cluster ${member} out`);
    button.addEventListener("click", () => names.split(member));
    line.append(button);
  });
  return [line];
}

function card(root) {
  const size = sizeOf(root), share = size / content.n;
  const input = make("input", { value: names.given[root] || "", placeholder: "cluster " + root, maxLength: 80 });
  input.setAttribute("aria-label", "Name of cluster " + root);
  input.addEventListener("change", () => names.rename(root, input.value));
  const bar = make("span");
  bar.style.width = Math.max(100 * share, size ? 0.5 : 0) + "%";
  bar.style.background = colourOf(root);
  const facts = make("div", { className: "grow" },
    make("div", {}, `${grouped(size)} samples, ${percent(share)}`), make("div", { className: "bar" }, bar),
    make("div", { className: "hint" }, size ? `mean confidence ${sureOf(root).toFixed(3)}` : "no sample lies here"));
  const about = make("div", { className: "about" });
  names.members(root).slice(0, 3).forEach((member) => {
    const prototype = content.clusters[member].prototype;
    if (prototype) about.append(make("img", { src: prototype, alt: `prototype of cluster ${member}`, title: content.prototypes }));
  });
  about.append(facts);
  const show = make("button", { type: "button" }, "Show on the map");
  show.addEventListener("click", () => showOnly(root));
  const article = make("article", { className: "card", id: "cluster-" + root },
    make("header", {}, signOf(root), input), about, ...partsLine(root), ...featureTable(root),
    ...samplesRow("Most typical", mixed(root, "typical")), ...samplesRow("Most doubtful", mixed(root, "doubtful")),
    make("footer", {}, show, ...mergeChoice(root)));
  article.setAttribute("aria-label", names.of(root));
  return article;
}

function drawCards() {
  const by = byId("sort").value;
  const compare = {
    size: (a, b) => sizeOf(b) - sizeOf(a), confidence: (a, b) => sureOf(b) - sureOf(a),
    name: (a, b) => names.of(a).localeCompare(names.of(b), "en", { numeric: true }),
  }[by];
  byId("cards").replaceChildren(...names.roots().sort(compare).map(card));
}

function drawDoubtful() {
  byId("unsure").replaceChildren(...content.doubtful.samples.map((i) => {
    const choice = `${shortName(clusterOf[i])} or ${shortName(secondOf[i])}`;
    return make("figure", {}, sampleButton(i, 56), make("figcaption", { title: choice }, choice));
  }));
  const pairs = content.doubtful.pairs.filter(({ a, b }) => names.root(a) !== names.root(b));
  byId("pairs").replaceChildren(...pairs.map(({ a, b, shared, samples }) => make("div", { className: "panel" },
    make("div", { className: "row" }, signOf(names.root(a)), names.of(a), make("span", { className: "hint" }, "and"), signOf(names.root(b)), names.of(b)),
    make("div", { className: "hint" }, `about ${grouped(Math.round(shared))} samples could as well lie in the other`),
    make("div", { className: "thumbs" }, ...samples.map((i) => sampleButton(i))))));
  if (!pairs.length) byId("pairs").append(make("p", { className: "hint" }, "None: the clusters are told apart well."));
}
const shortName = (cluster) => names.given[names.root(cluster)] || String(names.root(cluster));

const tell = (text) => { byId("said").textContent = text; };

function openDialog(i) {
  byId("dialog-body").replaceChildren(...details(i, 192));
  byId("dialog").dataset.sample = i;
  byId("dialog").showModal();
}
byId("dialog-close").addEventListener("click", () => byId("dialog").close());
byId("dialog-map").addEventListener("click", () => {
  byId("dialog").close();
  filter.hidden.delete(names.root(clusterOf[byId("dialog").dataset.sample]));
  drawLegend();
  drawMap();
  keep(Number(byId("dialog").dataset.sample));
  byId("map").scrollIntoView();
});
byId("sort").addEventListener("change", drawCards);
byId("save").addEventListener("click", () => {
  const blob = new Blob([JSON.stringify(names.plain(), null, 2) + "\n"], { type: "application/json" });
  const link = make("a", { href: URL.createObjectURL(blob), download: "names.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  tell("names.json is saved.");
});
byId("reset").addEventListener("click", () => { names.forget(); tell("All names and merges are forgotten."); });
