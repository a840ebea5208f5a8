"""Agglomerative clustering on a sparse nearest-neighbour graph."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array

from infomeans._typing import Array, IntArray
from infomeans.graph.branches import Branches, memberships
from infomeans.graph.neighbors import (
    DIMENSION_NEIGHBORS,
    inverse_dimensions,
    nearest_neighbors,
    neighbor_graph,
    usual_neighbors,
    weighted_graph,
)
from infomeans.graph.sizes import free_cut, mean_openness
from infomeans.graph.tangents import CANDIDATES, check_images, nearest_images
from infomeans.graph.tree import centroids, first_clusters, merge_all, replay

Sizes = Literal["auto", "equal", "free"]
"""Whether clusters have similar sizes."""

PARTS = 100
"""Number of branches per cluster, at the level of the tree where branches may move."""

FREE_PARTS = 3000
"""Number of branches of the tree from which clusters of any sizes are cut."""

CLEARLY_LESS, STILL_OPEN = 0.1, 0.6
"""Clusters part groups if free ones have a mean openness lower by this, and less than that."""

CLEARLY_BETTER = 0.02
"""Lead that the graph without images needs, as a share of the largest possible information."""


class Clusters(NamedTuple):
    """Clusters (n,), the graph they come from, and whether their sizes were free."""

    labels: IntArray
    graph: sparse.csr_array | None
    free: bool = False


def agglomerate(
    X: Array,
    n_clusters: int,
    n_neighbors: int | None = None,
    *,
    min_share: float = 0.2,
    images: NDArray[Any] | None = None,
) -> IntArray:
    """Cluster samples by sparse graph agglomeration.

    If merging went on until `n_clusters` are left, a few outliers could form whole clusters.
    Instead the tree is cut at its last level with `n_clusters` *substantial* clusters. The members
    of the other clusters go to the substantial cluster with the strongest ties in the graph.
    Merges are never undone, although each compared only two clusters. So branches of the tree may
    move afterwards, to the cluster with the strongest ties: first branches of about a hundredth of
    a cluster, then the clusters that merging started from, then single samples. No cluster is
    lost, though one may become less than substantial.

    Parameters
    ----------
    X : (n, d) array
        Samples, such as an embedding.
    n_clusters : int
        Number of clusters, between 1 and `n`.
    n_neighbors : int, optional
        Number of nearest neighbours in the graph; clipped to `n - 1`. By default see
        `usual_neighbors`.
    min_share : float
        A cluster is substantial if it has at least this share of the mean size `n / n_clusters`.
        If no level of the tree has enough of them, the share is halved until one does.
    images : (n, h, w) or (n, c, h, w) array, optional
        Images that X was computed from, if small affine maps do not alter what they show. A second
        graph then uses tangent distances between the images of neighbours in X (`tangent_graph`).
        Its clusters are returned, unless those of the first graph have clearly more
        `neighbor_information`.

    Returns
    -------
    (n,) integer array
        Labels `0 .. n_clusters - 1`, all of them used, the largest cluster first.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.graph import agglomerate
    >>> agglomerate(np.array([[0.0], [0.1], [0.2], [5.0], [5.1]]), n_clusters=2)
    array([0, 0, 0, 1, 1])
    """
    return clusters_and_graph(X, n_clusters, n_neighbors, min_share=min_share, images=images)[0]


def clusters_and_graph(
    X: Array,
    n_clusters: int,
    n_neighbors: int | None = None,
    *,
    min_share: float = 0.2,
    images: NDArray[Any] | None = None,
    sizes: Sizes = "equal",
) -> Clusters:
    """The clusters of `agglomerate`, and the graph they come from.

    The graph is None for a single cluster, which needs none. `sizes` says whether clusters have
    similar sizes; "auto" decides (`Agglomeration.parts_groups`).
    """
    X = check_array(X, dtype=[np.float32, np.float64])
    _check_arguments(len(X), n_clusters, n_neighbors, min_share)
    if images is not None:
        check_images(images, len(X))
    if n_clusters == 1:
        return Clusters(np.zeros(len(X), dtype=np.int64), None)
    n_neighbors = n_neighbors or usual_neighbors(len(X), n_clusters)
    if images is None:
        graph = neighbor_graph(X, n_neighbors)
        tree = Agglomeration(X, graph, n_clusters)
        return _of_sizes(tree, tree.equal(min_share), sizes)
    squared, candidates = nearest_neighbors(X, CANDIDATES * n_neighbors)
    graph = weighted_graph(squared[:, :n_neighbors], candidates[:, :n_neighbors])
    tangent = nearest_images(images, candidates, n_neighbors)
    trees = [Agglomeration(X, one, n_clusters) for one in (graph, tangent)]
    labels, moved = (tree.equal(min_share) for tree in trees)
    lead = neighbor_information(graph, labels) - neighbor_information(tangent, moved)
    clearly = lead > CLEARLY_BETTER * math.log(n_clusters)
    return _of_sizes(*((trees[0], labels) if clearly else (trees[1], moved)), sizes)


def _of_sizes(tree: Agglomeration, labels: IntArray, sizes: Sizes) -> Clusters:
    """These clusters of a tree, or free ones if "auto" or "free" asks for them.

    Clusters of similar sizes must part groups in a graph of twice as many neighbours too.
    """
    equal, count = Clusters(labels, tree.graph), tree.n_neighbors
    if sizes == "equal":
        return equal
    squared, near = nearest_neighbors(tree.X, max(2 * count, DIMENSION_NEIGHBORS))
    inverse = inverse_dimensions(squared)
    if sizes == "auto":
        if not tree.parts_groups(inverse, labels):
            return equal
        wide = weighted_graph(squared[:, : 2 * count], near[:, : 2 * count])
        if not Agglomeration(tree.X, wide, tree.n_clusters).parts_groups(inverse, confirms=True):
            return equal
    return Clusters(tree.free(inverse), tree.graph, free=True)


def neighbor_information(graph: sparse.csr_array, labels: IntArray) -> float:
    """Mutual information between the clusters of neighbours, in nats.

    It is the mutual information of the clusters at the two ends of an edge, drawn by the weights
    of the graph. It is high if few edges connect different clusters, and low if one cluster has
    absorbed the others.

    Parameters
    ----------
    graph : (n, n) sparse array
        Weights of the edges, as from `neighbor_graph`.
    labels : (n,) integer array
        Cluster of each sample. Edges of samples with a negative label do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.graph import neighbor_graph, neighbor_information
    >>> graph = neighbor_graph(np.array([[0.0], [0.1], [5.0], [5.1]]), n_neighbors=1)
    >>> round(neighbor_information(graph, np.array([0, 0, 1, 1])), 4)
    0.6931
    """
    labels, count = labels.astype(np.int64), int(labels.max()) + 1
    first, second = np.repeat(labels, np.diff(graph.indptr)), labels[graph.indices]
    known = (first >= 0) & (second >= 0)
    weights = np.where(known, graph.data, 0)
    ends = np.where(known, first * count + second, 0)
    joint = np.bincount(ends, weights / weights.sum(), count**2).reshape(count, count)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    met = joint > 0
    return float((joint[met] * np.log(joint[met] / independent[met])).sum())


def clusters_of_graph(
    X: Array, graph: sparse.csr_array, n_clusters: int, min_share: float = 0.2
) -> IntArray:
    """The clusters of `agglomerate` for a given graph.

    Parameters
    ----------
    X : (n, d) array
        Samples, for those that no path of the graph connects.
    graph : (n, n) sparse array
        Weights of the neighbours, the largest weight of a row first.
    n_clusters : int
        Number of clusters.
    min_share : float
        As in `agglomerate`.
    """
    return Agglomeration(X, graph, n_clusters).equal(min_share)


class Agglomeration:
    """The tree of merges of a graph, and the clusters cut from it.

    Parameters
    ----------
    X, graph, n_clusters
        As in `clusters_of_graph`.
    """

    def __init__(self, X: Array, graph: sparse.csr_array, n_clusters: int) -> None:
        self.X, self.graph, self.n_clusters = X, graph, n_clusters
        self.start = first_clusters(graph, n_clusters)
        self.merges = merge_all(X, graph, self.start, 1)
        self.ties = graph + graph.T

    def equal(self, min_share: float = 0.2) -> IntArray:
        """Clusters of similar sizes: the last level with enough substantial clusters."""
        return self._settled(_cut(self.start, self.merges, self.n_clusters, min_share))

    def free(self, inverse_dimensions: Array) -> IntArray:
        """Clusters of any sizes: the cut that meets few edges (`free_cut`).

        Parameters
        ----------
        inverse_dimensions : (n,) array
            One over the intrinsic dimension around each sample.
        """
        most = max(FREE_PARTS, 4 * self.n_clusters)
        branches = Branches.of_merges(self.graph, self.start, self.merges, most)
        state = free_cut(branches, inverse_dimensions, self.n_clusters, self.n_neighbors)
        return self.equal() if state is None else self._settled(state)

    def parts_groups(
        self, inverse_dimensions: Array, labels: IntArray | None = None, *, confirms: bool = False
    ) -> bool:
        """Whether clusters of similar sizes part groups that free ones do not part.

        They do if free clusters are clearly less open. If these are open too, there are no groups.
        A graph that only confirms what another says needs half the difference.

        Parameters
        ----------
        inverse_dimensions : (n,) array
            One over the intrinsic dimension around each sample.
        labels : (n,) integer array, optional
            The clusters of similar sizes; by default those of `equal`.
        """
        given = (self.equal() if labels is None else labels, self.free(inverse_dimensions))
        before, after = (self.openness(one, inverse_dimensions) for one in given)
        if confirms:
            return before - after > CLEARLY_LESS / 2
        return before - after > CLEARLY_LESS and after < STILL_OPEN

    def openness(self, labels: IntArray, inverse_dimensions: Array) -> float:
        """The mean openness of some clusters (`mean_openness`)."""
        return mean_openness(self.graph, labels, inverse_dimensions, self.n_neighbors)

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours of a sample in the graph."""
        return int(np.diff(self.graph.indptr).min())

    def _settled(self, state: IntArray) -> IntArray:
        """Assign the samples of small clusters, let branches and samples move, number by size."""
        k = self.n_clusters
        labels = _absorb_small(self.X, self.ties, state, k)
        for parts in _branches(self.start, self.merges, k):
            labels = _parts_moved(self.ties, labels, parts, k)
        # The tie of a sample to itself equals that to its nearest neighbour, in both directions.
        stay = 2 * np.maximum.reduceat(self.graph.data, self.graph.indptr[:-1])
        return _by_size(_moved(self.ties, labels, stay, k))


