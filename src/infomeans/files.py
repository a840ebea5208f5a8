"""Write files atomically, and read only regular ones, which may be damaged."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from infomeans.errors import InputError

HASH = "sha256"
"""Key of the hash in a JSON file that has one."""

PIECE = 2**22
"""Number of bytes that are read at once."""

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


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; an InputError if there is something else."""
    try:
        content = json.loads(regular(path).read_text(encoding="utf-8-sig"))
    except RecursionError as error:
        raise InputError(f"{path} is damaged: it is nested too deeply.") from error
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} is damaged: it is not a JSON object.")
    return content


def file_hash(path: Path) -> str:
    """The SHA-256 of a file."""
    hashed = hashlib.sha256()
    with regular(path).open("rb") as file:
        while piece := file.read(PIECE):
            hashed.update(piece)
    return hashed.hexdigest()


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """An object for JSON, with a hash of everything else in it."""
    plain = json.loads(json.dumps({n: v for n, v in content.items() if n != HASH}))
    return {**plain, HASH: json_hash(plain)}


def check_seal(path: Path, content: dict[str, Any], *, needed: bool = False) -> dict[str, Any]:
    """The content of a sealed JSON file without its hash; refuse what was changed since.

    Parameters
    ----------
    path : Path
        The file, for the message.
    content : dict
        Its content.
    needed : bool
        Whether to refuse a file without a hash; those of earlier versions have none.
    """
    rest = {name: value for name, value in content.items() if name != HASH}
    if (needed or HASH in content) and content.get(HASH) != json_hash(rest):
        raise InputError(f"{path} is damaged or was edited: its content does not match its hash.")
    return rest


def json_hash(content: Mapping[str, Any]) -> str:
    """The SHA-256 of an object that JSON can hold, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _sync_folder(folder: Path) -> None:
    """Also flush the new file name to disk, if the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
