// Samples in doubt, clusters that are hard to tell apart, and strange samples.
const shortName = (cluster) => names.title(names.root(cluster)) || String(names.root(cluster));

function captioned(i, list, text) {
  return make("figure", {}, sampleButton(i, 64, list), make("figcaption", { title: text }, text));
}

// A part that has nothing to show is left out, and so is the way to it.
function leaveOut(id, empty) {
  byId(id).hidden = empty;
  document.querySelectorAll(`nav a[href="#${id}"]`).forEach((link) => { link.hidden = empty; });
}

function pairPanel({ a, b, count, samples }) {
  return make("div", { className: "panel" },
    make("div", { className: "row" }, signOf(names.root(a)), names.of(a), make("span", { className: "hint" }, "or"), signOf(names.root(b)), names.of(b)),
    make("div", { className: "thumbs" }, ...sampleButtons(samples, 56)),
    make("div", { className: "hint" }, `${grouped(count)} ${count === 1 ? "sample is" : "samples are"} at least half as likely to lie in the other.`));
}

function drawDoubtful() {
  if (!byId("doubtful")) return;
  const unsure = content.doubtful.samples.filter(divided);
  byId("unsure").replaceChildren(...unsure.map((i) => captioned(i, unsure, `${shortName(clusterOf[i])} or ${shortName(secondOf[i])}`)));
  const pairs = content.doubtful.pairs.filter(({ a, b }) => names.root(a) !== names.root(b));
  byId("pairs").replaceChildren(...pairs.map(pairPanel));
  byId("unsure-part").hidden = !unsure.length;
  byId("pairs-part").hidden = !pairs.length;
  leaveOut("doubtful", !unsure.length && !pairs.length);
}

function drawStrange() {
  if (!byId("strange")) return;
  const { samples, scores } = content.outliers;
  byId("strangest").replaceChildren(...samples.map((i, at) => captioned(i, samples, `${scores[at].toFixed(2)}, ${shortName(clusterOf[i])}`)));
}
