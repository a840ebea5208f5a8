// Pictures from the sheets of thumbnails. The sheets come last in the page, so that the first view need
// not wait for them. One becomes an image when its first thumbnail is wanted.
function unpack(text, Kind) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Kind(bytes.buffer);
}

const loaded = new Promise((resolve) => {
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", resolve, { once: true });
  else resolve();
});
const sheets = new Map();
function sheetUrl(index) {
  if (!sheets.has(index)) {
    const bytes = unpack(byId("sheet-" + index).textContent, Uint8Array);
    sheets.set(index, URL.createObjectURL(new Blob([bytes], { type: "image/webp" })));
  }
  return sheets.get(index);
}

// Width and height of a thumbnail whose longer side is this long.
function spriteSize(side) {
  const { width, height } = content.thumbs, scale = side / Math.max(width, height);
  return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
}

// The picture at a place of the sheets, of so many, as the background of an element.
function paintSprite(element, place, count, side) {
  const { width, height, columns } = content.thumbs, each = columns * columns;
  const sheet = Math.floor(place / each), at = place % each, [w, h] = spriteSize(side);
  const rows = Math.ceil(Math.min(each, count - sheet * each) / columns);
  element.style.width = w + "px";
  element.style.height = h + "px";
  loaded.then(() => { element.style.backgroundImage = `url(${sheetUrl(sheet)})`; });
  element.style.backgroundSize = `${columns * w}px ${rows * h}px`;
  element.style.backgroundPosition = `-${(at % columns) * w}px -${Math.floor(at / columns) * h}px`;
  element.classList.toggle("pixels", side > 1.2 * Math.max(width, height));
}
