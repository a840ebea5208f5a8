// The samples, unpacked from what the page carries.
function unpack(text, Kind) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Kind(bytes.buffer);
}

const points = content.points;
const X = unpack(points.x, Float32Array), Y = unpack(points.y, Float32Array);
const clusterOf = unpack(points.cluster, Uint32Array), secondOf = unpack(points.second, Uint32Array);
const confidenceOf = unpack(points.confidence, Float32Array), runnerUpOf = unpack(points.runner_up, Float32Array);
const classOf = content.classes ? unpack(content.classes.of, Uint32Array) : null;
const hasClass = (i) => classOf && classOf[i] < content.classes.names.length;
const rowValues = content.table ? unpack(content.table.values, content.table.exact ? Float64Array : Float32Array) : null;
const n = X.length;
const idOf = (i) => content.ids ? content.ids[i] : String(i);

// The sheets of thumbnails come last in the page, so that the first view need not wait for them.
// One becomes an image when its first thumbnail is wanted.
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

function paintThumb(element, i, side) {
  const { width, height, columns } = content.thumbs, each = columns * columns;
  const scale = side / Math.max(width, height), place = i % each;
  const w = Math.round(width * scale), h = Math.round(height * scale);
  const rows = Math.ceil(Math.min(each, n - Math.floor(i / each) * each) / columns);
  element.style.width = w + "px";
  element.style.height = h + "px";
  element.style.boxSizing = "content-box";
  loaded.then(() => { element.style.backgroundImage = `url(${sheetUrl(Math.floor(i / each))})`; });
  element.style.backgroundSize = `${columns * w}px ${rows * h}px`;
  element.style.backgroundPosition = `-${(place % columns) * w}px -${Math.floor(place / columns) * h}px`;
  if (scale > 1.2) element.classList.add("pixels");
}

const unseen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    unseen.unobserve(target);
    paintThumb(target, Number(target.dataset.sample), Number(target.dataset.side));
  }
}, { rootMargin: "200px" });

addEventListener("beforeprint", () => document.querySelectorAll("button.thumb").forEach((target) => {
  paintThumb(target, Number(target.dataset.sample), Number(target.dataset.side));
}));

// A sample as something to press: its picture, or its id.
function sampleButton(i, side = 44) {
  const button = make("button", { type: "button", title: idOf(i) });
  button.dataset.sample = i;
  button.setAttribute("aria-label", `sample ${idOf(i)}, ${names.of(clusterOf[i])}, confidence ${confidenceOf[i].toFixed(2)}`);
  button.addEventListener("click", () => openDialog(i));
  if (content.thumbs) {
    button.className = "thumb";
    button.dataset.side = side;
    const { width, height } = content.thumbs, scale = side / Math.max(width, height);
    button.style.width = Math.round(width * scale) + 2 + "px";
    button.style.height = Math.round(height * scale) + 2 + "px";
    unseen.observe(button);
  } else {
    button.className = "chip";
    button.textContent = idOf(i);
  }
  return button;
}

// Whether the second choice of a sample is another cluster still, after merging.
const divided = (i) => names.root(clusterOf[i]) !== names.root(secondOf[i]);
const sureOfGroup = (i) => confidenceOf[i] + (divided(i) || clusterOf[i] === secondOf[i] ? 0 : runnerUpOf[i]);

function details(i, side = 112) {
  const parts = [];
  if (content.thumbs) {
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
