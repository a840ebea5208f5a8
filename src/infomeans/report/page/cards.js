// The clusters as cards, and the doubtful samples.
function sum(root, value) {
  return names.members(root).reduce((total, c) => total + value(content.clusters[c]), 0);
}
const sizeOf = (root) => sum(root, (cluster) => cluster.size);
const sureOf = (root) => sizeOf(root) ? sum(root, (c) => c.size * (c.confidence || 0)) / sizeOf(root) : 0;

// Of a group: a little more than this, for its clusters share what they are not sure of.
function sureText(root) {
  if (!sizeOf(root)) return "no sample lies here";
  if (names.members(root).length === 1) return `mean confidence ${sureOf(root).toFixed(3)}`;
  const members = new Set(names.members(root));
  let total = 0, count = 0;
  for (let i = 0; i < n; i++) if (members.has(clusterOf[i])) { total += sureOfGroup(i); count += 1; }
  return `mean confidence at least ${(total / count).toFixed(3)}`;
}

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

const widest = Math.max(1e-9, ...content.clusters.flatMap((c) => c.features.map((f) => Math.abs(f.distance))));

function featureTables(root) {
  const members = names.members(root).filter((member) => content.clusters[member].features.length);
  return members.flatMap((member) => featureTable(member, members.length > 1 ? `cluster ${member}` : "it"));
}

function featureTable(cluster, whom) {
  const rows = content.clusters[cluster].features;
  const body = make("tbody", {}, ...rows.map((feature) => {
    const share = 50 * Math.min(1, Math.abs(feature.distance) / widest);
    const bar = make("i");
    bar.style.width = share + "%";
    bar.style.left = (feature.distance < 0 ? 50 - share : 50) + "%";
    const meter = make("div", { className: "meter", title: `${feature.distance.toFixed(2)} deviations from the mean of all` }, bar);
    const name = make("td", { title: feature.name }, feature.name);
    return make("tr", {}, name, make("td", {}, String(Number(feature.mean.toPrecision(4)))), make("td", { className: "far" }, meter));
  }));
  return [make("h4", {}, `What sets ${whom} apart: mean, and distance from the mean of all`), make("table", {}, body)];
}

function mergeChoice(root) {
  const others = names.roots().filter((other) => other !== root);
  if (!others.length) return [];
  const select = make("select", { className: "merge" }, ...others.map((other) => make("option", { value: other }, names.of(other))));
  select.setAttribute("aria-label", `What to merge cluster ${root} with`);
  const button = make("button", { type: "button", className: "join" }, "Merge with");
  button.addEventListener("click", () => {
    const other = Number(select.value);
    tell(`${names.of(root)} and ${names.of(other)} are one now.`);
    names.merge(root, other);
    byId("cluster-" + names.root(root)).querySelector("input").focus();
  });
  return [make("span", { className: "row" }, button, select)];
}

function partsLine(root) {
  const members = names.members(root);
  if (members.length < 2) return [];
  const line = make("div", { className: "parts" }, "clusters ");
  members.forEach((member) => {
    const button = make("button", { type: "button" }, member + " ✕");
    button.setAttribute("aria-label", `Take cluster ${member} out`);
    button.addEventListener("click", () => {
      tell(`Cluster ${member} stands alone again.`);
      names.split(member);
      byId("cluster-" + member).querySelector("input").focus();
    });
    line.append(button);
  });
  return [line];
}

