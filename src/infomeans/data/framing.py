"""Choose a common size for images, and how to treat different proportions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log
from statistics import fmean, median

from infomeans.data.decoding import Fit, Size

SMALLEST_SIDE = 8
LARGEST_SIDE = 64
ALIKE = 1.1
"""Proportions that differ by at most this factor count as the same."""

NEARLY_ALL = 0.95
FEW, MOST = 4, 2 / 3
"""Images count as photos if the 4 most common proportions cover two thirds of them."""

LEAST_KEPT = 0.5


def common_size(sizes: Sequence[Size]) -> Size:
    """The median width and height, shrunk to at most 64 pixels a side."""
    width, height = (median(sides) for sides in zip(*sizes, strict=True))
    factor = min(1, LARGEST_SIDE / max(width, height))
    return max(SMALLEST_SIDE, round(width * factor)), max(SMALLEST_SIDE, round(height * factor))


def best_fit(sizes: Sequence[Size], size: Size) -> Fit:
    """Choose how to bring images of these sizes to one size.

    - Nearly all have the same proportions: "stretch". It changes all images in the same way, loses
      nothing and adds nothing.
    - Most have one of a few proportions, as photos do, upright or not: "crop". With bars, the
      clusters would show how the camera was held, not what it saw.
    - Every image has its own proportions, as cut-outs do: "pad". The subject reaches the edges,
      where a crop would cut it.

    A crop loses the share of the image that bars would take of the frame. If that is more than
    half on average, "pad" is chosen for photos too.

    Parameters
    ----------
    sizes : sequence of (width, height)
        Sizes of the images.
    size : (width, height)
        The common size.
    """
    shapes = [width / height for width, height in sizes]
    middle = median(shapes)
    alike = sum(1 / ALIKE <= shape / middle <= ALIKE for shape in shapes)
    if alike >= NEARLY_ALL * len(shapes):
        return "stretch"
    steps = Counter(round(log(shape, ALIKE)) for shape in shapes)
    common = sum(count for _, count in steps.most_common(FEW))
    frame = size[0] / size[1]
    kept = fmean(min(shape / frame, frame / shape) for shape in shapes)
    return "crop" if common >= MOST * len(shapes) and kept >= LEAST_KEPT else "pad"
