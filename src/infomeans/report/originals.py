"""The picture files of a run's samples, as addresses relative to the page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from infomeans.data.files import has_suffix, printable
from infomeans.data.images import Images
from infomeans.data.sources import locate
from infomeans.errors import InputError

SHOWN = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".avif")
"""Suffixes of pictures that browsers show."""


def originals(source: Any, ids: list[str], page: Path) -> dict[str, Any] | None:
    """Where the files of these samples are, seen from the page; None if there are none.

    Addresses are relative, so that a page which is shared reveals no full paths. They are parts of
    a path, which the page encodes; the first part is "." or "..", so none of them leads elsewhere.
    """
    paths = _paths(source)
    if not paths:
        return None
    folder = page.absolute().parent
    found = [_relative(paths.get(name), folder) for name in ids]
    if not any(found):
        return None
    bases = {
        path[: -len(name)] if path and path.endswith("/" + name) else None
        for path, name in zip(found, ids, strict=True)
    }
    if len(bases) == 1 and None not in bases:
        return {"base": bases.pop(), "names": None}
    return {"base": "", "names": found}


def _paths(source: Any) -> dict[str, str]:
    if not isinstance(source, str | os.PathLike):
        return {}
    try:
        found = locate(os.fspath(source))
    except (InputError, OSError):
        return {}
    if not isinstance(found, Images) or found.paths is None:
        return {}
    return dict(zip(found.ids, found.paths, strict=True))


def _relative(path: str | None, folder: Path) -> str | None:
    if path is None or not has_suffix(path, SHOWN) or not os.path.isfile(path):
        return None
    try:
        found = Path(os.path.relpath(os.path.abspath(path), folder)).as_posix()
    except ValueError:  # on another drive
        return None
    if printable(found) != found:
        return None
    return found if found.startswith("../") else "./" + found
