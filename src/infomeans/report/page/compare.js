// Two runs beside each other: pictures of the samples that moved, the flow, and the agreement.
document.querySelectorAll("#matrix [data-share]").forEach((cell) => {
  cell.style.background = `color-mix(in srgb, var(--accent) ${Math.max(0, 45 * cell.dataset.share)}%, transparent)`;
});

const from = byId("from"), to = byId("to"), least = byId("least");
content.titles.forEach((title, run) => {
  from.append(make("option", { value: run, selected: run === 0 }, title));
  to.append(make("option", { value: run, selected: run === 1 }, title));
});

// What lies between two runs, seen from the first.
function between(a, b) {
  const found = content.flows.find((one) => one.from === Math.min(a, b) && one.to === Math.max(a, b));
  if (a <= b) return found;
  return {
    ...found, cells: found.cells.map(([left, right, count]) => [right, left, count]),
    partner: Object.fromEntries(Object.entries(found.partner).map(([left, right]) => [right, Number(left)])),
    groups: found.groups.map((group) => ({ ...group, a: group.b, b: group.a })),
  };
}
const nameIn = (run, cluster) => content.names[run][cluster] || "cluster " + cluster;

const unseen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    unseen.unobserve(target);
    paintSprite(target, Number(target.dataset.sample), content.ids.length, 56);
  }
}, { rootMargin: "200px" });

addEventListener("beforeprint", () => document.querySelectorAll("button.thumb").forEach((target) => {
  paintSprite(target, Number(target.dataset.sample), content.ids.length, 56);
}));

const dialog = byId("dialog");
dialog.querySelector(".close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
function openSample(i, about) {
  byId("dialog-picture").replaceChildren();
  if (content.thumbs) {
    const picture = make("span", { className: "thumb", role: "img" });
    picture.setAttribute("aria-label", "picture of " + content.ids[i]);
    paintSprite(picture, i, content.ids.length, Math.min(380, innerWidth - 80));
    byId("dialog-picture").append(picture);
  }
  byId("dialog-body").replaceChildren(make("div", { className: "id" }, content.ids[i]), make("div", {}, about));
  dialog.showModal();
}

function sampleOf(i, about) {
  const button = make("button", { type: "button", title: content.ids[i], className: content.thumbs ? "thumb" : "chip" });
  button.setAttribute("aria-label", `sample ${content.ids[i]}, ${about}`);
  button.addEventListener("click", () => openSample(i, about));
  button.dataset.sample = i;
  if (content.thumbs) {
    [button.style.width, button.style.height] = spriteSize(56).map((length) => length + "px");
    unseen.observe(button);
  } else button.textContent = content.ids[i];
  return button;
}

function dot(cluster) {
  const mark = make("span", { className: "dot" });
  mark.style.background = cluster === undefined ? "var(--field)" : hueName(cluster);
  return mark;
}

function groupPanel(group, back) {
  const a = Number(from.value), b = Number(to.value), stood = back.get(group.b);
  const about = `${nameIn(a, group.a)} → ${nameIn(b, group.b)}`;
  const meaning = stood === undefined ? "which stands for no cluster of the first run" : `which stands for ${nameIn(a, stood)}`;
  return make("div", { className: "panel" },
    make("div", { className: "row" }, dot(group.a), nameIn(a, group.a), make("span", { className: "hint" }, "→"), dot(stood), nameIn(b, group.b)),
    make("div", { className: "thumbs" }, ...group.samples.map((i) => sampleOf(i, about))),
    make("div", { className: "hint" }, `${grouped(group.count)} ${group.count === 1 ? "sample" : "samples"}${group.count > group.samples.length ? `, ${group.samples.length} of them shown` : ""}; now in ${nameIn(b, group.b)}, ${meaning}.`));
}

function drawPair() {
  const a = Number(from.value), b = Number(to.value), { cells, partner, count, kinds, groups } = between(a, b);
  const back = new Map(Object.entries(partner).map(([left, right]) => [right, Number(left)]));
  const share = count / content.n, more = kinds > groups.length ? ` The ${groups.length} largest of ${grouped(kinds)} groups are shown.` : "";
  byId("moved-said").textContent = count
    ? `Each cluster is matched with the one that shares most samples with it. ${grouped(count)} of ${grouped(content.n)} samples (${percent(share)}) lie elsewhere.${more}`
    : "None: both have the same clusters, whatever their numbers.";
  byId("groups").replaceChildren(...groups.map((group) => groupPanel(group, back)));
  const kept = cells.filter((cell) => cell[2] >= content.n * Number(least.value));
  byId("band").textContent = "";
  byId("sankey").replaceChildren(flowPicture(kept, cells, partner, (side, cluster) => nameIn(side ? b : a, cluster), (text) => { byId("band").textContent = text; }));
}
drawPair();
[from, to, least].forEach((select) => select.addEventListener("change", drawPair));
