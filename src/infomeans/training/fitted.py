"""The result of a fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from infomeans._typing import Array, IntArray
from infomeans.errors import few
from infomeans.metrics import ari

COLLAPSED = 0.95
"""If one cluster holds more than this share of the samples, the clusters have collapsed."""

LOST = 0.5
"""Below this adjusted Rand index to the initial clusters, training has lost them."""


@dataclass(frozen=True)
class Fitted:
    """The result for the samples of a fit.

    Attributes
    ----------
    embedding : (n, d) array
        Embedding of the samples.
    posteriors : (n, K) array
        Probability of each cluster.
    initial_labels : (n,) integer array or None
        The initial clusters; None for a baseline.
    history : list of dict
        One record per epoch.
    """

    embedding: Array
    posteriors: Array
    initial_labels: IntArray | None = None
    history: Sequence[Mapping[str, Any]] = field(default_factory=list)

    @cached_property
    def labels(self) -> IntArray:
        """The most probable cluster of each sample (n,)."""
        return self.posteriors.argmax(axis=1)

    @cached_property
    def confidences(self) -> Array:
        """The probability of that cluster (n,)."""
        return self.posteriors.max(axis=1)

    @cached_property
    def sizes(self) -> IntArray:
        """Number of samples in each cluster (K,)."""
        return np.bincount(self.labels, minlength=self.posteriors.shape[1])

    @cached_property
    def agreement(self) -> float | None:
        """Adjusted Rand index between the clusters and the initial clusters."""
        return None if self.initial_labels is None else ari(self.initial_labels, self.labels)

    def problems(self) -> list[str]:
        """Messages about doubtful clusters; empty if there are none."""
        return [
            *cluster_problems(self.sizes),
            *(
                [
                    f"Training lost the initial clusters: the adjusted Rand index between these "
                    f"and the result is {self.agreement:.2f}. Try a lower learning_rate, or "
                    f"compare with GraphBaseline (--method graph)."
                ]
                if self.agreement is not None and self.agreement < LOST
                else []
            ),
        ]


def cluster_problems(sizes: IntArray) -> list[str]:
    """Messages about clusters of these sizes (K,): a collapse, or empty clusters."""
    k, empty = len(sizes), np.flatnonzero(sizes == 0).tolist()
    largest = sizes.max() / max(sizes.sum(), 1)
    if k > 1 and (largest > COLLAPSED or 2 * len(empty) >= k):
        return [
            f"The clusters have collapsed: {k - len(empty)} of {k} are in use, and the largest "
            f"holds {math.floor(100 * largest)}% of the samples. Try another seed, fewer clusters "
            f"or longer pretraining."
        ]
    if empty:
        which = f"Cluster {empty[0]} is" if len(empty) == 1 else f"Clusters {few(empty, 10)} are"
        return [f"{which} empty: fewer clusters may fit these data."]
    return []
