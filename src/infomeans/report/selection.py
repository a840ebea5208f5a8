"""The samples that a page holds: all, or some of very many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infomeans._typing import IntArray

MOST_POINTS = 100_000
"""A page holds at most so many samples, and those that it mentions."""

MOST_ID_BYTES = 10_000_000
"""It holds fewer if their ids would take more than this."""

OF_EACH = 500
"""It holds at least so many samples of each cluster, as far as there is room."""


def select(
    clusters: IntArray, mentioned: Sequence[Sequence[int]], ids: Sequence[str], seed: int
) -> IntArray:
    """Positions of the samples to hold, in order.

    Of very many samples these are the mentioned ones, some of each cluster, and a random selection
    of the others.

    Parameters
    ----------
    clusters : (n,) integer array
        Cluster of each sample.
    mentioned : lists of int
        Positions of samples that the page mentions.
    ids : sequence of n str
        Ids of the samples.
    seed : int
        Seed of the selection.
    """
    n, most = len(clusters), most_samples(ids)
    if n <= most:
        return np.arange(n)
    order = np.random.default_rng(seed).permutation(n)
    kept = np.zeros(n, dtype=bool)
    for one in mentioned:
        kept[np.asarray(one, dtype=np.int64)] = True
    kept[_of_each(clusters, order, most - int(kept.sum()))] = True
    others = order[~kept[order]]
    kept[others[: max(most - int(kept.sum()), 0)]] = True
    return np.flatnonzero(kept)


def most_samples(ids: Sequence[str]) -> int:
    """How many samples with such ids a page may hold."""
    some = range(0, len(ids), max(len(ids) // 10_000, 1))
    length = sum(len(ids[i].encode()) for i in some) / max(len(some), 1)
    return min(MOST_POINTS, int(MOST_ID_BYTES / max(length, 1)))


def _of_each(clusters: IntArray, order: IntArray, room: int) -> IntArray:
    """The first samples of each cluster in an order; together at most half of the room."""
    sizes = np.bincount(clusters)
    least = min(OF_EACH, room // (2 * len(sizes)))
    by_cluster = order[np.argsort(clusters[order], kind="stable")]
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return by_cluster[rank < least]
