// The map: points, the labels of the clusters, filters, the sample under the pointer and the kept one.
const plot = byId("plot"), tip = byId("tip");
const labels = make("div", { className: "labels" }), ring = make("div", { className: "ring", hidden: true });
labels.setAttribute("aria-hidden", "true");
const nothing = make("p", { className: "nothing", hidden: true }, "No sample passes the filters. ", make("button", { type: "button", id: "everything" }, "Show all samples"));
plot.append(labels, ring, nothing);

const filter = { hidden: new Set(), low: 0, high: 1, class: "" };
let painter = null, shown = [], kept = null, waiting = 0, stale = true;

// What is in view: the place in the middle and the pixels of a unit, on both axes alike. The stage is
// as large as the canvas in pixels of the page; its scale is the one that shows the whole map.
const view = { x: 0, y: 0, scale: 1 };
const stage = { width: 1, height: 1, scale: 1 };
let isWhole = true;
const MARGIN = 32, NEAREST = 200, PICK = 12, MOST_LABELS = 30;

function paintWith(chosen) {
  painter?.canvas.remove();
  painter = chosen;
  stale = true;
  painter.canvas.setAttribute("aria-hidden", "true");
  painter.canvas.addEventListener("webglcontextlost", () => { paintWith(plainPainter()); measure(); });
  plot.prepend(painter.canvas);
  if (painter instanceof PlainPainter) {
    byId("map-note").textContent = "The map is drawn without WebGL, which this browser does not offer, and moves less smoothly.";
  }
}

function edges(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  return { middle: (low + high) / 2, span: high - low || 1 };
}
const across = edges(X), up = edges(Y);

const toPixel = (i) => [stage.width / 2 + (X[i] - view.x) * view.scale, stage.height / 2 - (Y[i] - view.y) * view.scale];
const inside = ([left, top]) => left > 0 && top > 0 && left < stage.width && top < stage.height;

// A canvas is blank after a change of its size, so it is painted at once.
function measure() {
  const { canvas } = painter, { width, height } = canvas.getBoundingClientRect();
  const dots = isPaper() ? 3 : Math.min(devicePixelRatio || 1, 2);
  Object.assign(stage, { width: Math.max(width, 80), height: Math.max(height, 80) });
  stage.scale = Math.min((stage.width - 2 * MARGIN) / across.span, (stage.height - 2 * MARGIN) / up.span);
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

function passes(i, root) {
  const sure = confidenceOf[i];
  if (filter.hidden.has(root)) return false;
  if (sure < filter.low - 0.005 || sure > filter.high + 0.005) return false;
  if (filter.class === "wrong") return content.matched[clusterOf[i]] !== classOf[i];
  return filter.class === "" || classOf[i] === Number(filter.class);
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
  const lookOf = rootOf.map((root) => [...channels(colourOf(root)), SIGN_NAMES.indexOf(symbolOf(root))]);
  const drawn = order.filter((i) => passes(i, rootOf[clusterOf[i]]));
  const places = new Float32Array(2 * drawn.length), looks = new Uint8Array(4 * drawn.length);
  drawn.forEach((i, at) => {
    places[2 * at] = X[i];
    places[2 * at + 1] = Y[i];
    looks.set(lookOf[clusterOf[i]], 4 * at);
  });
  painter.set(places, looks);
  shown = [...drawn.sort()];
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
    rim: isDark() && !many ? channels(colour("soft")) : null,
  });
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

const quantile = (values, share) => Float32Array.from(values).sort()[Math.floor(share * (values.length - 1))];
// Where a cluster's label stands: above most of its points, so as not to hide them.
const centres = content.clusters.map(() => [[], []]);
for (let i = 0; i < n; i++) { centres[clusterOf[i]][0].push(X[i]); centres[clusterOf[i]][1].push(Y[i]); }
centres.forEach(([xs, ys], cluster) => { centres[cluster] = xs.length ? [quantile(xs, 0.5), quantile(ys, 0.9)] : null; });

// A group's label stands at the largest of its clusters.
function centreOf(root) {
  const largest = names.members(root).reduce((a, b) => (content.clusters[b].size > content.clusters[a].size ? b : a));
  return centres[largest];
}

// The clusters with names choose first where their labels stand, then the largest.
let written = [];
function writeLabels(roots) {
  written = [...roots].filter(centreOf).map((root) => {
    const name = names.given[root], label = make("span", {}, shortened(name || String(root), stage.width < 500 ? 14 : 24));
    label.style.borderColor = colourOf(root);
    return { label, centre: centreOf(root), named: !!name, size: sizeOf(root) };
  }).sort((a, b) => b.named - a.named || b.size - a.size);
  labels.replaceChildren(...written.map(({ label }) => label));
  for (const one of written) Object.assign(one, { width: one.label.offsetWidth, height: one.label.offsetHeight });
}

