"""Samples that are decoded once and kept: in memory if they fit, else in a file."""

from __future__ import annotations

import errno
import math
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from infomeans.data.memory import Memory
from infomeans.data.rows import ArrayRows, MappedRows, Rows

SHARE = 0.5
"""Share of the memory that samples as they were read may take; the rest is for the network's."""


def fits(count: float, memory: Memory) -> bool:
    """Whether so many bytes of samples may stay in memory."""
    return count <= SHARE * memory.size


def store(
    blocks: Iterable[NDArray[Any]], shape: tuple[int, ...], dtype: Any, memory: Memory
) -> Rows:
    """Keep samples that come in blocks, one after the other.

    Parameters
    ----------
    blocks : iterable of arrays
        The samples in order.
    shape : tuple of int
        Shape of all samples; the first axis is the sample.
    dtype : numpy dtype
        Type of the values.
    memory : Memory
        The limit, and the folder for what exceeds it.
    """
    needed, at = math.prod(shape) * np.dtype(dtype).itemsize, 0
    if fits(needed, memory):
        X = np.empty(shape, dtype)
        for block in blocks:
            X[at : at + len(block)] = block
            at += len(block)
        return ArrayRows(X)
    memory.check_disk(needed)
    with memory.file() as file:
        for block in blocks:
            _write(file, np.ascontiguousarray(block, dtype).data, needed, memory)
        file.flush()
        mapped: np.memmap[Any, Any] = np.memmap(file, dtype, "r", shape=shape)
    return MappedRows(mapped, memory.mapped)


class Pixels:
    """Pixels of images by position: in memory while they fit, then in a file.

    Parameters
    ----------
    total : int
        Number of images.
    memory : Memory
        The limit, and the folder for what exceeds it.
    """

    def __init__(self, total: int, memory: Memory) -> None:
        self.total, self.memory = total, memory
        self.held = 0
        self._most = SHARE * memory.size
        self._at: dict[int, bytes | tuple[int, int]] = {}
        self._file: IO[bytes] | None = None
        self._end = 0

    def __enter__(self) -> Pixels:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def __contains__(self, position: int) -> bool:
        return position in self._at

    def __getitem__(self, position: int) -> bytes:
        place = self._at[position]
        if isinstance(place, bytes):
            return place
        assert self._file is not None
        self._file.seek(place[0])
        return self._file.read(place[1])

    def __setitem__(self, position: int, pixels: bytes) -> None:
        before = self._at.get(position, b"")
        if isinstance(before, bytes):
            self.held -= len(before)
        if self.held + len(pixels) <= self._most:
            self.held += len(pixels)
            self._at[position] = pixels
            return
        if self._file is None:
            self._file = self.memory.file()
        self._file.seek(self._end)
        share = (len(self._at) + 1) / self.total
        _write(self._file, pixels, (self._end + len(pixels)) / min(share, 1), self.memory)
        self._at[position] = (self._end, len(pixels))
        self._end += len(pixels)


def _write(file: IO[bytes], data: Any, needed: float, memory: Memory) -> None:
    try:
        file.write(data)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise memory.full_disk(needed) from error
        raise
