"""Figures for notebooks. matplotlib is optional and is imported when a figure is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from infomeans._typing import Array, IntArray
from infomeans.errors import InputError
from infomeans.plots.cards import share_text, size_text
from infomeans.plots.palette import COLOURS, look
from infomeans.plots.projection import Kind, draw_map
from infomeans.plots.thumbnails import Tones

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

History = Sequence[Mapping[str, Any]]
Images = NDArray[np.generic]

INK, SOFT, BAND = "#1b2330", "#566072", "#8894a8"
_LINES = ("-", "--", ":", "-.")
_OTHERS = {"phase", "epoch", "loss", "vote_weight", "empty", "back_to", "halvings", "seconds"}
"""Fields of a record that are neither drawn below nor terms of the loss."""

_CHANGE = "change of the targets"
_CHARTS = (
    ("nats", {"mi": "I(X;K)", "h_k": "H(K)", "h_k_x": "H(K|X)", "score": "I(K;K')"}),
    (_CHANGE, {"delta_q": "mean squared change"}),
)
_MARKERS: dict[str, Any] = {
    "circle": "o",
    "diamond": "D",
    "square": "s",
    "triangle-up": "^",
    "cross": "P",
    "triangle-down": "v",
    "x": "X",
    "pentagon": "p",
    "star": "*",
    "hexagram": (6, 1, 0),
}


def history_figure(history: History) -> Figure:
    """Loss terms, entropies and the change of the targets by epoch.

    Parameters
    ----------
    history : sequence of mappings
        One record per epoch; see `infomeans.training.Record`.
    """
    if not history:
        raise InputError("history is empty: the model was not trained in epochs.")
    drawn = {name for _, lines in _CHARTS for name in lines}
    terms = {name: name for record in history for name in record if name not in _OTHERS | drawn}
    wanted = (("loss", {"loss": "total loss", **terms}), *_CHARTS)
    charts = [(title, _known(lines, history)) for title, lines in wanted]
    charts = [(title, lines) for title, lines in charts if lines]
    if not charts:
        raise InputError("history has no finite values: the training diverged from the start.")
    figure = _figure(8, 1 + 2.1 * len(charts), layout="constrained")
    axes = figure.subplots(len(charts), 1, sharex=True, squeeze=False)[:, 0].tolist()
    for ax, (title, lines) in zip(axes, charts, strict=True):
        _draw_lines(ax, title, lines)
    _draw_phases(axes, [str(record["phase"]) for record in history])
    axes[-1].set_xlabel("epoch")
    axes[-1].set_xlim(0.5, len(history) + 0.5)
    axes[-1].xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    return figure


def map_figure(embedding: Array, clusters: IntArray, projection: Kind = "auto") -> Figure:
    """Every sample as a point, with the symbol of its cluster, and the cluster numbers.

    Parameters
    ----------
    embedding : (n, d) array
        Embedding of the samples.
    clusters : (n,) integer array
        Cluster of each sample.
    projection : {"auto", "lda", "pca", "umap"}
        See `infomeans.plots.projection.draw_map`.
    """
    figure = _figure(7, 6, layout="constrained")
    drawn = draw_map(embedding, clusters, projection)
    ax = figure.subplots()
    present = np.unique(clusters).tolist()
    side = float(np.clip(900 / math.sqrt(len(clusters)), 6, 36))
    for cluster in present:
        colour, sign = look(cluster)
        x, y = drawn.points[clusters == cluster].T
        ax.scatter(x, y, s=side, color=colour, marker=_MARKERS[sign], linewidths=0, alpha=0.75)
    _write_numbers(ax, present, drawn.points, clusters)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color(BAND)
    ax.text(0, -0.01, drawn.name, transform=ax.transAxes, va="top", size=8, color=SOFT)
    return figure


def clusters_figure(
    sizes: IntArray,
    confidences: Array,
    prototypes: Images | None = None,
    samples: Sequence[Images] | None = None,
    *,
    tones: Tones | None = None,
) -> Figure:
    """Every cluster: its number, size, share and, for images, what it looks like.

    Parameters
    ----------
    sizes : (K,) integer array
        Number of samples in each cluster.
    confidences : (K,) array
        Mean confidence in each cluster; any value for an empty cluster.
    prototypes : (K, c, h, w) array, optional
        An image for each cluster.
    samples : K arrays (m, c, h, w), optional
        The most typical samples of each cluster; all of them are shown.
    tones : Tones, optional
        Values to show as black and white; by default the extremes of all images.
    """
    rows = _rows(prototypes, samples, len(sizes))
    if not any(rows):
        return _bars(sizes, confidences)
    tones = tones or Tones(np.concatenate([image.ravel() for row in rows for image in row]))
    grid = _Grid.of(rows, gap=0 if prototypes is None or samples is None else 0.15)
    return _panels(sizes, confidences, rows, tones, grid)


def _figure(width: float, height: float, **options: Any) -> Figure:
    try:
        from infomeans.plots.canvas import Canvas
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'infomeans[plots]'") from error
    return Canvas(figsize=(width, height), **options)


def _known(lines: Mapping[str, str], history: History) -> dict[str, Array]:
    """The values of each line by name, without lines that have no finite value."""
    values = {
        name: np.array([_number(record.get(field)) for record in history])
        for field, name in lines.items()
    }
    return {name: line for name, line in values.items() if np.isfinite(line).any()}


def _number(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else math.nan


def _draw_lines(ax: Axes, title: str, lines: Mapping[str, Array]) -> None:
    for place, (name, values) in enumerate(lines.items()):
        epochs = np.arange(1, len(values) + 1)
        colour, style = COLOURS[place % len(COLOURS)], _LINES[place % len(_LINES)]
        ax.plot(epochs, values, style, marker=".", markersize=4, color=colour, label=name)
    if title == _CHANGE and any((line > 0).any() for line in lines.values()):
        ax.set_yscale("log", nonpositive="mask")
    ax.set_ylabel(title)
    ax.spines[["top", "right"]].set_visible(False)
    if len(lines) > 1:
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def _draw_phases(axes: Sequence[Axes], phases: Sequence[str]) -> None:
    """Draw a band for each phase, and its name above the first chart."""
    begins = [at for at, name in enumerate(phases) if at == 0 or name != phases[at - 1]]
    ends = [*begins[1:], len(phases)]
    taken: dict[int, float] = {}
    for turn, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        for ax in axes:
            shade = 0.22 if turn % 2 else 0.08
            ax.axvspan(begin + 0.5, end + 0.5, color=BAND, alpha=shade, linewidth=0, zorder=0)
        middle, half = (begin + end) / 2 / len(phases), 0.008 * len(phases[begin])
        line = next(line for line in count() if taken.get(line, 0) <= max(middle - half, 0))
        taken[line] = middle + half
        _name_phase(axes[0], phases[begin], middle, line)


def _name_phase(ax: Axes, name: str, middle: float, line: int) -> None:
    ax.annotate(
        name,
        (middle, 1),
        xytext=(0, 3 + 12 * line),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="center",
        size=9,
        color=SOFT,
    )


def _write_numbers(ax: Axes, present: Sequence[int], points: Array, clusters: IntArray) -> None:
    """Write the cluster numbers at the medians, moved apart where they would overlap."""
    from matplotlib.patheffects import withStroke

    size = 11 if len(present) < 30 else 8
    middles = np.stack([np.median(points[clusters == cluster], axis=0) for cluster in present])
    inch = float((np.ptp(points, axis=0) / (6.2, 5.2)).max())
    digits = len(str(max(present)))
    places = spread(middles, np.array([digits * size * 0.7 + 2, size * 1.1]) / 72 * inch)
    outline = [withStroke(linewidth=3, foreground="white")]
    place: dict[str, Any] = {"ha": "center", "va": "center", "path_effects": outline}
    for cluster, (x, y) in zip(present, places, strict=True):
        ax.text(x, y, str(cluster), size=size, weight="bold", color=INK, **place)


def spread(middles: Array, box: Array, rounds: int = 200) -> Array:
    """Move boxes of one size apart in small steps until none overlap.

    Parameters
    ----------
    middles : (k, 2) array
        Centres of the boxes.
    box : (2,) array
        Width and height of a box.
    rounds : int
        Maximum number of steps.
    """
    # Tiny offsets separate boxes with the same centre.
    places = middles + np.arange(len(middles))[:, None] * box * 1e-3
    for _ in range(rounds):
        gaps = places[:, None] - places[None]
        over = box - np.abs(gaps)
        over[np.arange(len(places)), np.arange(len(places))] = 0
        clash: NDArray[np.bool_] = np.all(over > 1e-6 * box, axis=2)
        if not clash.any():
            break
        # Each box moves half of the overlap, along the axis where that is smaller.
        short = np.eye(2)[(over / box).argmin(axis=2)]
        pushes = np.sign(gaps) * over * short * clash[:, :, None] / 2
        places = places + pushes.sum(axis=1) / np.sqrt(np.maximum(clash.sum(axis=1), 1))[:, None]
    return places


def _rows(
    prototypes: Images | None, samples: Sequence[Images] | None, k: int
) -> list[list[Images]]:
    """The images of every cluster: its prototype, then its samples."""
    firsts = [[] if prototypes is None else [prototypes[cluster]] for cluster in range(k)]
    others = [[] if samples is None else [*samples[cluster]] for cluster in range(k)]
    return [first + other for first, other in zip(firsts, others, strict=True)]


def _bars(sizes: IntArray, confidences: Array) -> Figure:
    k = len(sizes)
    figure = _figure(float(np.clip(1.8 + 0.5 * k, 4.5, 12)), 3.6, layout="constrained")
    from matplotlib.cm import ScalarMappable

    ax = figure.subplots()
    sure = ScalarMappable(cmap="viridis")
    sure.set_clim(0, 1)
    bars = ax.bar(np.arange(k), sizes, color=sure.to_rgba(np.nan_to_num(confidences)))
    if k <= 20:
        ax.bar_label(bars, [f"{n:,}\n{share_text(n / max(sizes.sum(), 1))}" for n in sizes], size=8)
        ax.set_xticks(np.arange(k))
    ax.margins(y=0.2)
    ax.set(xlabel="cluster", ylabel="samples", xlim=(-0.7, k - 0.3))
    ax.spines[["top", "right"]].set_visible(False)
    figure.colorbar(sure, ax=ax, label="mean confidence")
    return figure


@dataclass(frozen=True)
class _Grid:
    """Layout of the panels and their images, in inches.

    Attributes
    ----------
    k, columns : int
        Number of panels, and of columns.
    image : (width, height)
        Size of one image.
    most : int
        Number of images in the longest panel.
    gap : float
        Space between the first image of a panel and the others.
    """

    k: int
    columns: int
    image: tuple[float, float]
    most: int
    gap: float

    @classmethod
    def of(cls, rows: Sequence[Sequence[Images]], gap: float) -> _Grid:
        k, most = len(rows), max(map(len, rows))
        many = k > 36 if most == 1 else k > 20
        wide = (10 if many else 6) if most == 1 else (3 if many else 2)
        side = (0.85 if many else 1.1) if most == 1 else (0.4 if many else 0.55)
        height, width = next(image.shape[1:] for row in rows for image in row)
        longer = max(height, width)
        image = side * width / longer, side * height / longer
        return cls(k, -(-k // -(-k // wide)), image, most, gap)

    @property
    def single(self) -> bool:
        """Whether panels have one image, and no room for text beside the number."""
        return self.most == 1

    @property
    def width(self) -> float:
        """Width of a panel."""
        return max(self.left(self.most), 1.05 if self.single else 3.2)

    @property
    def head(self) -> float:
        """Height of the text above the images."""
        return 0.62 if self.single else 0.32

    @property
    def size(self) -> tuple[float, float]:
        """Size of the whole figure."""
        lines = -(-self.k // self.columns)
        return (
            self.columns * (self.width + 0.25) + 0.1,
            lines * (self.image[1] + self.head + 0.05) + 0.15 + self.gap,
        )

    def left(self, place: int) -> float:
        """Left edge of an image in its panel."""
        return place * (self.image[0] + 0.04) + (self.gap if place else 0)

    def box(self, cluster: int) -> tuple[float, float, float, float]:
        """A panel's images: left, bottom, width and height as shares of the figure."""
        line, column = divmod(cluster, self.columns)
        width, height = self.size
        left = 0.15 + column * (self.width + 0.25)
        bottom = height - (line + 1) * (self.image[1] + self.head + 0.05)
        return left / width, bottom / height, self.width / width, self.image[1] / height


