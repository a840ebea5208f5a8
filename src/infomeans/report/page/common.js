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
const escapeText = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
const shortened = (text, most = 24) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
const exact = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6))));
const grouped = (number) => Number(number).toLocaleString("en-US");

const remember = {
  get(key) {
    try { return localStorage.getItem("infomeans:" + key); } catch (error) { return null; }
  },
  set(key, text) {
    try { localStorage.setItem("infomeans:" + key, text); } catch (error) { /* not kept */ }
  },
};

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

function baseLayout(extra) {
  const axis = { gridcolor: colour("grid"), zerolinecolor: colour("grid"), linecolor: colour("line"), automargin: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colour("ink"), family: getComputedStyle(document.body).fontFamily, size: 13 },
    margin: { l: 56, r: 16, t: 36, b: 44 },
    hoverlabel: { bgcolor: colour("paper"), bordercolor: colour("line"), font: { color: colour("ink") } },
    ...extra,
    xaxis: { ...axis, ...(extra.xaxis || {}) }, yaxis: { ...axis, ...(extra.yaxis || {}) },
  };
}

// Plotly's script is large, so it is run when the first chart is wanted.
function runPlotly() {
  if (!window.Plotly) document.body.append(make("script", { textContent: byId("plotly").textContent }));
}

// Charts are drawn when they come into view or are printed, and again when the theme changes.
const charts = new Map();
function chart(id, height, draw) {
  const place = byId(id);
  if (!place) return;
  place.style.minHeight = height + "px";
  const show = () => {
    watcher.disconnect();
    if (charts.has(id)) return;
    charts.set(id, draw);
    runPlotly();
    draw(place);
  };
  const watcher = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) show();
  }, { rootMargin: "300px" });
  watcher.observe(place);
  addEventListener("beforeprint", show);
}
const redraw = () => charts.forEach((draw, id) => draw(byId(id)));
const plainConfig = { responsive: true, displaylogo: false, displayModeBar: false };

const isDark = () => document.documentElement.dataset.theme === "dark";
// Paper is light and narrow.
const page = document.documentElement, isPaper = () => page.classList.contains("paper");
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
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  byId("theme").setAttribute("aria-pressed", isDark());
  remember.set("theme", document.documentElement.dataset.theme);
  redraw();
});
