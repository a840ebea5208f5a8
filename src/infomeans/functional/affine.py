"""Small changes of images that leave them what they are."""

import math
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor

LIMITS = {"degrees": 10.0, "scale": 0.1, "shear": 0.1, "shift": 0.06}
"""How far an image may be turned and scaled, sheared, and shifted in units of its size."""

KINDS = 5
"""Turns, scalings, shears, and shifts to the right and down."""

SIGNS = [(a, b, c, a * b, a * c) for a, b, c in product((-1.0, 1.0), repeat=3)]
"""Which way each kind of change goes in the views of an image, beside the image itself.

A fractional factorial design: each goes both ways equally often, whichever way any other goes.
"""


def random_affine(x: Tensor) -> Tensor:
    """Turn, scale, shear and shift every image by its own small random amounts.

    `LIMITS` says how far at most. Pixels that come in from outside repeat the border.

    Parameters
    ----------
    x : (n, c, h, w) tensor
    """
    amounts = 2 * torch.rand(KINDS, len(x), device=x.device, dtype=x.dtype) - 1
    return warp(x, _affine_maps(amounts, x.shape[2] / x.shape[3]))


def view_maps(height: int, width: int) -> Tensor:
    """Affine maps (8, 2, 3) that stand for all the random ones, for images of this size.

    Their amounts have the mean and the covariance of the random ones.
    """
    return _affine_maps(torch.tensor(SIGNS).T / math.sqrt(3), height / width)


def warp(x: Tensor, maps: Tensor) -> Tensor:
    """Images (n, c, h, w), changed by a map of their own (n, 2, 3) or all by one (1, 2, 3)."""
    grid = F.affine_grid(maps, [len(maps), *x.shape[1:]], align_corners=False)
    # Not len(x), which would be fixed for good in a model that is exported.
    grid = grid.expand(x.shape[0], -1, -1, -1)
    moved = F.grid_sample(x, grid, padding_mode="border", align_corners=False)
    return moved.contiguous(memory_format=torch.channels_last)


def _affine_maps(amounts: Tensor, ratio: float) -> Tensor:
    """Maps (n, 2, 3) that change by so much (5, n) of each kind; at 1 and -1 are the limits.

    The ratio is that of height to width, the units of the two axes.
    """
    turn = amounts[0] * math.radians(LIMITS["degrees"])
    grow, lean = 1 + amounts[1] * LIMITS["scale"], amounts[2] * LIMITS["shear"]
    # A grid runs from -1 to 1, so that the width is 2.
    right, down = amounts[3:] * (2 * LIMITS["shift"])
    cos, sin = grow * turn.cos(), grow * turn.sin()
    rows = (
        torch.stack([cos, ratio * (lean * cos - sin), right]),
        torch.stack([sin / ratio, lean * sin + cos, down]),
    )
    return torch.stack(rows).permute(2, 0, 1)
