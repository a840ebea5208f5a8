"""Scaling, which is learned from the data and is part of the model."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

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
        _check_finite(data, *ends)
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        return cls._from(low + high, 1 / (high - low) if high > low else 0.0)

    @classmethod
    def of_features(cls, data: Dataset) -> Scaling:
        """Standardise every feature to mean 0 and variance 1; constant features to 0."""
        return cls._standard(_spread(data))

    @classmethod
    def of_table(cls, data: Dataset) -> Scaling:
        """Scale like embeddings if all features seem to have one unit, else standardise each.

        Features whose ranges are at most `ONE_UNIT` times the median range count as having one
        unit, such as pixels or centimetres. Standardising them would inflate those that hardly
        vary.
        """
        found = _spread(data)
        varying = found.half_range[found.half_range > 0]
        one_unit = len(varying) and varying.max() <= ONE_UNIT * np.median(varying)
        return cls._even(found) if one_unit else cls._standard(found)

    @classmethod
    def of_embeddings(cls, data: Dataset) -> Scaling:
        """Scale to mean 0 and mean variance 1, which keeps the ratios of all distances."""
        return cls._even(_spread(data))

    @classmethod
    def _standard(cls, found: _Spread) -> Scaling:
        return cls._from(found.mean, _inverse(found.std, found.mean))

    @classmethod
    def _even(cls, found: _Spread) -> Scaling:
        largest = found.std.max() or 1.0
        size = largest * np.sqrt(np.mean((found.std / largest) ** 2))
        return cls._from(found.mean, _inverse(size, np.abs(found.mean).max()))

    @classmethod
    def _from(cls, shift: Any, scale: Any) -> Scaling:
        return cls(*(torch.as_tensor(x, dtype=torch.float64) for x in (shift, scale)))


class _Moments(NamedTuple):
    """Number of samples; mean, sum of squared deviations and extremes of every feature."""

    n: int
    mean: Numbers
    squares: Numbers
    low: Numbers
    high: Numbers

    @classmethod
    def of_block(cls, block: NDArray[Any]) -> _Moments:
        """The moments of some samples (n, d)."""
        low, high = (end.astype(np.float64) for end in (block.min(axis=0), block.max(axis=0)))
        mean = block.sum(axis=0, dtype=np.float64) / len(block)
        return cls(len(block), mean, np.square(block - mean).sum(axis=0), low, high)

    def merged(self, other: _Moments) -> _Moments:
        """The moments of both, by the formula of Chan, Golub and LeVeque."""
        n, step = self.n + other.n, other.mean - self.mean
        between = np.square(step) * (self.n * other.n / n)
        return _Moments(
            n,
            self.mean + step * (other.n / n),
            self.squares + other.squares + between,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


class _Spread(NamedTuple):
    """Mean, standard deviation and range of every feature."""

    mean: Numbers
    std: Numbers
    half_range: Numbers


def _spread(data: Dataset) -> _Spread:
    """The spread of all samples, in one pass; numbers that cannot be squared need another."""
    found = _merged_moments(data)
    _check_finite(data, found.low, found.high)
    mean, std = found.mean, np.sqrt(found.squares / found.n)
    sizes = np.maximum(np.abs(found.low), np.abs(found.high))
    odd = (sizes > 0) & ((sizes < 1 / SQUARED) | (sizes > SQUARED))
    if odd.any():
        unit = sizes[odd]
        shares = _merged_moments(data, lambda block: block[:, odd] / unit)
        mean[odd], std[odd] = unit * shares.mean, unit * np.sqrt(shares.squares / shares.n)
    return _Spread(mean, std, found.high / 2 - found.low / 2)


def _merged_moments(
    data: Dataset, change: Callable[[NDArray[Any]], NDArray[Any]] = lambda block: block
) -> _Moments:
    with np.errstate(over="ignore", invalid="ignore"):
        blocks = (_Moments.of_block(change(block)) for block in data.blocks(BLOCK))
        return reduce(_Moments.merged, blocks)


def _check_finite(data: Dataset, *ends: Any) -> None:
    """Raise an error that names the samples, if the extremes are not finite."""
    if not np.isfinite(ends).all():
        data.check_finite()


def _inverse(std: Any, size: Any) -> Numbers:
    """One over the standard deviation; zero where that is only rounding error."""
    varies = (std > 1e-12 * np.abs(size)) & (std > 1 / SQUARED**3)
    return np.where(varies, 1 / np.where(varies, std, 1), 0.0)
