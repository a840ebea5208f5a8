"""Find the number of clusters, by cutting the tree of merges."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from infomeans._typing import Array, IntArray
from infomeans.errors import InputError
from infomeans.graph.branches import Branches
from infomeans.graph.neighbors import inverse_dimensions, nearest_neighbors, weighted_graph
from infomeans.graph.tree import first_clusters, merge_all

FEWEST_SAMPLES = 20
"""Fewer samples than this have no number of clusters to find."""

MOST_SAMPLES = 12_000
"""Of more samples, a random selection of this size is looked at."""

COUNTS = (18, 12, 8, 5)
"""Numbers of neighbours to try."""

SLACK = 0.1
"""More neighbours are used unless they raise `1 - Q` by more than this share."""

POWER, THIN = 0.3, 0.8
"""The power of K in the criterion, and what is added to it in few dimensions, divided by these."""

CLEAR = 0.002
"""Groups with a smaller share of edges between them are apart, whatever their sizes."""

PARTS = 1_500
"""Number of branches at the level of the tree from which all cuts are made."""

RUNS, SHARE = 5, 0.8
"""Number of random selections that confirm the result, and the share of the samples in each: at
most half of `MOST_SAMPLES`."""

NEAR = 0.1
"""Other numbers are answers too if their criterion is at most this share higher."""

MOST_OTHERS = 2
"""Number of other answers to name."""

Automatic = Literal["auto"]


@dataclass(frozen=True)
class NumberOfClusters:
    """The number of clusters, and how sure it is.

    Attributes
    ----------
    best : int
        The number of clusters.
    others : list of int
        The next best answers, at most two.
    finest : int
        The number with the highest modularity: finer groups than these are not supported.
    sure : float
        Share of random selections of the samples that give the same number, up to a tenth.
    modularity : (k_max,) array
        Modularity of the best cut into 1, 2, ... clusters.
    n_neighbors : int
        Number of neighbours in the graph.
    n_samples : int
        Number of samples that were looked at.
    k_min, k_max : int
        The given bounds.
    """

    best: int
    others: list[int]
    finest: int
    sure: float
    modularity: Array
    n_neighbors: int
    n_samples: int
    k_min: int
    k_max: int | None

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON."""
        return {
            "best": self.best,
            "others": self.others,
            "finest": self.finest,
            "sure": self.sure,
            "modularity": [round(value, 4) for value in self.modularity.tolist()],
            "n_neighbors": self.n_neighbors,
            "n_samples": self.n_samples,
            "k_min": self.k_min,
            "k_max": self.k_max,
        }


