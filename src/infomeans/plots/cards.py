"""Cards of the clusters, as HTML for notebooks."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from infomeans._typing import Array, IntArray
from infomeans.plots.palette import look
from infomeans.plots.thumbnails import Tones, data_url

_SIDE = 48
_LINE = "1px solid rgba(128,128,128,.4)"
# Styles are inline, because notebooks may drop style sheets. Colours follow the notebook's text,
# because it may be light or dark.
_ALL = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.4;color:inherit;margin:4px 0"
_GRID = (
    "display:grid;grid-template-columns:repeat(auto-fill,minmax(228px,1fr));gap:8px;"
    "max-height:520px;overflow:auto"
)
_CARD = (
    f"border:{_LINE};border-radius:6px;padding:6px 8px;display:flex;gap:8px;align-items:center;"
    "white-space:nowrap;overflow:hidden"
)
_IMAGE = (
    f"width:{_SIDE}px;height:{_SIDE}px;flex:none;object-fit:contain;border:{_LINE};"
    "border-radius:4px;margin:0"
)
_TRACK = "height:4px;border-radius:2px;background:rgba(128,128,128,.25);margin:3px 0"

_CROSS = "M-.3-.9H.3V-.3H.9V.3H.3V.9H-.3V.3H-.9V-.3H-.3Z"
_SHAPES = {
    "circle": '<circle r=".85"/>',
    "diamond": '<path d="M0-1 1 0 0 1-1 0Z"/>',
    "square": '<path d="M-.8-.8H.8V.8H-.8Z"/>',
    "triangle-up": '<path d="M0-.9 1 .8H-1Z"/>',
    "cross": f'<path d="{_CROSS}"/>',
    "triangle-down": '<path d="M0 .9 1-.8H-1Z"/>',
    "x": f'<path d="{_CROSS}" transform="rotate(45)"/>',
    "pentagon": '<path d="M0-1 .95-.31 .59 .81H-.59L-.95-.31Z"/>',
    "star": '<path d="M0-1 .59 .81-.95-.31H.95L-.59 .81Z"/>',
    "hexagram": '<path d="M0-1 .87 .5H-.87ZM0 1-.87-.5H.87Z"/>',
}


def cards_html(
    name: str,
    sizes: IntArray,
    confidences: Array | None = None,
    prototypes: NDArray[np.generic] | None = None,
    *,
    mi: float | None = None,
    tones: Tones | None = None,
) -> str:
    """A line about the model, and a card for each cluster.

    Parameters
    ----------
    name : str
        Name of the model.
    sizes : (K,) integer array
        Number of samples in each cluster.
    confidences : (K,) array, optional
        Mean confidence in each cluster; any value for an empty cluster.
    prototypes : (K, c, h, w) array, optional
        An image for each cluster.
    mi : float, optional
        The mutual information I(X;K), in nats.
    tones : Tones, optional
        Values to show as black and white; by default the extremes of the prototypes.
    """
    k = len(sizes)
    pictures = [""] * k if prototypes is None else _pictures(prototypes, tones)
    sure = [None] * k if confidences is None else np.asarray(confidences, dtype=float).tolist()
    cards = [
        _card(cluster, int(sizes[cluster]), int(sizes.sum()), sure[cluster], pictures[cluster])
        for cluster in range(k)
    ]
    return (
        f'<div style="{_ALL}"><div style="margin-bottom:6px">{_heading(name, sizes, mi)}</div>'
        f'<div style="{_GRID}">{"".join(cards)}</div></div>'
    )


def size_text(size: int, n: int) -> str:
    """Size and share of a cluster, of n samples in all."""
    if not size:
        return "no samples"
    return f"{size:,} sample{'s' if size > 1 else ''}, {share_text(size / n)}"


def share_text(share: float) -> str:
    """A share in percent, with one decimal if it is small."""
    return f"{100 * share:.{1 if share < 0.0995 else 0}f} %"


def sign_svg(cluster: int) -> str:
    """The cluster's symbol in its colour."""
    colour, sign = look(cluster)
    return (
        f'<svg viewBox="-1 -1 2 2" width="11" height="11" fill="{colour}" aria-hidden="true">'
        f"{_SHAPES[sign]}</svg>"
    )


def _heading(name: str, sizes: IntArray, mi: float | None) -> str:
    k = len(sizes)
    clusters = "1 cluster" if k == 1 else f"{k:,} clusters"
    said = f"<b>{escape(name)}</b>: {clusters} of {int(sizes.sum()):,} samples"
    return said if mi is None else f"{said}, I(X;K) = {mi:.3f} nats"


def _pictures(prototypes: NDArray[np.generic], tones: Tones | None) -> list[str]:
    painted = (tones or Tones(prototypes)).paint(prototypes)
    small = max(painted.shape[1:3]) <= _SIDE
    style = f"{_IMAGE};image-rendering:{'pixelated' if small else 'auto'}"
    return [
        f'<img src="{data_url(image)}" alt="prototype of cluster {cluster}" style="{style}">'
        for cluster, image in enumerate(painted)
    ]


def _card(cluster: int, size: int, n: int, confidence: float | None, picture: str) -> str:
    width = 100 * size / max(n, 1)
    bar = f"height:100%;border-radius:2px;width:{width:.1f}%;background:{look(cluster)[0]}"
    sure = "" if confidence is None or not size else f"mean confidence {confidence:.3f}"
    return (
        f'<div style="{_CARD}">{picture if size else ""}<div style="flex:1;min-width:0">'
        f"<div>{sign_svg(cluster)} <b>{cluster}</b></div><div>{size_text(size, n)}</div>"
        f'<div style="{_TRACK}"><div style="{bar}"></div></div>'
        f'<div style="opacity:.75;font-size:12px">{sure}</div></div></div>'
    )