def _check_arguments(n: int, n_clusters: int, n_neighbors: int | None, min_share: float) -> None:
    counts = {"n_clusters": n_clusters, "n_neighbors": 1 if n_neighbors is None else n_neighbors}
    for name, value in counts.items():
        if not isinstance(value, Integral):
            raise TypeError(f"{name}={value!r} must be a whole number.")
    if not 1 <= n_clusters <= n:
        raise ValueError(
            f"n_clusters={n_clusters} must be between 1 and the number of samples, n_samples={n}."
        )
    if counts["n_neighbors"] < 1:
        raise ValueError(f"n_neighbors={n_neighbors} must be at least 1.")
    if not 0 <= min_share <= 1:
        raise ValueError(f"min_share={min_share} must be between 0 and 1.")


def _cut(
    start: IntArray, merges: list[tuple[int, int]], n_clusters: int, min_share: float
) -> IntArray:
    """The last level of the tree that has `n_clusters` substantial clusters."""
    threshold = float(min_share * len(start) / n_clusters)
    while (level := _last_level(start, merges, n_clusters, threshold)) is None:
        threshold /= 2
    return replay(start, merges[:level])


def _last_level(
    start: IntArray, merges: list[tuple[int, int]], n_clusters: int, threshold: float
) -> int | None:
    sizes = np.bincount(start).tolist()
    substantial = sum(size >= threshold for size in sizes)
    level = 0 if substantial == n_clusters else None
    for step, (kept, absorbed) in enumerate(merges, start=1):
        before = (sizes[kept] >= threshold) + (sizes[absorbed] >= threshold)
        sizes[kept] += sizes[absorbed]
        substantial += (sizes[kept] >= threshold) - before
        if substantial == n_clusters:
            level = step
    return level


