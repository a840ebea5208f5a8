"""The table of labels: the result for every sample."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from infomeans._typing import Array, IntArray
from infomeans.data.memory import in_parts
from infomeans.files import writing
from infomeans.naming import Names

if TYPE_CHECKING:
    import pyarrow

COLUMNS = ("id", "cluster", "confidence", "entropy")
PIECE = 65_536
"""Number of rows that are formatted at once."""

STABILITY, OUTLIER, NAME = "stability", "outlier", "name"
DECIMALS = {"confidence": 6, "entropy": 6, STABILITY: 6, OUTLIER: 4}

ROWS = 65_536
"""Number of rows that are computed or written at once."""


class Texts(Sequence[str]):
    """Texts in an Arrow column; a text becomes an object only when it is asked for.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        The texts.
    """

    def __init__(self, column: pyarrow.ChunkedArray) -> None:
        self.column = column

    def __len__(self) -> int:
        return len(self.column)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return self.column[at].to_pylist()
        return self.column[int(at)].as_py()

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), ROWS):
            yield from self[first : first + ROWS]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Texts):
            return bool(self.column.equals(other.column))
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


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
    names : list of str, optional
        Name of the cluster of each sample, if the user has named any.
    stability : (n,) array, optional
        Share of the alternatives to the initial clusters that agree with them on a sample.
    outliers : (n,) array, optional
        Share of the fitted samples that are less strange than a sample.
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
        posteriors: Array | Iterable[Array],
        names: Names | None = None,
        stability: Array | None = None,
        outliers: Array | None = None,
    ) -> Labels:
        """Labels from the posteriors (n, K), in one array or in blocks of samples.

        If clusters are merged, the probability of the merged cluster is the sum over its members.
        """
        blocks = in_parts(posteriors, ROWS) if isinstance(posteriors, np.ndarray) else posteriors
        found = joined((_judged(block, names) for block in blocks), len(ids))
        clusters, confidences, entropy = found
        titles = [names.of(k) for k in range(int(clusters.max(initial=0)) + 1)] if names else []
        named = _spread(titles, clusters) if names else None
        return cls(ids, clusters, confidences, entropy, named, stability, outliers)

    @classmethod
    def read(cls, path: Path) -> Labels:
        """Read the table from a CSV file."""
        columns = _read(path)
        numbers: dict[str, Any] = {
            name: columns.pop(name).to_numpy() for name in [*columns] if name not in ("id", NAME)
        }
        return cls(
            Texts(columns["id"]),
            numbers["cluster"],
            numbers["confidence"],
            numbers["entropy"],
            names=_names(columns[NAME]) if NAME in columns else None,
            stability=numbers.get(STABILITY),
            outliers=numbers.get(OUTLIER),
        )

    def write(self, path: Path) -> None:
        """Write the table, as CSV or Parquet by the suffix."""
        with writing(path) as file:
            if path.suffix.lower() == ".parquet":
                import pyarrow as pa
                import pyarrow.parquet as pq

                pq.write_table(pa.table(self._columns(slice(None))), file)
            else:
                for text in self.csv():
                    file.write(text.encode())

    def csv(self) -> Iterator[str]:
        """The table as CSV, some rows at a time; the first part is the header."""
        yield _csv([tuple(self._columns(slice(0)))])
        for first in range(0, len(self.ids), ROWS):
            columns = self._columns(slice(first, first + ROWS))
            for column, decimals in DECIMALS.items():
                if column in columns:
                    form = f"{{:.{decimals}f}}".format
                    columns[column] = map(form, columns[column].tolist())
            yield _csv(zip(*columns.values(), strict=True))

    def _columns(self, rows: slice) -> dict[str, Any]:
        values = (self.ids, self.clusters, self.confidences, self.entropies)
        columns: dict[str, Any] = dict(zip(COLUMNS, values, strict=True))
        more = {STABILITY: self.stability, OUTLIER: self.outliers, NAME: self.names}
        columns |= {name: value for name, value in more.items() if value is not None}
        return {name: value[rows] for name, value in columns.items()}


def joined(parts: Iterable[Sequence[NDArray[Any]]], n: int) -> list[NDArray[Any]]:
    """Columns of n values from columns of some samples at a time.

    They are copied into their places at once. If many small arrays were kept between large
    temporary ones, memory would be fragmented.
    """
    columns: list[NDArray[Any]] = []
    at = 0
    for part in parts:
        columns = columns or [np.empty(n, one.dtype) for one in part]
        for column, one in zip(columns, part, strict=True):
            column[at : at + len(one)] = one
        at += len(part[0])
    return columns


def entropies(posteriors: Array) -> Array:
    """The entropy of every row (n,), in nats."""
    logs = np.log(np.where(posteriors > 0, posteriors, 1))
    return np.maximum(-(posteriors * logs).sum(axis=1), 0)


def _judged(posteriors: Array, names: Names | None) -> tuple[IntArray, Array, Array]:
    """Cluster, confidence and entropy of some samples, after merging."""
    clusters = posteriors.argmax(axis=1)
    if names:
        into = names.merged(posteriors.shape[1])
        clusters = into[clusters]
        posteriors = posteriors @ np.eye(len(into))[into]
    sure = np.take_along_axis(posteriors, clusters[:, None], axis=1)[:, 0]
    return clusters, sure, entropies(posteriors)


def _spread(titles: list[str], at: IntArray) -> list[str]:
    """A title for every sample; samples share their objects."""
    return np.array(titles, dtype=object)[at].tolist()


def _names(column: pyarrow.ChunkedArray) -> list[str]:
    found = column.unify_dictionaries().combine_chunks()
    return _spread(found.dictionary.to_pylist(), found.indices.to_numpy())


def _read(path: Path) -> dict[str, pyarrow.ChunkedArray]:
    """The columns of a CSV file that are known."""
    import pyarrow as pa
    from pyarrow import csv as reader

    kinds = {"id": pa.string(), "cluster": pa.int64(), NAME: pa.dictionary("int32", pa.string())}
    kinds |= dict.fromkeys(DECIMALS, pa.float64())
    with path.open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    table = reader.read_csv(
        path,
        parse_options=reader.ParseOptions(newlines_in_values=True),
        convert_options=reader.ConvertOptions(
            column_types=kinds, include_columns=[name for name in header if name in kinds]
        ),
    )
    return dict(zip(table.column_names, table.columns, strict=True))


def _csv(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
