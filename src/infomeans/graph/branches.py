"""The upper part of the tree of merges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from infomeans._typing import Array, IntArray
from infomeans.graph.tree import replay


@dataclass(frozen=True)
class Branches:
    """The branches of the tree from some level up: m leaves, then m - 1 merges, the root last.

    Attributes
    ----------
    leaf : (n,) integer array
        The leaf of each sample.
    children : (2m - 1, 2) integer array
        The two branches that merge into each branch; -1 for a leaf.
    sizes : (2m - 1,) integer array
        Number of samples in each branch.
    volumes, inner : (2m - 1,) array
        Share of all edges that end in each branch, by weight, and share that stays inside.
    """

    leaf: IntArray
    children: IntArray
    sizes: IntArray
    volumes: Array
    inner: Array

    @classmethod
    def of_merges(
        cls, graph: sparse.csr_array, start: IntArray, merges: list[tuple[int, int]], most: int
    ) -> Branches:
        """The branches from the level with at most `most` leaves on.

        Parameters
        ----------
        graph : (n, n) sparse array
            The graph of the samples; directions of edges do not matter.
        start : (n,) integer array
            The first clusters.
        merges : list of (kept, absorbed)
            All merges, down to a single cluster.
        most : int
            Maximum number of leaves.
        """
        below = max(len(merges) + 1 - most, 0)
        names, leaf = np.unique(replay(start, merges[:below]), return_inverse=True)
        place = {int(name): at for at, name in enumerate(names)}
        m = len(names)
        ties = ties_between(graph, leaf, m)
        ties /= max(ties.sum(), np.finfo(float).tiny)
        children = np.full((2 * m - 1, 2), -1)
        sizes = np.zeros(2 * m - 1, dtype=np.int64)
        volumes, inner = np.zeros(2 * m - 1), np.zeros(2 * m - 1)
        sizes[:m], volumes[:m] = np.bincount(leaf, minlength=m), ties.sum(axis=1)
        inner[:m] = ties.diagonal()
        branch = list(range(m))
        for following, (kept, absorbed) in enumerate(merges[below:], start=m):
            a, b = place[kept], place[absorbed]
            both = [branch[a], branch[b]]
            children[following] = both
            sizes[following], volumes[following] = sizes[both].sum(), volumes[both].sum()
            inner[following] = inner[both].sum() + 2 * ties[a, b]
            branch[a] = following
            ties[a] += ties[b]
            ties[:, a] += ties[:, b]
            ties[b] = ties[:, b] = 0.0
        return cls(leaf, children, sizes, volumes, inner)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (len(self.sizes) + 1) // 2

    @property
    def root(self) -> int:
        """The branch of all samples."""
        return len(self.sizes) - 1

    def larger_first(self, branch: int) -> tuple[int, int]:
        """The two branches that merge into one, the larger first."""
        a, b = self.children[branch].tolist()
        return (a, b) if self.sizes[a] >= self.sizes[b] else (b, a)

    def substantial(self, branch: int, least: float) -> list[int]:
        """Those of its two branches that have at least so many samples."""
        return [
            part
            for part in self.children[branch].tolist()
            if part >= 0 and self.sizes[part] >= least
        ]

    def between(self, branch: int) -> float:
        """Share of all edges that lead from one of its two branches to the other."""
        return float(self.inner[branch] - self.inner[self.children[branch]].sum()) / 2

    def summed(self, values: Array) -> Array:
        """The sum of the samples' values (n,) in every branch (2m - 1,)."""
        sums = np.zeros(len(self.sizes))
        sums[: self.n_leaves] = np.bincount(self.leaf, values, minlength=self.n_leaves)
        for branch in range(self.n_leaves, len(sums)):
            sums[branch] = sums[self.children[branch]].sum()
        return sums

    def labels(self, branches: Iterable[int]) -> IntArray:
        """The position of the branch that each sample is in (n,); -1 if it is in none."""
        of_leaf = np.full(self.n_leaves, -1)
        for position, branch in enumerate(branches):
            of_leaf[leaves_below(self.children, branch)] = position
        return of_leaf[self.leaf]


def leaves_below(children: IntArray, branch: int) -> list[int]:
    """The leaves of a branch; the children of a leaf are -1."""
    found, stack = [], [branch]
    while stack:
        one = stack.pop()
        parts = children[one].tolist()
        if parts[0] < 0:
            found.append(one)
        else:
            stack += parts
    return found


def memberships(labels: IntArray, n_clusters: int) -> sparse.csr_array:
    """One-hot matrix of the labels (n, n_clusters); rows of negative labels are zero."""
    known = np.flatnonzero(labels >= 0)
    shape = len(labels), n_clusters
    return sparse.csr_array((np.ones(len(known)), (known, labels[known])), shape=shape)


def ties_between(graph: sparse.csr_array, labels: IntArray, n_clusters: int) -> Array:
    """Sum of the weights between clusters (n_clusters, n_clusters), in both directions."""
    member = memberships(labels, n_clusters)
    ties: Array = (member.T @ (graph + graph.T) @ member).toarray()
    return ties
