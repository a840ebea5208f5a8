"""What sets the clusters of a table apart, in words and in the units of the table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infomeans._typing import Array, IntArray
from infomeans.report.findings import Findings

FEATURES, COLUMNS = 6, 12
"""Features in a card, and columns of the table of samples."""

NOTABLE = 0.3
"""Smaller differences, in standard deviations, are not worth a word."""

MOST_UNNAMED = 30
"""More columns without names are an embedding, whose columns mean nothing to a reader."""

MOST_SAMPLES = 100_000
"""Number of samples to look at; of more, a random selection."""

HUGE = 1e30
"""Larger numbers are clipped, because their squares would overflow."""

_WORDS = ((1.5, "very high", "very low"), (0.7, "high", "low"), (0.0, "rather high", "rather low"))
_SHARES = ((0.0, "more often", "less often"),)


def features(found: Findings, shown: IntArray | None = None) -> dict[str, Any] | None:
    """For vectors: the features that distinguish the clusters, and their values.

    Features are ranked by the distance of the cluster mean from the overall mean, in standard
    deviations.

    Parameters
    ----------
    found : Findings
        The results of a run.
    shown : (m,) integer array, optional
        Positions of the samples whose values are wanted; by default those that are looked at.
    """
    data = found.data
    if data is None or len(data.shape) != 1 or _is_embedding(found):
        return None
    some = _some(len(data))
    X = _clipped(data.X if len(some) == len(data) else data.batch(some))
    names = data.names or [f"feature {i}" for i in range(X.shape[1])]
    mean, std = X.mean(axis=0), X.std(axis=0)
    clusters = found.clusters[some]
    members = [np.flatnonzero(clusters == cluster) for cluster in range(found.k)]
    means = np.stack([X[m].mean(axis=0) if len(m) else mean for m in members])
    distances = (means - mean) / np.where(std > 0, std, 1)
    telling = np.argsort(-np.abs(distances), axis=1, kind="stable")[:, :FEATURES]
    strongest = np.argsort(-np.abs(distances).max(axis=0), kind="stable")[:COLUMNS]
    said: list[list[dict[str, Any]]] = [[{}] * telling.shape[1] for _ in members]
    for f in np.unique(telling):
        values = X[:, f]
        scale = _Scale(values)
        for c, place in zip(*np.nonzero(telling == f), strict=True):
            if len(members[c]) and abs(distances[c, f]) >= NOTABLE:
                card = scale.said(values[members[c]], float(distances[c, f]))
                said[c][place] = {"name": names[f], **card}
    return {
        "clusters": [[one for one in cluster if one] for cluster in said],
        "of": X.shape[1],
        "names": [names[f] for f in strongest],
        "values": (X if shown is None else _clipped(data.batch(shown)))[:, strongest],
    }


def _some(n: int) -> IntArray:
    """Positions of the samples to look at: all, or a random selection."""
    if n <= MOST_SAMPLES:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_SAMPLES, replace=False))


def _clipped(X: NDArray[Any]) -> Array:
    return np.clip(np.asarray(X, dtype=np.float64), -HUGE, HUGE)


def _is_embedding(found: Findings) -> bool:
    assert found.data is not None
    asked = found.run.config["arguments"].get("embeddings", False)
    return bool(asked) or (found.data.names is None and found.data.shape[0] > MOST_UNNAMED)


class _Scale:
    """The range of a feature, and how its numbers are written.

    Parameters
    ----------
    values : (n,) array
        The feature of all samples.
    """

    def __init__(self, values: Array) -> None:
        self.mean = float(values.mean())
        self.is_share = bool(np.isin(values, (0, 1)).all())
        ends = (0, 100) if self.is_share else (1, 99)
        self.low, self.high = map(float, np.percentile(values, ends))
        spread = float(values.std()) or abs(self.mean) or 1.0
        self.decimals = 1 - math.floor(math.log10(spread))

    def said(self, values: Array, distance: float) -> dict[str, Any]:
        """The values of a cluster beside those of all: word, numbers and a bar from 0 to 1."""
        quartiles = values if self.is_share else np.percentile(values, (25, 75))
        words = next(w for w in (_SHARES if self.is_share else _WORDS) if abs(distance) >= w[0])
        mean = float(values.mean())
        return {
            "distance": distance,
            "mean": mean,
            "word": words[1] if distance > 0 else words[2],
            "value": self.text(mean),
            "all": self.text(self.mean),
            "ends": [self.text(self.low), self.text(self.high)],
            "middle": None if self.is_share else [self._place(q) for q in quartiles.tolist()],
            "at": self._place(mean),
            "at_all": self._place(self.mean),
        }

    def text(self, value: float) -> str:
        """A number with as many digits as its spread deserves."""
        if self.is_share:
            return f"{value:.0%}"
        if self.decimals > 5 or abs(value) >= 1e9:
            return f"{value:.3g}"
        return f"{value:,.{max(0, self.decimals)}f}"

    def _place(self, value: float) -> float:
        span = (self.high - self.low) or 1.0
        return round(min(max((value - self.low) / span, 0.0), 1.0), 4)
