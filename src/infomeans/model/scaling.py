"""Scaling, which is learned from the data and is part of the model."""

from __future__ import annotations

import sys
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

ROWS = 1024
"""Samples whose extremes are looked for at once."""

BLOCK = 16_384
"""Samples that are added up at once."""

ONE_UNIT = 2.0
"""Features whose range is at most this many times the median range count as one unit."""

FAR = 100.0
"""Values that are further from all others than so many times the range of these do not set the
scale. Between the largest values of heavy tails such gaps are rare: with a tail `P(X > x) ~ x^-a`
the largest is 100 times the next with probability `100^-a`."""

FEW, FEWEST, MOST = 0.02, 10, 100
"""The largest share of the samples that is left out of the scale at either end, the fewest samples
of which one is, and the most that are."""

SUSPECT = 0.9
"""A feature is looked at more closely if its extreme is this share of what a few outliers could
reach, in standard deviations from the mean."""

LARGEST = 1e6
"""Scaled values beyond this are as far out as this one. Standardised values of a fit are at most
the square root of the number of samples."""

VARIES = 1e-9
"""Values that differ by a smaller share of their size count as equal in the search for outliers."""

Numbers = NDArray[np.float64]
Change = Callable[[NDArray[Any]], NDArray[Any]]


class Scaling(nn.Module):
    """Subtract a shift, multiply by a scale.

    Parameters
    ----------
    shift, scale : tensors
        Tensors of one sample's shape, or scalars.
    low, high : tensors, optional
        Values below and above these are replaced by them first.
    """

    shift: Tensor
    scale: Tensor
    low: Tensor | None
    high: Tensor | None

    def __init__(
        self, shift: Tensor, scale: Tensor, low: Tensor | None = None, high: Tensor | None = None
    ) -> None:
        super().__init__()
        self.register_buffer("shift", shift)
        self.register_buffer("scale", scale)
        # Only a model with outliers has these, so that others are saved as they always were.
        self.register_buffer("low", low)
        self.register_buffer("high", high)

    def forward(self, x: Tensor) -> Tensor:
        """Scaled samples. A difference that overflows is the largest number, not infinity."""
        if self.low is not None and self.high is not None:
            x = x.clamp(self.low, self.high)
        difference = x - self.shift
        largest = torch.finfo(difference.dtype).max
        return difference.clamp(-largest, largest) * self.scale

    def clipped(self, samples: NDArray[Any]) -> NDArray[Any]:
        """Samples (n, ...) in which outliers are replaced, but not scaled."""
        if self.low is None or self.high is None:
            return samples
        limits = self.low.numpy(), self.high.numpy()
        if samples.dtype.kind == "f":
            # Limits in doubles would make doubles of all samples.
            with np.errstate(over="ignore"):
                limits = limits[0].astype(samples.dtype), limits[1].astype(samples.dtype)
        return np.clip(samples, *limits)

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
        """Scale to the interval [-1, 1], with the same limits for all pixels.

        Images with far larger or smaller pixels than all others do not set the limits.
        """
        blocks = (block.reshape(len(block), -1) for block in data.blocks(BLOCK))
        ends = [(block.min(axis=1), block.max(axis=1)) for block in blocks]
        lows, highs = (np.concatenate(end).astype(np.float64) for end in zip(*ends, strict=True))
        _check_finite(data, lows.min(), highs.max())
        # Bytes cannot be far from each other.
        few = _few(len(data)) if data.rows.dtype.itemsize > 1 else 0
        low, high = _usual(np.sort(lows)[: few + 1, None], np.sort(highs)[-few - 1 :, None])
        limits = _limits(low[0], high[0], lows.min(), highs.max())
        half = low[0] / 2, high[0] / 2
        size = half[1] - half[0]
        scale = 1 / size if size > 1 / sys.float_info.max else 0.0
        return cls._from(half[0] + half[1], scale, *limits)

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
        return cls._from(found.mean, _inverse(found.std, found.mean), *found.limits)

    @classmethod
    def _even(cls, found: _Spread) -> Scaling:
        largest = found.std.max() or 1.0
        size = largest * np.sqrt(np.mean((found.std / largest) ** 2))
        return cls._from(found.mean, _inverse(size, np.abs(found.mean).max()), *found.limits)

    @classmethod
    def _from(cls, shift: Any, scale: Any, *limits: Any) -> Scaling:
        return cls(*(torch.as_tensor(x, dtype=torch.float64) for x in (shift, scale, *limits)))


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
    """Mean, standard deviation and range of every feature; limits if there are outliers."""

    mean: Numbers
    std: Numbers
    half_range: Numbers
    limits: tuple[Numbers, ...] = ()


def _spread(data: Dataset) -> _Spread:
    """The spread of all samples, in one pass.

    Numbers that cannot be squared need another, and so do features that may have outliers.
    """
    found = _merged_moments(data)
    _check_finite(data, found.low, found.high)
    mean, std = _in_squares(data, found)
    few = _few(found.n)
    suspect = np.zeros(len(mean), dtype=bool)
    if few:
        reach = SUSPECT * np.sqrt(found.n / (2 * few) - 1)
        furthest = np.maximum(found.high / 2 - mean / 2, mean / 2 - found.low / 2)
        suspect = (std > 0) & (furthest > reach * std / 2)
    if suspect.any():
        low, high = _usual(*_extremes(data, suspect, few))
        limits = np.full((2, len(mean)), [[-np.inf], [np.inf]])
        limits[:, suspect] = (
            _limits(low, high, found.low[suspect], found.high[suspect]) or (limits[:, suspect])
        )
        if np.isfinite(limits).any():
            found = _merged_moments(data, lambda block: block.clip(*limits))
            mean, std = _in_squares(data, found, lambda block: block.clip(*limits))
            return _Spread(mean, std, found.high / 2 - found.low / 2, tuple(limits))
    return _Spread(mean, std, found.high / 2 - found.low / 2)


