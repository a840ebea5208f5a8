"""Candidates for the initial clusters, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from infomeans._typing import Array, IntArray
from infomeans.methods.state import Neighbors

CLOSED = 0.05
"""How much of log K one unit of openness costs a graph."""

SIMPLER = 0.001
"""Lead that a mixed graph needs over that of a single view, as a share of log K."""

NEAR = 0.05
"""Candidates count as alternatives as `exp(-lead / (NEAR log K))`."""

Way = Literal["graph", "kmeans"]


@dataclass(frozen=True)
class Candidate:
    """A way to find clusters, and its result.

    Attributes
    ----------
    way : {"graph", "kmeans"}
        Graph agglomeration or K-means.
    views : tuple of str
        The views whose graphs are mixed, or the view of K-means.
    labels : (n,) integer array
        The clusters.
    score, near : float
        Mean `neighbor_information` over the views, weighted, in nats: on twice as many neighbours
        as a graph has, and on the nearest ones only.
    openness : float
        Mean openness of the clusters in their graph; see `infomeans.graph.sizes`.
    """

    way: Way
    views: tuple[str, ...]
    labels: IntArray
    score: float
    near: float
    openness: float = 0.0

    @property
    def cost(self) -> float:
        """What a graph must lead by: mixed ones a little, and those with open clusters more."""
        return SIMPLER * len(self.views) + CLOSED * self.openness

    @property
    def name(self) -> str:
        """In words, such as "graph on data and embedding"."""
        way = "graph" if self.way == "graph" else "K-means"
        return f"{way} on {' and '.join(self.views)}"


@dataclass(frozen=True)
class Choice:
    """The candidates for the initial clusters.

    Attributes
    ----------
    candidates : list of Candidate
        All candidates, the chosen one first.
    weights : dict of str to float
        Weight of each view; they sum to one.
    graph : (n, n) sparse array
        The graph of the chosen views.
    neighbors : dict of str to Neighbors
        The neighbours in each view that the candidates are scored on.
    free : bool
        Whether the graphs were cut without regard to sizes.
    """

    candidates: list[Candidate]
    weights: dict[str, float]
    graph: sparse.csr_array
    neighbors: dict[str, Neighbors]
    free: bool = False

    @property
    def best(self) -> Candidate:
        """The chosen candidate."""
        return self.candidates[0]

    def as_dict(self) -> dict[str, Any]:
        """The choice as JSON, without the clusters."""
        return {
            "chosen": self.best.name,
            "scores": {one.name: round(one.score, 4) for one in self.candidates},
            "weights": {name: round(weight, 4) for name, weight in self.weights.items()},
            "n_samples": len(self.best.labels),
            "free": self.free,
        }

    def stability(self) -> Array:
        """How much of the alternatives agrees with the chosen cluster of each sample (n,).

        Clusters of an alternative are matched to the chosen ones. A candidate counts less, the
        further its score is behind.
        """
        best = self.best
        scale = NEAR * np.log(max(best.labels.max() + 1, 2))
        agreement, total = np.zeros(len(best.labels)), 0.0
        for other in self.candidates[1:]:
            weight = float(np.exp(min(other.score - best.score, 0.0) / scale))
            agreement += weight * (matched(best.labels, other.labels) == best.labels)
            total += weight
        return agreement / total if total > 0 else np.ones(len(best.labels))


def matched(labels: IntArray, others: IntArray) -> IntArray:
    """Other labels, renumbered to agree with the first ones for as many samples as possible."""
    size = int(max(labels.max(), others.max())) + 1
    common = np.zeros((size, size), dtype=np.int64)
    np.add.at(common, (labels, others), 1)
    rows, columns = linear_sum_assignment(-common)
    into = np.empty(size, dtype=np.int64)
    into[columns] = rows
    return into[others]