// Above the points if there is room, else a little aside, in half widths and heights; a label that finds no
// room waits for a nearer view, and so do those without names while there are very many.
const ASIDE = [[0, 0], [0, -1], [1, 0], [-1, 0], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1], [0, -2], [0, 2]];
function placeLabels() {
  const taken = [], within = (value, most) => Math.min(Math.max(value, 2), most - 2);
  const all = written.map((one) => ({
    ...one, x: stage.width / 2 + (one.centre[0] - view.x) * view.scale, y: stage.height / 2 - (one.centre[1] - view.y) * view.scale,
  }));
  const crowded = all.filter(({ x, y }) => inside([x, y])).length > MOST_LABELS;
  for (const { label, x, y, width, height, named } of all) {
    const left = within(x - width / 2, stage.width - width), top = within(y - height - 6, stage.height - height);
    const free = inside([x, y]) && (named || !crowded) && ASIDE.map(([right, down]) => ({
      left: within(left + right * (width / 2 + 2), stage.width - width), top: within(top + down * (height + 3), stage.height - height),
    })).find((spot) => taken.every((other) => spot.left > other.left + other.width + 1 || other.left > spot.left + width + 1
      || Math.abs(other.top - spot.top) > height + 1));
    label.style.visibility = free ? "visible" : "hidden";
    if (!free) continue;
    label.style.transform = `translate(${free.left.toFixed(1)}px, ${free.top.toFixed(1)}px)`;
    taken.push({ ...free, width });
  }
}

function tellKept() {
  if (kept === null) return;
  byId("chosen").replaceChildren(make("h3", {}, "Sample"), make("div", { className: "details" }, ...details(kept, 144)));
}
function keep(i) {
  kept = i;
  tellKept();
  if (!inside(toPixel(i))) {
    isWhole = false;
    Object.assign(view, { x: X[i], y: Y[i] });
  }
  paintSoon();
}

// The shown sample nearest to a pixel of the map, if it is near.
function nearest([left, top], pick = PICK) {
  const x = view.x + (left - stage.width / 2) / view.scale, y = view.y - (top - stage.height / 2) / view.scale;
  let best = null, least = (pick / view.scale) ** 2;
  for (const i of shown) {
    const far = (X[i] - x) ** 2 + (Y[i] - y) ** 2;
    if (far < least) { least = far; best = i; }
  }
  return best;
}

function showTip(i, event) {
  tip.replaceChildren(...details(i));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = event.clientX + 18 + width > innerWidth ? event.clientX - width - 18 : event.clientX + 18;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, Math.min(event.clientY - height / 2, innerHeight - height - 4)) + "px";
}

// One pointer moves the map, two also zoom; one that stays where it was pressed chooses.
const pointers = new Map();
let pressed = null, pointedAt = null, before = null;
const pixel = (event) => { const box = plot.getBoundingClientRect(); return [event.clientX - box.left - plot.clientLeft, event.clientY - box.top - plot.clientTop]; };
const apart = ([a, b], [c, d]) => Math.hypot(a - c, b - d);

function grip() {
  const all = [...pointers.values()], middle = [0, 1].map((axis) => all.reduce((sum, at) => sum + at[axis], 0) / all.length);
  return { middle, far: all.length > 1 ? apart(all[0], all[1]) : 1 };
}
function pointAt(i, event) {
  if (i === null) tip.hidden = true;
  else if (i !== pointedAt || tip.hidden) showTip(i, event);
  pointedAt = i;
  plot.classList.toggle("pointing", i !== null);
}
plot.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  if (event.isPrimary) pointers.clear();
  if (!pointers.size) before = { ...view, isWhole };
  plot.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, pixel(event));
  pressed = pointers.size === 1 ? pixel(event) : null;
  pointAt(null);
});
plot.addEventListener("pointermove", (event) => {
  if (event.pointerType === "mouse" && !(event.buttons & 1)) release(event);
  if (!pointers.has(event.pointerId)) {
    if (event.pointerType !== "touch") pointAt(nearest(pixel(event)), event);
    return;
  }
  const old = grip();
  pointers.set(event.pointerId, pixel(event));
  const now = grip();
  if (pressed && apart(pressed, pixel(event)) > 4) pressed = null;
  if (pressed) return;
  plot.classList.add("held");
  move(now.middle[0] - old.middle[0], now.middle[1] - old.middle[1]);
  if (pointers.size > 1) zoom(now.far / Math.max(old.far, 1), ...now.middle);
});
function release(event, choose = false) {
  if (!pointers.delete(event.pointerId)) return;
  plot.classList.toggle("held", pointers.size > 0);
  const chosen = pressed && choose ? nearest(pressed, event.pointerType === "touch" ? 2 * PICK : PICK) : null;
  pressed = null;
  if (chosen === null) return;
  keep(chosen);
  if (event.pointerType === "touch") showTip(chosen, event);
}
plot.addEventListener("pointerup", (event) => release(event, true));
plot.addEventListener("pointercancel", (event) => {
  // The browser took the finger to scroll the page with: the map is as it was.
  if (pointers.size === 1 && pointers.has(event.pointerId)) {
    const { isWhole: was, ...place } = before;
    Object.assign(view, place);
    isWhole = was;
    paintSoon();
  }
  release(event);
});
plot.addEventListener("lostpointercapture", (event) => release(event));
plot.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") pointAt(null); });
plot.addEventListener("wheel", (event) => {
  pointAt(null);
  const far = event.deltaY * [1, 30, 300][event.deltaMode];
  // Where the map cannot get smaller, the page scrolls on.
  if (far > 0 && !event.ctrlKey && view.scale <= stage.scale) return;
  event.preventDefault();
  // A pinch on a trackpad comes as small steps of a wheel with Ctrl.
  zoom(Math.exp(Math.max(-0.6, Math.min(0.6, -far / (event.ctrlKey ? 100 : 500)))), ...pixel(event));
}, { passive: false });
plot.addEventListener("dblclick", (event) => zoom(2, ...pixel(event)));
addEventListener("scroll", () => pointAt(null), { passive: true });
addEventListener("keydown", () => pointAt(null));

