"""Open any supported input as a data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from numpy.typing import ArrayLike

from infomeans.data.benchmarks import BENCHMARKS, benchmark
from infomeans.data.containers import Arrays, is_sample_array
from infomeans.data.dataset import Dataset, row_numbers
from infomeans.data.decoding import Fit
from infomeans.data.images import Images, Progress, read_images
from infomeans.data.labels import (
    called_like_a_file,
    find_labels,
    is_column,
    labels_in_order,
    labels_in_source,
)
from infomeans.data.memory import Memory
from infomeans.data.schema import (
    ArraySchema,
    ImageSchema,
    Schema,
    TableSchema,
    read_schema,
)
from infomeans.data.sources import Found, locate
from infomeans.data.tables import Table, read_table
from infomeans.errors import InputError, Problems

_Expected = TypeVar("_Expected", bound=Schema)

_KINDS = {"images": "images", "table": "a table", "array": "an array"}
_APPLIES_TO: dict[str, type] = {
    "image_size": Images,
    "fit": Images,
    "columns": Table,
    "impute": Table,
    "id_column": Table,
    "key": Arrays,
}
_FIXED_BY_MODEL = ("image_size", "fit", "columns", "impute")
_ACCEPTED = {
    "fit": (get_args(Fit), f"{', '.join(get_args(Fit))} are"),
    "impute": (("median",), "'median' is"),
}


def open(  # noqa: A001
    source: Any,
    *,
    image_size: int | None = None,
    fit: Fit | None = None,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    key: str | None = None,
    impute: Literal["median"] | None = None,
    labels: str | ArrayLike | None = None,
    like: Schema | str | PathLike[str] | None = None,
    strict: bool = False,
    data_dir: str | Path | None = None,
    progress: Progress | None = None,
    memory: str | int | Memory | None = None,
) -> Dataset:
    """Open images, a table, an array or a benchmark as a data set.

    Parameters
    ----------
    source : str, path, array, dataset or frame
        A folder of images, an image, a pattern such as `photos/**/*.png`, a text file that lists
        images, a .csv, .tsv, .parquet, .npy, .npz, HDF5, IDX or .tar file, a folder or pattern of
        .parquet or .tar files, or the name of a benchmark; a numpy array or torch tensor, a torch
        dataset, or a pandas or polars data frame.
    image_size : int, optional
        Side length in pixels to resize images to.
    fit : "pad", "crop" or "stretch", optional
        How to treat images of other proportions: pad with the colour of the border, crop to the
        centre, or distort. By default chosen by the sizes of the images.
    columns : sequence of str, optional
        Feature columns of a table; by default all numeric columns.
    id_column : str, optional
        Column of ids, in a table or in a table of labels.
    key : str, optional
        Name of the array in a file that holds several.
    impute : "median", optional
        How to fill missing values of a table.
    labels : str or array, optional
        True classes, for scoring only: "folder", a file, a column or array of the source, or one
        label per sample. They are never used as features. Missing labels are empty strings.
    like : Schema or path, optional
        Read the input in the same way as the data a model was fitted on. Takes the schema of that
        data, or the folder of the model or its run.
    strict : bool
        Whether an image that cannot be read is an error. Otherwise it is skipped and listed.
    data_dir : path, optional
        Folder of the benchmarks; by default the environment variable INFOMEANS_DATA.
    progress : callable, optional
        Called from time to time with the number of images done and their total.
    memory : str, int or Memory, optional
        Limit for the samples in memory, such as "1GiB", "500MB" or a number of bytes; by default
        half of what is free. Samples that do not fit are read block by block in every epoch.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the input cannot be used; the message says why in one line.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans import data
    >>> images = data.open(np.zeros((3, 16, 16)), labels=["cat", "cat", "dog"])
    >>> len(images), images.shape
    (3, (16, 16))
    >>> images.labels.tolist()
    ['cat', 'cat', 'dog']
    """
    memory = memory if isinstance(memory, Memory) else Memory.of(memory)
    if labels is not None and not isinstance(labels, str | PathLike):
        opened = open(
            source, image_size=image_size, fit=fit, columns=columns, id_column=id_column,
            key=key, impute=impute, like=like, strict=strict, data_dir=data_dir, progress=progress,
            memory=memory,
        )  # fmt: skip
        return replace(opened, labels=labels_in_order(labels, opened.ids))
    labels = None if labels is None else str(labels)
    columns = columns or None
    like = read_schema(Path(like)) if isinstance(like, str | PathLike) else like
    found = check_arguments(
        source, image_size=image_size, fit=fit, columns=columns, id_column=id_column,
        key=key, impute=impute, labels=labels, like=like,
    )  # fmt: skip
    if found is None:
        samples = replace(_checked(benchmark(source, data_dir), like), memory=memory)
        if labels in (None, "labels"):
            return samples
        return replace(
            samples, labels=find_labels(labels, samples.ids, id_column=id_column, key=key)
        )
    in_table = isinstance(found, Table) and labels is not None and is_column(labels)
    if isinstance(found, Table):
        samples = read_table(
            found,
            columns=columns,
            id_column=id_column,
            label_column=labels if in_table else None,
            impute=impute,
            like=_expect(TableSchema, like, found.source),
            memory=memory,
        )
    elif isinstance(found, Images):
        samples = read_images(
            found,
            image_size=image_size,
            fit=fit,
            like=_expect(ImageSchema, like, found.source),
            strict=strict,
            progress=progress,
            memory=memory,
        )
    else:
        samples = _checked(_read_array(found, key, like, memory), like)
    if labels is None or in_table:
        return samples
    return replace(
        samples,
        labels=find_labels(
            labels,
            samples.ids,
            source=source,
            id_column=id_column,
            key=None if isinstance(found, Arrays) else key,
            listed=found.ids if isinstance(found, Images) else None,
        ),
    )


def check_arguments(
    source: Any, *, labels: str | None = None, like: Schema | None = None, **options: object
) -> Found | None:
    """Report all mistakes in the arguments of `open` that show before samples are read.

    Returns
    -------
    Images, Table, Arrays or None
        What the source is; None for a benchmark.
    """
    known = isinstance(source, str) and source in BENCHMARKS and not Path(source).exists()
    found = None if known else locate(source)
    name = source if found is None else found.source
    problems = Problems()
    for option, value in options.items():
        # With labels, these two may belong to the file of the labels.
        if value is not None and not (labels and option in ("id_column", "key")):
            with problems.collect():
                _check_option(option, value, Arrays if found is None else type(found), name, like)
    if labels is not None and is_column(labels):
        with problems.collect():
            _check_label_column(labels, found, source)
    problems.report()
    return found


def _check_option(name: str, value: object, kind: type, source: str, like: Schema | None) -> None:
    """Refuse an option that would have no effect, and an unknown value."""
    if _APPLIES_TO[name] is not kind:
        raise InputError(f"{name}={value!r} does not apply to {source}.")
    if like is not None and name in _FIXED_BY_MODEL:
        raise InputError(f"{name}={value!r} cannot be changed; the fitted model determines it.")
    accepted, which = _ACCEPTED.get(name, ((value,), ""))
    if value not in accepted:
        raise InputError(f"{name}={value!r} is unknown; {which} accepted.")


def _check_label_column(labels: str, found: Found | None, source: Any) -> None:
    """Refuse labels that are no file, where they cannot be a column or array of the source."""
    if found is None and labels != "labels":
        raise InputError(
            f"labels={labels!r}: {source} has its own labels, 'labels'; a file is also accepted."
        )
    # A column that is called like a file is rare enough to read the table for it.
    if isinstance(found, Images) or (found is not None and called_like_a_file(labels)):
        labels_in_source(labels, found)


def _expect(cls: type[_Expected], like: Schema | None, source: str) -> _Expected | None:
    if like is None or isinstance(like, cls):
        return like
    raise InputError(
        f"{source} holds {_KINDS[cls.kind]}, but the model was fitted with {_KINDS[like.kind]}."
    )


def _read_array(found: Arrays, key: str | None, like: Schema | None, memory: Memory) -> Dataset:
    hint = like.key if isinstance(like, ArraySchema) else None
    rows, name = found.rows(key, is_sample_array, hint=hint, memory=memory)
    if rows.dtype.kind not in "buif":
        raise InputError(f"{found.source} holds values of type {rows.dtype}; numbers are accepted.")
    if len(rows.shape) < 2 or not math.prod(rows.shape):
        raise InputError(
            f"{found.source} has the shape {rows.shape}; at least one sample and two dimensions, "
            f"samples first, are accepted."
        )
    schema = ArraySchema(rows.shape[1:], name)
    ids = row_numbers(len(rows))
    return Dataset(rows, ids, schema, found.source, memory=memory).check_finite()


def _checked(samples: Dataset, like: Schema | None) -> Dataset:
    """The samples; raises InputError if they do not have the shape that the model needs."""
    shape = samples.shape
    if like is not None and shape != like.sample_shape:
        raise InputError(
            f"{samples.source} has samples of shape {shape}, but the model was fitted with "
            f"samples of shape {like.sample_shape}."
        )
    return samples
