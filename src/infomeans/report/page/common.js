// What all pages share: elements, colours, and charts that follow the theme.
"use strict";

const byId = (id) => document.getElementById(id);
const content = JSON.parse(byId("content").textContent);

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const percent = (share) => (100 * share).toFixed(share < 0.0995 ? 1 : 0) + "%";
const shortened = (text, most = 24) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
const grouped = (number) => Number(number).toLocaleString("en-US");
const exact = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6))));

const remember = {
  get(key) {
    try { return localStorage.getItem("infomeans:" + key); } catch (error) { return null; }
  },
  set(key, text) {
    try { localStorage.setItem("infomeans:" + key, text); } catch (error) { /* not kept */ }
  },
};

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// Charts are drawn when they come into view or are printed, and again when the theme changes.
const charts = new Map();
function chart(id, draw) {
  const place = byId(id);
  if (!place) return;
  const show = () => {
    watcher.disconnect();
    if (charts.has(id)) return;
    charts.set(id, draw);
    draw(place);
  };
  const watcher = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) show();
  }, { rootMargin: "300px" });
  watcher.observe(place);
  addEventListener("beforeprint", show);
}
function redraw() {
  dress();
  charts.forEach((draw, id) => draw(byId(id)));
}

const page = document.documentElement, isDark = () => page.dataset.theme === "dark";

// The colours of the clusters follow the theme: --c0, --c1 ... in styles.
const palette = () => content.palette[isDark() ? "dark" : "light"];
const hueOf = (cluster) => palette()[cluster % palette().length];
const hueName = (cluster) => `var(--c${cluster % palette().length})`;
const dress = () => palette().forEach((value, at) => page.style.setProperty("--c" + at, value));
dress();

const SVG = "http://www.w3.org/2000/svg";
function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  const { style = "", ...others } = attributes;
  for (const [name, value] of Object.entries(others)) element.setAttribute(name, value);
  // The policy of the page forbids the attribute, but not this.
  if (style) element.style.cssText = style;
  element.append(...children);
  return element;
}

// Paper is light and narrow.
const isPaper = () => page.classList.contains("paper");
addEventListener("beforeprint", () => {
  page.dataset.before = page.dataset.theme;
  page.dataset.theme = "light";
  page.classList.add("paper");
  redraw();
});
addEventListener("afterprint", () => {
  page.dataset.theme = page.dataset.before;
  page.classList.remove("paper");
  redraw();
});

byId("theme").setAttribute("aria-pressed", isDark());
byId("theme").addEventListener("click", () => {
  page.dataset.theme = isDark() ? "light" : "dark";
  byId("theme").setAttribute("aria-pressed", isDark());
  remember.set("theme", page.dataset.theme);
  redraw();
});
