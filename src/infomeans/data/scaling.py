"""Scaling that is learned from the data and is part of the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


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
        low, high = float(X.min()), float(X.max())
        scale = 2 / (high - low) if high > low else 0.0
        return cls(torch.tensor((low + high) / 2), torch.tensor(scale))

    @classmethod
    def of_features(cls, X: NDArray[Any]) -> Scaling:
        """Every feature to mean 0 and variance 1; a constant one to 0."""
        mean, std = _moments(X)
        return cls._from(mean, _inverse(std, mean))

    @classmethod
    def of_embeddings(cls, X: NDArray[Any]) -> Scaling:
        """To mean 0 and mean variance 1, which keeps the proportions of all distances."""
        mean, std = _moments(X)
        return cls._from(mean, _inverse(np.sqrt(np.mean(std**2)), np.abs(mean).max()))

    @classmethod
    def _from(cls, shift: Any, scale: Any) -> Scaling:
        return cls(torch.as_tensor(shift).double(), torch.as_tensor(scale).double())


def _moments(X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)


def _inverse(std: Any, size: Any) -> NDArray[np.float64]:
    """One over the deviation; zero where it is no more than rounding."""
    varies = std > 1e-12 * np.abs(size)
    return np.where(varies, 1 / np.where(varies, std, 1), 0.0)
