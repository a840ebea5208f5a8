"""The table of labels: the result for every sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from infomeans._typing import Array, IntArray
from infomeans.data.cells import csv_text, guarded, unguarded
from infomeans.data.delimited import read_delimited
from infomeans.data.memory import in_parts
from infomeans.errors import InputError, few
from infomeans.files import regular, writing
from infomeans.naming import Names

if TYPE_CHECKING:
    import pyarrow

COLUMNS = ("id", "cluster", "confidence", "entropy")
PIECE = 65_536
"""Number of rows that are formatted at once."""

STABILITY, OUTLIER, NAME = "stability", "outlier", "name"
DECIMALS = {"confidence": 6, "entropy": 6, STABILITY: 6, OUTLIER: 4}
KNOWN = frozenset({*COLUMNS, *DECIMALS, NAME})
INTEGER, REAL = r"[0-9]{1,18}", r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|nan"
"""How numbers look in the table."""

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
        """Read the table from a CSV file.

        It may have been saved by a spreadsheet: with semicolons or tabs, decimal commas, a mark of
        its encoding, and empty lines at the end.
        """
        columns = _read(path)
        numbers: dict[str, Any] = {
            name: columns.pop(name).to_numpy() for name in [*columns] if name not in ("id", NAME)
        }
        return cls(
            Texts(unguarded(columns["id"])),
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
                    # What is no text, such as half of a surrogate pair, becomes an escape.
                    file.write(text.encode(errors="backslashreplace"))

    def csv(self) -> Iterator[str]:
        """The table as CSV, some rows at a time; the first part is the header."""
        yield csv_text([tuple(self._columns(slice(0)))])
        for first in range(0, len(self.ids), ROWS):
            columns = self._columns(slice(first, first + ROWS))
            for column in columns.keys() & {"id", NAME}:
                columns[column] = map(guarded, columns[column])
            for column, decimals in DECIMALS.items():
                if column in columns:
                    form = f"{{:.{decimals}f}}".format
                    columns[column] = map(form, columns[column].tolist())
            yield csv_text(zip(*columns.values(), strict=True))

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
    return _spread(unguarded(found.dictionary).to_pylist(), found.indices.to_numpy())


def _read(path: Path) -> dict[str, pyarrow.ChunkedArray]:
    """The columns of a CSV file that are known."""
    with regular(path).open("rb") as file:
        header = file.readline(1000).removesuffix(b"\n").decode("latin-1").split(",")
    found = _as_written(path) if KNOWN.issuperset(header) else None
    return _as_saved(path) if found is None else found


def _as_written(path: Path) -> dict[str, pyarrow.ChunkedArray] | None:
    """The columns of a file that nobody has changed; None if it has no such columns."""
    import pyarrow as pa
    from pyarrow import csv as reader

    kinds = {"id": pa.string(), "cluster": pa.int64(), NAME: pa.dictionary("int32", pa.string())}
    kinds |= dict.fromkeys(DECIMALS, pa.float64())
    try:
        table = reader.read_csv(
            path,
            parse_options=reader.ParseOptions(newlines_in_values=True),
            convert_options=reader.ConvertOptions(column_types=kinds),
        )
    except pa.ArrowInvalid:
        return None
    names, columns = table.column_names, table.columns
    found = dict(zip(names, columns, strict=True))
    sound = len(found) == len(names) and found.keys() >= {*COLUMNS}
    if not sound or any(column.null_count for column in columns):
        return None
    return None if (found["cluster"].to_numpy() < 0).any() else found


def _as_saved(path: Path) -> dict[str, pyarrow.ChunkedArray]:
    """The columns of a file that a spreadsheet may have saved, or that may be damaged."""
    from pyarrow import compute

    table = read_delimited(path, KNOWN)
    names = [name for name in table.column_names if name in KNOWN]
    if lacking := [name for name in COLUMNS if name not in names]:
        raise InputError(
            f"{path} lacks the column {few(lacking)}; it has {few(table.column_names, 8)}."
        )
    if len({*names}) < len(names):
        raise InputError(f"{path} has a column twice: {few(names, 8)}.")
    columns = {name: table[name] for name in names}
    blank = np.ones(len(table), dtype=bool)
    for column in columns.values():
        blank &= compute.equal(compute.utf8_trim_whitespace(column), "").to_numpy()
    n = len(blank) - int(blank[::-1].cumprod().sum())
    columns = {name: column[:n] for name, column in columns.items()}
    for name in columns.keys() - {"id", NAME}:
        columns[name] = _numbers(columns[name], f"{path}: the column {name!r}", name == "cluster")
    if NAME in columns:
        columns[NAME] = columns[NAME].dictionary_encode()
    return columns


def _numbers(column: pyarrow.ChunkedArray, what: str, whole: bool) -> pyarrow.ChunkedArray:
    """Texts as numbers, which may have decimal commas."""
    from pyarrow import compute

    texts = compute.replace_substring(compute.utf8_trim_whitespace(column), ",", ".")
    form = INTEGER if whole else REAL
    wrong = compute.index(compute.match_substring_regex(texts, rf"\A({form})\z"), False).as_py()
    if wrong >= 0:
        accepted = "a whole number" if whole else "a number"
        raise InputError(
            f"{what} has {column[wrong].as_py()!r} in row {wrong + 1}; {accepted} is accepted."
        )
    return texts.cast("int64" if whole else "float64")
