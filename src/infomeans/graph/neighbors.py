"""The directed nearest-neighbour graph."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from infomeans._typing import Array, IntArray
from infomeans.graph.approximate import approximate_neighbors, faiss
from infomeans.threads import allowed, openmp_threads

FEWEST_NEIGHBORS, MOST_NEIGHBORS = 8, 20

EXACT_SAMPLES = 20_000
"""Of more samples, neighbours are approximate."""

DIMENSION_NEIGHBORS = 18
"""Number of neighbours whose distances tell the intrinsic dimension."""


def usual_neighbors(n_samples: int, n_clusters: int) -> int:
    """Default number of neighbours: the root of the mean cluster size, between 8 and 20.

    Neighbourhoods that are large compared with a cluster reach into the next one.

    Examples
    --------
    >>> from infomeans.graph import usual_neighbors
    >>> usual_neighbors(n_samples=1000, n_clusters=10)
    10
    """
    root = round(math.sqrt(n_samples / n_clusters))
    return min(max(root, FEWEST_NEIGHBORS), MOST_NEIGHBORS)


def neighbor_graph(X: Array, n_neighbors: int) -> sparse.csr_array:
    """Directed nearest-neighbour graph with Gaussian weights and rows that sum to one.

        w_ij ~ exp(-d_ij^2 / sigma^2)
        sigma^2 = mean squared distance to the neighbours

    Parameters
    ----------
    X : (n, d) array
        Samples.
    n_neighbors : int
        Number of nearest neighbours, without the sample itself; clipped to `n - 1`.

    Returns
    -------
    (n, n) sparse array
        Row `i` holds the weights of the neighbours of sample `i`, nearest first.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.graph import neighbor_graph
    >>> neighbor_graph(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    return weighted_graph(*nearest_neighbors(X, n_neighbors))


def nearest_neighbors(X: Array, count: int) -> tuple[Array, IntArray]:
    """Squared distances and indices of the nearest neighbours, both (n, count), nearest first.

    `count` is clipped to `n - 1`. Of more than `EXACT_SAMPLES` samples a few neighbours may be
    missed if faiss is installed (`approximate_neighbors`).
    """
    count = min(count, len(X) - 1)
    if count < 1:
        return np.empty((len(X), 0)), np.empty((len(X), 0), dtype=np.int64)
    threads = allowed()
    approximate = len(X) > EXACT_SAMPLES and faiss() is not None
    # Brute force and faiss take their threads from OpenMP, trees from joblib.
    with openmp_threads(threads):
        if approximate:
            return approximate_neighbors(X, count)
        search = NearestNeighbors(n_neighbors=count, n_jobs=threads).fit(X)
        distances, neighbors = search.kneighbors()
    return distances.astype(np.float64) ** 2, neighbors


def inverse_dimensions(squared: Array) -> Array:
    """One over the intrinsic dimension around each sample (n,).

    The estimate of Levina and Bickel (NIPS 2004), from the squared distances to the nearest
    neighbours (n, k), nearest first; at most `DIMENSION_NEIGHBORS` count. Copies are left out, and
    samples with nothing but copies around them get the median of the others.
    """
    squared = squared[:, :DIMENSION_NEIGHBORS]
    apart = squared > 0
    logs = np.log(np.where(apart, squared, 1.0)) / 2
    closer = np.where(apart, logs[:, -1:] - logs, 0.0)[:, :-1].sum(axis=1)
    count = apart[:, :-1].sum(axis=1)
    median = np.median(closer[count > 0] / count[count > 0]) if count.any() else 1.0
    return np.where(count > 0, closer / np.maximum(count, 1), median)


def weighted_graph(squared: Array, neighbors: IntArray) -> sparse.csr_array:
    """The graph of given neighbours: their squared distances and indices, both (n, k)."""
    if not neighbors.size:
        return graph_of_rows(neighbors, squared)
    # Weights of a row whose neighbours are all far away would underflow to zero. Only differences
    # within a row matter after normalisation, so each row is shifted by its nearest distance.
    weights = np.exp((squared[:, :1] - squared) / max(squared.mean(), np.finfo(float).tiny))
    return graph_of_rows(neighbors, weights / weights.sum(axis=1, keepdims=True))


def graph_of_rows(neighbors: IntArray, weights: Array) -> sparse.csr_array:
    """The graph in which row `i` holds these neighbours and weights of sample `i`, both (n, k)."""
    n, k = neighbors.shape
    indptr = np.arange(n + 1) * k
    return sparse.csr_array((weights.ravel(), neighbors.ravel(), indptr), shape=(n, n))


def mixed_graph(graphs: Sequence[sparse.csr_array]) -> sparse.csr_array:
    """The mean of several graphs on the same samples, with the largest weight of a row first.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.graph import mixed_graph, neighbor_graph
    >>> one, other = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [3.0], [1.0]])
    >>> mixed_graph([neighbor_graph(X, n_neighbors=1) for X in (one, other)]).toarray()
    array([[0. , 0.5, 0.5],
           [0.5, 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """
    if len(graphs) == 1:
        return graphs[0]
    mean = sparse.csr_array(sum(graphs[1:], start=graphs[0]) / len(graphs))
    rows = np.repeat(np.arange(mean.shape[0]), np.diff(mean.indptr))
    order = np.lexsort((mean.indices, -mean.data, rows))
    parts = (mean.data[order], mean.indices[order], mean.indptr)
    return sparse.csr_array(parts, shape=mean.shape)


def strongest(graph: sparse.csr_array, n_neighbors: int) -> sparse.csr_array:
    """The first neighbours of every sample, with rows that sum to one.

    Every row must have at least `n_neighbors`, the largest weight first.
    """
    kept = graph.indptr[:-1, None] + np.arange(n_neighbors)
    weights = graph.data[kept]
    return graph_of_rows(graph.indices[kept], weights / weights.sum(axis=1, keepdims=True))
