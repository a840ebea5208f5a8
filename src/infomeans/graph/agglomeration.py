"""Agglomerative clustering by path integrals on a sparse graph.

Zhang, Zhao and Wang (Pattern Recognition 46(11), 2013) merge the two clusters that gain the most
paths from being one. On a row-stochastic graph `W` the gain is led by the paths of two
steps that leave a cluster, touch the other and come back:

    D(a, b)  = sum_{j in b} out_a(j) in_a(j)
    out_a(j) = sum_{i in a} w_ij
    in_a(j)  = sum_{i in a} w_ji

and the affinity of two clusters is `D(a, b)/|a|^2 + D(b, a)/|b|^2`. Both vectors are sparse
and additive, so that they are added up over the neighbourhood of the smaller cluster alone.
"""

import heapq
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array

from infomeans._typing import Array, IntArray
from infomeans.graph.neighbors import neighbor_graph, usual_neighbors

PARTS = 100
"""Branches of the tree for each cluster, at the level from which they may move."""


def agglomerate(
    X: Array, n_clusters: int, n_neighbors: int | None = None, *, min_share: float = 0.2
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
    X = check_array(X, dtype=[np.float32, np.float64])
    _check_arguments(len(X), n_clusters, n_neighbors, min_share)
    if n_clusters == 1:
        return np.zeros(len(X), dtype=np.int64)
    graph = neighbor_graph(X, n_neighbors or usual_neighbors(len(X), n_clusters))
    start = _first_clusters(graph, n_clusters)
    merges = _merge_all(X, graph, start, n_clusters)
    state = _cut(start, merges, n_clusters, min_share)
    ties = graph + graph.T
    labels = _absorb_small(X, ties, state, n_clusters)
    for parts in _branches(start, merges, n_clusters):
        labels = _parts_moved(ties, labels, parts, n_clusters)
    # A sample is tied to itself as to its nearest neighbour, both ways.
    stay = 2 * graph.max(axis=1).toarray().ravel()
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


def _first_clusters(graph: sparse.csr_array, n_clusters: int) -> IntArray:
    """Connected components of the 1-nearest-neighbour graph; single samples if those are few."""
    n = graph.shape[0]
    nearest = graph.indices[graph.indptr[:-1]]
    links = sparse.csr_array((np.ones(n), (np.arange(n), nearest)), shape=(n, n))
    count, labels = connected_components(links, directed=True, connection="weak")
    return labels.astype(np.int64) if count >= n_clusters else np.arange(n)


def _merge_all(
    X: Array, graph: sparse.csr_array, start: IntArray, n_clusters: int
) -> list[tuple[int, int]]:
    """Every merge from the first clusters down to `n_clusters`, as (kept, absorbed)."""
    merges = list(_Forest(graph, start).merges(n_clusters))
    excess = start.max() + 1 - len(merges) - n_clusters
    if excess > 0:
        merges += _bridge(X, _replay(start, merges), excess)
    return merges


class _Forest:
    """The clusters while they merge: what each one points to, and is pointed to from, outside."""

    def __init__(self, graph: sparse.csr_array, start: IntArray) -> None:
        n, count = len(start), int(start.max()) + 1
        member = sparse.csr_array((np.ones(n), (start, np.arange(n))), shape=(count, n))
        out, into = (member @ graph).tocsr(), (member @ graph.T).tocsr()
        self.owner: list[int] = start.tolist()
        self.members = [row.tolist() for row in _rows(member.indices, member.indptr)]
        self.out = self._outside(out)
        self.into = self._outside(into)
        self.gain = self._gains(out.multiply(into).tocsr() @ member.T.tocsr())

    def _outside(self, reach: sparse.csr_array) -> list[dict[int, float]]:
        """Rows of `reach` as dictionaries, without the samples inside the cluster itself."""
        indices = _rows(reach.indices, reach.indptr)
        weights = _rows(reach.data, reach.indptr)
        return [
            {j: w for j, w in zip(ids.tolist(), ws.tolist(), strict=True) if self.owner[j] != a}
            for a, (ids, ws) in enumerate(zip(indices, weights, strict=True))
        ]

    @staticmethod
    def _gains(paths: sparse.csr_array) -> list[dict[int, float]]:
        """D(a, b), with an entry for (b, a) wherever there is one for (a, b)."""
        gain: list[dict[int, float]] = [{} for _ in range(paths.shape[0])]
        coo = paths.tocoo()
        for a, b, d in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
            if a != b and d > 0:
                gain[a][b] = d
                gain[b].setdefault(a, 0.0)
        return gain

    def affinity(self, a: int, b: int) -> float:
        """Affinity of two clusters that have gains on record."""
        return (
            self.gain[a][b] / len(self.members[a]) ** 2
            + self.gain[b][a] / len(self.members[b]) ** 2
        )

    def merges(self, n_clusters: int) -> Iterator[tuple[int, int]]:
        """Merge the closest pair again and again, while there is one with a positive affinity."""
        heap = self._pairs()
        left, room = len(self.members), 4 * len(heap) + 1000
        while heap and left > n_clusters:
            negative, a, b = heapq.heappop(heap)
            # An entry that no longer says the truth has a true successor further down the heap.
            if b not in self.gain[a] or -negative != self.affinity(a, b):
                continue
            if len(self.out[a]) + len(self.into[a]) < len(self.out[b]) + len(self.into[b]):
                a, b = b, a
            self._merge(a, b)
            left -= 1
            for x in self.gain[a]:
                first, second = (a, x) if a < x else (x, a)
                heapq.heappush(heap, (-self.affinity(first, second), first, second))
            if len(heap) > room:
                heap = self._pairs()
            yield a, b

    def _pairs(self) -> list[tuple[float, int, int]]:
        """A heap of all pairs with gains, the closest first."""
        heap = [
            (-self.affinity(a, b), a, b)
            for a, partners in enumerate(self.gain)
            for b in partners
            if a < b
        ]
        heapq.heapify(heap)
        return heap

    def _merge(self, a: int, b: int) -> None:
        """Absorb cluster b, the one with the smaller neighbourhood, into cluster a."""
        owner, gain = self.owner, self.gain
        out_a, into_a, gain_a = self.out[a], self.into[a], gain[a]
        for j in self.members[b]:
            owner[j] = a
            out_a.pop(j, None)
            into_a.pop(j, None)
        self.members[a] += self.members[b]
        del gain_a[b], gain[b][a]
        for x, d in gain[b].items():
            gain_a[x] = gain_a.get(x, 0.0) + d
            gain[x][a] = gain[x].get(a, 0.0) + gain[x].pop(b)
        # D(a + b, .) = D(a, .) + D(b, .) + the paths that leave by one and come back by the other.
        out_b = [(j, w) for j, w in self.out[b].items() if owner[j] != a]
        into_b = [(j, w) for j, w in self.into[b].items() if owner[j] != a]
        for one_way, back in ((out_b, into_a), (into_b, out_a)):
            for j, w in one_way:
                if j in back:
                    x = owner[j]
                    gain_a[x] = gain_a.get(x, 0.0) + w * back[j]
                    gain[x].setdefault(a, 0.0)
        for into_sum, entries in ((out_a, out_b), (into_a, into_b)):
            for j, w in entries:
                into_sum[j] = into_sum.get(j, 0.0) + w
        self.members[b], self.out[b], self.into[b], gain[b] = [], {}, {}, {}


def _rows(values: NDArray[Any], indptr: IntArray) -> list[NDArray[Any]]:
    return np.split(values, indptr[1:-1])


def _bridge(X: Array, state: IntArray, excess: int) -> list[tuple[int, int]]:
    """Merges between clusters that no path joins: every one with its nearest, nearest first."""
    merges: list[tuple[int, int]] = []
    while len(merges) < excess:
        names, ids = np.unique(state, return_inverse=True)
        search = NearestNeighbors(n_neighbors=1).fit(_centroids(X, ids, len(names)))
        distances, nearest = search.kneighbors()
        root = list(range(len(names)))
        for i in np.argsort(distances[:, 0], kind="stable").tolist():
            kept, absorbed = _find(root, i), _find(root, int(nearest[i, 0]))
            if kept != absorbed and len(merges) < excess:
                root[absorbed] = kept
                merges.append((int(names[kept]), int(names[absorbed])))
        state = names[[_find(root, i) for i in range(len(names))]][ids]
    return merges


def _find(root: list[int], i: int) -> int:
    """The name under which i stands now; the way there is shortened."""
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


def _centroids(X: Array, labels: IntArray, count: int) -> Array:
    member = sparse.csr_array(
        (np.ones(len(X), dtype=X.dtype), (labels, np.arange(len(X)))), shape=(count, len(X))
    )
    return member @ X / np.bincount(labels, minlength=count)[:, None]


def _replay(start: IntArray, merges: list[tuple[int, int]]) -> IntArray:
    """The clusters after these merges: every sample with the name of its cluster."""
    name = np.arange(start.max() + 1)
    for kept, absorbed in reversed(merges):
        name[absorbed] = name[kept]
    return name[start]


def _cut(
    start: IntArray, merges: list[tuple[int, int]], n_clusters: int, min_share: float
) -> IntArray:
    """The last level of the tree that has `n_clusters` substantial clusters."""
    threshold = float(min_share * len(start) / n_clusters)
    while (level := _last_level(start, merges, n_clusters, threshold)) is None:
        threshold /= 2
    return _replay(start, merges[:level])


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
            centroids = _centroids(X[known], labels[known], n_clusters)
            search = NearestNeighbors(n_neighbors=1).fit(centroids)
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
        yield _replay(start, merges[: count - PARTS * n_clusters])
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
