"""The network for embeddings of another model."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
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
    n_components : int, optional
        Number of principal components to keep; by default the input is not projected. In many
        dimensions the network could learn any clusters by heart.
    hidden : int
        Width of the hidden layer.
    reach : float
        Largest change of a feature; input features have a variance of 1 on average.
    """

    reconstructs = False
    double_precision = True
    components: Tensor

    def __init__(
        self,
        n_inputs: int,
        *,
        n_components: int | None = None,
        hidden: int = 1024,
        reach: float = 3.0,
    ) -> None:
        super().__init__()
        self.reach = reach
        n_kept = n_components or n_inputs
        if n_components:
            self.register_buffer("components", torch.eye(n_inputs, n_components))
        self.projects = n_components is not None
        self.inner = nn.Sequential(nn.Linear(n_kept, hidden), nn.LeakyReLU())
        self.outer = nn.Linear(hidden, n_kept)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)
        self.config: dict[str, Any] = {
            "kind": "residual",
            "n_inputs": n_inputs,
            "n_components": n_components,
            "hidden": hidden,
            "reach": reach,
        }

    @staticmethod
    @torch.no_grad()
    def scatter(blocks: Iterable[Tensor]) -> dict[str, Tensor]:
        """Sums over samples, block by block, that `start` takes."""
        scatter, n = torch.zeros((), dtype=torch.float64), 0
        for block in blocks:
            scatter, n = scatter + (block.T @ block).cpu().double(), n + len(block)
        return {"scatter": scatter, "n": torch.tensor(n)}

    @torch.no_grad()
    def start(self, sums: Mapping[str, Tensor]) -> None:
        """Before training, project to the principal components of centred samples.

        They are scaled to a variance of 1 on average.

        Parameters
        ----------
        sums : mapping of str to Tensor
            What `scatter` says of all samples.
        """
        variances, vectors = torch.linalg.eigh(sums["scatter"].cpu() / int(sums["n"]))
        kept = self.components.shape[1]
        size = variances[-kept:].mean().clamp_min(1e-12).sqrt()
        self.components.copy_(vectors[:, -kept:].flip(1) / size)

    def forward(self, x: Tensor) -> Tensor:
        """The embedding without noise."""
        x = self._projected(x)
        return self._moved(x, self.inner(x))

    def noisy(self, x: Tensor, *, drop: bool = True) -> Tensor:
        """The embedding, with dropout in the hidden layer."""
        x = self._projected(x)
        activations = self.inner(x)
        return self._moved(x, F.dropout(activations, DROPOUT) if drop else activations)

    def reconstruction(self, x: Tensor, noisy: Tensor) -> Tensor:
        """Zero, because there is no decoder."""
        return x.new_zeros(())

    def _projected(self, x: Tensor) -> Tensor:
        return x @ self.components if self.projects else x

    def _moved(self, x: Tensor, activations: Tensor) -> Tensor:
        return x + self.reach * (self.outer(activations) / self.reach).tanh()