function card(root) {
  const size = sizeOf(root), share = size / content.n;
  const input = make("input", { value: names.title(root), placeholder: "cluster " + root, maxLength: 80 });
  input.setAttribute("aria-label", "Name of cluster " + root);
  input.addEventListener("change", () => {
    names.rename(root, input.value);
    spreadNames();
  });
  const bar = make("span");
  bar.style.width = Math.max(100 * share, size ? 0.5 : 0) + "%";
  bar.style.background = colourOf(root);
  const facts = make("div", { className: "grow" },
    make("div", {}, `${grouped(size)} samples, ${percent(share)}`), make("div", { className: "bar" }, bar),
    make("div", { className: "hint" }, sureText(root)));
  const about = make("div", { className: "about" });
  names.members(root).slice(0, 3).forEach((member) => {
    const prototype = content.clusters[member].prototype;
    if (prototype) about.append(make("img", { src: prototype, alt: `prototype of cluster ${member}`, title: content.prototypes }));
  });
  about.append(facts);
  const show = make("button", { type: "button" }, "Show on the map");
  show.addEventListener("click", () => showOnly(root));
  const article = make("article", { className: "card", id: "cluster-" + root },
    make("h3", { className: "visually-hidden" }, names.of(root)),
    make("header", {}, signOf(root), input), about, ...partsLine(root), ...featureTables(root),
    ...samplesRow("Most typical", mixed(root, "typical")), ...samplesRow("Most doubtful", mixed(root, "doubtful")),
    make("footer", {}, show, ...mergeChoice(root)));
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

// A name changes other cards too; they are not drawn anew, or the cursor would be lost.
function spreadNames() {
  document.querySelectorAll("select.merge option").forEach((option) => { option.textContent = names.of(Number(option.value)); });
  names.roots().forEach((root) => { byId("cluster-" + root).querySelector("h3").textContent = names.of(root); });
}

function drawDoubtful() {
  const unsure = content.doubtful.samples.filter(divided);
  byId("unsure").replaceChildren(...unsure.map((i) => {
    const choice = `${shortName(clusterOf[i])} or ${shortName(secondOf[i])}`;
    return make("figure", {}, sampleButton(i, 56), make("figcaption", { title: choice }, choice));
  }));
  if (!unsure.length) byId("unsure").append(make("p", { className: "hint" }, "None: no sample is in doubt."));
  const pairs = content.doubtful.pairs.filter(({ a, b }) => names.root(a) !== names.root(b));
  byId("pairs").replaceChildren(...pairs.map(({ a, b, count, samples }) => make("div", { className: "panel" },
    make("div", { className: "row" }, signOf(names.root(a)), names.of(a), make("span", { className: "hint" }, "and"), signOf(names.root(b)), names.of(b)),
    make("div", { className: "hint" }, `${grouped(count)} ${count === 1 ? "sample is" : "samples are"} at least half as likely to lie in the other`),
    make("div", { className: "thumbs" }, ...samples.map((i) => sampleButton(i))))));
  if (!pairs.length) byId("pairs").append(make("p", { className: "hint" }, "None: no sample lies between two clusters."));
}
const shortName = (cluster) => names.title(names.root(cluster)) || String(names.root(cluster));

const tell = (text) => { byId("said").textContent = text; };

function openDialog(i) {
  byId("dialog-body").replaceChildren(...details(i, 192));
  byId("dialog").dataset.sample = i;
  byId("dialog").showModal();
}
byId("dialog-close").addEventListener("click", () => byId("dialog").close());
byId("dialog").addEventListener("click", (event) => { if (event.target === byId("dialog")) byId("dialog").close(); });
byId("dialog-map").addEventListener("click", () => {
  byId("dialog").close();
  showAll();
  drawLegend();
  drawMap();
  keep(Number(byId("dialog").dataset.sample));
  byId("map").scrollIntoView();
  plot.focus({ preventScroll: true });
});
byId("sort").addEventListener("change", drawCards);
byId("save").addEventListener("click", () => {
  const blob = new Blob([JSON.stringify(names.plain(), null, 2) + "\n"], { type: "application/json" });
  const link = make("a", { href: URL.createObjectURL(blob), download: "names.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  tell("names.json is saved.");
});
byId("reset").addEventListener("click", () => {
  if (!confirm("Forget all names and merges in this browser?")) return;
  names.forget();
  tell("All names and merges are forgotten.");
});
