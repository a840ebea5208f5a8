"""Scaling, which is learned from the data and is part of the model."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from infomeans.data import Dataset

SQUARED = 1e100
"""Numbers above this, or below its inverse, are not squared: a double would over- or underflow."""

BLOCK = 16_384
"""Samples that are added up at once."""

ONE_UNIT = 2.0
"""Features whose range is at most this many times the median range count as one unit."""

Numbers = NDArray[np.float64]


class Scaling(nn.Module):
    """Subtract a shift, multiply by a scale.

    Parameters
    ----------
    shift, scale : tensors
        Tensors of one sample's shape, or scalars.
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, shift: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("shift", shift)
        self.register_buffer("scale", scale)

    def forward(self, x: Tensor) -> Tensor:
        """Scaled samples."""
        return (x - self.shift) * self.scale

    def inverse(self, x: Tensor) -> Tensor:
        """Samples in their original units; constant features get their value."""
        return x.double() / torch.where(self.scale == 0, 1, self.scale) + self.shift

    def limits(self) -> Tensor:
        """The two values that are scaled to -1 and 1."""
        shift, scale = self.shift.double(), self.scale.double()
        half = torch.where(scale == 0, 0, 1 / scale)
        return torch.stack([shift - half, shift + half])

    @classmethod
    def of_images(cls, data: Dataset) -> Scaling:
        """Scale to the interval [-1, 1], with the same limits for all pixels."""
        ends = [(float(block.min()) / 2, float(block.max()) / 2) for block in data.blocks(BLOCK)]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        return cls._from(low + high, 1 / (high - low) if high > low else 0.0)

    @classmethod
    def of_features(cls, data: Dataset) -> Scaling:
        """Standardise every feature to mean 0 and variance 1; constant features to 0."""
        mean, std = _moments(data)
        return cls._from(mean, _inverse(std, mean))

    @classmethod
    def of_table(cls, data: Dataset) -> Scaling:
        """Scale like embeddings if all features seem to have one unit, else standardise each.

        Features whose ranges are at most `ONE_UNIT` times the median range count as having one
        unit, such as pixels or centimetres. Standardising them would inflate those that hardly
        vary.
        """
        ends = [(block.min(axis=0), block.max(axis=0)) for block in data.blocks(BLOCK)]
        low = reduce(np.minimum, (end[0] for end in ends)).astype(np.float64)
        high = reduce(np.maximum, (end[1] for end in ends)).astype(np.float64)
        ranges = high / 2 - low / 2
        varying = ranges[ranges > 0]
        one_unit = len(varying) and varying.max() <= ONE_UNIT * np.median(varying)
        return cls.of_embeddings(data) if one_unit else cls.of_features(data)

    @classmethod
    def of_embeddings(cls, data: Dataset) -> Scaling:
        """Scale to mean 0 and mean variance 1, which keeps the ratios of all distances."""
        mean, std = _moments(data)
        largest = std.max() or 1.0
        size = largest * np.sqrt(np.mean((std / largest) ** 2))
        return cls._from(mean, _inverse(size, np.abs(mean).max()))

    @classmethod
    def _from(cls, shift: Any, scale: Any) -> Scaling:
        return cls(*(torch.as_tensor(x, dtype=torch.float64) for x in (shift, scale)))


def _moments(data: Dataset) -> tuple[Numbers, Numbers]:
    """Mean and standard deviation of every feature."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = _mean(data, lambda x: x)
        std = np.sqrt(_mean(data, lambda x: np.square(x - mean)))
    sizes = reduce(np.maximum, (_largest(block) for block in data.blocks(BLOCK)))
    odd = (sizes > 0) & ((sizes < 1 / SQUARED) | (sizes > SQUARED))
    if odd.any():
        unit = sizes[odd]
        shares = _mean(data, lambda x: x[:, odd] / unit)
        spread = np.sqrt(_mean(data, lambda x: np.square(x[:, odd] / unit - shares)))
        mean[odd], std[odd] = unit * shares, unit * spread
    return mean, std


def _mean(data: Dataset, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Numbers:
    """The mean of a function over all samples."""
    sums = [function(block).sum(axis=0, dtype=np.float64) for block in data.blocks(BLOCK)]
    total: Numbers = sum(sums[1:], start=sums[0]) / len(data)
    return total


def _largest(block: NDArray[Any]) -> Numbers:
    ends = (block.min(axis=0), block.max(axis=0))
    return np.maximum(*(np.abs(end.astype(np.float64)) for end in ends))


def _inverse(std: Any, size: Any) -> Numbers:
    """One over the standard deviation; zero where that is only rounding error."""
    varies = (std > 1e-12 * np.abs(size)) & (std > 1 / SQUARED**3)
    return np.where(varies, 1 / np.where(varies, std, 1), 0.0)
