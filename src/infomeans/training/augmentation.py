"""Small random changes of images that leave them what they are."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

LIMITS = {"degrees": 10.0, "scale": 0.1, "shear": 0.1, "shift": 0.06}
"""How far an image may be turned and scaled, sheared, and shifted in units of its size."""

VOTES = {"say": 0.5, "doubt": 0.01}
"""How much neighbours count in the targets, and how much they may be wrong."""


def augmentation_settings() -> dict[str, float]:
    """What checkpoints and results write down about augmentation."""
    return {**LIMITS, **VOTES}


def random_affine(x: Tensor) -> Tensor:
    """Turn, scale, shear and shift every image by its own small random amounts.

    `LIMITS` says how far at most. Pixels that come in from outside repeat the border.

    Parameters
    ----------
    x : (n, c, h, w) tensor
    """
    turn = _uniform(x, math.radians(LIMITS["degrees"]))
    grow, lean = 1 + _uniform(x, LIMITS["scale"]), _uniform(x, LIMITS["shear"])
    # A grid runs from -1 to 1, so that the width is 2.
    right, down = (_uniform(x, 2 * LIMITS["shift"]) for _ in range(2))
    cos, sin = grow * turn.cos(), grow * turn.sin()
    ratio = x.shape[2] / x.shape[3]  # of the units of the two axes
    rows = (
        torch.stack([cos, ratio * (lean * cos - sin), right]),
        torch.stack([sin / ratio, lean * sin + cos, down]),
    )
    maps = torch.stack(rows).permute(2, 0, 1)
    grid = F.affine_grid(maps, list(x.shape), align_corners=False)
    moved = F.grid_sample(x, grid, padding_mode="border", align_corners=False)
    return moved.contiguous(memory_format=torch.channels_last)


def _uniform(x: Tensor, most: float) -> Tensor:
    """One number between -most and most for every image."""
    return (2 * torch.rand(len(x), device=x.device, dtype=x.dtype) - 1) * most
