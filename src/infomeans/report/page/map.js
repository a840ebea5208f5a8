// The map: what of it is in view, and how it is painted.
const plot = byId("plot");
const labels = make("div", { className: "labels" }), ring = make("div", { className: "ring", hidden: true });
labels.setAttribute("aria-hidden", "true");
const nothing = make("p", { className: "nothing", hidden: true }, "No sample passes the filters. ", make("button", { type: "button", id: "everything" }, "Show all samples"));
plot.append(labels, ring, nothing);

// The samples that pass the filters are shown; the painter is stale when it does not know them yet.
let painter = null, shown = [], shownMixed = [], waiting = 0, stale = true;

// What is in view: the place in the middle and the pixels of a unit, on both axes alike. The stage is
// as large as the canvas in pixels of the page; its scale is the one that shows the whole map.
const view = { x: 0, y: 0, scale: 1 };
const stage = { width: 1, height: 1, scale: 1 };
let isWhole = true;
const MARGIN = 28, NARROW_MARGIN = 14, NEAREST = 200;

function paintWith(chosen) {
  painter?.canvas.remove();
  painter = chosen;
  stale = true;
  painter.canvas.setAttribute("aria-hidden", "true");
  painter.canvas.addEventListener("webglcontextlost", () => { paintWith(plainPainter()); measure(); });
  plot.prepend(painter.canvas);
  if (painter instanceof PlainPainter) {
    byId("map-note").textContent = "The map is drawn without WebGL and moves less smoothly.";
  }
}

function edges(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  return { middle: (low + high) / 2, span: high - low || 1 };
}
const across = edges(X), up = edges(Y);

const pixelAt = (x, y) => [stage.width / 2 + (x - view.x) * view.scale, stage.height / 2 - (y - view.y) * view.scale];
const toPixel = (i) => pixelAt(X[i], Y[i]);
const inside = ([left, top]) => left > 0 && top > 0 && left < stage.width && top < stage.height;

// A canvas is blank after a change of its size, so it is painted at once.
function measure() {
  const { canvas } = painter, { width, height } = canvas.getBoundingClientRect();
  const dots = isPaper() ? 3 : Math.min(devicePixelRatio || 1, 2);
  Object.assign(stage, { width: Math.max(width, 80), height: Math.max(height, 80) });
  const margin = stage.width < 500 ? NARROW_MARGIN : MARGIN;
  stage.scale = Math.min((stage.width - 2 * margin) / across.span, (stage.height - 2 * margin) / up.span);
  if (isWhole) showWhole();
  const size = [stage.width, stage.height].map((side) => Math.round(side * dots));
  if (canvas.width === size[0] && canvas.height === size[1] && !stale) return;
  [canvas.width, canvas.height] = size;
  paintMap();
}

function showWhole() {
  isWhole = true;
  Object.assign(view, { x: across.middle, y: up.middle, scale: stage.scale });
}
function wholeMap() {
  showWhole();
  paintSoon();
}

// By pixels, and about the place under a pixel.
function move(right, down) {
  isWhole = false;
  view.x -= right / view.scale;
  view.y += down / view.scale;
  paintSoon(paintMoving);
}
function zoom(factor, left = stage.width / 2, top = stage.height / 2) {
  isWhole = false;
  const scale = Math.min(Math.max(view.scale * factor, stage.scale), NEAREST * stage.scale);
  const right = left - stage.width / 2, down = top - stage.height / 2, rest = 1 / view.scale - 1 / scale;
  Object.assign(view, { x: view.x + right * rest, y: view.y - down * rest, scale });
  paintSoon(paintMoving);
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// Any order but that of the data, so that the first points of many stand for all.
const order = Uint32Array.from({ length: n }, (_, i) => i);
for (let i = n - 1, seed = 1; i > 0; i--) {
  seed = (seed * 48271) % 2147483647;
  const j = seed % (i + 1);
  [order[i], order[j]] = [order[j], order[i]];
}

// Tell the painter which points there are.
function fill() {
  stale = false;
  const rootOf = content.clusters.map((_, cluster) => names.root(cluster));
  const lookOf = rootOf.map((root) => [...channels(hueOf(root)), SIGN_NAMES.indexOf(symbolOf(root))]);
  const drawn = order.filter((i) => passes(i, rootOf[clusterOf[i]]));
  const places = new Float32Array(2 * drawn.length), looks = new Uint8Array(4 * drawn.length);
  drawn.forEach((i, at) => {
    places[2 * at] = X[i];
    places[2 * at + 1] = Y[i];
    looks.set(lookOf[clusterOf[i]], 4 * at);
  });
  painter.set(places, looks);
  shownMixed = drawn;
  shown = [...drawn].sort((a, b) => a - b);
  byId("shown").textContent = `${grouped(shown.length)} of ${grouped(n)}`;
  nothing.hidden = shown.length > 0;
  writeLabels(new Set(shown.map((i) => rootOf[clusterOf[i]])));
}

// The nearer one looks, the larger the signs; on a phone they are smaller.
function paintMap(share = 1) {
  cancelAnimationFrame(waiting);
  waiting = 0;
  if (stale) fill();
  const dots = painter.canvas.width / stage.width, many = n > 20000, nearness = Math.max(1, view.scale / stage.scale);
  const usual = (many ? 3 : n > 3000 ? 5 : 8) * Math.min(1, Math.max(0.65, stage.width / 700));
  const size = Math.min(10, usual * Math.sqrt(nearness));
  painter.paint({ ...view, scale: view.scale * dots }, {
    share, side: Math.round(1.6 * size * dots), opacity: many ? 0.7 : 0.85,
    rim: many || size < 6 ? null : channels(colour("paper")),
  });
  paintPictures();
  placeLabels();
  ring.hidden = kept === null || !inside(toPixel(kept)) || !passes(kept, names.root(clusterOf[kept]));
  if (!ring.hidden) ring.style.transform = `translate(${toPixel(kept).map((at) => at.toFixed(1) + "px")})`;
}

function paintSoon(paint = () => paintMap()) {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(paint);
}

// While the map moves, as many points are drawn as let it move smoothly; all of them when it rests.
let share = 1, resting = 0;
function paintMoving(now) {
  paintMap(share);
  requestAnimationFrame((later) => {
    const pace = later - now > 60 ? 0.7 : later - now < 45 ? 1.15 : 1;
    share = Math.min(1, Math.max(0.1, share * pace));
  });
  clearTimeout(resting);
  resting = setTimeout(() => paintSoon(), 150);
}
const drawMap = () => { stale = true; paintMap(); };
const drawMapSoon = () => { stale = true; paintSoon(); };

addEventListener("beforeprint", () => { measure(); paintMap(); });
addEventListener("afterprint", () => { measure(); paintMap(); });

function watchResolution() {
  matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", () => { measure(); watchResolution(); }, { once: true });
}
paintWith(makePainter());
new ResizeObserver(measure).observe(plot);
watchResolution();