def number_of_clusters(
    X: Array, *, k_min: int = 2, k_max: int | None = None, seed: int = 0
) -> NumberOfClusters:
    """Find the number of clusters of some samples.

    The tree of merges is cut into 2, 3, ... clusters, each time where the modularity Q of the
    nearest-neighbour graph gains most. K equal clusters without any edge between them have
    `1 - Q = 1/K`: twice as many real clusters halve it. The chosen K minimises `(1 - Q) K^a`, so
    twice as many clusters must divide `1 - Q` by at least `2^a`. The fewer intrinsic dimensions d
    there are, the fewer edges a cut through a homogeneous cluster meets. So `a = 0.3 + 0.8/d`.

    Modularity overlooks small groups next to large ones. So K is at least the number of groups
    with practically no edges between them.

    Neighbourhoods must fit into the clusters. The graph has as many neighbours, from 5 to 18, as
    do not raise the lowest `1 - Q` by more than a tenth.

    Parameters
    ----------
    X : (n, d) array
        Samples, such as an embedding; at least 20.
    k_min, k_max : int
        Bounds of the number. By default `k_max` is a tenth of the number of samples.
    seed : int
        Seed of the random selections.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from infomeans.graph import number_of_clusters
    >>> X, _ = make_blobs(n_samples=500, centers=5, cluster_std=0.5, random_state=4)
    >>> number_of_clusters(X).best
    5
    """
    check_number(len(X), k_min, k_max)
    rng = np.random.default_rng(seed)
    some = X if len(X) <= MOST_SAMPLES else X[_selection(len(X), MOST_SAMPLES, rng)]
    check_copies((some == some[0]).all(axis=1))
    highest = max(len(some) // 10, k_min) if k_max is None else k_max
    found = _find(some, k_min, highest)
    best, *others = found.answers
    if best < k_min:
        raise InputError(
            f"k_min={k_min} is too many: the samples can be cut into {best} clusters at most."
        )
    size = min(round(SHARE * len(some)), MOST_SAMPLES // 2)
    again = [
        _find(some[_selection(len(some), size, rng)], k_min, highest).answers[0]
        for _ in range(RUNS)
    ]
    return NumberOfClusters(
        best,
        others[:MOST_OTHERS],
        finest=max(int(found.modularity.argmax()) + 1, best),
        sure=float(np.mean([abs(k - best) <= round(NEAR * best) for k in again])),
        modularity=found.modularity,
        n_neighbors=found.n_neighbors,
        n_samples=len(some),
        k_min=k_min,
        k_max=k_max,
    )


def finest_number(X: Array, *, k_max: int | None = None, seed: int = 0) -> int:
    """The number of clusters with the highest modularity, in a random selection of the samples.

    It is an upper bound of the number of clusters rather than an estimate.

    Parameters
    ----------
    X : (n, d) array
        Samples, at least 2.
    k_max : int, optional
        The highest number to return; by default a tenth of the number of samples.
    seed : int
        Seed of the selection.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from infomeans.graph.number import finest_number
    >>> X, _ = make_blobs(n_samples=500, centers=5, cluster_std=0.5, random_state=4)
    >>> finest_number(X) >= 5
    True
    """
    size = min(len(X), MOST_SAMPLES // 2)
    some = X[_selection(len(X), size, np.random.default_rng(seed))]
    highest = max(len(some) // 10, 2) if k_max is None else k_max
    return int(_find(some, 1, highest).modularity.argmax()) + 1


def check_number(n_samples: int, k_min: int, k_max: int | None) -> None:
    """Refuse bounds and counts of samples that leave no number to find."""
    if k_max is not None and k_min > k_max:
        raise InputError(f"k_min={k_min} is more than k_max={k_max}.")
    if n_samples < FEWEST_SAMPLES:
        raise InputError(
            f"n_samples={n_samples} is too few to find the number of clusters; give n_clusters, or "
            f"at least {FEWEST_SAMPLES} samples."
        )


def check_copies(copies: Iterable[bool]) -> None:
    """Refuse samples that are all copies of the first."""
    if all(copies):
        raise InputError("all samples are the same, so there is no number of clusters to find.")


class _Found(NamedTuple):
    """The best number of clusters and the next best, the modularity by K, and the neighbours."""

    answers: list[int]
    modularity: Array
    n_neighbors: int


def _find(X: Array, k_min: int, k_max: int) -> _Found:
    squared, near = nearest_neighbors(X, COUNTS[0])
    cuts = {
        count: _cuts(X, weighted_graph(squared[:, :count], near[:, :count]), k_max)
        for count in COUNTS
    }
    lowest = min((1 - one.modularity).min() for one in cuts.values())
    count = next(c for c in COUNTS if (1 - cuts[c].modularity).min() <= (1 + SLACK) * lowest)
    # In a graph with few neighbours groups are apart by chance.
    n_clear = max(cuts[c].n_clear for c in COUNTS[:2])
    curve = cuts[count].modularity
    power = POWER + THIN / _dimension(squared)
    return _Found(_answers(curve, power, max(k_min, min(n_clear, k_max))), curve, count)


def _dimension(squared: Array) -> float:
    """The intrinsic dimension by the distances to the neighbours, at least 1."""
    return max(1 / max(float(np.median(inverse_dimensions(squared))), 1e-9), 1.0)


def _selection(n: int, size: int, rng: np.random.Generator) -> IntArray:
    return np.sort(rng.choice(n, size, replace=False))


class _Cuts(NamedTuple):
    """The modularity of the best cuts into 1, 2, ... clusters, and the number of clear groups."""

    modularity: Array
    n_clear: int


def _answers(modularity: Array, power: float, k_min: int) -> list[int]:
    """The best number of clusters, and others that are nearly as good."""
    k = np.arange(1, len(modularity) + 1)
    criterion = (1 - modularity) * k**power
    allowed = k >= min(k_min, len(k))
    best = int(k[allowed][criterion[allowed].argmin()])
    # A valley of the criterion: lower than both neighbours.
    around = np.concatenate([[np.inf], criterion, [np.inf]])
    valley = (criterion < around[:-2]) & (criterion < around[2:]) & allowed
    close = criterion <= (1 + NEAR) * criterion[best - 1]
    others = [int(one) for one in k[valley & close] if one != best]
    return [best, *sorted(others, key=lambda one: criterion[one - 1])]


def _cuts(X: Array, graph: sparse.csr_array, k_max: int) -> _Cuts:
    """The best cuts of the tree.

    The cut is refined split by split, where the gain in modularity is highest. A branch with few
    samples is no cluster of its own.
    """
    start = first_clusters(graph, 2)
    merges = merge_all(X, graph, start, 1)
    branches = Branches.of_merges(graph, start, merges, max(PARTS, 2 * k_max))
    least = max(5, round(np.sqrt(len(X)) / 5))
    gains, n_clear = [0.0], 1
    heap: list[tuple[float, int, bool]] = []

    def offer(branch: int, apart: bool) -> None:
        """Queue the first split of a branch that parts two substantial ones."""
        while branch >= branches.n_leaves:
            larger, smaller = branches.larger_first(branch)
            if branches.sizes[smaller] >= least:
                volumes, between = branches.volumes[[larger, smaller]], branches.between(branch)
                gain = 2 * (float(volumes.prod()) - between)
                heapq.heappush(heap, (-gain, branch, apart and between < CLEAR * volumes.min()))
                return
            branch = larger

    offer(branches.root, apart=True)
    while heap and len(gains) < k_max:
        negative, branch, apart = heapq.heappop(heap)
        gains.append(-negative)
        n_clear += apart
        for part in branches.children[branch].tolist():
            offer(part, apart)
    return _Cuts(np.cumsum(gains), n_clear)
