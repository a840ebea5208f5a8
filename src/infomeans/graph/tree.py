"""The tree of merges by path integrals on a sparse graph.

Zhang, Zhao and Wang (Pattern Recognition 46(11), 2013) merge the two clusters that gain the most
paths by merging. On a row-stochastic graph `W` the leading term of the gain is the paths of two
steps that leave a cluster, reach the other and come back:

    D(a, b)  = sum_{j in b} out_a(j) in_a(j)
    out_a(j) = sum_{i in a} w_ij
    in_a(j)  = sum_{i in a} w_ji

The affinity of two clusters is `D(a, b)/|a|^2 + D(b, a)/|b|^2`. Both vectors are sparse and
additive, so a merge only has to visit the neighbourhood of the smaller cluster.
"""

import heapq
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors

from infomeans._typing import Array, IntArray

WORTH_COMPILING = 10_000
"""Of fewer samples, the merges take less time than loading the compiled code."""


def first_clusters(graph: sparse.csr_array, n_clusters: int) -> IntArray:
    """Components of the 1-nearest-neighbour graph; single samples if there are too few."""
    n = graph.shape[0]
    nearest = graph.indices[graph.indptr[:-1]]
    links = sparse.csr_array((np.ones(n), (np.arange(n), nearest)), shape=(n, n))
    count, labels = connected_components(links, directed=True, connection="weak")
    return labels.astype(np.int64) if count >= n_clusters else np.arange(n)


def merge_all(
    X: Array, graph: sparse.csr_array, start: IntArray, n_clusters: int
) -> list[tuple[int, int]]:
    """All merges from the first clusters down to `n_clusters`, as pairs (kept, absorbed)."""
    merges = connected_merges(graph, start, n_clusters)
    excess = start.max() + 1 - len(merges) - n_clusters
    if excess > 0:
        merges += bridge(X, replay(start, merges), excess)
    return merges


def connected_merges(
    graph: sparse.csr_array, start: IntArray, n_clusters: int
) -> list[tuple[int, int]]:
    """The merges of clusters with connecting paths; compiled if Numba is there and it is worth it.

    Both ways give the same merges.
    """
    compiled = _compiled() if len(start) >= WORTH_COMPILING else None
    if compiled is None:
        return list(Forest(graph, start).merges(n_clusters))
    found = compiled.merges(start, *reach(graph, start), n_clusters)
    return list(zip(*found.T.tolist(), strict=True)) if len(found) else []


@cache
def _compiled() -> ModuleType | None:
    """The compiled merges; None without Numba."""
    try:
        return import_module("infomeans.graph.compiled")
    except ImportError:
        return None


def reach(
    graph: sparse.csr_array, start: IntArray
) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
    """Edges from clusters to samples, edges from samples to clusters, and gains of clusters."""
    n, count = len(start), int(start.max()) + 1
    member = sparse.csr_array((np.ones(n), (start, np.arange(n))), shape=(count, n))
    out, into = (member @ graph).tocsr(), (member @ graph.T).tocsr()
    return out, into, out.multiply(into).tocsr() @ member.T.tocsr()


def replay(start: IntArray, merges: list[tuple[int, int]]) -> IntArray:
    """The cluster of every sample after these merges."""
    name = np.arange(start.max() + 1)
    for kept, absorbed in reversed(merges):
        name[absorbed] = name[kept]
    return name[start]


def centroids(X: Array, labels: IntArray, count: int) -> Array:
    """The means of clusters (count, d)."""
    member = sparse.csr_array(
        (np.ones(len(X), dtype=X.dtype), (labels, np.arange(len(X)))), shape=(count, len(X))
    )
    return member @ X / np.bincount(labels, minlength=count)[:, None]


class Forest:
    """The clusters while they merge, with the edges from and to samples outside of each."""

    def __init__(self, graph: sparse.csr_array, start: IntArray) -> None:
        out, into, paths = reach(graph, start)
        self.owner: list[int] = start.tolist()
        self.members: list[list[int]] = [[] for _ in range(paths.shape[0])]
        for j, a in enumerate(self.owner):
            self.members[a].append(j)
        self.out, self.into = self._outside(out), self._outside(into)
        self.gain = self._gains(paths)

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
        """Merge the closest pair repeatedly, while any pair has a positive affinity."""
        heap = self._pairs()
        left, room = len(self.members), 4 * len(heap) + 1000
        while heap and left > n_clusters:
            negative, a, b = heapq.heappop(heap)
            # An outdated entry has an up-to-date successor further down the heap.
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
        # D(a + b, .) = D(a, .) + D(b, .) + paths that leave from one and return to the other.
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


def bridge(X: Array, state: IntArray, excess: int) -> list[tuple[int, int]]:
    """Merges of clusters without connecting paths: each with its nearest, closest pairs first."""
    merges: list[tuple[int, int]] = []
    while len(merges) < excess:
        names, ids = np.unique(state, return_inverse=True)
        search = NearestNeighbors(n_neighbors=1).fit(centroids(X, ids, len(names)))
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
    """The root of i, with path compression."""
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i
