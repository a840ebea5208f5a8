"""Clusters whose sizes differ: cut the tree where few edges are, whatever the sizes.

How many edges leave a cluster is compared with a cut through a homogeneous cluster. Take m samples,
spread evenly in d dimensions, and k neighbours of each. A plane through the middle meets about

    0.3 (1 - 1/d) (k / m)^(1/d)

of the edges. 0.3 is nearly the same for all d: `2 (v_(d-1) / v_d)^2 / (d + 1)`, where `v_d` is the
volume of the unit ball. The tree of merges finds better cuts than a plane, the more so the fewer
dimensions there are; hence `1 - 1/d`, as measured on uniform and Gaussian samples.
"""

import numpy as np
from scipy import sparse

from infomeans._typing import Array, IntArray
from infomeans.graph.branches import Branches, ties_between

LEAST_SHARE, LEAST_SAMPLES = 0.05, 5
"""A cluster has at least this share of the mean size, and this many samples."""

_LOWEST_DIMENSION, _LOWEST_CUT = 1.01, 0.03


def openness(
    volumes: Array, inner: Array, sizes: IntArray, inverse_dimensions: Array, n_neighbors: int
) -> Array:
    """How many edges leave each group, relative to half of a homogeneous group twice its size.

    It is 0 for a group without edges to others, and about 1 for a part of a homogeneous group.

    Parameters
    ----------
    volumes, inner : (m,) array
        Shares of all edges that end in each group, and that stay inside.
    sizes : (m,) array
        Number of samples.
    inverse_dimensions : (m,) array
        Mean of one over the intrinsic dimension.
    n_neighbors : int
        Number of neighbours of a sample in the graph.
    """
    tiny = np.finfo(float).tiny
    dimension = 1 / np.clip(inverse_dimensions, tiny, 1 / _LOWEST_DIMENSION)
    cut = np.maximum(0.3 * (1 - 1 / dimension), _LOWEST_CUT)
    cut = cut * np.minimum(n_neighbors / np.maximum(2 * sizes, 1), 1) ** (1 / dimension)
    return np.maximum(1 - inner / np.maximum(volumes, tiny), 0) / cut


def mean_openness(
    graph: sparse.csr_array, labels: IntArray, inverse_dimensions: Array, n_neighbors: int
) -> float:
    """The openness of the cluster of a sample, averaged over the samples."""
    n, count = len(labels), int(labels.max()) + 1
    ties = ties_between(graph, labels, count)
    sizes = np.bincount(labels, minlength=count)
    inverse = np.bincount(labels, inverse_dimensions, minlength=count) / np.maximum(sizes, 1)
    each = openness(ties.sum(axis=1), ties.diagonal(), sizes, inverse, n_neighbors)
    return float(each @ sizes / n)


def free_cut(
    branches: Branches, inverse_dimensions: Array, n_clusters: int, n_neighbors: int
) -> IntArray | None:
    """Cut the tree into the branches with the lowest sum of the roots of their openness.

    Branches with few samples are no clusters. They are left over where a branch goes on without
    them.

    Returns
    -------
    (n,) integer array, optional
        Clusters of the samples, -1 for those left over. None if the tree has too few branches.
    """
    sizes = branches.sizes
    inverse = branches.summed(inverse_dimensions) / sizes
    own = np.sqrt(openness(branches.volumes, branches.inner, sizes, inverse, n_neighbors))
    least = max(LEAST_SAMPLES, LEAST_SHARE * sizes[branches.root] / n_clusters)
    lowest = _lowest(branches, own, least, n_clusters)
    if len(lowest[branches.root]) < n_clusters:
        return None
    found, stack = [], [(branches.root, n_clusters)]
    while stack:
        branch, count = stack.pop()
        if count == 1:
            found.append(branch)
            continue
        one, *other = branches.substantial(branch, least)
        first = count
        if other:
            first = int(_sums(lowest[one], lowest[other[0]], count - 1)[1][count - 2])
            stack.append((other[0], count - first))
        stack.append((one, first))
    return branches.labels(found)


def _lowest(branches: Branches, own: Array, least: float, n_clusters: int) -> list[Array]:
    """For every branch, the lowest sums of 1, 2, ... clusters below it."""
    lowest: list[Array] = []
    for branch in range(len(own)):
        sums = own[branch : branch + 1]
        parts = [lowest[part] for part in branches.substantial(branch, least)]
        if len(parts) == 2:
            sums = np.concatenate([sums, _sums(parts[0], parts[1], n_clusters - 1)[0]])
        elif parts:
            sums = np.concatenate([sums, parts[0][1:]])
        lowest.append(sums)
    return lowest


def _sums(a: Array, b: Array, most: int) -> tuple[Array, IntArray]:
    """The lowest sums of 2, 3, ... clusters of two branches, and how many of them are of the first.

    At most `most` sums.
    """
    length = min(len(a) + len(b) - 1, most)
    best, first = np.full(length, np.inf), np.zeros(length, dtype=np.int64)
    for i in range(min(len(a), length)):
        until = min(i + len(b), length)
        sums = a[i] + b[: until - i]
        lower = np.flatnonzero(sums < best[i:until])
        best[i + lower], first[i + lower] = sums[lower], i + 1
    return best, first
