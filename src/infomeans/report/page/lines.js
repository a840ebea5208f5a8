// How training went: a small chart for each quantity, over the epochs in which it is known.
const records = content.history;
// A record has what every method has, and the terms that the loss of this one names.
const SHARED = ["phase", "epoch", "loss", "mi", "h_k", "h_k_x", "score", "delta_q", "vote_weight", "empty", "back_to", "halvings", "seconds"];
const terms = [...new Set(records.flatMap((record) => Object.keys(record)))].filter((name) => !SHARED.includes(name));
const isKnown = (field) => records.some((record) => (record[field] ?? null) !== null);
const QUANTITIES = [
  ["loss", "Loss", "should fall and level off"], ...terms.map((name) => [name, "Loss: " + name, "a part of the loss"]),
  ["mi", "I(X;K), nats", "should rise"], ["h_k", "H(K), nats", "high if clusters are equally large"], ["h_k_x", "H(K|X), nats", "low if samples are clear"],
  ["score", "I(K;K'), nats", "agreement of neighbours"], ["delta_q", "Change of the targets", "should die away", true],
].filter(([field]) => isKnown(field));

const BOX = { width: 360, height: 190, left: 52, right: 10, top: 22, bottom: 26 };
const brief = (value) => (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5) ? value.toExponential(1) : String(Number(value.toPrecision(4))));

// Round numbers that span the values; powers of ten on a logarithmic axis.
function ticks(low, high, most) {
  const rough = (high - low) / most || Math.abs(high) || 1, power = 10 ** Math.floor(Math.log10(rough));
  const width = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999), found = [];
  for (let at = Math.ceil(low / width - 1e-9); at * width <= high + 1e-9 * width; at++) found.push(Number((at * width).toPrecision(12)));
  return found;
}
function axis(values, log) {
  const seen = log ? values.map(Math.log10) : values, low = Math.min(...seen), high = Math.max(...seen);
  const pad = (high - low || Math.abs(high) || 1) * 0.06, from = low - pad, to = high + pad;
  const whole = log ? ticks(from, to, 4).filter(Number.isInteger) : [];
  const marks = log && whole.length > 1 ? whole.map((at) => 10 ** at) : log ? ticks(10 ** from, 10 ** to, 3).filter((at) => at > 0) : ticks(from, to, 5);
  const share = (value) => ((log ? Math.log10(value) : value) - from) / (to - from);
  return { share, marks: marks.filter((mark) => share(mark) >= 0 && share(mark) <= 1) };
}

// The phases of training as bands, each named above the chart where its name has room.
function bands(first, last, x) {
  const found = [];
  for (let at = first; at <= last; at++) {
    const name = records[at].phase;
    if (!found.length || found[found.length - 1].name !== name) found.push({ name, from: at });
    found[found.length - 1].to = at;
  }
  return found.flatMap(({ name, from, to }, at) => {
    const left = x(from - 0.5), width = x(to + 0.5) - left, band = draw("rect", { class: at % 2 ? "band odd" : "band", x: left, y: BOX.top, width, height: BOX.height - BOX.top - BOX.bottom }, draw("title", {}, name));
    if (width < 6.2 * name.length) return [band];
    return [band, draw("text", { class: "phase", x: left + width / 2, y: BOX.top - 7, "text-anchor": "middle" }, name)];
  });
}

function lineChart([field, title, meaning, log]) {
  const known = records.map((record, at) => [at, record[field] ?? null]).filter(([, value]) => value !== null && (!log || value > 0));
  if (!known.length) return null;
  const [first, last] = [known[0][0], known[known.length - 1][0]], { share, marks } = axis(known.map(([, value]) => value), log);
  const x = (at) => BOX.left + ((at - first + 0.5) / (last - first + 1)) * (BOX.width - BOX.left - BOX.right);
  const y = (value) => BOX.height - BOX.bottom - share(value) * (BOX.height - BOX.top - BOX.bottom);
  const epochs = ticks(first + 1, last + 1, 6).filter(Number.isInteger), final = known[known.length - 1][1];
  const shown = make("strong", {}, brief(final)), where = make("span", { className: "hint" }, `epoch ${last + 1}`);
  const dot = draw("circle", { class: "dot", r: 4, cx: x(last), cy: y(final) });
  const picture = draw("svg", { viewBox: `0 0 ${BOX.width} ${BOX.height}`, role: "img", "aria-label": `${title}: from ${brief(known[0][1])} in epoch ${first + 1} to ${brief(final)} in epoch ${last + 1}` },
    ...bands(first, last, x),
    ...marks.flatMap((mark) => [draw("line", { class: "grid", x1: BOX.left, x2: BOX.width - BOX.right, y1: y(mark), y2: y(mark) }),
      draw("text", { x: BOX.left - 6, y: y(mark) + 4, "text-anchor": "end" }, brief(mark))]),
    ...epochs.map((epoch) => draw("text", { x: x(epoch - 1), y: BOX.height - 8, "text-anchor": "middle" }, String(epoch))),
    draw("polyline", { class: "line", points: known.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ") }), dot);
  const point = ([at, value]) => {
    dot.setAttribute("cx", x(at));
    dot.setAttribute("cy", y(value));
    shown.textContent = brief(value);
    where.textContent = `epoch ${at + 1}`;
  };
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect(), at = ((event.clientX - box.left) / box.width) * BOX.width;
    point(known.reduce((best, one) => (Math.abs(x(one[0]) - at) < Math.abs(x(best[0]) - at) ? one : best)));
  });
  picture.addEventListener("pointerleave", () => point(known[known.length - 1]));
  return make("figure", { className: "chart", id: "chart-" + field.replace(/\W+/g, "-") },
    make("figcaption", {}, make("span", { className: "title" }, title), make("span", { className: "now" }, shown, " ", where)), picture,
    make("div", { className: "hint" }, meaning));
}

function drawTraining() {
  if (!byId("charts")) return;
  byId("charts").replaceChildren(...QUANTITIES.map(lineChart).filter(Boolean));
  const fields = ["loss", ...terms, "mi", "h_k", "h_k_x", "score", "delta_q", "vote_weight", "empty", "seconds"].filter(isKnown);
  figures("epochs", ["phase", "epoch", ...fields], () => records.map((record) => [record.phase, record.epoch + 1,
    ...fields.map((field) => ((record[field] ?? null) === null ? "" : Number(record[field].toPrecision(4))))]));
}

// A table that is made when it is opened.
function figures(id, head, rows) {
  byId(id).addEventListener("toggle", () => {
    if (!byId(id).open || byId(id).querySelector("table")) return;
    const line = (cells, tag) => make("tr", {}, ...cells.map((cell) => make(tag, {}, String(cell))));
    const table = make("table", {}, make("thead", {}, line(head, "th")), make("tbody", {}, ...rows().map((row) => line(row, "td"))));
    byId(id).append(make("div", { className: "scroll", tabIndex: 0 }, table));
  });
}
