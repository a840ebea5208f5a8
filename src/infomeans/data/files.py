"""Accepted file types, and reading files that may be damaged."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infomeans.errors import InputError

IMAGE_SUFFIXES = (
    ".png", ".jpg", ".jpeg", ".jfif", ".webp", ".bmp", ".tif", ".tiff", ".gif",
    ".pgm", ".ppm", ".pbm", ".pnm", ".heic", ".heif", ".hif", ".avif",
)  # fmt: skip
LIST_SUFFIXES = (".txt", ".lst")
TABLE_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
ARRAY_SUFFIXES = (".npy", ".npz", ".h5", ".hdf5")
TAR_SUFFIXES = (".tar",)
GZIP = b"\x1f\x8b"
ACCEPTED = (
    f"images ({', '.join(IMAGE_SUFFIXES)}), lists of images ({', '.join(LIST_SUFFIXES)}), "
    f"tables ({', '.join(TABLE_SUFFIXES)}), arrays ({', '.join(ARRAY_SUFFIXES)}), IDX files "
    f"and archives of images ({', '.join(TAR_SUFFIXES)})"
)


def has_suffix(name: str, suffixes: tuple[str, ...]) -> bool:
    """Whether a file name has one of these suffixes, ignoring case."""
    return name.lower().endswith(suffixes)


def printable(name: str) -> str:
    """A file name as text; bytes that are not UTF-8 become escapes such as \\xff."""  # noqa: D301
    return os.fsencode(name).decode("utf-8", "backslashreplace")


@contextmanager
def reading(source: object) -> Iterator[None]:
    """Turn the errors that libraries raise on damaged input into an InputError.

    Errors about missing files and permissions pass unchanged.
    """
    try:
        yield
    except (InputError, PermissionError, FileNotFoundError):
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{source} cannot be read: {reason}") from error


def content(path: Path) -> bytes:
    """The bytes of a non-empty file, decompressed if it is gzipped."""
    raw = path.read_bytes()
    with reading(path):
        raw = gzip.decompress(raw) if raw.startswith(GZIP) else raw
    if not raw or raw.isspace():
        raise InputError(f"{path} is empty.")
    return raw


def lines(path: Path) -> list[str]:
    """The stripped lines of a text file, without empty lines at the beginning and the end.

    Bytes that are not UTF-8 become surrogates, as in Python's file names.
    """
    return [line.strip() for line in _text(path).strip().split("\n")]


def all_lines(path: Path) -> list[str]:
    """The stripped lines of a text file, including empty ones at the beginning and the end."""
    return [line.strip() for line in _text(path).removesuffix("\n").split("\n")]


def _text(path: Path) -> str:
    return content(path).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
