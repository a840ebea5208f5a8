"""How much memory samples may take, and where those go that take more."""

from __future__ import annotations

import errno
import mmap
import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from infomeans.errors import InputError
from infomeans.torchrun import on_this_machine

SHARE = 0.5
"""Share of the free memory that samples may take by default."""

UNITS = {
    "": 1, "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
    "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40,
}  # fmt: skip

MAPPED_BYTES = 2**26
"""Bytes of a mapped file that are kept in memory at once, if a limit is given."""


ROWS = 2**16
"""Number of rows that are looked at together."""

_MAPPED: weakref.WeakSet[Any] = weakref.WeakSet()
"""The mapped files of all shelves."""

_lock = threading.Lock()
"""Fits in several threads map and release files."""


@dataclass(frozen=True)
class Memory:
    """A limit for samples in memory, and the folder for samples that do not fit.

    Parameters
    ----------
    limit : int, optional
        Number of bytes for each process; by default half of the free memory, whenever it is asked
        for, divided by the number of processes that work together on this machine.
    folder : path, optional
        Where decoded samples are stored that do not fit; by default the system's folder for
        temporary files.

    Examples
    --------
    >>> from infomeans.data.memory import Memory
    >>> Memory.of("500MB").limit
    500000000
    >>> Memory.of("1.5 GiB")
    Memory(limit=1610612736, folder=None)
    """

    limit: int | None = None
    folder: Path | None = None

    @classmethod
    def of(cls, amount: str | int | None, folder: Path | None = None) -> Memory:
        """A limit such as "1GiB", "500MB" or a number of bytes."""
        if amount is None:
            return cls(None, folder)
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", str(amount).strip().lower())
        count = float(found[1]) * UNITS.get(found[2], 0) if found else 0.0
        if isinstance(amount, bool) or count < 1:
            raise InputError(
                f"memory={amount!r} (--memory) is not an amount of memory; a number with kB, MB, "
                f"GB, KiB, MiB or GiB, such as 500MB or 1.5GiB, is accepted."
            )
        return cls(int(count), folder)

    @property
    def size(self) -> float:
        """The limit in bytes."""
        if self.limit is not None:
            return self.limit
        return SHARE * free_memory() / on_this_machine()

    @property
    def mapped(self) -> int | None:
        """Bytes of a mapped file to keep in memory; None leaves it to the system."""
        return None if self.limit is None else min(MAPPED_BYTES, max(self.limit // 8, 1))

    def too_small(self, needed: float, what: str) -> InputError:
        """The error for a limit below what is needed."""
        given = "half of the free memory" if self.limit is None else "memory (--memory)"
        return InputError(
            f"{given}, {shown(self.size)}, is too small: {what} needs {shown(needed)}."
        )

    def file(self) -> IO[bytes]:
        """A file without a name, which is gone when it is closed."""
        return tempfile.TemporaryFile(dir=self.folder)

    def check_disk(self, needed: float) -> None:
        """Refuse to store more than the disk has room for."""
        folder = self.folder or Path(tempfile.gettempdir())
        free = shutil.disk_usage(folder).free
        if needed > free:
            raise self.full_disk(needed, free)

    def full_disk(self, needed: float, free: float = 0) -> OSError:
        """The error of a disk that has no room for the samples."""
        text = (
            f"the disk is too full for what exceeds the memory: {shown(needed)} are needed, "
            f"{shown(free)} are free; make room, or use more --memory (memory=)"
        )
        return OSError(errno.ENOSPC, text, str(self.folder or tempfile.gettempdir()))


def shown(size: float) -> str:
    """A number of bytes for people, such as 1.5 GiB."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} GiB"


def total_memory() -> float:
    """Memory of the machine in bytes; infinity if the system does not report it."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return float("inf")


def free_memory() -> float:
    """Free memory in bytes; infinity if the system does not report it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024.0 * int(line.split()[1])
        return float(os.sysconf("SC_AVPHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return float("inf")


def _after_fork() -> None:
    """Another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def remember(mapped: Any) -> None:
    """Let `in_parts` release this mapped file."""
    with _lock:
        _MAPPED.add(mapped)


def in_parts(rows: NDArray[Any], size: int = ROWS) -> Iterator[NDArray[Any]]:
    """Rows of an array, some at a time; if they are mapped from a file, they then leave memory."""
    for first in range(0, max(len(rows), 1), size):
        yield rows[first : first + size]
        with _lock:
            mapped = [*_MAPPED]
        release(mapped)


def joined(parts: Iterable[NDArray[Any]], n: int) -> NDArray[Any]:
    """The values (n, ...) of at least one part, copied to their places as they come.

    Small arrays that are kept between large temporary ones would fragment the memory.
    """
    parts = iter(parts)
    first = next(parts)
    found, at = np.empty((n, *first.shape[1:]), first.dtype), 0
    for part in chain([first], parts):
        found[at : at + len(part)] = part
        at += len(part)
    return found


def release(mapped: Iterable[Any]) -> None:
    """Take pages of files out of memory; the system reads them again when they are needed."""
    for one in mapped:
        if hasattr(one, "madvise"):
            one.madvise(mmap.MADV_DONTNEED)
