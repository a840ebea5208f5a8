// The clusters as cards, each with a mosaic of its samples.
function sum(root, value) {
  return names.members(root).reduce((total, c) => total + value(content.clusters[c]), 0);
}
const sizeOf = (root) => sum(root, (cluster) => cluster.size);
const sureOf = (root) => sizeOf(root) ? sum(root, (c) => c.size * (c.confidence || 0)) / sizeOf(root) : 0;
const counted = (size) => `${grouped(size)} ${size === 1 ? "sample" : "samples"}`;

// Of a group: a little more than this, for its clusters share what they are not sure of.
function sureOfAll(root) {
  if (names.members(root).length === 1) return sureOf(root);
  const members = membersOf(root);
  let total = 0;
  for (const i of members) total += sureOfGroup(i);
  return members.length ? total / members.length : 0;
}

// Two bars, each beside the number that it shows.
function measures(root) {
  const size = sizeOf(root), share = size / content.n;
  if (!size) return make("p", { className: "hint" }, "No sample lies here.");
  const sure = sureOfAll(root), least = names.members(root).length > 1 ? "at least " : "";
  const line = (name, title, text, value) => {
    const bar = make("span");
    bar.style.width = Math.max(100 * value, 0.5) + "%";
    bar.style.background = hueName(root);
    return [make("span", { title }, name), make("div", { className: "bar" }, bar), make("span", { className: "value" }, text)];
  };
  return make("div", { className: "measures" }, ...line("share", "share of all samples", percent(share), share),
    ...line("confidence", "mean confidence of its samples", least + sure.toFixed(3), sure));
}

// Cards in as many columns as fit, and mosaics as wide as a card.
const GAP = 14, PAD = 13, SPACE = 3, PICTURE = 54;
function layout() {
  const width = isPaper() ? 620 : byId("cards").clientWidth, count = names.roots().length, least = content.table ? 300 : 216;
  const most = Math.max(1, Math.min(Math.floor((width + GAP) / (least + GAP)), count)), columns = Math.ceil(count / Math.ceil(count / most));
  const inner = (width - GAP * (columns - 1)) / columns - 2 * PAD - 2;
  const across = Math.max(4, Math.round(inner / PICTURE));
  const down = columns === 1 ? 2 : count <= columns ? 5 : 3;
  return { columns, across, down, side: (inner - SPACE * (across - 1)) / across };
}
let laid = null;

// From the most typical to the most doubtful, with even steps.
function evenly(list, most) {
  if (list.length <= most) return [...list];
  return Array.from({ length: most }, (_, at) => list[Math.floor((at * list.length) / most)]);
}

function mosaic(root) {
  if (!content.thumbs) return content.features ? tellingFeatures(root, 4) : chips(root);
  const { width, height } = content.thumbs, high = Math.max(1, height / width);
  const samples = evenly(membersOf(root), laid.across * laid.down);
  const buttons = samples.map((i) => Object.assign(sampleButton(i, laid.side * high, samples), { tabIndex: -1 }));
  const place = make("div", { className: "mosaic" }, ...buttons);
  place.style.gridTemplateColumns = `repeat(${laid.across}, max-content)`;
  return samples.length ? [place] : [];
}
function chips(root) {
  const samples = evenly(membersOf(root), 12);
  return samples.length ? [make("div", { className: "thumbs" }, ...sampleButtons(samples))] : [];
}

function nameField(root) {
  const input = make("input", { value: names.title(root), placeholder: "cluster " + root, maxLength: 80 });
  input.setAttribute("aria-label", "Name of cluster " + root);
  input.addEventListener("change", () => {
    names.rename(root, input.value);
    spreadNames();
  });
  return input;
}

function card(root) {
  const size = sizeOf(root), open = make("button", { type: "button", className: "open" }, size === 1 || n < content.n ? "Open" : `All ${grouped(size)}`);
  open.setAttribute("aria-label", `${n < content.n ? "Some of " : "All "}${counted(size)} of cluster ${root}`);
  open.addEventListener("click", () => openCluster(root));
  const show = make("button", { type: "button", className: "show" }, "On the map");
  show.addEventListener("click", () => showOnly(root));
  return make("article", { className: "card", id: "cluster-" + root },
    make("h3", { className: "visually-hidden" }, names.of(root)),
    make("header", {}, signOf(root), nameField(root)),
    ...mosaic(root), measures(root), ...partsLine(root), make("footer", {}, ...(size ? [open, show] : [])));
}

function drawCards() {
  const by = byId("sort").value;
  const compare = {
    size: (a, b) => sizeOf(b) - sizeOf(a), confidence: (a, b) => sureOf(b) - sureOf(a),
    name: (a, b) => names.of(a).localeCompare(names.of(b), "en", { numeric: true }),
  }[by];
  laid = layout();
  byId("cards").style.gridTemplateColumns = `repeat(${laid.columns}, minmax(0, 1fr))`;
  byId("cards").replaceChildren(...names.roots().sort(compare).map(card));
}

// A name changes other parts too; cards are not drawn anew, or the cursor would be lost.
function spreadNames() {
  document.querySelectorAll("select.merge option").forEach((option) => { option.textContent = names.of(Number(option.value)); });
  names.roots().forEach((root) => {
    const own = byId("cluster-" + root), input = own.querySelector("header input");
    own.querySelector("h3").textContent = names.of(root);
    if (document.activeElement !== input) input.value = names.title(root);
  });
}

byId("sort").addEventListener("change", drawCards);
let cardsWide = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (Math.abs(contentRect.width - cardsWide) < 2 || byId("cards").contains(document.activeElement)) return;
  cardsWide = contentRect.width;
  if (laid && JSON.stringify(layout()) !== JSON.stringify(laid)) drawCards();
}).observe(byId("cards"));
addEventListener("beforeprint", drawCards);
addEventListener("afterprint", drawCards);
