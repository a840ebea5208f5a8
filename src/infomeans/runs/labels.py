"""The table of labels: the result for every sample."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from infomeans._typing import Array, IntArray
from infomeans.files import write_atomic
from infomeans.naming import Names

COLUMNS = ("id", "cluster", "confidence", "entropy")
STABILITY, OUTLIER, NAME = "stability", "outlier", "name"
DECIMALS = {"confidence": 6, "entropy": 6, STABILITY: 6, OUTLIER: 4}


@dataclass(frozen=True)
class Labels:
    """The result for every sample.

    Attributes
    ----------
    ids : list of str
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

    ids: list[str]
    clusters: IntArray
    confidences: Array
    entropies: Array
    names: list[str] | None = None
    stability: Array | None = None
    outliers: Array | None = None

    @classmethod
    def of(
        cls,
        ids: list[str],
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
        write_atomic(path, self._parquet() if parquet else self.csv())

    def csv(self) -> str:
        """The table as CSV."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        columns = self._columns()
        for column, decimals in DECIMALS.items():
            if column in columns:
                columns[column] = [f"{value:.{decimals}f}" for value in columns[column].tolist()]
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()

    def _columns(self) -> dict[str, Any]:
        values = (self.ids, self.clusters, self.confidences, self.entropies)
        columns: dict[str, Any] = dict(zip(COLUMNS, values, strict=True))
        more = {STABILITY: self.stability, OUTLIER: self.outliers, NAME: self.names}
        return columns | {name: value for name, value in more.items() if value is not None}

    def _parquet(self) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = io.BytesIO()
        pq.write_table(pa.table(self._columns()), content)
        return content.getvalue()


def entropies(posteriors: Array) -> Array:
    """The entropy of every row (n,), in nats."""
    logs = np.log(np.where(posteriors > 0, posteriors, 1))
    return np.maximum(-(posteriors * logs).sum(axis=1), 0)
