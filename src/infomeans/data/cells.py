"""Ids and names as cells of a CSV file that a spreadsheet shows but does not run.

A text that begins like a formula, with =, +, -, @, a tab or a line end, is written with an
apostrophe before it, and read back without it. So is such a text that has apostrophes before it
already; hence every text is read as it was. Plain numbers such as -5 need none.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_FIRST = frozenset("=+-@\t\r\n'")


def guarded(text: str) -> str:
    """A text as it is written.

    Examples
    --------
    >>> from infomeans.data.cells import guarded
    >>> guarded("=1+1"), guarded("'=1"), guarded("-5"), guarded("'s")
    ("'=1+1", "''=1", '-5', "'s")
    """
    if text[:1] not in _FIRST or not _FORMULA.match(text) or _NUMBER.fullmatch(text):
        return text
    return f"'{text}"


def unguarded(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """A column of texts as they were before they were written."""
    from pyarrow import compute

    if not compute.any(compute.starts_with(column, "'")).as_py():
        return column
    return compute.replace_substring_regex(column, r"\A'('*[=+\-@\t\r\n])", r"\1")


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    r"""Rows as CSV, with \n at the end of lines. What holds \r or \n is quoted."""
    lines = _Lines()
    csv.writer(lines, lineterminator="\r\n").writerows(rows)
    return "".join(lines)


class _Lines(list[str]):
    """Takes the lines of a csv.writer; before Python 3.13 it quotes only what ends its lines."""

    def write(self, line: str) -> None:
        self.append(line[:-2] + "\n")
