"""Find the labels of samples, for scoring only.

Labels are text. A sample without a label has the empty string; scores leave it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import ArrayLike, NDArray

from infomeans.data.cells import guarded
from infomeans.data.columns import label_array, label_texts, texts
from infomeans.data.containers import Arrays, is_idx, is_label_array
from infomeans.data.files import (
    ARRAY_SUFFIXES,
    LIST_SUFFIXES,
    TABLE_SUFFIXES,
    all_lines,
    has_suffix,
    lines,
    printable,
)
from infomeans.data.images import Images
from infomeans.data.memory import Memory
from infomeans.data.sources import Found, locate
from infomeans.data.tables import Table
from infomeans.errors import InputError, few

LabelArray = NDArray[np.str_]


def find_labels(
    spec: str,
    ids: Sequence[str],
    *,
    source: object = None,
    id_column: str | None = None,
    key: str | None = None,
    listed: Sequence[str] | None = None,
) -> LabelArray:
    """Find one label for each id; missing labels are empty strings.

    Parameters
    ----------
    spec : str
        "folder" for the name of the folder that an image is in; a file with one label per sample
        or with a column of ids; or a column or array of the source itself. Some labels may be
        missing, but not all.
    ids : sequence of n str
        Ids of the samples.
    source : optional
        What the samples were read from, if the labels are a column or array of it.
    id_column : str, optional
        Column of ids in a file of labels; a column called "id" is found without it.
    key : str, optional
        Column or array of the labels in a file that has several.
    listed : sequence of str, optional
        Ids before unreadable images were skipped; the file may have a label for each of them. By
        default they are looked up in the source.

    Returns
    -------
    (n,) array of str

    Examples
    --------
    >>> from infomeans.data import find_labels
    >>> find_labels("folder", ["cats/1.png", "dogs/2.png"]).tolist()
    ['cats', 'dogs']
    """
    if spec == "folder":
        return _folders(ids)
    if not is_column(spec):
        labels = _in_file(Path(spec), ids, id_column, key)
    elif source is not None:
        labels = labels_in_source(spec, locate(source))
    else:
        raise InputError(f"labels={spec!r}: there is no such file.")
    if listed is None and len(labels) != len(ids):
        listed = _listed_in(source)
    return _aligned(spec, labels, ids, listed)


def labels_in_order(labels: ArrayLike, ids: Sequence[str]) -> LabelArray:
    """An array of labels as text; None, NaN and empty strings are missing labels."""
    given = np.asarray(labels, dtype=object).ravel().tolist()
    return _aligned("array", label_texts(given), ids, None)


def is_column(spec: str) -> bool:
    """Whether labels are a column or array of the source, not a file or "folder"."""
    return spec != "folder" and not Path(spec).is_file()


def _listed_in(source: object) -> Sequence[str] | None:
    """The ids of all images of a source, readable or not."""
    found = None if source is None else locate(source)
    return found.ids if isinstance(found, Images) else None


def _folders(ids: Sequence[str]) -> LabelArray:
    labels = [PurePosixPath(name).parent.name for name in ids]
    if not any(labels):
        others = f" and the other {len(ids) - 1} are" if len(ids) > 1 else " is"
        raise InputError(
            f"labels='folder' needs a folder for each class, but {ids[0]!r}{others} not in one; "
            f"leave labels out or give a file of labels."
        )
    return np.array(labels)


def called_like_a_file(spec: str) -> bool:
    """Whether labels end like the name of a file."""
    return has_suffix(spec, LIST_SUFFIXES + TABLE_SUFFIXES + ARRAY_SUFFIXES)


def labels_in_source(spec: str, found: Found) -> list[str]:
    """The labels in a column or an array of the source itself."""
    if isinstance(found, Table):
        return texts(found.load({spec}, Memory()), spec, found.source, "labels")
    if isinstance(found, Arrays):
        return _of_array(found, spec)
    raise InputError(f"labels={spec!r} is not a file; for images a file or 'folder' is accepted.")


def _in_file(path: Path, ids: Sequence[str], id_column: str | None, key: str | None) -> list[str]:
    if has_suffix(path.name, LIST_SUFFIXES):
        return label_texts([printable(line) for line in _lines(path, len(ids))])
    if has_suffix(path.name, TABLE_SUFFIXES):
        return _of_table(Table.in_file(path), ids, id_column, key)
    if has_suffix(path.name, ARRAY_SUFFIXES) or is_idx(path):
        return _of_array(Arrays.in_file(path), key)
    raise InputError(
        f"labels={str(path)!r} has an unknown format; accepted are "
        f"{', '.join(LIST_SUFFIXES + TABLE_SUFFIXES + ARRAY_SUFFIXES)} and IDX files."
    )


def _lines(path: Path, n_samples: int) -> list[str]:
    """The lines of a file; empty lines at the ends count if there are too few lines otherwise."""
    found = lines(path)
    if len(found) >= n_samples:
        return found
    found = all_lines(path)
    while len(found) > n_samples and not found[-1]:
        found.pop()
    return found


def _of_array(arrays: Arrays, key: str | None) -> list[str]:
    values, _ = arrays.read(key, is_label_array)
    if values.ndim == 0 or values.size != len(values):
        raise InputError(
            f"{arrays.source} has labels of shape {values.shape}; one label per sample is accepted."
        )
    return label_texts(values.ravel().tolist())


def _of_table(
    found: Table, ids: Sequence[str], id_column: str | None, key: str | None
) -> list[str]:
    table = found.load({"id", id_column or "id"}, Memory())
    names = table.column_names
    id_name = next((name for name in (id_column, "id") if name in names), None)
    others = [name for name in names if name != id_name]
    if key is None and len(others) != 1:
        raise InputError(
            f"{found.source} has the columns {few(names, 8)}; one column of labels is accepted, "
            f"and one of ids, called 'id' or named by --id-column (id_column=)."
        )
    labels = texts(table, key or others[0], found.source, "labels")
    if id_name is None:
        return labels
    return _joined(found.source, texts(table, id_name, found.source, "ids"), labels, ids)


def _joined(source: str, names: list[str], labels: list[str], ids: Sequence[str]) -> list[str]:
    """The labels in the order of the ids, which the file may have as we write them."""
    label_of = dict(zip(names, labels, strict=True))
    if len(label_of) < len(names):
        raise InputError(f"{source} has more than one label for the same id.")
    found = [label_of.get(name, label_of.get(guarded(name))) for name in ids]
    if all(label is None for label in found):
        raise InputError(
            f"{source} has no label for any of the {len(ids)} samples: their ids are {few(ids)}, "
            f"but those of the file {few(names) or 'none'}."
        )
    return [label or "" for label in found]


def _aligned(
    spec: str, labels: list[str], ids: Sequence[str], listed: Sequence[str] | None
) -> LabelArray:
    if listed is not None and len(labels) == len(listed):
        label_of = dict(zip(listed, labels, strict=True))
        labels = [label_of[name] for name in ids]
    if len(labels) != len(ids):
        raise InputError(f"labels={spec!r} gives {len(labels)} labels for {len(ids)} samples.")
    return label_array(labels, f"labels={spec!r}")
