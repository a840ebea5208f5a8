"""The network for embeddings that another model has made."""

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

HIDDEN = 1024
REACH = 3.0
"""How far a feature may be moved; the features that come in have a variance of 1 on average."""

DROPOUT = 0.1


class ResidualNetwork(nn.Module):
    """Moves embeddings a little: `x + r tanh(f(x) / r)`, where `f` has one hidden layer.

    It starts as no network at all, so that the clusters start in the embeddings as they are. A head
    alone can only cut these by planes; what comes out here can be cut so where they cannot.

    Parameters
    ----------
    n_inputs : int
        Length of an embedding.
    hidden : int
        Width of the layer in between.
    """

    # No feature leaves its place by more than the reach, whatever the loss.
    bounded = True
    reconstructs = False

    def __init__(self, n_inputs: int, *, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(n_inputs, hidden), nn.LeakyReLU())
        self.outer = nn.Linear(hidden, n_inputs)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)
        self.config: dict[str, Any] = {"kind": "residual", "n_inputs": n_inputs, "hidden": hidden}

    def forward(self, x: Tensor) -> Tensor:
        """The embedding without noise."""
        return self._moved(x, self.inner(x))

    def noisy(self, x: Tensor, *, drop: bool = True) -> Tensor:
        """The embedding, with hidden activations dropped."""
        activations = self.inner(x)
        return self._moved(x, F.dropout(activations, DROPOUT) if drop else activations)

    def reconstruction(self, x: Tensor, noisy: Tensor) -> Tensor:
        """Zero: nothing is decoded."""
        return x.new_zeros(())

    def _moved(self, x: Tensor, activations: Tensor) -> Tensor:
        return x + REACH * (self.outer(activations) / REACH).tanh()
