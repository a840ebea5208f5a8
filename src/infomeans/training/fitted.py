"""The result of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from infomeans._typing import Array, IntArray
from infomeans.data.memory import in_parts, joined
from infomeans.metrics import accuracy, ari
from infomeans.problems import cluster_problems, start_problems, training_problems


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
    choice : dict or None
        How the initial clusters were chosen, if they were; see `infomeans.start.Choice`.
    stability : (n,) array or None
        Share of the alternatives to the initial clusters that agree with them on a sample.
    score : float or None
        Mutual information between the clusters of neighbours, if it chose the initial clusters.
    start_seconds : float or None
        Time to find the initial clusters.
    method : str or None
        The method, if it was chosen.
    number : dict or None
        How the number of clusters was found, if it was; see `infomeans.graph.NumberOfClusters`.
    free : bool
        Whether sizes were learned instead of equal.
    n_selected : int or None
        Number of samples in which the initial clusters were found, if not in all. The network
        assigned the others after the warm-up.
    neighbors : (n, m) integer array or None
        Positions of the nearest neighbours of each sample, if they were looked for.
    outliers : (n,) array or None
        Share of the samples that are less strange than a sample.
    why : dict or None
        If clusters are empty, what may be the reason: the number of `distinct` samples, and of
        `groups` in the data if these were counted.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.training import Fitted
    >>> fitted = Fitted(np.zeros((2, 1)), posteriors=np.array([[0.9, 0.1], [0.8, 0.2]]))
    >>> fitted.sizes.tolist(), fitted.problems()[0][:27]
    ([2, 0], 'The clusters have collapsed')
    """

    embedding: Array
    posteriors: Array
    initial_labels: IntArray | None = None
    history: Sequence[Mapping[str, Any]] = field(default_factory=list)
    choice: Mapping[str, Any] | None = None
    stability: Array | None = None
    score: float | None = None
    start_seconds: float | None = None
    method: str | None = None
    number: Mapping[str, Any] | None = None
    free: bool = False
    n_selected: int | None = None
    neighbors: IntArray | None = None
    outliers: Array | None = None
    why: Mapping[str, int] | None = None

    @cached_property
    def labels(self) -> IntArray:
        """The most probable cluster of each sample (n,)."""
        parts = (part.argmax(axis=1) for part in in_parts(self.posteriors))
        return joined(parts, len(self.posteriors))

    @cached_property
    def confidences(self) -> Array:
        """The probability of that cluster (n,)."""
        parts = (part.max(axis=1) for part in in_parts(self.posteriors))
        return joined(parts, len(self.posteriors))

    @cached_property
    def sizes(self) -> IntArray:
        """Number of samples in each cluster (K,)."""
        return np.bincount(self.labels, minlength=self.posteriors.shape[1])

    @cached_property
    def agreement(self) -> float | None:
        """Adjusted Rand index between the clusters and the initial clusters."""
        return None if self.initial_labels is None else ari(self.initial_labels, self.labels)

    @cached_property
    def changed(self) -> float | None:
        """Share of the samples that are no longer in their initial cluster."""
        if self.initial_labels is None:
            return None
        return 1 - accuracy(self.initial_labels, self.labels)

    @property
    def undone(self) -> bool:
        """Whether training went back to the state before its last phase."""
        return bool(self.history) and self.history[-1].get("back_to") == -1

    @property
    def seconds_to_start(self) -> float:
        """Time to find the initial clusters, with pretraining if the embedding was needed."""
        chosen = self.choice is not None and "embedding" in self.choice["chosen"]
        embedded = chosen or self.number is not None
        pretraining = (one["seconds"] for one in self.history if one["phase"] == "pretrain")
        return (self.start_seconds or 0.0) + (sum(pretraining) if embedded else 0.0)

    def problems(self) -> list[str]:
        """What is wrong with the clusters, in plain words; empty if nothing is."""
        return [
            *cluster_problems(self.sizes.tolist(), self.why),
            *start_problems(self.agreement),
            *training_problems(self.history),
        ]
