"""Adapters: no network, and a module of the user."""

from typing import Self

import torch.nn.functional as F
from torch import Tensor, nn


class Identity(nn.Module):
    """No network: the embedding is the scaled data."""

    reconstructs = False
    double_precision = True

    def forward(self, x: Tensor) -> Tensor:
        """The input."""
        return x

    def noisy(self, x: Tensor, *, drop: bool = True) -> Tensor:
        """The input."""
        return x

    def reconstruction(self, x: Tensor, noisy: Tensor) -> Tensor:
        """Zero."""
        return x.new_zeros(())


class UserNetwork(nn.Module):
    """A module of the user, as an encoder or as an auto-encoder.

    The embedding is `module.encode(x)` if there is such a method, else `module(x)`. If there is a
    method `module.decode(z)`, the mean squared error of the reconstruction is added to the loss.
    The noisy pass is the module in training mode, with its own dropout. A part that is in
    evaluation mode while the module is not, such as a frozen BatchNorm, stays in it.

    Parameters
    ----------
    module : nn.Module
        Maps samples to embeddings.
    """

    # A user's code may hold float32 tensors that do not move with the module.
    double_precision = False

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        self.frozen = [part for part in module.modules() if _is_frozen(part, module)]
        self.reconstructs = hasattr(module, "decode")

    def forward(self, x: Tensor) -> Tensor:
        """The embedding without noise: the module in evaluation mode."""
        if not self.training:
            return self._encode(x)
        self.eval()
        try:
            return self._encode(x)
        finally:
            self.train()

    def train(self, mode: bool = True) -> Self:
        """Set the training mode, except for frozen parts."""
        super().train(mode)
        for part in self.frozen:
            part.training = False
        return self

    def noisy(self, x: Tensor, *, drop: bool = True) -> Tensor:
        """The embedding with the module's own noise; `drop` has no effect on its dropout."""
        return self._encode(x)

    def decode(self, z: Tensor) -> Tensor:
        """The input decoded from an embedding."""
        return self.module.decode(z)  # type: ignore[operator]

    def reconstruction(self, x: Tensor, noisy: Tensor) -> Tensor:
        """Mean squared error of the reconstruction; zero without a decoder."""
        return F.mse_loss(self.decode(noisy), x) if self.reconstructs else x.new_zeros(())

    def _encode(self, x: Tensor) -> Tensor:
        encode = getattr(self.module, "encode", self.module)
        return encode(x)


def _is_frozen(part: nn.Module, module: nn.Module) -> bool:
    """Whether a part is in evaluation mode while the module trains, or has frozen statistics."""
    if module.training and not part.training:
        return True
    statistics = getattr(part, "running_mean", None) is not None
    weights = list(part.parameters(recurse=False))
    return statistics and bool(weights) and not any(weight.requires_grad for weight in weights)
