"""The table of labels: the result for every sample."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from infomeans._typing import Array, IntArray
from infomeans.files import write_atomic
from infomeans.naming import Names

COLUMNS = ("id", "cluster", "confidence", "entropy")
PIECE = 65_536
"""Number of rows that are formatted at once."""

STABILITY, OUTLIER, NAME = "stability", "outlier", "name"
DECIMALS = {"confidence": 6, "entropy": 6, STABILITY: 6, OUTLIER: 4}


@dataclass(frozen=True)
class Labels:
    """The result for every sample.

    Attributes
    ----------
    ids : sequence of str
        Ids of the samples.
    clusters : (n,) integer array
        Cluster of each sample.
    confidences : (n,) array
        Probability of that cluster.
    entropies : (n,) array
        Entropy of the posteriors, in nats.
    stability : (n,) array, optional
        Share of the alternatives to the initial clusters that agree with them on a sample.
    outliers : (n,) array, optional
        Share of the fitted samples that are less strange than a sample.
    names : list of str, optional
        Name of the cluster of each sample, if the user has named any.
    """

    ids: Sequence[str]
    clusters: IntArray
    confidences: Array
    entropies: Array
    names: list[str] | None = None
    stability: Array | None = None
    outliers: Array | None = None

    @classmethod
    def of(
        cls,
        ids: Sequence[str],
        posteriors: Array,
        names: Names | None = None,
        stability: Array | None = None,
        outliers: Array | None = None,
    ) -> Labels:
        """Labels from the posteriors (n, K).

        If clusters are merged, the probability of the merged cluster is the sum over its members.
        """
        clusters = posteriors.argmax(axis=1)
        if names:
            into = names.merged(posteriors.shape[1])
            clusters = into[clusters]
            posteriors = posteriors @ np.eye(len(into))[into]
        return cls(
            ids,
            clusters,
            np.take_along_axis(posteriors, clusters[:, None], axis=1)[:, 0],
            entropies(posteriors),
            [names.of(cluster) for cluster in clusters.tolist()] if names else None,
            stability,
            outliers,
        )

    @classmethod
    def read(cls, path: Path) -> Labels:
        """Read the table from a CSV file."""
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        columns = dict(zip(header, zip(*rows, strict=True), strict=True))
        return cls(
            list(columns["id"]),
            np.array(columns["cluster"], dtype=np.int64),
            np.array(columns["confidence"], dtype=float),
            np.array(columns["entropy"], dtype=float),
            list(columns[NAME]) if NAME in columns else None,
            *(
                np.array(columns[name], dtype=float) if name in columns else None
                for name in (STABILITY, OUTLIER)
            ),
        )

    def write(self, path: Path) -> None:
        """Write the table, as CSV or Parquet by the suffix."""
        parquet = path.suffix.lower() == ".parquet"
        pieces = (piece.encode() for piece in self._pieces())
        write_atomic(path, self._parquet() if parquet else pieces)

    def csv(self) -> str:
        """The table as CSV."""
        return "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        """The lines of the CSV, many at a time."""
        columns = self._columns()
        yield _lines([columns])
        for first in range(0, len(self.ids), PIECE):
            part = {name: values[first : first + PIECE] for name, values in columns.items()}
            for column, decimals in DECIMALS.items():
                if column in part:
                    part[column] = [f"{value:.{decimals}f}" for value in part[column].tolist()]
            yield _lines(zip(*part.values(), strict=True))

    def _columns(self) -> dict[str, Any]:
        values = (self.ids, self.clusters, self.confidences, self.entropies)
        columns: dict[str, Any] = dict(zip(COLUMNS, values, strict=True))
        more = {STABILITY: self.stability, OUTLIER: self.outliers, NAME: self.names}
        return columns | {name: value for name, value in more.items() if value is not None}

    def _parquet(self) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = io.BytesIO()
        columns = self._columns()
        pq.write_table(pa.table({**columns, "id": [*self.ids]}), content)
        return content.getvalue()


def _lines(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def entropies(posteriors: Array) -> Array:
    """The entropy of every row (n,), in nats."""
    logs = np.log(np.where(posteriors > 0, posteriors, 1))
    return np.maximum(-(posteriors * logs).sum(axis=1), 0)
