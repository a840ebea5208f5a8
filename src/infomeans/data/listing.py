"""List images: in a folder, by a pattern, or in a text file."""

from __future__ import annotations

import glob
import os
from fnmatch import fnmatch
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


LeftOut = list[tuple[str, str]]
"""Pairs of a name and the reason why it is left out."""

AGAIN = "a link to what is read already"


def files_in(folder: Path, left_out: LeftOut | None = None) -> Listing:
    """The images in a folder and its subfolders; ids are paths relative to the folder.

    If there are none, the Parquet files or tar archives. Every folder and every file is read once,
    whatever links lead to it.

    Parameters
    ----------
    folder : Path
        The folder.
    left_out : list, optional
        Takes the links to folders and files that are read already.
    """
    again: LeftOut = []
    found = _walk(str(folder), again)
    for suffixes in (PICTURE_SUFFIXES, *((suffix,) for suffix in SHARDS)):
        if kept := [name for name in found if has_suffix(name, suffixes)]:
            listing = _once(str(folder), sorted(kept), again)
            if left_out is not None:
                left_out += again
            return listing
    raise InputError(
        f"{folder} holds no images; accepted are {', '.join(IMAGE_SUFFIXES)}, or else "
        f"{' or '.join(SHARDS)} files."
    )


def _walk(top: str, again: LeftOut, *, hidden: bool = False) -> list[str]:
    """Relative names of files, from every folder once: first where no link leads to it."""
    found: list[str] = []
    seen: set[tuple[int, int]] = set()
    linked = [""]
    while linked:
        folders, linked = sorted(linked, reverse=True), []
        while folders:
            prefix = folders.pop()
            status = os.stat(os.path.join(top, prefix))
            here = (status.st_dev, status.st_ino)
            if here in seen:
                again.append((printable(prefix.removesuffix("/")), AGAIN))
                continue
            seen.add(here)
            with os.scandir(os.path.join(top, prefix)) as entries:
                for entry in entries:
                    name = prefix + entry.name
                    if entry.name.startswith(".") and not hidden:
                        continue
                    if _is_folder(entry):
                        (linked if entry.is_symlink() else folders).append(f"{name}/")
                    elif has_suffix(entry.name, PICTURE_SUFFIXES + SHARDS) and _is_data(entry):
                        found.append(name)
    return found


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_data(entry: os.DirEntry[str]) -> bool:
    # A broken link is later reported as unreadable, and so is one to a pipe.
    return entry.is_symlink() or entry.is_file()


def _once(base: str, names: list[str], again: LeftOut) -> Listing:
    """Paths and ids of files; of several names of a file, the one that links least."""
    top, folders = os.path.realpath(base), dict[str, str]()
    ranked = []
    for place, name in enumerate(names):
        folder, own = os.path.split(name)
        if folder not in folders:
            folders[folder] = os.path.realpath(os.path.join(base, folder))
        path, real = os.path.join(base, name), folders[folder]
        link = os.path.islink(path)
        target = os.path.realpath(path) if link else os.path.join(real, own)
        ranked.append((link, real != os.path.normpath(os.path.join(top, folder)), place, target))
    seen: set[str] = set()
    kept = []
    for *_, place, target in sorted(ranked):
        if target in seen and os.path.exists(target):
            again.append((printable(names[place]), AGAIN))
        else:
            kept.append(place)
        seen.add(target)
    return [(os.path.join(base, names[i]), printable(names[i])) for i in sorted(kept)]


def files_matching(pattern: str, left_out: LeftOut | None = None) -> Listing:
    """The images that a pattern with `*`, `?`, `[...]` or `**` matches, each file once.

    A pattern that ends in .parquet or .tar matches such files. Ids start after the fixed part of
    the pattern. Links to what is read already are added to `left_out`.
    """
    parts = Path(pattern).parts
    fixed = list(takewhile(lambda part: not glob.has_magic(part), parts))
    base, rest = str(Path(*fixed)), parts[len(fixed) :]
    again: LeftOut = []
    suffixes = SHARDS if has_suffix(pattern, SHARDS) else PICTURE_SUFFIXES
    found = sorted(
        name
        for name in _matches(base, rest, again)
        if has_suffix(name, suffixes) and os.path.isfile(os.path.join(base, name))
    )
    if not found:
        raise InputError(
            f"{pattern} matches no images; accepted are {', '.join(IMAGE_SUFFIXES)}, and ** for "
            f"subfolders."
        )
    listing = _once(base, found, again)
    if left_out is not None:
        left_out += again
    return listing


def _matches(base: str, parts: tuple[str, ...], again: LeftOut) -> list[str]:
    """Names of files, relative to a folder, that match the parts of a pattern."""
    if "**" not in parts:
        found = glob.glob(os.path.join(glob.escape(base), *parts))
        return [Path(match).relative_to(base).as_posix() for match in found]
    if not os.path.isdir(base):
        return []
    # glob would follow links in circles.
    walked = _walk(base, again, hidden=any(part.startswith(".") for part in parts))
    return [name for name in walked if _fits(name.split("/"), parts)]


def _fits(names: list[str], parts: tuple[str, ...]) -> bool:
    if not parts:
        return not names
    if parts[0] == "**":
        if _fits(names, parts[1:]):
            return True
        return bool(names) and names[0][0] != "." and _fits(names[1:], parts)
    if not names or (names[0][0] == "." and parts[0][0] != "."):
        return False
    return fnmatch(names[0], parts[0]) and _fits(names[1:], parts[1:])


def images_listed_in(file: Path) -> Listing:
    """The images that a text file lists, one per line, relative to the file's folder."""
    names = [line for line in lines(file) if line and not line.startswith("#")]
    if not names:
        raise InputError(f"{file} lists no images; one path per line is accepted.")
    return [(os.path.join(file.parent, name), printable(name)) for name in names]
