"""Table columns as numbers or as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from infomeans.errors import InputError, few

if TYPE_CHECKING:
    import pyarrow

EMPTY = "empty"
NO_LABEL = frozenset({"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan"})
"""Spellings of a missing label."""


def is_numeric(kind: pyarrow.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)


def why_no_feature(column: pyarrow.ChunkedArray) -> str | None:
    """Why a column is not numeric: "text", "empty" or another type; None if it is."""
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
    """Values of the id or label column as text; no id may be missing."""
    if name not in table.column_names:
        also = "; a file or 'folder' is also accepted" if role == "labels" else ""
        raise InputError(
            f"{source} has no column {name!r} for the {role}, but "
            f"{few(table.column_names, 8)}{also}."
        )
    values = table[name].to_pylist()
    if role == "labels":
        return label_texts(values)
    return as_texts(values, f"{source}: the column {name!r} of the {role}")


def as_texts(values: Sequence[Any], what: str) -> list[str]:
    """Values as text, none of them missing."""
    missing = sum(map(_is_missing, values))
    if missing:
        raise InputError(f"{what} lacks {missing} of {len(values)} values.")
    return list(map(_text, values))


def label_texts(values: Sequence[Any]) -> list[str]:
    """Labels as text; missing ones are empty strings."""
    found = ["" if _is_missing(value) else _text(value) for value in values]
    return ["" if label in NO_LABEL else label for label in found]


def label_array(labels: Sequence[str], what: str) -> NDArray[np.str_]:
    """Labels as an array; at least one must be present."""
    if not any(labels):
        raise InputError(f"{what} gives no label for any of the {len(labels)} samples.")
    return np.array(labels)


def _is_missing(value: Any) -> bool:
    try:
        return value in (None, "", b"") or bool(value != value)
    except TypeError:  # comparisons with pandas' NA give NA, which has no truth value
        return True


def _text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
