"""Base class of methods whose clusters are points in the embedding."""

import torch
from torch import Tensor, nn

from infomeans.methods.base import Method
from infomeans.methods.state import SampleState


class Prototypical(Method):
    """A method whose state is a prototype per cluster.

    Parameters
    ----------
    n_clusters, n_features : int
    learned : bool
        Whether the optimiser trains the prototypes.
    """

    def __init__(self, n_clusters: int, n_features: int, *, learned: bool = False) -> None:
        super().__init__(n_clusters, n_features)
        prototypes = torch.zeros(n_clusters, n_features)
        if learned:
            self.prototypes = nn.Parameter(prototypes)
        else:
            self.register_buffer("prototypes", prototypes)

    @torch.no_grad()
    def split(
        self, state: SampleState, source: int, empty: int, stays: Tensor, leaves: Tensor
    ) -> None:
        """Move the two prototypes to the means of the two parts."""
        self.prototypes[source] = stays.mean(dim=0)
        self.prototypes[empty] = leaves.mean(dim=0)
