"""Read tables, with numeric columns as features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from infomeans.data.columns import EMPTY, label_array, numbers, texts, why_no_feature
from infomeans.data.dataset import Dataset, row_numbers
from infomeans.data.delimited import read_delimited
from infomeans.data.files import printable, reading
from infomeans.data.memory import Memory
from infomeans.data.parquet import PARQUET, Parquet
from infomeans.data.rows import ArrayRows, Rows
from infomeans.data.schema import TableSchema
from infomeans.data.storing import fits, store
from infomeans.errors import InputError, few

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Table:
    """A table in a file or in memory.

    `load` takes the names of columns to read as text even if they look like numbers, and the limit
    for the memory. A Parquet table that does not fit stays in its files.
    """

    source: str
    load: Callable[[Collection[str], Memory], pyarrow.Table | Parquet]

    @classmethod
    def in_file(cls, path: Path) -> Table:
        """The table in a Parquet file or in delimited text."""
        source = printable(str(path))
        if path.suffix.lower() == PARQUET:
            return cls.in_parquet(source, [str(path)])
        return cls(source, partial(_read_text, path))

    @classmethod
    def in_parquet(cls, source: str, paths: list[str]) -> Table:
        """The table in one or several Parquet files, which have the same columns."""
        return cls(source, partial(_read_parquet, Parquet(source, paths)))

    @classmethod
    def of_frame(cls, frame: object) -> Table:
        """The table in a data frame of pandas, polars or another library."""
        return cls(type(frame).__name__, partial(_convert, frame))


def _read_text(path: Path, text: Collection[str], memory: Memory) -> pyarrow.Table:
    size = path.stat().st_size
    if memory.limit is not None and size > memory.limit:
        raise memory.too_small(size, f"{path}, which is not read in parts as .parquet would be,")
    return read_delimited(path, text, memory)


def _read_parquet(found: Parquet, _: Collection[str], memory: Memory) -> pyarrow.Table | Parquet:
    return found.table() if fits(found.size(), memory) else found


def _convert(frame: object, _: Collection[str], __: Memory) -> pyarrow.Table:
    import pyarrow

    with reading(type(frame).__name__):
        return pyarrow.table(frame)


def read_table(
    found: Table,
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    impute: Literal["median"] | None = None,
    like: TableSchema | None = None,
    memory: Memory | None = None,
) -> Dataset:
    """Read the numeric columns of a table as samples (n, d).

    Parameters
    ----------
    found : Table
        The table to read.
    columns : sequence of str, optional
        Feature columns; by default all numeric columns.
    id_column : str, optional
        Column of ids; by default the index of a pandas frame, or else the row numbers.
    label_column : str, optional
        Column of labels, which is not a feature.
    impute : "median", optional
        How to fill missing values.
    like : TableSchema, optional
        Columns and medians to use.
    memory : Memory, optional
        The limit for the samples in memory.
    """
    source, memory = found.source, memory or Memory()
    table = found.load(
        {name for name in (id_column, label_column, like and like.id_column) if name}, memory
    )
    _check(table, source)
    index = _pandas_index(table)
    if id_column is None:
        id_column = _default_id_column(table, index, like)
    reserved = {id_column, label_column}
    chosen = columns if like is None else like.columns
    if chosen is None:
        names, ignored = _features(table, source, reserved.union(index))
    else:
        names, ignored = list(chosen), []
        _check_chosen(table, source, names, reserved, like)
    medians = like.medians if like is not None else None
    rows, medians = _numeric(table, names, medians, impute is not None, source, like, memory)
    labels = None
    if label_column is not None:
        given = texts(table, label_column, source, "labels")
        labels = label_array(given, f"{source}: the column {label_column!r}")
    return Dataset(
        rows=rows,
        ids=row_numbers(len(rows)) if id_column is None else texts(table, id_column, source, "ids"),
        schema=TableSchema(tuple(names), medians, id_column),
        source=source,
        labels=labels,
        ignored=ignored,
        names=names,
        memory=memory,
    )


Medians = tuple[float, ...] | None


def _numeric(
    table: pyarrow.Table | Parquet,
    names: list[str],
    medians: Medians,
    impute: bool,
    source: str,
    like: TableSchema | None,
    memory: Memory,
) -> tuple[Rows, Medians]:
    """The samples without missing values, and the medians that replaced these."""
    parts = table.parts(names) if isinstance(table, Parquet) else iter([table])
    dtype = np.result_type(*(numbers(table[name]).dtype for name in names))
    dtype = np.result_type(dtype, np.float32)
    if impute:
        medians = tuple(_median(numbers(table[name]).astype(dtype)) for name in names)
    missing = np.zeros(len(names), dtype=np.int64)

    def filled() -> Iterator[NDArray[Any]]:
        for part in parts:
            X = np.column_stack([numbers(part[name]) for name in names]).astype(dtype, copy=False)
            missing[:] += _fill(X, medians)
            yield X

    shape = (len(table), len(names))
    streamed = isinstance(table, Parquet)
    rows = store(filled(), shape, dtype, memory) if streamed else ArrayRows(next(filled()))
    _refuse_missing(missing, names, source, like)
    return rows, medians


def _check(table: pyarrow.Table | Parquet, source: str) -> None:
    twice = [name for name, times in Counter(table.column_names).items() if times > 1]
    if twice:
        raise InputError(f"{source} has more than one column named {few(twice)}; rename them.")
    if not len(table):
        raise InputError(f"{source} has no rows.")


def _pandas_index(table: pyarrow.Table | Parquet) -> list[str]:
    """The index columns of a pandas frame; none if the index only counts the rows."""
    metadata = table.schema.pandas_metadata or {"index_columns": []}
    return [name for name in metadata["index_columns"] if isinstance(name, str)]


def _default_id_column(
    table: pyarrow.Table | Parquet, index: list[str], like: TableSchema | None
) -> str | None:
    if like is not None and like.id_column in table.column_names:
        return like.id_column
    return index[0] if len(index) == 1 else None


def _features(
    table: pyarrow.Table | Parquet, source: str, reserved: Collection[str | None]
) -> tuple[list[str], list[tuple[str, str]]]:
    """The numeric columns, and the ignored columns with reasons."""
    reasons = {
        name: why_no_feature(table[name]) if name else "no name"
        for name in table.column_names
        if name not in reserved
    }
    names = [name for name, reason in reasons.items() if reason is None]
    place = {name: at for at, name in enumerate(table.column_names, start=1)}
    ignored = [
        (name or f"column {place[name]}", reason)
        for name, reason in reasons.items()
        if reason is not None
    ]
    if not names:
        found = [f"{name} ({reasons.get(name, 'ids or labels')})" for name in table.column_names]
        raise InputError(f"{source} has no numeric column to use as a feature: {few(found, 8)}.")
    return names, ignored


def _check_chosen(
    table: pyarrow.Table | Parquet,
    source: str,
    names: list[str],
    reserved: Collection[str | None],
    like: TableSchema | None,
) -> None:
    """Refuse columns that are missing, are not numeric, or hold the ids or labels."""
    who = "--columns" if like is None else "the model"
    there = frozenset(table.column_names)
    unknown = [name for name in names if name not in there]
    if unknown:
        raise InputError(
            f"{source} lacks columns that {who} needs: {few(unknown)}; it has the columns "
            f"{few(table.column_names, 8)}."
        )
    taken = [name for name in names if name in reserved]
    if taken:
        raise InputError(f"{who} names {few(taken)}, which holds the ids or the labels.")
    wrong = [
        f"{name} ({reason})"
        for name in names
        if (reason := why_no_feature(table[name])) and not (reason == EMPTY and like)
    ]
    if wrong:
        raise InputError(f"{source}: {who} names columns that are not numeric: {few(wrong)}.")


def _median(column: NDArray[Any]) -> float:
    return float(np.median(column[np.isfinite(column)]))


def _fill(X: NDArray[Any], medians: Medians) -> NDArray[np.int64]:
    """Replace missing and infinite values by the medians; return how many are left."""
    missing = ~np.isfinite(X)
    if medians is None:
        return missing.sum(axis=0)
    X[missing] = np.broadcast_to(medians, X.shape)[missing]
    return np.zeros(X.shape[1], dtype=np.int64)


def _refuse_missing(
    missing: NDArray[np.int64], names: list[str], source: str, like: TableSchema | None
) -> None:
    if missing.any():
        counts = zip(names, missing, strict=True)
        found = few([f"{name} ({count})" for name, count in counts if count])
        remedy = (
            "fill them in, or use --impute median (impute='median')"
            if like is None
            else "fill them in, because the model was trained without --impute and has no medians"
        )
        raise InputError(f"{source}: missing or infinite values in {found}; {remedy}.")
