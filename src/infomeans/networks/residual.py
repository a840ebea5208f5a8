"""The network for embeddings that another model has made."""

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

DROPOUT = 0.1


class ResidualNetwork(nn.Module):
    """Moves embeddings: `x + r tanh(f(x) / r)`, where `f` has one hidden layer.

    It starts as the identity, so that the clusters start in the embeddings as they are. A head
    alone can only cut these by planes; here they may move so that planes can part the clusters.

    Parameters
    ----------
    n_inputs : int
        Length of an embedding.
    hidden : int
        Width of the layer in between.
    reach : float
        How far a feature may be moved; those that come in have a variance of 1 on average.
    """

    # No feature leaves its place by more than the reach, whatever the loss.
    bounded = True
    reconstructs = False
    double_precision = True

    def __init__(self, n_inputs: int, *, hidden: int = 1024, reach: float = 3.0) -> None:
        super().__init__()
        self.reach = reach
        self.inner = nn.Sequential(nn.Linear(n_inputs, hidden), nn.LeakyReLU())
        self.outer = nn.Linear(hidden, n_inputs)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)
        self.config: dict[str, Any] = {
            "kind": "residual",
            "n_inputs": n_inputs,
            "hidden": hidden,
            "reach": reach,
        }

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
        return x + self.reach * (self.outer(activations) / self.reach).tanh()
