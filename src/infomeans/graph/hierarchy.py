"""The tree of clusters: groups within groups, and groups of groups."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from infomeans._typing import Array, IntArray
from infomeans.errors import InputError
from infomeans.graph.branches import Branches, leaves_below
from infomeans.graph.neighbors import (
    DIMENSION_NEIGHBORS,
    inverse_dimensions,
    nearest_neighbors,
    usual_neighbors,
    weighted_graph,
)
from infomeans.graph.sizes import LEAST_SAMPLES, LEAST_SHARE, openness
from infomeans.graph.tree import bridge, connected_merges, first_clusters, merge_all, replay

MOST_SAMPLES = 12_000
"""Of more samples, a random selection of this size makes the tree."""

MOST_LEAVES, LEAVES_PER_CLUSTER = 300, 10
"""The tree begins with so many small groups, in all or per cluster if that is more."""

RISE = 1e-6
"""How much higher a merge is at least than the one before."""


@dataclass(frozen=True)
class Hierarchy:
    """A tree of merges that passes through given clusters.

    Attributes
    ----------
    linkage : (m - 1, 4) array
        The merges in SciPy's form: the two branches, the height, and the number of leaves, which
        SciPy takes for the observations. The height is one minus the share of the smaller branch's
        edges that lead to the other; it always rises.
    sizes : (2m - 1,) integer array
        Number of samples in each branch: the m leaves, then the merges.
    leaf : (n,) integer array
        The leaf of each sample.
    cluster : (m,) integer array
        The given cluster of each leaf.
    openness : (2m - 1,) array
        How many edges leave each branch, relative to a part of a homogeneous group.
    """

    linkage: Array
    sizes: IntArray
    leaf: IntArray
    cluster: IntArray
    openness: Array

    @property
    def n_clusters(self) -> int:
        """Number of given clusters, without empty ones."""
        return len(np.unique(self.cluster))

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.cluster)

    def merges(self) -> list[tuple[int, int, float]]:
        """How the clusters merge: two of them and the height; the smaller number stands for both.

        The first pair would merge next.
        """
        found = []
        for branch in range(2 * self.n_leaves - self.n_clusters, 2 * self.n_leaves - 1):
            pair = sorted(min(self._clusters(part)) for part in self._children(branch))
            height = float(self.linkage[branch - self.n_leaves, 2])
            found.append((pair[0], pair[1], height))
        return found

    def partners(self) -> dict[int, list[int]]:
        """For each cluster the clusters of the branch that it would merge with first."""
        together = {cluster: [cluster] for cluster in np.unique(self.cluster).tolist()}
        found: dict[int, list[int]] = {}
        for one, other, _ in self.merges():
            for a, b in ((one, other), (other, one)):
                if len(together[a]) == 1:
                    found.setdefault(a, together[b])
            together[one] = sorted(together[one] + together.pop(other))
        return found

    def parts(self) -> dict[int, list[list[int]]]:
        """The leaves of the two parts that each cluster would part into; not all would."""
        found: dict[int, list[list[int]]] = {}
        for cluster, *both in self._splits():
            found.setdefault(cluster, both)
        return found

    def splits(self) -> Iterator[tuple[int, int, int]]:
        """How clusters would part, the clearest split first: cluster, and sizes of both parts.

        A cluster comes up again if its parts would part.
        """
        for cluster, rest, parted in self._splits():
            yield cluster, int(self.sizes[rest].sum()), int(self.sizes[parted].sum())

    def next_words(self) -> str:
        """Which clusters would merge next, and which would part; empty if there is nothing to say.

        Examples
        --------
        >>> import numpy as np
        >>> from infomeans.graph import cluster_tree
        >>> X = np.repeat([[0.0], [1.0], [9.0]], 20, axis=0) + np.linspace(0, 0.1, 60)[:, None]
        >>> cluster_tree(X, labels=np.repeat([0, 0, 1], 20)).next_words()
        '0 and 1 would merge next; 0 would part next, into 20 and 20'
        """
        merges = [f"{a} and {b} would merge next" for a, b, _ in self.merges()[:1]]
        splits = [
            f"{cluster} would part next, into {larger:,} and {smaller:,}"
            for cluster, larger, smaller in islice(self.splits(), 1)
        ]
        return "; ".join([*merges, *splits])

    def cut(self, n_clusters: int) -> IntArray:
        """Clusters of the leaves (m,) after merging or splitting the given ones.

        Clusters that do not change keep their numbers, as far as these are below `n_clusters`. Of
        two that merge the smaller number remains; of two that part, the larger part keeps it.
        """
        if not 1 <= n_clusters <= self.n_leaves:
            raise InputError(
                f"n_clusters={n_clusters} is out of reach: the tree has {self.n_leaves} small "
                f"groups, so 1 to {self.n_leaves} clusters are possible."
            )
        labels = self.cluster.copy()
        for one, other, _ in self.merges()[: max(self.n_clusters - n_clusters, 0)]:
            labels[labels == other] = one
        following = int(labels.max()) + 1
        for _, _, parted in self._splits() if n_clusters > self.n_clusters else ():
            if len(np.unique(labels)) >= n_clusters:
                break
            labels[parted] = following
            following += 1
        if len(np.unique(labels)) < n_clusters:
            raise InputError(
                f"n_clusters={n_clusters} is too many: only {len(np.unique(labels))} groups have "
                f"enough samples."
            )
        return _renumbered(labels, n_clusters)

    def state_dict(self) -> dict[str, Any]:
        """The tree as arrays."""
        return {
            "linkage": self.linkage,
            "sizes": self.sizes,
            "leaf": self.leaf,
            "cluster": self.cluster,
            "openness": self.openness,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Hierarchy:
        """The tree from its arrays."""
        return cls(**{name: state[name] for name in cls.__dataclass_fields__})

    def _splits(self) -> Iterator[tuple[int, list[int], list[int]]]:
        """Splits of the given clusters, the clearest first.

        Each is the cluster, the leaves that remain and the leaves that part from them. Branches
        with few samples remain.
        """
        n = len(self.leaf)
        least = max(LEAST_SAMPLES, LEAST_SHARE * n / self.n_clusters)
        heap: list[tuple[float, int, int, list[int]]] = []

        def offer(branch: int, held: list[int]) -> None:
            """Queue the first split of a branch into two substantial parts."""
            while branch >= self.n_leaves:
                parts = self._children(branch)
                smaller, larger = sorted(parts, key=self.sizes.__getitem__)
                if self.sizes[smaller] >= least:
                    clear = float(self.openness[parts].max())
                    heapq.heappush(heap, (clear, larger, smaller, held))
                    return
                branch = larger

        for root in self._roots():
            offer(root, self._leaves(root))
        while heap:
            _, larger, smaller, held = heapq.heappop(heap)
            parted = self._leaves(smaller)
            rest = sorted(set(held) - set(parted))
            yield int(self.cluster[parted[0]]), rest, parted
            offer(larger, rest)
            offer(smaller, parted)

    def _roots(self) -> list[int]:
        """The branches that are the given clusters."""
        first_merge = 2 * self.n_leaves - self.n_clusters
        inside = {p for b in range(self.n_leaves, first_merge) for p in self._children(b)}
        return [branch for branch in range(first_merge) if branch not in inside]

    @cached_property
    def _all_children(self) -> IntArray:
        """The two branches of every branch; -1 for a leaf."""
        leaves = np.full((self.n_leaves, 2), -1)
        return np.concatenate([leaves, self.linkage[:, :2].astype(np.int64)])

    def _children(self, branch: int) -> list[int]:
        return self._all_children[branch].tolist()

    def _leaves(self, branch: int) -> list[int]:
        return leaves_below(self._all_children, branch)

    def _clusters(self, branch: int) -> list[int]:
        return np.unique(self.cluster[self._leaves(branch)]).tolist()


def cluster_tree(X: Array, labels: IntArray, *, seed: int = 0) -> Hierarchy:
    """The tree of merges of some samples, through given clusters.

    Inside of every cluster, groups merge as in graph agglomeration until the cluster is whole. Then
    the clusters merge. Of very many samples a random selection makes the tree; the others join the
    leaf of the nearest selected sample of their cluster.

    Parameters
    ----------
    X : (n, d) array
        Samples, such as an embedding.
    labels : (n,) integer array
        Their clusters.
    seed : int
        Seed of the selection.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.graph import cluster_tree
    >>> X = np.repeat([[0.0], [1.0], [9.0]], 20, axis=0) + np.linspace(0, 0.1, 60)[:, None]
    >>> tree = cluster_tree(X, labels=np.repeat([0, 1, 2], 20))
    >>> [pair[:2] for pair in tree.merges()]
    [(0, 1), (0, 2)]
    >>> np.unique(tree.cut(2)[tree.leaf], return_counts=True)[1]
    array([40, 20])
    """
    some = _selection(labels, seed)
    given, own = np.unique(labels[some], return_inverse=True)
    z, count = X[some], len(given)
    if len(z) == 1:
        sizes = np.array([len(X)])
        return Hierarchy(np.empty((0, 4)), sizes, np.zeros(len(X), int), given, np.zeros(1))
    n_neighbors = usual_neighbors(len(z), count)
    squared, near = nearest_neighbors(z, max(n_neighbors, DIMENSION_NEIGHBORS))
    graph = weighted_graph(squared[:, :n_neighbors], near[:, :n_neighbors])
    start, merges = _merges(z, graph, own)
    most = max(MOST_LEAVES, LEAVES_PER_CLUSTER * count)
    branches = Branches.of_merges(graph, start, merges, most)
    inverse = branches.summed(inverse_dimensions(squared)) / branches.sizes
    opened = openness(
        branches.volumes, branches.inner, branches.sizes, inverse, min(n_neighbors, len(z) - 1)
    )
    cluster = np.empty(branches.n_leaves, dtype=np.int64)
    cluster[branches.leaf] = given[own]
    leaf = _all_leaves(X, labels, some, branches.leaf)
    everywhere = replace(branches, leaf=leaf)
    sizes = everywhere.summed(np.ones(len(leaf))).astype(np.int64)
    return Hierarchy(_linkage(branches), sizes, leaf, cluster, opened)


def _merges(
    X: Array, graph: sparse.csr_array, labels: IntArray
) -> tuple[IntArray, list[tuple[int, int]]]:
    """First groups inside of the clusters, and all merges: to the clusters, then to one."""
    count = int(labels.max()) + 1
    parts = first_clusters(graph, 2) * count + labels
    start = np.unique(parts, return_inverse=True)[1]
    rows = np.repeat(labels, np.diff(graph.indptr))
    inside = graph.copy()
    inside.data = np.where(rows == labels[graph.indices], graph.data, 0.0)
    inside.eliminate_zeros()
    merges = connected_merges(inside, start, count)
    state = replay(start, merges)
    for cluster in range(count):
        own = labels == cluster
        excess = len(np.unique(state[own])) - 1
        if excess:
            merges += bridge(X[own], state[own], excess)
    names = replay(start, merges)
    name = np.empty(count, dtype=np.int64)
    name[labels] = names
    merges += [(int(name[a]), int(name[b])) for a, b in merge_all(X, graph, labels, 1)]
    return start, merges


def _selection(labels: IntArray, seed: int) -> IntArray:
    """Positions of the samples that make the tree: all, or a random selection."""
    n = len(labels)
    if n <= MOST_SAMPLES:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    # Every cluster is there.
    _, first = np.unique(labels, return_index=True)
    return np.unique(np.concatenate([first, rng.choice(n, MOST_SAMPLES, replace=False)]))


def _all_leaves(X: Array, labels: IntArray, some: IntArray, leaf: IntArray) -> IntArray:
    """The leaf of every sample, from those of the selected ones."""
    if len(some) == len(X):
        return leaf
    found = np.empty(len(X), dtype=np.int64)
    for cluster in np.unique(labels):
        own, selected = labels == cluster, labels[some] == cluster
        search = NearestNeighbors(n_neighbors=1).fit(X[some[selected]])
        found[own] = leaf[selected][search.kneighbors(X[own], return_distance=False)[:, 0]]
    return found


def _linkage(branches: Branches) -> Array:
    """The merges in SciPy's form, with heights that rise."""
    m = branches.n_leaves
    counts = np.ones(2 * m - 1)
    rows, height = np.empty((m - 1, 4)), 0.0
    for branch in range(m, 2 * m - 1):
        a, b = sorted(branches.children[branch].tolist())
        smaller = max(float(branches.volumes[[a, b]].min()), np.finfo(float).tiny)
        height = max(height + RISE, 1 - branches.between(branch) / smaller)
        counts[branch] = counts[a] + counts[b]
        rows[branch - m] = a, b, height, counts[branch]
    return rows


def _renumbered(labels: IntArray, n_clusters: int) -> IntArray:
    """Numbers below `n_clusters`; those that are below already stay."""
    used = np.unique(labels).tolist()
    free = (number for number in range(n_clusters) if number not in used)
    into = {old: old if old < n_clusters else next(free) for old in used}
    return np.array([into[old] for old in labels.tolist()])