def _panels(
    sizes: IntArray,
    confidences: Array,
    rows: Sequence[Sequence[Images]],
    tones: Tones,
    grid: _Grid,
) -> Figure:
    figure = _figure(*grid.size)
    if grid.gap:
        left, bottom = 0.15 / grid.size[0], 0.08 / grid.size[1]
        note = "Left: the prototype. Right: the most typical samples."
        figure.text(left, bottom, note, size=7.5, color=SOFT)
    for cluster, row in enumerate(rows):
        ax = figure.add_axes(grid.box(cluster))
        for place, image in enumerate(row if sizes[cluster] else ()):
            left = grid.left(place)
            extent = left, left + grid.image[0], 0.0, grid.image[1]
            ax.imshow(_painted(image, tones), extent=extent, cmap="gray", vmin=0, vmax=255)
        ax.set(xlim=(0, grid.width), ylim=(0, grid.image[1]), aspect="auto")
        ax.axis("off")
        facts = _facts(int(sizes[cluster]), int(sizes.sum()), confidences[cluster], grid)
        _write_head(ax, cluster, facts, grid)
    return figure


def _painted(image: Images, tones: Tones) -> NDArray[np.uint8]:
    painted = tones.paint(image[None])[0]
    return painted[..., 0] if painted.shape[-1] == 1 else painted


def _facts(size: int, n: int, confidence: float, grid: _Grid) -> str:
    if not size:
        return size_text(size, n)
    if grid.single:
        return f"{size:,}, {share_text(size / n)}\nconfidence {confidence:.3f}"
    return f"{size_text(size, n)}, mean confidence {confidence:.3f}"


def _write_head(ax: Axes, cluster: int, facts: str, grid: _Grid) -> None:
    """Write symbol, number and facts above a panel."""
    colour, sign = look(cluster)
    number, top = str(cluster), 28 if grid.single else 5
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    ax.annotate(number, (0, 1), xytext=(12, top), weight="bold", size=9, color=INK, **place)
    beside = (0, 5) if grid.single else (18 + 6 * len(number), top)
    ax.annotate(facts, (0, 1), xytext=beside, size=7.5, color=SOFT, **place)
    from matplotlib.transforms import ScaledTranslation

    assert ax.figure is not None
    moved = ScaledTranslation(4 / 72, (top + 3.5) / 72, ax.figure.dpi_scale_trans)
    symbol: dict[str, Any] = {"s": 36, "color": colour, "marker": _MARKERS[sign]}
    ax.scatter([0], [1], **symbol, clip_on=False, transform=ax.transAxes + moved)
