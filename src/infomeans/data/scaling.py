"""Scaling that is learned from the data and is part of the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

SQUARED = 1e100
"""Numbers beyond this, or below its inverse, are not squared: a double could not hold it."""


class Scaling(nn.Module):
    """Subtract a shift, multiply by a scale.

    Parameters
    ----------
    shift, scale : tensors
        Of one sample's shape, or scalars.
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

    @classmethod
    def of_images(cls, X: NDArray[Any]) -> Scaling:
        """To the interval [-1, 1], the same for all pixels."""
        low, high = float(X.min()) / 2, float(X.max()) / 2
        return cls._from(low + high, 1 / (high - low) if high > low else 0.0)

    @classmethod
    def of_features(cls, X: NDArray[Any]) -> Scaling:
        """Every feature to mean 0 and variance 1; a constant one to 0."""
        mean, std = _moments(X)
        return cls._from(mean, _inverse(std, mean))

    @classmethod
    def of_embeddings(cls, X: NDArray[Any]) -> Scaling:
        """To mean 0 and mean variance 1, which keeps the proportions of all distances."""
        mean, std = _moments(X)
        largest = std.max() or 1.0
        size = largest * np.sqrt(np.mean((std / largest) ** 2))
        return cls._from(mean, _inverse(size, np.abs(mean).max()))

    @classmethod
    def _from(cls, shift: Any, scale: Any) -> Scaling:
        return cls(*(torch.as_tensor(x, dtype=torch.float64) for x in (shift, scale)))


def _moments(X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    with np.errstate(over="ignore", invalid="ignore"):
        mean, std = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    sizes = np.maximum(*(np.abs(end.astype(np.float64)) for end in (X.min(axis=0), X.max(axis=0))))
    odd = (sizes > 0) & ((sizes < 1 / SQUARED) | (sizes > SQUARED))
    if odd.any():
        shares = X[:, odd] / sizes[odd]
        mean[odd], std[odd] = sizes[odd] * shares.mean(axis=0), sizes[odd] * shares.std(axis=0)
    return mean, std


def _inverse(std: Any, size: Any) -> NDArray[np.float64]:
    """One over the deviation; zero where it is no more than rounding."""
    varies = (std > 1e-12 * np.abs(size)) & (std > 1 / SQUARED**3)
    return np.where(varies, 1 / np.where(varies, std, 1), 0.0)
