"""The baselines, with one implementation for the demo, the benchmarks and the report."""

from __future__ import annotations

from infomeans._typing import IntArray
from infomeans.data import Dataset
from infomeans.data.arrays import channels_first
from infomeans.estimators import Autoencoder, GraphBaseline, KMeansBaseline
from infomeans.start import find_start

ON_DATA = ("kmeans", "graph")
ON_EMBEDDING = {"autoencoder+kmeans": "kmeans", "graph-embedding": "graph"}
"""Baselines on the embedding of an auto-encoder, with the equivalent `init` of deep methods."""

NAMES = ("kmeans", "autoencoder+kmeans", "graph", "graph-embedding")


def find_baseline(
    name: str,
    data: Dataset,
    n_clusters: int,
    *,
    seed: int,
    encoder: Autoencoder | None = None,
    augment: bool = False,
) -> IntArray:
    """The clusters (n,) of a baseline.

    Parameters
    ----------
    name : {"kmeans", "graph", "autoencoder+kmeans", "graph-embedding"}
        "kmeans" and "graph" work on the data, as with `--method`. The others work on the embedding
        of an auto-encoder, and are the initial clusters of the deep methods.
    data : Dataset
        The samples.
    n_clusters : int
        Number of clusters.
    seed : int
        Seed of K-means.
    encoder : Autoencoder, optional
        Auto-encoder fitted to the data, for baselines on the embedding.
    augment : bool
        Whether the graph may use tangent distances.
    """
    if name == "kmeans":
        return KMeansBaseline(n_clusters, random_state=seed).fit(data).labels_
    if name == "graph":
        return GraphBaseline(n_clusters, augment=augment).fit(data).labels_
    assert encoder is not None
    images = channels_first(data.X) if augment else None
    z = encoder.transform(data)
    start = find_start(z, n_clusters, ON_EMBEDDING[name], seed=seed, images=images)
    return start.labels.numpy()
