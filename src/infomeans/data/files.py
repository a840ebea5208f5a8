"""Accepted file types, and reading files that may be damaged."""

from __future__ import annotations

import codecs
import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infomeans.data.memory import Memory, shown
from infomeans.errors import InputError
from infomeans.files import regular

IMAGE_SUFFIXES = (
    ".png", ".jpg", ".jpeg", ".jfif", ".webp", ".bmp", ".tif", ".tiff", ".gif",
    ".pgm", ".ppm", ".pbm", ".pnm", ".heic", ".heif", ".hif", ".avif",
)  # fmt: skip
LIST_SUFFIXES = (".txt", ".lst")
TABLE_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
ARRAY_SUFFIXES = (".npy", ".npz", ".h5", ".hdf5")
TAR_SUFFIXES = (".tar",)
GZIP = b"\x1f\x8b"

UNPACKED = 1 / 8
"""Share of the memory that an unpacked text may take: a table of it takes several times as much."""

PIECE = 2**20
"""Number of bytes that are unpacked at once."""

MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Encodings by the mark at the beginning of a file; one mark begins another."""

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


def content(path: Path, memory: Memory | None = None) -> bytes:
    """The bytes of a non-empty regular file, decompressed if it is gzipped.

    Parameters
    ----------
    path : Path
        The file.
    memory : Memory, optional
        The limit for the memory. Content that takes more than a share of it when it is unpacked is
        refused.
    """
    with regular(path).open("rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    with reading(path):
        raw = _unpacked(path, memory or Memory()) if packed else path.read_bytes()
    if not raw or raw.isspace():
        raise InputError(f"{path} is empty.")
    return raw


def _unpacked(path: Path, memory: Memory) -> bytes:
    """The content of a gzipped file, unless it gets too large."""
    most, size = UNPACKED * memory.size, 0
    with path.open("rb") as file:
        # The file ends with the size of its content, or of the last part of it.
        packed = file.seek(-4, os.SEEK_END) + 4
        said = int.from_bytes(file.read(4), "little")
    pieces: list[bytes] = []
    with gzip.open(path) as unpacked:
        while size <= most and (piece := unpacked.read(PIECE)):
            size += len(piece)
            # A damaged file says anything, and is unpacked to see whether it is damaged.
            if said <= most:
                pieces.append(piece)
    if size > most:
        given = "the free memory" if memory.limit is None else "the memory (--memory)"
        raise InputError(
            f"{path}, {shown(packed)}, unpacks to {shown(max(said, size))} or more; {shown(most)} "
            f"are allowed, by {given}. Unpack it first, or allow more --memory (memory=)."
        )
    return b"".join(pieces)


def as_utf8(raw: bytes) -> bytes:
    """Text in UTF-16 or UTF-32, which begins with a mark, as UTF-8; other text as it is."""
    encoding = next((name for mark, name in MARKS.items() if raw.startswith(mark)), None)
    return raw if encoding is None else raw.decode(encoding).encode()


def lines(path: Path) -> list[str]:
    """The stripped lines of a text file, without empty lines at the beginning and the end.

    Bytes that are not UTF-8 become surrogates, as in Python's file names.
    """
    return [line.strip() for line in _text(path).strip().split("\n")]


def all_lines(path: Path) -> list[str]:
    """The stripped lines of a text file, including empty ones at the beginning and the end."""
    return [line.strip() for line in _text(path).removesuffix("\n").split("\n")]


def _text(path: Path) -> str:
    with reading(path):
        raw = as_utf8(content(path))
    return raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
