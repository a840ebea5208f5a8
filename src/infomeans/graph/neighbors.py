"""The directed k-nearest-neighbour graph."""

import math

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from infomeans._typing import Array, IntArray
from infomeans.threads import allowed

FEWEST_NEIGHBORS, MOST_NEIGHBORS = 8, 20


def usual_neighbors(n_samples: int, n_clusters: int) -> int:
    """The square root of the mean size of a cluster, from 8 to 20.

    Neighbourhoods that are a good part of a cluster reach into the next one.
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
    n_neighbors : int
        Neighbours of each sample, itself not counted; clipped to `n - 1`.

    Returns
    -------
    (n, n) sparse array
        Row `i` holds the weights of the neighbours of sample `i`, nearest first.
    """
    return weighted_graph(*nearest_neighbors(X, n_neighbors))


def nearest_neighbors(X: Array, count: int) -> tuple[Array, IntArray]:
    """Squared distances and numbers of the nearest neighbours, both (n, count), nearest first.

    There are no more than all other samples.
    """
    count = min(count, len(X) - 1)
    if count < 1:
        return np.empty((len(X), 0)), np.empty((len(X), 0), dtype=np.int64)
    threads = allowed()
    # Brute force asks OpenMP for its threads, trees ask joblib.
    with threadpool_limits(threads, user_api="openmp"):
        search = NearestNeighbors(n_neighbors=count, n_jobs=threads).fit(X)
        distances, neighbors = search.kneighbors()
    return distances.astype(np.float64) ** 2, neighbors


def weighted_graph(squared: Array, neighbors: IntArray) -> sparse.csr_array:
    """The graph of given neighbours: their squared distances and their numbers, both (n, k)."""
    n, k = neighbors.shape
    if k < 1:
        return sparse.csr_array((n, n))
    # A row whose neighbours are all far away would underflow to zero weights: only differences
    # within a row matter once it is normalised, so each row is shifted by its nearest distance.
    weights = np.exp((squared[:, :1] - squared) / max(squared.mean(), np.finfo(float).tiny))
    weights /= weights.sum(axis=1, keepdims=True)
    indptr = np.arange(0, n * k + 1, k)
    return sparse.csr_array((weights.ravel(), neighbors.ravel(), indptr), shape=(n, n))