def _absorb_small(X: Array, ties: sparse.csr_array, state: IntArray, n_clusters: int) -> IntArray:
    """Number the `n_clusters` largest clusters by size and assign all other samples to them.

    Negative names are of samples without a cluster.
    """
    labels = np.full(len(state), n_clusters)
    labels[state >= 0] = _by_size(state[state >= 0])
    labels[labels >= n_clusters] = -1
    while (labels < 0).any():
        known, open_ = np.flatnonzero(labels >= 0), np.flatnonzero(labels < 0)
        pull = (ties[open_] @ memberships(labels, n_clusters)).tocsr()
        reached = np.diff(pull.indptr) > 0
        if not reached.any():
            centres = centroids(X[known], labels[known], n_clusters)
            search = NearestNeighbors(n_neighbors=1).fit(centres)
            labels[open_] = search.kneighbors(X[open_], return_distance=False)[:, 0]
        else:
            labels[open_[reached]] = pull[np.flatnonzero(reached)].argmax(axis=1)
    return labels


def _branches(
    start: IntArray, merges: list[tuple[int, int]], n_clusters: int
) -> Iterator[IntArray]:
    """The branches that may move, larger ones first."""
    count = int(start.max()) + 1
    if count > PARTS * n_clusters:
        yield replay(start, merges[: count - PARTS * n_clusters])
    if count < len(start):
        yield start


