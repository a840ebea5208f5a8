"""The initial clusters, from the embedding of a pretrained network."""

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from infomeans import functional as IF
from infomeans._typing import Array, IntArray
from infomeans.graph.agglomeration import clusters_and_graph

Init = Literal["graph", "kmeans", "soft_kmeans"] | ArrayLike
NAMES = ("graph", "kmeans", "soft_kmeans")


class Start(NamedTuple):
    """Initial clusters (n,), and the graph (n, n) that they come from, if it was one."""

    labels: IntArray
    graph: sparse.csr_array | None = None


def check_init(init: Init, n_samples: int, n_clusters: int) -> IntArray | None:
    """Refuse an unknown start; labels given as an array come back as integers."""
    if isinstance(init, str):
        if init not in NAMES:
            raise ValueError(
                f"init={init!r} is unknown; choose one of {', '.join(NAMES)} or give an array of "
                f"n_samples labels."
            )
        return None
    labels = np.asarray(init)
    if labels.shape != (n_samples,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"init is an array of shape {labels.shape} and type {labels.dtype}; one integer label "
            f"for each of the {n_samples} samples is needed."
        )
    if labels.min() < 0 or labels.max() >= n_clusters:
        raise ValueError(
            f"init has labels from {labels.min()} to {labels.max()}; with n_clusters={n_clusters} "
            f"they must lie between 0 and {n_clusters - 1}."
        )
    return labels.astype(np.int64)


def initial_clusters(
    z: Array, n_clusters: int, init: Init, *, seed: int, images: NDArray[Any] | None = None
) -> Start:
    """Hard clusters of an embedding (n, d), and their graph.

    Parameters
    ----------
    z : (n, d) array
    n_clusters : int
    init : {"graph", "kmeans", "soft_kmeans"} or array of labels
        Sparse graph agglomeration; K-means; K-means followed by its soft updates, which is the
        start that the paper states.
    seed : int
        Of K-means.
    images : (n, c, h, w) array, optional
        What was embedded, if small affine maps leave it what it is; the graph makes use of it.
    """
    labels = check_init(init, len(z), n_clusters)
    if labels is not None:
        return Start(labels)
    if init == "graph":
        return Start(*clusters_and_graph(z, n_clusters, images=images))
    found = kmeans(z, n_clusters, seed=seed)
    if init == "kmeans":
        return Start(found.labels_.astype(np.int64))
    return Start(soft_kmeans(z, found.cluster_centers_).argmax(axis=1))


def kmeans(X: Array, n_clusters: int, *, seed: int, n_init: int = 20) -> KMeans:
    """K-means by scikit-learn, the same every time.

    Parameters
    ----------
    X : (n, d) array
    n_clusters : int
    seed : int
    n_init : int
        Starts, of which the best counts.
    """
    # Several threads would add up in changing order, and ties could fall either way.
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        # Where samples are copies of each other clusters stay empty, which is said elsewhere.
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        return KMeans(n_clusters, n_init=n_init, random_state=seed).fit(X)


def soft_kmeans(z: Array, prototypes: Array, *, lam: float = 1e-4, max_rounds: int = 100) -> Array:
    """Soft assignments (n, K): prototypes and softmins in turn until they stand still."""
    points, centres = torch.as_tensor(z).double(), torch.as_tensor(prototypes).double()
    temperature = lam * len(centres)
    q = IF.log_softmin(points, centres, temperature).exp()
    for _ in range(max_rounds):
        centres = IF.weighted_means(q.sum(dim=0), q.T @ points, centres)
        before, q = q, IF.log_softmin(points, centres, temperature).exp()
        if (q - before).abs().max() < 1e-6:
            break
    return q.numpy()
