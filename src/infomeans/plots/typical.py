"""Typical samples of a cluster."""

from __future__ import annotations

import numpy as np

from infomeans._typing import Array, IntArray


def cluster_means(clusters: IntArray, values: Array, k: int) -> Array:
    """The mean of the values in each cluster (k,); NaN for an empty cluster."""
    sizes = np.bincount(clusters, minlength=k)
    sums = np.bincount(clusters, weights=values, minlength=k)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)


def typical_samples(
    embedding: Array, clusters: IntArray, confidences: Array, k: int, most: int
) -> list[IntArray]:
    """The most typical samples of each cluster, the most typical first.

    Many samples are equally confident. So these are the samples of the more confident half that
    are nearest to the cluster's mean.
    """
    return [
        _typical(embedding, confidences, np.flatnonzero(clusters == cluster))[:most]
        for cluster in range(k)
    ]


def _typical(embedding: Array, confidences: Array, members: IntArray) -> IntArray:
    if not len(members):
        return members
    sure, z = confidences[members], embedding[members]
    far = np.linalg.norm(z - z.mean(axis=0), axis=1)
    return members[np.lexsort((far, sure < np.median(sure)))]
