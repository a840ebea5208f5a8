"""Columns of a table as numbers or as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from infomeans.errors import InputError, few

if TYPE_CHECKING:
    import pyarrow

EMPTY = "empty"


def is_numeric(kind: pyarrow.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)


def why_no_feature(column: pyarrow.ChunkedArray) -> str | None:
    """What a column is if not numbers: text, empty or another type."""
    if column.null_count == len(column):
        return EMPTY
    kind = str(column.type)
    if not is_numeric(column.type):
        return "text" if kind.startswith(("string", "large_string", "dictionary")) else kind
    return None if np.isfinite(numbers(column)).any() else EMPTY


def numbers(column: pyarrow.ChunkedArray) -> NDArray[Any]:
    """A numeric or empty column as an array; missing values are NaN."""
    from pyarrow import types

    if types.is_boolean(column.type):
        column = column.cast("uint8")
    elif not (types.is_integer(column.type) or types.is_floating(column.type)):
        column = column.cast("float64")
    return column.to_numpy()


def texts(
    table: pyarrow.Table, name: str, source: str, role: Literal["ids", "labels"]
) -> list[str]:
    """The values of the column that gives the ids or the labels, none of them missing."""
    if name not in table.column_names:
        also = "; a file or 'folder' is accepted as well" if role == "labels" else ""
        raise InputError(
            f"{source} has no column {name!r} for the {role}, but "
            f"{few(table.column_names, 8)}{also}."
        )
    return as_texts(table[name].to_pylist(), f"{source}: the column {name!r} of the {role}")


def as_texts(values: Sequence[Any], what: str) -> list[str]:
    """Values as text, none of them missing."""
    missing = sum(value in (None, "", b"") or value != value for value in values)
    if missing:
        raise InputError(f"{what} lacks {missing} of {len(values)} values.")
    return [
        value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
        for value in values
    ]
