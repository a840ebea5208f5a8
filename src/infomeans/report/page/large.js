// A sample by itself, as large as the window allows: the original picture if it is there.
const dialog = byId("dialog");
let opened = { at: 0, list: [] };

function originalOf(i) {
  const { originals } = content;
  if (!originals) return null;
  const path = originals.names ? originals.names[i] : originals.base + idOf(i);
  return path && path.split("/").map(encodeURIComponent).join("/");
}

function thumbPicture(i) {
  const { width, height, columns } = content.thumbs, each = columns * columns, at = rankOf[i] % each;
  const canvas = make("canvas", { width, height, className: width < 40 ? "large pixels" : "large" });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "picture of " + idOf(i));
  canvas.style.aspectRatio = `${width} / ${height}`;
  const image = new Image();
  image.onload = () => canvas.getContext("2d").drawImage(image, (at % columns) * width, Math.floor(at / columns) * height, width, height, 0, 0, width, height);
  loaded.then(() => { image.src = sheetUrl(Math.floor(rankOf[i] / each)); });
  return canvas;
}

// The thumbnail stays where the original is gone since the page was written.
function showPicture(i) {
  const place = byId("dialog-picture"), source = originalOf(i);
  place.replaceChildren(...(content.thumbs ? [thumbPicture(i)] : []));
  place.hidden = !content.thumbs && !source;
  if (!source) return;
  const image = make("img", { className: "large", alt: "picture of " + idOf(i) });
  image.onload = () => {
    if (opened.list[opened.at] !== i) return;
    const link = make("a", { href: source, target: "_blank", rel: "noopener" }, `Original, ${image.naturalWidth} × ${image.naturalHeight}`);
    place.replaceChildren(image, link);
  };
  image.src = source;
}

function showSample() {
  const { at, list } = opened, i = list[at];
  showPicture(i);
  byId("dialog-body").replaceChildren(...details(i, 0));
  for (const [id, to] of [["dialog-before", at - 1], ["dialog-after", at + 1]]) {
    byId(id).hidden = list.length < 2;
    byId(id).disabled = !(to in list);
  }
}
function openLarge(i, list) {
  opened = { at: Math.max(0, list.indexOf(i)), list };
  showSample();
  if (!dialog.open) dialog.showModal();
  dialog.focus();
}
function step(by) {
  if (!(opened.at + by in opened.list)) return;
  opened.at += by;
  showSample();
}
byId("dialog-before").addEventListener("click", () => step(-1));
byId("dialog-after").addEventListener("click", () => step(1));
dialog.addEventListener("keydown", (event) => {
  if (event.key === "ArrowLeft") step(-1);
  if (event.key === "ArrowRight") step(1);
});
for (const one of document.querySelectorAll("dialog")) {
  one.querySelector(".close").addEventListener("click", () => one.close());
  one.addEventListener("click", (event) => { if (event.target === one) one.close(); });
}
byId("dialog-map").addEventListener("click", () => {
  const i = opened.list[opened.at];
  document.querySelectorAll("dialog[open]").forEach((one) => one.close());
  showAll();
  drawLegend();
  drawMap();
  keep(i);
  byId("map").scrollIntoView();
  plot.focus({ preventScroll: true });
});
