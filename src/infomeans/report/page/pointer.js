// The sample under the pointer, the one that is kept, and what moves the map: mouse, fingers and keys.
const tip = byId("tip"), PICK = 12;
let kept = null;

function tellKept() {
  if (kept === null) return;
  const large = make("button", { type: "button" }, "Open large"), at = kept;
  large.addEventListener("click", () => openLarge(at, [at]));
  byId("chosen").replaceChildren(make("h3", {}, "Sample"), make("div", { className: "details" }, ...details(kept, 144)), make("div", { className: "row" }, large));
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
  const under = pictureAt(left, top);
  if (under !== null) return under;
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