// The keyboard does what the mouse does.
byId("nearer").addEventListener("click", () => zoom(1.4));
byId("farther").addEventListener("click", () => zoom(1 / 1.4));
byId("whole").addEventListener("click", wholeMap);
plot.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = 0.1 * stage.width, moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
  const zooms = { "+": 1.25, "=": 1.25, "-": 0.8 };
  if (event.key in moves) {
    move(...moves[event.key]);
  } else if (event.key in zooms) {
    zoom(zooms[event.key]);
  } else if (event.key === "0") {
    wholeMap();
  } else if ((event.key === "n" || event.key === "p") && shown.length) {
    const at = kept === null ? -1 : shown.indexOf(kept), by = event.key === "n" ? 1 : -1;
    keep(shown[(at + by + shown.length + (at < 0 && by < 0 ? 1 : 0)) % shown.length]);
  } else return;
  event.preventDefault();
});

function drawLegend() {
  const sizes = new Map();
  content.clusters.forEach((cluster, c) => sizes.set(names.root(c), (sizes.get(names.root(c)) || 0) + cluster.size));
  byId("legend").replaceChildren(...names.roots().map((root) => {
    const box = make("input", { type: "checkbox", checked: !filter.hidden.has(root) });
    box.dataset.cluster = root;
    box.addEventListener("change", () => {
      if (box.checked) filter.hidden.delete(root); else filter.hidden.add(root);
      drawMapSoon();
    });
    const name = make("span", { className: "name", title: names.of(root) }, names.of(root));
    return make("li", {}, make("label", {}, box, signOf(root), name, make("span", { className: "count" }, grouped(sizes.get(root)))));
  }));
}

function showAll() {
  filter.hidden.clear();
  Object.assign(filter, { low: 0, high: 1, class: "" });
  byId("low").value = 0;
  byId("high").value = 1;
  byId("low-out").textContent = "0.00";
  byId("high-out").textContent = "1.00";
  if (classOf) byId("class").value = "";
}

function showOnly(root) {
  showAll();
  names.roots().forEach((other) => (other === root ? filter.hidden.delete(other) : filter.hidden.add(other)));
  drawLegend();
  const legend = byId("legend"), row = legend.querySelector(`[data-cluster="${root}"]`).closest("li");
  legend.scrollTop = row.offsetTop - legend.offsetTop;
  showWhole();
  drawMap();
  byId("map").scrollIntoView();
  plot.focus({ preventScroll: true });
}

byId("everything").addEventListener("click", () => { showAll(); drawLegend(); drawMap(); plot.focus(); });
byId("everything").addEventListener("pointerdown", (event) => event.stopPropagation());
byId("all").addEventListener("click", () => { filter.hidden.clear(); drawLegend(); drawMapSoon(); });
byId("none").addEventListener("click", () => { names.roots().forEach((root) => filter.hidden.add(root)); drawLegend(); drawMapSoon(); });
for (const [end, other] of [["low", "high"], ["high", "low"]]) {
  byId(end).addEventListener("input", () => {
    filter[end] = Number(byId(end).value);
    if (filter.low > filter.high) { filter[other] = filter[end]; byId(other).value = filter[end]; }
    byId("low-out").textContent = filter.low.toFixed(2);
    byId("high-out").textContent = filter.high.toFixed(2);
    drawMapSoon();
  });
}
if (classOf) {
  content.classes.names.forEach((name, c) => byId("class").append(make("option", { value: c }, name)));
  byId("class").addEventListener("change", () => { filter.class = byId("class").value; drawMapSoon(); });
}

addEventListener("beforeprint", () => { measure(); paintMap(); });
addEventListener("afterprint", () => { measure(); paintMap(); });

function watchResolution() {
  matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", () => { measure(); watchResolution(); }, { once: true });
}
paintWith(makePainter());
new ResizeObserver(measure).observe(plot);
watchResolution();
