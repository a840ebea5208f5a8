// The labels of the clusters on the map.
const MOST_LABELS = 30;

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
    const name = names.title(root), label = make("span", {}, shortened(name || String(root), stage.width < 500 ? 14 : 24));
    label.style.borderColor = hueName(root);
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
  const crowded = written.filter(({ centre }) => inside(pixelAt(...centre))).length > MOST_LABELS;
  for (const { label, centre, width, height, named } of written) {
    const [x, y] = pixelAt(...centre), left = within(x - width / 2, stage.width - width), top = within(y - height - 6, stage.height - height);
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
