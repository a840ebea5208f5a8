"""Clusters from the tree of merges on a sparse graph of neighbours."""

import math
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array

from infomeans._typing import Array, IntArray
from infomeans.graph.neighbors import (
    nearest_neighbors,
    neighbor_graph,
    usual_neighbors,
    weighted_graph,
)
from infomeans.graph.tangents import CANDIDATES, check_images, nearest_images
from infomeans.graph.tree import centroids, first_clusters, merge_all, replay

PARTS = 100
"""Branches of the tree for each cluster, at the level from which they may move."""

CLEARLY_BETTER = 0.02
"""Share of the most information there can be by which a graph without images has to be ahead."""


def agglomerate(
    X: Array,
    n_clusters: int,
    n_neighbors: int | None = None,
    *,
    min_share: float = 0.2,
    images: NDArray[Any] | None = None,
) -> IntArray:
    """Cluster samples by sparse graph agglomeration.

    Merging until `n_clusters` are left would let a few outliers take whole clusters. Instead
    the tree is cut at its last level with `n_clusters` *substantial* clusters, and the members
    of the others go to the substantial cluster that the graph ties them to most. Merges are
    never undone, though each knew only two clusters; so in the end the branches of the tree
    may move, to the cluster that the graph ties them to most: first those that are about a
    hundredth of a cluster, then those it began with, then the samples. No cluster is lost, though
    one may become less than substantial.

    Parameters
    ----------
    X : (n, d) array
    n_clusters : int
        How many clusters to return, between 1 and `n`.
    n_neighbors : int, optional
        Neighbours of each sample in the graph; clipped to `n - 1`. By default see
        `usual_neighbors`.
    min_share : float
        A cluster is substantial from this share of the mean size `n / n_clusters` on. Where no
        level of the tree has enough of them, the share is halved until one does.
    images : (n, h, w) or (n, c, h, w) array, optional
        What X was made from, if small affine maps leave these images what they are. Then there is
        a second graph, in which neighbours in X are as near as such maps can bring their images
        (`tangent_graph`), and its clusters are returned, unless those of the first have clearly
        more `neighbor_information`.

    Returns
    -------
    (n,) integer array
        Labels `0 .. n_clusters - 1`, each of them used, the largest cluster first.

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
) -> tuple[IntArray, sparse.csr_array | None]:
    """What `agglomerate` makes of the same arguments, and the graph that it comes from.

    One cluster needs no graph, and there is none.
    """
    X = check_array(X, dtype=[np.float32, np.float64])
    _check_arguments(len(X), n_clusters, n_neighbors, min_share)
    if images is not None:
        check_images(images, len(X))
    if n_clusters == 1:
        return np.zeros(len(X), dtype=np.int64), None
    n_neighbors = n_neighbors or usual_neighbors(len(X), n_clusters)
    if images is None:
        graph = neighbor_graph(X, n_neighbors)
        return _clusters(X, graph, n_clusters, min_share), graph
    squared, candidates = nearest_neighbors(X, CANDIDATES * n_neighbors)
    graph = weighted_graph(squared[:, :n_neighbors], candidates[:, :n_neighbors])
    tangent = nearest_images(images, candidates, n_neighbors)
    labels, moved = (_clusters(X, g, n_clusters, min_share) for g in (graph, tangent))
    lead = neighbor_information(graph, labels) - neighbor_information(tangent, moved)
    clearly = lead > CLEARLY_BETTER * math.log(n_clusters)
    return (labels, graph) if clearly else (moved, tangent)


def neighbor_information(graph: sparse.csr_array, labels: IntArray) -> float:
    """How much the cluster of a sample says about the clusters of its neighbours, in nats.

    It is the mutual information of the two clusters at the ends of an edge that is drawn with the
    weights of the graph. It is high where few edges lead from one cluster to another, and low
    where one cluster has swallowed the others.
    """
    member = _members(labels, int(labels.max()) + 1)
    joint = (member.T @ graph @ member).toarray()
    joint /= joint.sum()
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    met = joint > 0
    return float((joint[met] * np.log(joint[met] / independent[met])).sum())


def _clusters(X: Array, graph: sparse.csr_array, n_clusters: int, min_share: float) -> IntArray:
    start = first_clusters(graph, n_clusters)
    merges = merge_all(X, graph, start, n_clusters)
    state = _cut(start, merges, n_clusters, min_share)
    ties = graph + graph.T
    labels = _absorb_small(X, ties, state, n_clusters)
    for parts in _branches(start, merges, n_clusters):
        labels = _parts_moved(ties, labels, parts, n_clusters)
    # A sample is tied to itself as to its nearest neighbour, both ways.
    stay = 2 * np.maximum.reduceat(graph.data, graph.indptr[:-1])
    return _by_size(_moved(ties, labels, stay, n_clusters))


def _check_arguments(n: int, n_clusters: int, n_neighbors: int | None, min_share: float) -> None:
    counts = {"n_clusters": n_clusters, "n_neighbors": 1 if n_neighbors is None else n_neighbors}
    for name, value in counts.items():
        if not isinstance(value, Integral):
            raise TypeError(f"{name}={value!r} must be a whole number.")
    if not 1 <= n_clusters <= n:
        raise ValueError(
            f"n_clusters={n_clusters} must lie between 1 and the number of samples, n_samples={n}."
        )
    if counts["n_neighbors"] < 1:
        raise ValueError(f"n_neighbors={n_neighbors} must be at least 1.")
    if not 0 <= min_share <= 1:
        raise ValueError(f"min_share={min_share} must lie between 0 and 1.")


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
    """Number the `n_clusters` largest clusters by size and give them all other samples."""
    labels = _by_size(state)
    labels[labels >= n_clusters] = -1
    while (labels < 0).any():
        known, open_ = np.flatnonzero(labels >= 0), np.flatnonzero(labels < 0)
        pull = (ties[open_] @ _members(labels, n_clusters)).tocsr()
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
    """The branches that may move, larger ones first, as far as there are any."""
    count = int(start.max()) + 1
    if count > PARTS * n_clusters:
        yield replay(start, merges[: count - PARTS * n_clusters])
    if count < len(start):
        yield start


def _parts_moved(
    ties: sparse.csr_array, labels: IntArray, parts: IntArray, n_clusters: int
) -> IntArray:
    """Every part in the cluster that its samples are tied to most, apart from themselves.

    A part that is divided among clusters counts as one in each. One that is more than half of its
    cluster stays.
    """
    names, ids = np.unique(parts * n_clusters + labels, return_inverse=True)
    part, home = _members(ids, len(names)), names % n_clusters
    between = part.T @ ties @ part
    most = 2 * np.bincount(ids) > np.bincount(labels, minlength=n_clusters)[home]
    apart = between - sparse.diags_array(between.diagonal())
    return _moved(apart, home, np.where(most, np.inf, 0.0), n_clusters)[ids]


def _moved(
    ties: sparse.csr_array, labels: IntArray, stay: NDArray[Any], n_clusters: int
) -> IntArray:
    """Everything in the cluster it was tied to most before anything moved.

    `stay` is added to the tie to its own cluster. A cluster that all would leave keeps them.
    """
    pull = (ties @ _members(labels, n_clusters)).tocsr()
    own = pull[np.arange(len(labels)), labels] + stay
    moved = np.where(pull.max(axis=1).toarray().ravel() > own, pull.argmax(axis=1), labels)
    while (left := np.bincount(moved, minlength=n_clusters) == 0).any():
        moved = np.where(left[labels], labels, moved)
    return moved


def _members(labels: IntArray, n_clusters: int) -> sparse.csr_array:
    """A one in the row of every sample and the column of its cluster, if it has one."""
    known = np.flatnonzero(labels >= 0)
    shape = len(labels), n_clusters
    return sparse.csr_array((np.ones(len(known)), (known, labels[known])), shape=shape)


def _by_size(names: IntArray) -> IntArray:
    """Labels `0, 1, ...` in place of names, the largest cluster first."""
    _, ids, sizes = np.unique(names, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-sizes, kind="stable"))[ids]
