"""Parquet files as one table, read by columns or in parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from infomeans.data.files import printable, reading
from infomeans.errors import InputError, few

if TYPE_CHECKING:
    import pyarrow

PARQUET = ".parquet"
PART = 65_536
"""Number of rows that are read at once."""


@dataclass(frozen=True)
class Parquet:
    """Files with the same columns, one after the other. Nothing stays in memory.

    Parameters
    ----------
    source : str
        Where the files are.
    paths : list of str
        The files.
    """

    source: str
    paths: list[str]

    @cached_property
    def schema(self) -> pyarrow.Schema:
        """The columns of all files, which must be the same."""
        from pyarrow import parquet

        first = None
        for path in self.paths:
            with reading(printable(path)):
                schema = parquet.read_schema(path)
            first = schema if first is None else first
            if not schema.equals(first):
                raise InputError(
                    f"{printable(path)} and {printable(self.paths[0])} have different columns: "
                    f"{few(_difference(schema, first))}; all files need the same."
                )
        return first

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return self.schema.names

    @cached_property
    def _rows(self) -> list[int]:
        """Number of rows of each file."""
        from pyarrow import parquet

        found = []
        for path in self.paths:
            with reading(printable(path)):
                found.append(parquet.read_metadata(path).num_rows)
        return found

    def __len__(self) -> int:
        return sum(self._rows)

    def size(self) -> int:
        """Number of bytes that all columns take in memory, twice: once more as samples."""
        return 2 * len(self) * sum(map(_width, self.schema.types))

    def table(self) -> pyarrow.Table:
        """All rows and columns in memory."""
        return self._read(None)

    def __getitem__(self, name: str) -> pyarrow.ChunkedArray:
        """One column in memory."""
        return self._read([name])[name]

    def _read(self, names: list[str] | None) -> pyarrow.Table:
        import pyarrow
        from pyarrow import parquet

        assert self.schema is not None
        tables = []
        for path in self.paths:
            with reading(printable(path)), parquet.ParquetFile(path) as file:
                tables.append(file.read(names, use_threads=len(self.paths) == 1))
        return tables[0] if len(tables) == 1 else pyarrow.concat_tables(tables)

    def parts(self, names: list[str]) -> Iterator[pyarrow.Table]:
        """Some columns, a part of the rows at a time."""
        import pyarrow
        from pyarrow import parquet

        for path in self.paths:
            done = 0
            with reading(printable(path)), parquet.ParquetFile(path) as file:
                batches = file.iter_batches(PART, columns=names, use_threads=False)
                while True:
                    with reading(f"{printable(path)} from row {done:,} on"):
                        batch = next(batches, None)
                    if batch is None:
                        break
                    done += len(batch)
                    yield pyarrow.Table.from_batches([batch])


def _width(kind: pyarrow.DataType) -> int:
    try:
        return max(kind.bit_width // 8, 1)
    except ValueError:
        return 16  # text, whose length is not known


def _difference(one: pyarrow.Schema, other: pyarrow.Schema) -> list[str]:
    names = dict.fromkeys([*one.names, *other.names])
    apart = [
        name
        for name in names
        if name not in one.names
        or name not in other.names
        or one.field(name).type != other.field(name).type
    ]
    return apart or ["their order"]