def _parts_moved(
    ties: sparse.csr_array, labels: IntArray, parts: IntArray, n_clusters: int
) -> IntArray:
    """Move every part to the cluster with the strongest ties to its samples.

    Ties within the part do not count. A part that is split over clusters counts as one part in
    each. A part that is more than half of its cluster stays.
    """
    names, ids = np.unique(parts * n_clusters + labels, return_inverse=True)
    part, home = memberships(ids, len(names)), names % n_clusters
    between = part.T @ ties @ part
    most = 2 * np.bincount(ids) > np.bincount(labels, minlength=n_clusters)[home]
    others = between - sparse.diags_array(between.diagonal())
    return _moved(others, home, np.where(most, np.inf, 0.0), n_clusters)[ids]


def _moved(
    ties: sparse.csr_array, labels: IntArray, stay: NDArray[Any], n_clusters: int
) -> IntArray:
    """Move everything at once to the cluster with the strongest ties.

    `stay` is added to the ties to the own cluster. A cluster that all would leave keeps them all.
    """
    pull = (ties @ memberships(labels, n_clusters)).tocsr()
    own = pull[np.arange(len(labels)), labels] + stay
    moved = np.where(pull.max(axis=1).toarray().ravel() > own, pull.argmax(axis=1), labels)
    while (left := np.bincount(moved, minlength=n_clusters) == 0).any():
        moved = np.where(left[labels], labels, moved)
    return moved


def _by_size(names: IntArray) -> IntArray:
    """Renumber clusters `0, 1, ...` by size, the largest first."""
    _, ids, sizes = np.unique(names, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-sizes, kind="stable"))[ids]
