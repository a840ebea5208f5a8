"""Small random changes of images that leave them what they are."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.quasirandom import SobolEngine

LIMITS = {"degrees": 10.0, "scale": 0.1, "shear": 0.1, "shift": 0.06}
"""How far an image may be turned and scaled, sheared, and shifted in units of its size."""

VOTES = {"say": 0.5, "doubt": 0.01}
"""How much neighbours count in the targets, and how much they may be wrong."""

VIEWS = 7
"""Views of an image that its posteriors are the mean of: itself, and changes that cancel out."""

KINDS = 5


def augmentation_settings() -> dict[str, float]:
    """What checkpoints and results write down about augmentation."""
    return {**LIMITS, **VOTES, "views": VIEWS}


def random_affine(x: Tensor) -> Tensor:
    """Turn, scale, shear and shift every image by its own small random amounts.

    `LIMITS` says how far at most. Pixels that come in from outside repeat the border.

    Parameters
    ----------
    x : (n, c, h, w) tensor
    """
    return affine(x, 2 * torch.rand(KINDS, len(x), device=x.device, dtype=x.dtype) - 1)


def affine(x: Tensor, amounts: Tensor) -> Tensor:
    """Turn, scale, shear and shift images.

    Parameters
    ----------
    x : (n, c, h, w) tensor
    amounts : (5, n) or (5, 1) tensor
        Of each kind of change, between -1 and 1, where `LIMITS` are reached; for every image its
        own or the same. Shifts to the right and down are kinds of their own.
    """
    turn = amounts[0] * math.radians(LIMITS["degrees"])
    grow, lean = 1 + amounts[1] * LIMITS["scale"], amounts[2] * LIMITS["shear"]
    # A grid runs from -1 to 1, so that the width is 2.
    right, down = amounts[3:] * (2 * LIMITS["shift"])
    cos, sin = grow * turn.cos(), grow * turn.sin()
    ratio = x.shape[2] / x.shape[3]  # of the units of the two axes
    rows = (
        torch.stack([cos, ratio * (lean * cos - sin), right]),
        torch.stack([sin / ratio, lean * sin + cos, down]),
    )
    maps = torch.stack(rows).permute(2, 0, 1)
    grid = F.affine_grid(maps, [len(maps), *x.shape[1:]], align_corners=False)
    # Not len(x), which would be fixed for good in a model that is exported.
    grid = grid.expand(x.shape[0], -1, -1, -1)
    moved = F.grid_sample(x, grid, padding_mode="border", align_corners=False)
    return moved.contiguous(memory_format=torch.channels_last)


def fixed_changes() -> Tensor:
    """Amounts (`VIEWS` - 1, 5) of changes that are spread evenly and have a mean of zero."""
    # The first point of the sequence is a corner, the second the centre, which changes nothing.
    return 2 * SobolEngine(KINDS).draw(VIEWS + 1)[2:] - 1
