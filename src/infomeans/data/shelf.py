"""Rows of numbers for every sample: in memory while they fit, else in files."""

from __future__ import annotations

import errno
import math
import os
import weakref
from collections.abc import Iterable
from itertools import chain
from typing import IO, Any

import numpy as np
import torch
from torch import Tensor

from infomeans.data.memory import Memory, release, remember

SHARE = 0.125
"""Share of the memory that one tensor may take; training keeps a few of them."""


class Shelf:
    """Joins blocks of rows to tensors, in memory or mapped from files that have no name.

    Parameters
    ----------
    memory : Memory, optional
        The limit for tensors in memory, and the folder for files; by default all stay in memory.

    Examples
    --------
    >>> import torch
    >>> from infomeans.data.memory import Memory
    >>> from infomeans.data.shelf import Shelf
    >>> small = Shelf(Memory(limit=100))
    >>> rows = small.rows(iter([torch.ones(3, 4), torch.zeros(2, 4)]), 5)
    >>> rows.shape, small.n_mapped
    (torch.Size([5, 4]), 1)
    """

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = memory
        self._mapped: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def n_mapped(self) -> int:
        """Number of tensors that are mapped from files."""
        return len(self._mapped)

    def rows(self, blocks: Iterable[Tensor], n: int) -> Tensor:
        """The rows of all blocks as one tensor (n, ...).

        Parameters
        ----------
        blocks : iterable of tensors
            At least one block.
        n : int
            Number of rows in all of them.
        """
        return self.columns(((block,) for block in blocks), n)[0]

    def columns(self, blocks: Iterable[tuple[Tensor, ...]], n: int) -> tuple[Tensor, ...]:
        """The same for blocks of several tensors that come together.

        They are copied into their places at once. If many small blocks were kept between large
        temporary ones, memory would be fragmented.
        """
        blocks = iter(blocks)
        first, at = next(blocks), 0
        columns = tuple(self._empty(block, n) for block in first)
        for parts in chain([first], blocks):
            for column, part in zip(columns, parts, strict=True):
                column[at : at + len(part)] = part
            at += len(parts[0])
            self.release()
        return columns

    def release(self) -> None:
        """Take the mapped rows of this shelf out of memory."""
        release(self._mapped)

    def _empty(self, first: Tensor, n: int) -> Tensor:
        """A tensor for n rows like those of the first block; on a GPU it stays there."""
        shape, memory = (n, *first.shape[1:]), self.memory
        needed = math.prod(shape) * first.element_size()
        limited = memory is not None and memory.limit is not None
        if memory is None or not limited or first.device.type != "cpu":
            return first.new_empty(shape)
        if needed <= SHARE * memory.size:
            return first.new_empty(shape)
        memory.check_disk(needed)
        kind = torch.empty(0, dtype=first.dtype).numpy().dtype
        with memory.file() as file:
            _reserve(file, needed, memory)
            array: np.memmap[Any, Any] = np.memmap(file, kind, "r+", shape=shape)
        mapped = array._mmap  # type: ignore[attr-defined]
        self._mapped.add(mapped)
        remember(mapped)
        return torch.from_numpy(array)


def _reserve(file: IO[bytes], needed: int, memory: Memory) -> None:
    """Give a file its room at once: a full disk would kill a process that writes to a map."""
    file.truncate(needed)
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, needed)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise memory.full_disk(needed) from error


IN_MEMORY = Shelf()
"""Keeps everything in memory."""
