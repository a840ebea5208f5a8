"""Atomic writing of files, and reading of regular ones only."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from infomeans.errors import InputError

KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}
"""What a path may lead to that is not a regular file."""


def regular(path: Path) -> Path:
    """The path, if a regular file is there; links are followed.

    Reading a pipe would wait for ever, and a device such as /dev/zero has no end. A missing file
    raises FileNotFoundError.
    """
    kind = stat.S_IFMT(os.stat(path).st_mode)
    if kind != stat.S_IFREG:
        what = KINDS.get(kind, "something else")
        raise InputError(f"{path} is {what}; only regular files are read.")
    return path


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write a file atomically; see `writing`."""
    with writing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write it atomically: a crash leaves the old file or the new one, never a part.

    Large content can come in pieces.

    A symbolic link is followed, and stays.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            # Name the requested file in the error, not the temporary one.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Also flush the new file name to disk, if the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
