"""Reading any input as samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar

from numpy.typing import ArrayLike

from infomeans.data.benchmarks import BENCHMARKS, benchmark
from infomeans.data.containers import Arrays, is_sample_array
from infomeans.data.dataset import Dataset, row_numbers
from infomeans.data.decoding import Fit
from infomeans.data.images import Images, Progress, read_images
from infomeans.data.labels import find_labels, is_column, labels_in_order
from infomeans.data.rows import ArrayRows
from infomeans.data.schema import (
    ArraySchema,
    ImageSchema,
    Schema,
    TableSchema,
    read_schema,
)
from infomeans.data.sources import locate
from infomeans.data.tables import Table, read_table
from infomeans.errors import InputError

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
) -> Dataset:
    """A data set from whatever people have.

    Parameters
    ----------
    source : str, path, array, dataset or frame
        A folder of images, an image, a pattern such as `photos/**/*.png`, a text file that lists
        images, a .csv, .tsv, .parquet, .npy, .npz, HDF5 or IDX file, or the name of a benchmark;
        a numpy array or torch tensor, a torch dataset, or a frame of pandas or polars.
    image_size : int, optional
        Pixels a side that images get.
    fit : "pad", "crop" or "stretch", optional
        What becomes of images of other proportions: filled up with the colour of their border, cut
        to their middle, or distorted. By default what suits their sizes.
    columns : sequence of str, optional
        The features of a table; by default its numeric columns.
    id_column : str, optional
        The column of a table, or of a table of labels, that holds the ids.
    key : str, optional
        The name of the array in a file that holds several.
    impute : "median", optional
        What takes the place of missing values in a table.
    labels : str or array, optional
        Where labels are: "folder", a file, or a column or array of the source; or one label for
        each sample. They are never features. Some may be missing, and are empty then.
    like : Schema or path, optional
        Read the input as other input was, so that a model fitted on that can be applied: the
        schema of those samples, or the folder of the model or its run.
    strict : bool
        Whether an image that cannot be read is an error. Otherwise it is left out and listed.
    data_dir : path, optional
        The folder of the benchmarks; the environment variable INFOMEANS_DATA does as well.
    progress : callable, optional
        Told from time to time how many images are done, of how many.

    Raises
    ------
    InputError
        If the input cannot be used; the message says why in one line.
    """
    if labels is not None and not isinstance(labels, str | PathLike):
        opened = open(
            source, image_size=image_size, fit=fit, columns=columns, id_column=id_column,
            key=key, impute=impute, like=like, strict=strict, data_dir=data_dir, progress=progress,
        )  # fmt: skip
        return replace(opened, labels=labels_in_order(labels, opened.ids))
    labels = None if labels is None else str(labels)
    columns = columns or None
    like = read_schema(Path(like)) if isinstance(like, str | PathLike) else like
    options = {"image_size": image_size, "fit": fit, "columns": columns, "impute": impute}
    if labels is None:
        options |= {"id_column": id_column, "key": key}
    if isinstance(source, str) and source in BENCHMARKS and not Path(source).exists():
        _check_options(options, Arrays, source, like)
        samples = _checked(benchmark(source, data_dir), like)
        return samples if labels in (None, "labels") else _labelled(samples, labels, id_column, key)
    found = locate(source)
    _check_options(options, type(found), found.source, like)
    in_table = isinstance(found, Table) and labels is not None and is_column(labels)
    if isinstance(found, Table):
        samples = read_table(
            found,
            columns=columns,
            id_column=id_column,
            label_column=labels if in_table else None,
            impute=impute,
            like=_expect(TableSchema, like, found.source),
        )
    elif isinstance(found, Images):
        samples = read_images(
            found,
            image_size=image_size,
            fit=fit,
            like=_expect(ImageSchema, like, found.source),
            strict=strict,
            progress=progress,
        )
    else:
        samples = _checked(_read_array(found, key, like), like)
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


def _labelled(samples: Dataset, labels: str, id_column: str | None, key: str | None) -> Dataset:
    """A benchmark with labels from a file instead of its own."""
    if is_column(labels):
        raise InputError(
            f"labels={labels!r}: {samples.source} has labels of its own, 'labels'; a file is "
            f"accepted as well."
        )
    found = find_labels(labels, samples.ids, id_column=id_column, key=key)
    return replace(samples, labels=found)


def _check_options(
    options: Mapping[str, object], kind: type, source: str, like: Schema | None
) -> None:
    """Refuse what would have no effect."""
    for name, value in options.items():
        if value is not None and _APPLIES_TO[name] is not kind:
            raise InputError(f"{name}={value!r} has no meaning for {source}.")
        if value is not None and like is not None and name in _FIXED_BY_MODEL:
            raise InputError(f"{name}={value!r} cannot be chosen, as the model was fitted with it.")


def _expect(cls: type[_Expected], like: Schema | None, source: str) -> _Expected | None:
    if like is None or isinstance(like, cls):
        return like
    raise InputError(
        f"{source} holds {_KINDS[cls.kind]}, but the model was fitted with {_KINDS[like.kind]}."
    )


def _read_array(found: Arrays, key: str | None, like: Schema | None) -> Dataset:
    hint = like.key if isinstance(like, ArraySchema) else None
    X, name = found.read(key, is_sample_array, hint=hint)
    if X.dtype.kind not in "buif":
        raise InputError(f"{found.source} holds values of type {X.dtype}; numbers are accepted.")
    if X.ndim < 2 or not X.size:
        raise InputError(
            f"{found.source} has the shape {X.shape}; at least one sample and two dimensions, "
            f"samples first, are accepted."
        )
    rows, schema = ArrayRows(X), ArraySchema(X.shape[1:], name)
    return Dataset(rows, row_numbers(len(X)), schema, found.source).check_finite()


def _checked(samples: Dataset, like: Schema | None) -> Dataset:
    """Samples of an array, if they have the shape that a model needs."""
    shape = samples.shape
    if like is not None and shape != like.sample_shape:
        raise InputError(
            f"{samples.source} has samples of shape {shape}, but the model was fitted with "
            f"samples of shape {like.sample_shape}."
        )
    return samples
