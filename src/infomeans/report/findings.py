"""What a run found, for its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infomeans._typing import Array, IntArray
from infomeans.data import Dataset
from infomeans.data import open as open_input
from infomeans.data.files import printable
from infomeans.data.memory import in_parts, joined
from infomeans.errors import InputError
from infomeans.estimators.base import SampleClusterer
from infomeans.plots.typical import typical_samples
from infomeans.runs import Run, entropies


@dataclass(frozen=True)
class Findings:
    """The results of a run, and its samples if they can still be read.

    Parameters
    ----------
    run : Run
        A complete run.
    data : Dataset, optional
        The samples of the run.
    estimator : SampleClusterer, optional
        The fitted estimator; by default it is loaded from the run.
    """

    run: Run
    data: Dataset | None = None
    estimator: SampleClusterer | None = None

    @cached_property
    def ids(self) -> Sequence[str]:
        """Ids of all samples."""
        return self.run.labels.ids

    @cached_property
    def posteriors(self) -> Array:
        """The posteriors (n, K)."""
        return self.run.posteriors

    @cached_property
    def embedding(self) -> Array:
        """The embedding (n, d)."""
        return self.run.embedding

    @cached_property
    def clusters(self) -> IntArray:
        """The most probable clusters (n,), before merging."""
        return self._by_rows(lambda p: p.argmax(axis=1))

    @cached_property
    def seconds(self) -> IntArray:
        """The second most probable clusters (n,); the first if there is only one cluster."""
        if self.k < 2:
            return self.clusters
        return self._by_rows(lambda p: np.argpartition(p, -2, axis=1)[:, -2])

    @cached_property
    def confidences(self) -> Array:
        """The confidences (n,)."""
        return self._by_rows(lambda p: p.max(axis=1))

    @cached_property
    def runners_up(self) -> Array:
        """Probabilities of the second clusters (n,); zero if there is only one cluster."""
        if self.k < 2:
            return np.zeros(len(self.posteriors))
        return self.posteriors[np.arange(len(self.posteriors)), self.seconds]

    @cached_property
    def entropies(self) -> Array:
        """Entropies of the posteriors (n,), in nats."""
        return self._by_rows(entropies)

    @property
    def stability(self) -> Array | None:
        """Share of the other starts that agree on each sample (n,), if there were any."""
        return self.run.labels.stability

    @property
    def k(self) -> int:
        """Number of clusters, including empty ones."""
        return int(self.posteriors.shape[1])

    @cached_property
    def sizes(self) -> IntArray:
        """Number of samples in each cluster (K,)."""
        return np.bincount(self.clusters, minlength=self.k)

    @property
    def classes(self) -> Any:
        """The true classes (n,) if given; empty for samples without one."""
        return None if self.data is None else self.data.labels

    @cached_property
    def ranked(self) -> list[IntArray]:
        """The members of every cluster, the most typical first."""
        return typical_samples(
            self.embedding, self.clusters, self.confidences, self.k, most=len(self.ids)
        )

    def _by_rows(self, function: Callable[[Array], NDArray[Any]]) -> NDArray[Any]:
        """What a function gives for every row of the posteriors, some rows at a time."""
        parts = (function(block) for block in in_parts(self.posteriors))
        return joined(parts, len(self.posteriors))

    def members(self, cluster: int) -> IntArray:
        """Positions of the samples in a cluster."""
        return np.flatnonzero(self.clusters == cluster)


def read_samples(run: Run, notes: list[str]) -> Dataset | None:
    """Read the run's samples again; without labels if those fail; None and a note if all fails."""
    request = run.config["arguments"]
    reading = request["reading"]
    tries = [reading, {k: v for k, v in reading.items() if k != "labels"}]
    for options in tries if "labels" in reading else tries[:1]:
        try:
            data = open_input(request["source"], **options)
        except (InputError, OSError) as error:
            notes[:] = [printable(f"The input cannot be read again: {error}")]
            continue
        if data.fingerprint != run.config["data"]["fingerprint"]:
            notes.append("The input has changed since the run, so it is not used.")
            return None
        return data
    return None
