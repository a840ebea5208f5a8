"""The size that images of all sizes get, and what becomes of their proportions."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from infomeans.data.decoding import Fit, Size

SMALLEST_SIDE = 8
LARGEST_SIDE = 64
ALIKE = 1.1
"""Proportions that differ by no more are taken for the same."""

NEARLY_ALL = 0.95
MOST_LOST = 0.35
"""The mean share that a crop may lose; a square out of photos of 3:2 loses a third."""


def common_size(sizes: Sequence[Size]) -> Size:
    """The median width and height, shrunk to at most 64 pixels a side."""
    width, height = (median(sides) for sides in zip(*sizes, strict=True))
    factor = min(1, LARGEST_SIDE / max(width, height))
    return max(SMALLEST_SIDE, round(width * factor)), max(SMALLEST_SIDE, round(height * factor))


def best_fit(sizes: Sequence[Size], size: Size) -> Fit:
    """How to bring images of these sizes to one size.

    Where nearly all have the same proportions, stretching changes all of them alike: nothing is
    lost, and nothing added. Otherwise, a crop loses the same share of a picture as padding leaves
    empty in its frame. Bars tell a network more of the proportions than of the picture, and the
    middle of a picture is what it was taken for; so little is rather lost than filled, but much is
    rather filled than lost.

    Parameters
    ----------
    sizes : sequence of (width, height)
        The images.
    size : (width, height)
        What they get.
    """
    shapes = [width / height for width, height in sizes]
    middle = median(shapes)
    alike = sum(1 / ALIKE <= shape / middle <= ALIKE for shape in shapes)
    if alike >= NEARLY_ALL * len(shapes):
        return "stretch"
    relative = [shape * size[1] / size[0] for shape in shapes]
    lost = fmean(1 - min(shape, 1 / shape) for shape in relative)
    return "crop" if lost <= MOST_LOST else "pad"
