// The pictures on the map: when one looks nearer, or sees few samples, they stand in place of the points.
// No two of them overlap; the samples that find no room stay points.
const film = make("canvas", { className: "film" }), FEW_IN_VIEW = 150, NEAR = 1.5;
film.setAttribute("aria-hidden", "true");
plot.insertBefore(film, labels);
let placed = [];

const sheetImages = new Map();
function sheetImage(index) {
  if (!sheetImages.has(index)) {
    const image = new Image();
    sheetImages.set(index, image);
    image.onload = () => paintSoon();
    loaded.then(() => { image.src = sheetUrl(index); });
  }
  const image = sheetImages.get(index);
  return image.complete && image.naturalWidth ? image : null;
}

// Boxes of one size that keep clear of each other, found by the squares of a grid.
class Room {
  constructor(width, height) {
    Object.assign(this, { width, height, taken: new Map() });
  }

  take(left, top) {
    const column = Math.floor(left / this.width), row = Math.floor(top / this.height);
    for (let c = column - 1; c <= column + 1; c++) {
      for (let r = row - 1; r <= row + 1; r++) {
        const other = this.taken.get(c + ":" + r);
        if (other && Math.abs(other[0] - left) < this.width && Math.abs(other[1] - top) < this.height) return false;
      }
    }
    this.taken.set(column + ":" + row, [left, top]);
    return true;
  }
}

function choosePictures(width, height) {
  const seen = [];
  for (const i of shownMixed) {
    const [x, y] = toPixel(i);
    if (x > -width && y > -height && x < stage.width + width && y < stage.height + height) seen.push([i, x - width / 2, y - height / 2]);
  }
  if (seen.length > FEW_IN_VIEW && view.scale < NEAR * stage.scale) return [];
  seen.sort((a, b) => (b[0] === kept) - (a[0] === kept));
  const room = new Room(width + 2, height + 2);
  return seen.filter(([, left, top]) => room.take(left, top));
}

function paintPictures() {
  const dots = painter.canvas.width / stage.width, context = film.getContext("2d");
  if (film.width !== painter.canvas.width || film.height !== painter.canvas.height) [film.width, film.height] = [painter.canvas.width, painter.canvas.height];
  context.setTransform(dots, 0, 0, dots, 0, 0);
  context.clearRect(0, 0, stage.width, stage.height);
  placed = [];
  if (!content.thumbs || !byId("with-pictures").checked) return;
  const nearness = view.scale / stage.scale, [width, height] = spriteSize(Math.min(64, Math.max(28, 22 * Math.sqrt(nearness))));
  const { columns, width: w, height: h } = content.thumbs, each = columns * columns;
  context.imageSmoothingEnabled = width <= 1.2 * w;
  for (const [i, left, top] of choosePictures(width, height)) {
    const at = rankOf[i] % each, image = sheetImage(Math.floor(rankOf[i] / each));
    if (!image) continue;
    context.fillStyle = hueOf(names.root(clusterOf[i]));
    context.fillRect(left - 2, top - 2, width + 4, height + 4);
    context.drawImage(image, (at % columns) * w, Math.floor(at / columns) * h, w, h, left, top, width, height);
    placed.push([i, left, top]);
  }
  placed.size = [width, height];
}

// The sample whose picture lies under a pixel of the map.
function pictureAt(left, top) {
  const [width, height] = placed.size || [0, 0];
  const under = placed.find(([, x, y]) => left >= x && top >= y && left <= x + width && top <= y + height);
  return under ? under[0] : null;
}
byId("with-pictures")?.addEventListener("change", () => paintSoon());
