"""Find out what an input is: images, a table or arrays."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from infomeans.data.benchmarks import BENCHMARKS
from infomeans.data.containers import Arrays, is_idx
from infomeans.data.decoding import Decoded, Fit, Size
from infomeans.data.files import (
    ACCEPTED,
    ARRAY_SUFFIXES,
    LIST_SUFFIXES,
    TABLE_SUFFIXES,
    TAR_SUFFIXES,
    has_suffix,
    printable,
)
from infomeans.data.images import Images
from infomeans.data.listing import (
    PICTURE_SUFFIXES,
    SHARDS,
    LeftOut,
    Listing,
    files_in,
    files_matching,
    images_listed_in,
)
from infomeans.data.parquet import PARQUET
from infomeans.data.tables import Table
from infomeans.data.tars import images_in_tars
from infomeans.data.torch_datasets import TorchDataset, holds_images, images_of, stack
from infomeans.data.workers import decode_files
from infomeans.errors import InputError
from infomeans.files import regular

Found = Images | Table | Arrays


def locate(source: Any) -> Found:
    """Find out whether an input holds images, a table or arrays, without reading the files.

    Parameters
    ----------
    source : str, path, array, dataset or frame
        As for `open`, except for the name of a benchmark.
    """
    name = type(source).__name__
    if isinstance(source, str | os.PathLike):
        return _at(os.fsdecode(source))
    if hasattr(source, "__arrow_c_stream__"):
        return Table.of_frame(source)
    if hasattr(source, "__array__"):
        return Arrays(name, lambda: nullcontext({None: np.asarray(source)}))
    if isinstance(source, Sequence | Mapping) or not isinstance(source, TorchDataset):
        raise InputError(
            f"input of type {name} is not accepted; give a path, an array, a data frame or a "
            f"torch dataset."
        )
    if not len(source):
        raise InputError(f"{name} has no items.")
    if holds_images(source):
        return images_of(source, name)
    stacked = stack(source)
    return Arrays(name, lambda: nullcontext({None: stacked}))


def _at(where: str) -> Found:
    path = Path(where)
    left_out: LeftOut = []
    if not where.strip():
        raise InputError("the path of the input is empty.")
    if path.is_dir():
        return _listed(where, files_in(path, left_out), left_out)
    if path.exists():
        return _in_file(regular(path))
    if glob.has_magic(where):
        return _listed(where, files_matching(where, left_out), left_out)
    raise InputError(
        f"{where}: no such file or folder, and no benchmark of that name ({', '.join(BENCHMARKS)})."
    )


def _in_file(path: Path) -> Found:
    if has_suffix(path.name, PICTURE_SUFFIXES):
        return _files(str(path), [(str(path), path.name)])
    if has_suffix(path.name, LIST_SUFFIXES):
        return _files(str(path), images_listed_in(path))
    if has_suffix(path.name, TABLE_SUFFIXES):
        return Table.in_file(path)
    if has_suffix(path.name, TAR_SUFFIXES):
        return images_in_tars(printable(str(path)), [(str(path), path.name)])
    if has_suffix(path.name, ARRAY_SUFFIXES) or is_idx(path):
        return Arrays.in_file(path)
    raise InputError(f"{path} has an unknown format; accepted are {ACCEPTED}.")


def _listed(source: str, listing: Listing, left_out: LeftOut) -> Found:
    """What files are that all have the same kind."""
    if has_suffix(listing[0][0], SHARDS):
        for path, _ in listing:
            regular(Path(path))
    if has_suffix(listing[0][0], (PARQUET,)):
        return Table.in_parquet(printable(source), [path for path, _ in listing])
    if has_suffix(listing[0][0], TAR_SUFFIXES):
        return images_in_tars(printable(source), listing)
    return _files(source, listing, left_out)


def _files(source: str, listing: Listing, left_out: LeftOut | None = None) -> Images:
    paths = [path for path, _ in listing]

    def decode(positions: Sequence[int], size: Size | None, fit: Fit) -> Iterator[list[Decoded]]:
        return decode_files([paths[i] for i in positions], size, fit)

    ids = [name for _, name in listing]
    return Images(printable(source), ids, decode, paths, left_out=left_out or ())
