"""Tables in delimited text files: CSV, TSV and their dialects."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from infomeans.data.columns import is_numeric
from infomeans.data.files import as_utf8, content, reading
from infomeans.data.memory import Memory

if TYPE_CHECKING:
    import pyarrow

DECIMAL_POINTS = {",": ".", ";": ".,", "\t": ".", "|": "."}
"""The delimiters, each with the decimal points it may occur with."""

BLOCK, MOST = 2**20, 2**30
"""Fewest and most bytes that are parsed at once."""

PER_COLUMN = 2**13
"""Bytes for each column that are parsed at once: every column costs some time for each block."""


def read_delimited(
    path: Path, text: Collection[str], memory: Memory | None = None
) -> pyarrow.Table:
    """Read a table; delimiter, decimal point and encoding are detected.

    Parameters
    ----------
    path : Path
        The file.
    text : collection of str
        Columns to read as text even if they look like numbers.
    memory : Memory, optional
        The limit for the memory, which a file that is packed must not exceed when it is unpacked.
    """
    with reading(path):
        raw = as_utf8(content(path, memory)).strip(b"\r\n") + b"\n"
        encoding = _encoding(raw)
        line = re.split(rb"[\r\n]", raw, maxsplit=1)[0].decode(encoding).removeprefix("\ufeff")
        heads = {delimiter: _cells(line, delimiter) for delimiter in DECIMAL_POINTS}
        delimiter = max(heads, key=lambda d: (_holds_numbers(heads[d], d), len(heads[d])))
        tables = [
            _parse(raw, encoding, delimiter, point, heads[delimiter], text)
            for point in DECIMAL_POINTS[delimiter]
        ]
    return max(tables, key=_count_numeric)


def _encoding(raw: bytes) -> str:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error:  # a cell is too long, as the whole line of a wide table by another delimiter
        return [line]


def _holds_numbers(cells: list[str], delimiter: str) -> bool:
    """Whether all cells of a line are numbers or missing, and at least one is a number."""
    from pyarrow import csv as arrow_csv

    missing = set(arrow_csv.ConvertOptions().null_values)
    given = [cell for cell in cells if cell.strip() not in missing]
    try:
        for cell in given:
            float(cell.replace(DECIMAL_POINTS[delimiter][-1], "."))
    except ValueError:
        return False
    return bool(given)


def _names_columns(cells: list[str], delimiter: str) -> bool:
    """Whether the first line is a header: it has other cells than numbers, or counts the columns.

    pandas writes such counts for columns without names, after an empty cell above the index.
    """
    counted = cells[1:] if cells[0] == "" else cells
    counts = len(counted) > 1 and counted == [str(i) for i in range(len(counted))]
    return counts or not _holds_numbers(cells, delimiter)


def _parse(
    raw: bytes, encoding: str, delimiter: str, point: str, head: list[str], text: Collection[str]
) -> pyarrow.Table:
    import pyarrow
    from pyarrow import csv as arrow_csv

    names = None
    if not _names_columns(head, delimiter):
        names = [f"column {i}" for i in range(1, len(head) + 1)]
    table = arrow_csv.read_csv(
        pyarrow.BufferReader(raw),
        # pyarrow threads that still run when Python exits would abort the process.
        read_options=arrow_csv.ReadOptions(
            encoding=encoding,
            column_names=names,
            use_threads=False,
            block_size=min(max(BLOCK, PER_COLUMN * len(head)), MOST),
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            # In a table of one column, an empty line is a row with a missing value.
            ignore_empty_lines=len(head) > 1,
            # Spreadsheets save lines that hold delimiters alone, and not always as many.
            invalid_row_handler=lambda row: "error" if row.text.strip(delimiter) else "skip",
        ),
        convert_options=arrow_csv.ConvertOptions(
            decimal_point=point,
            column_types={n: pyarrow.string() for n in names or head if n.strip() in text},
        ),
    )
    return table.rename_columns([name.strip() for name in table.column_names])


def _count_numeric(table: pyarrow.Table) -> int:
    return sum(is_numeric(kind) for kind in table.schema.types)
