"""List images: in a folder, by a pattern, or in a text file."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from infomeans.data.decoding import NOT_READ
from infomeans.data.files import (
    IMAGE_SUFFIXES,
    TAR_SUFFIXES,
    has_suffix,
    lines,
    printable,
)
from infomeans.errors import InputError

PICTURE_SUFFIXES = IMAGE_SUFFIXES + NOT_READ
"""Includes formats that cannot be read, so that they are reported."""

Listing = list[tuple[str, str]]
"""Pairs of a path and an id."""


SHARDS = (".parquet", *TAR_SUFFIXES)
"""Suffixes of files that hold a part of a data set."""


def files_in(folder: Path) -> Listing:
    """The images in a folder and its subfolders; ids are paths relative to the folder.

    If there are none, the Parquet files or tar archives.
    """
    found = sorted(_walk(str(folder), "", frozenset()))
    for suffixes in (PICTURE_SUFFIXES, *((suffix,) for suffix in SHARDS)):
        if kept := [name for name in found if has_suffix(name, suffixes)]:
            return [(os.path.join(folder, name), printable(name)) for name in kept]
    raise InputError(
        f"{folder} holds no images; accepted are {', '.join(IMAGE_SUFFIXES)}, or else "
        f"{' or '.join(SHARDS)} files."
    )


def _walk(folder: str, prefix: str, above: frozenset[tuple[int, int]]) -> Iterator[str]:
    """Relative names, without hidden files and links to a parent folder."""
    status = os.stat(folder)
    here = (status.st_dev, status.st_ino)
    if here in above:
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                yield from _walk(entry.path, f"{prefix}{entry.name}/", above | {here})
            elif has_suffix(entry.name, PICTURE_SUFFIXES + SHARDS) and _may_hold_data(entry):
                yield prefix + entry.name


def _may_hold_data(entry: os.DirEntry[str]) -> bool:
    # A broken link is later reported as unreadable. Reading a pipe would block.
    return entry.is_file() or entry.is_symlink()


def files_matching(pattern: str) -> Listing:
    """The images that a pattern with `*`, `?`, `[...]` or `**` matches.

    A pattern that ends in .parquet or .tar matches such files. Ids start after the fixed part of
    the pattern.
    """
    fixed = takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts)
    base = Path(*fixed)
    suffixes = SHARDS if has_suffix(pattern, SHARDS) else PICTURE_SUFFIXES
    found = sorted(
        Path(match).relative_to(base).as_posix()
        for match in glob.glob(pattern, recursive=True)
        if has_suffix(match, suffixes) and os.path.isfile(match)
    )
    if not found:
        raise InputError(
            f"{pattern} matches no images; accepted are {', '.join(IMAGE_SUFFIXES)}, and ** for "
            f"subfolders."
        )
    return [(os.path.join(base, name), printable(name)) for name in found]


def images_listed_in(file: Path) -> Listing:
    """The images that a text file lists, one per line, relative to the file's folder."""
    names = [line for line in lines(file) if line and not line.startswith("#")]
    if not names:
        raise InputError(f"{file} lists no images; one path per line is accepted.")
    return [(os.path.join(file.parent, name), printable(name)) for name in names]