def _unchanged(block: NDArray[Any]) -> NDArray[Any]:
    return block


def _in_squares(
    data: Dataset, found: _Moments, change: Change = _unchanged
) -> tuple[Numbers, Numbers]:
    """Mean and standard deviation, also of numbers that cannot be squared."""
    mean, std = found.mean, np.sqrt(found.squares / found.n)
    sizes = np.maximum(np.abs(found.low), np.abs(found.high))
    odd = (sizes > 0) & ((sizes < 1 / SQUARED) | (sizes > SQUARED))
    if odd.any():
        unit = sizes[odd]
        shares = _merged_moments(data, lambda block: change(block)[:, odd] / unit)
        mean[odd], std[odd] = unit * shares.mean, unit * np.sqrt(shares.squares / shares.n)
    return mean, std


def _merged_moments(data: Dataset, change: Change = _unchanged) -> _Moments:
    with np.errstate(over="ignore", invalid="ignore"):
        blocks = (_Moments.of_block(change(block)) for block in data.blocks(BLOCK))
        return reduce(_Moments.merged, blocks)


def _few(n: int) -> int:
    """The most samples at one end that may be outliers."""
    return min(max(int(FEW * n), 1), MOST) if n >= FEWEST else 0


def _extremes(data: Dataset, features: NDArray[np.bool_], few: int) -> tuple[Numbers, Numbers]:
    """The lowest and the highest values of some features, (few + 1, d) each and sorted."""
    lowest = highest = np.empty((0, int(features.sum())))
    for block in data.blocks(BLOCK):
        # Some rows at a time: the copies in doubles are several times as large.
        for first in range(0, len(block), ROWS):
            values = block[first : first + ROWS, features].astype(np.float64)
            lowest = _first(np.concatenate([lowest, values]), few + 1)
            highest = -_first(np.concatenate([-highest, -values]), few + 1)
    return np.sort(lowest, axis=0), np.sort(highest, axis=0)


def _first(values: Numbers, count: int) -> Numbers:
    """The lowest values (count, d) of every feature, in any order."""
    return np.partition(values, count - 1, axis=0)[:count] if len(values) > count else values


def _usual(lowest: Numbers, highest: Numbers) -> tuple[Numbers, Numbers]:
    """The lowest and the highest value (d,) of every feature that is no outlier.

    The range begins without the given values and grows to the nearest of them, as long as that is
    not too far away for what the range is by then. A range of zero grows to any value: a feature
    that is mostly zero has no outliers because of that.

    Parameters
    ----------
    lowest, highest : (m, d) arrays
        The lowest values of every feature, and the highest ones, sorted. The last of the lowest and
        the first of the highest are no outliers.
    """
    every, last = np.arange(lowest.shape[1]), len(lowest) - 1
    down, up = np.full(len(every), last), np.zeros(len(every), dtype=int)
    for _ in range(2 * last):
        # Halves, because a difference may overflow.
        low, high = lowest[down, every] / 2, highest[up, every] / 2
        below, above = np.maximum(down - 1, 0), np.minimum(up + 1, last)
        gaps = low - lowest[below, every] / 2, highest[above, every] / 2 - high
        gaps = np.where(down > 0, gaps[0], np.inf), np.where(up < last, gaps[1], np.inf)
        gap, size = np.minimum(*gaps), high - low
        flat = size <= VARIES * np.maximum(np.abs(low), np.abs(high))
        grows = np.isfinite(gap) & (flat | (gap / FAR <= size))
        if not grows.any():
            break
        lower = gaps[0] <= gaps[1]
        down, up = np.where(grows & lower, below, down), np.where(grows & ~lower, above, up)
    return lowest[down, every], highest[up, every]


def _limits(low: Any, high: Any, lowest: Any, highest: Any) -> tuple[Any, ...]:
    """The limits of what is scaled: infinite where there is no outlier; none if there are none.

    Outliers are as far from the others as these are from each other, so that they stay apart.
    """
    if np.all(low == lowest) and np.all(high == highest):
        return ()
    with np.errstate(over="ignore"):
        size = high - low
        return (
            np.where(low > lowest, low - size, -np.inf),
            np.where(high < highest, high + size, np.inf),
        )


def _check_finite(data: Dataset, *ends: Any) -> None:
    """Raise an error that names the samples, if the extremes are not finite."""
    if not np.isfinite(ends).all():
        data.check_finite()


def _inverse(std: Any, size: Any) -> Numbers:
    """One over the standard deviation; zero where that is only rounding error."""
    varies = (std > 1e-12 * np.abs(size)) & (std > 1 / SQUARED**3)
    return np.where(varies, 1 / np.where(varies, std, 1), 0.0)
