"""Score clusters without labels, by what neighbours know of each other's cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from infomeans._typing import IntArray
from infomeans.graph import neighbor_information
from infomeans.methods.state import Neighbors


@dataclass(frozen=True)
class Score:
    """The mutual information between the clusters of neighbours, a weighted mean over views.

    Attributes
    ----------
    neighbors : mapping of str to Neighbors
        Nearest neighbours in each view, as positions among the scored samples.
    weights : mapping of str to float
        Weight of each view; they sum to one.
    samples : (m,) integer tensor
        Positions of the scored samples.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from infomeans.graph import neighbor_graph
    >>> from infomeans.methods.state import Neighbors
    >>> from infomeans.start.score import Score
    >>> graph = neighbor_graph(np.array([[0.0], [0.1], [5.0], [5.1]]), n_neighbors=1)
    >>> score = Score({"data": Neighbors.of_graph(graph)}, {"data": 1.0}, torch.arange(4))
    >>> round(score(np.array([0, 0, 1, 1])), 4)
    0.6931
    """

    neighbors: Mapping[str, Neighbors]
    weights: Mapping[str, float]
    samples: Tensor

    def __call__(self, labels: IntArray) -> float:
        """The score of the clusters (m,) of the scored samples, in nats."""
        return sum(
            self.weights[name] * neighbor_information(near.graph(), labels)
            for name, near in self.neighbors.items()
        )

    def state_dict(self) -> dict[str, Any]:
        """The score for a checkpoint."""
        return {
            "neighbors": {name: list(near) for name, near in self.neighbors.items()},
            "weights": dict(self.weights),
            "samples": self.samples,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Score:
        """The score from a checkpoint."""
        neighbors = {name: Neighbors(*near) for name, near in state["neighbors"].items()}
        return cls(neighbors, state["weights"], state["samples"])
