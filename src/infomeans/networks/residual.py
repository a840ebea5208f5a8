"""The network for embeddings of another model."""

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

DROPOUT = 0.1


class ResidualNetwork(nn.Module):
    """Fine-tunes embeddings: `x + r tanh(f(x) / r)`, where `f` has one hidden layer.

    It starts as the identity, so the initial clusters come from the unchanged embeddings. A head
    alone can only separate clusters by planes. Here the embeddings can move until planes separate
    them.

    Parameters
    ----------
    n_inputs : int
        Length of an embedding.
    hidden : int
        Width of the hidden layer.
    reach : float
        Largest change of a feature; input features have a variance of 1 on average.
    """

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
        """The embedding, with dropout in the hidden layer."""
        activations = self.inner(x)
        return self._moved(x, F.dropout(activations, DROPOUT) if drop else activations)

    def reconstruction(self, x: Tensor, noisy: Tensor) -> Tensor:
        """Zero, because there is no decoder."""
        return x.new_zeros(())

    def _moved(self, x: Tensor, activations: Tensor) -> Tensor:
        return x + self.reach * (self.outer(activations) / self.reach).tanh()
