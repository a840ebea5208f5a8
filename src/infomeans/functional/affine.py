"""Small affine transformations of images."""

import math
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor

LIMITS = {"degrees": 10.0, "scale": 0.1, "shear": 0.1, "shift": 0.06}
"""Largest rotation, scaling, shear, and shift; shifts are in units of the image size."""

KINDS = 5
"""Number of kinds: rotation, scaling, shear, and shifts to the right and down."""

SIGNS = [(a, b, c, a * b, a * c) for a, b, c in product((-1.0, 1.0), repeat=3)]
"""Direction of each kind of change in the views of an image, besides the image itself.

A fractional factorial design: each kind has both signs equally often, for either sign of any other.
"""


def random_affine(x: Tensor) -> Tensor:
    """Rotate, scale, shear and shift every image by small random amounts of its own.

    `LIMITS` has the largest amounts. Pixels from outside the image repeat the border.

    Parameters
    ----------
    x : (n, c, h, w) tensor

    Returns
    -------
    (n, c, h, w) tensor

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import random_affine
    >>> random_affine(torch.zeros(2, 1, 8, 8)).shape
    torch.Size([2, 1, 8, 8])
    """
    amounts = 2 * torch.rand(KINDS, len(x), device=x.device, dtype=x.dtype) - 1
    return warp(x, _affine_maps(amounts, x.shape[2] / x.shape[3]))


def view_maps(height: int, width: int) -> Tensor:
    """Affine maps (8, 2, 3) that represent all random ones, for images of this size.

    Their amounts have the same mean and covariance as the random amounts.

    Examples
    --------
    >>> from infomeans.functional import view_maps
    >>> view_maps(28, 28).shape
    torch.Size([8, 2, 3])
    """
    return _affine_maps(torch.tensor(SIGNS).T / math.sqrt(3), height / width)


def warp(x: Tensor, maps: Tensor) -> Tensor:
    """Apply affine maps to images (n, c, h, w): one map each (n, 2, 3), or one for all (1, 2, 3).

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import warp
    >>> image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> mirror = torch.tensor([[[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> warp(image, mirror)[0, 0].tolist()
    [[2.0, 1.0], [4.0, 3.0]]
    """
    grid = F.affine_grid(maps, [len(maps), *x.shape[1:]], align_corners=False)
    # Not len(x), which would become a constant in an exported model.
    grid = grid.expand(x.shape[0], -1, -1, -1)
    moved = F.grid_sample(x, grid, padding_mode="border", align_corners=False)
    return moved.contiguous(memory_format=torch.channels_last)


def _affine_maps(amounts: Tensor, ratio: float) -> Tensor:
    """Affine maps (n, 2, 3) from amounts (5, n) of each kind, in units of the limits.

    `ratio` is that of height to width, which are the units of the two axes.
    """
    turn = amounts[0] * math.radians(LIMITS["degrees"])
    grow, lean = 1 + amounts[1] * LIMITS["scale"], amounts[2] * LIMITS["shear"]
    # Grid coordinates run from -1 to 1, so the width is 2.
    right, down = amounts[3:] * (2 * LIMITS["shift"])
    cos, sin = grow * turn.cos(), grow * turn.sin()
    rows = (
        torch.stack([cos, ratio * (lean * cos - sin), right]),
        torch.stack([sin / ratio, lean * sin + cos, down]),
    )
    return torch.stack(rows).permute(2, 0, 1)
