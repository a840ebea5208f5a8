"""Rows of numbers for every sample: in memory while they fit, else in files."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from infomeans.data.memory import MAPPED, Memory, release

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
    >>> from infomeans.data.memory import MAPPED, Memory, release
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
        """The same for blocks of several tensors that come together."""
        blocks = iter(blocks)
        first = next(blocks)
        joins = [self._join(block, n) for block in first]
        for parts in chain([first], blocks):
            for join, part in zip(joins, parts, strict=True):
                join.add(part)
            self.release()
        return tuple(join.joined() for join in joins)

    def release(self) -> None:
        """Take the mapped rows of this shelf out of memory."""
        release(self._mapped)

    def _join(self, first: Tensor, n: int) -> _Parts | _File:
        """Where blocks like the first are joined; those on a GPU stay there."""
        needed = n * math.prod(first.shape[1:]) * first.element_size()
        limited = self.memory is not None and self.memory.limit is not None
        if self.memory is None or not limited or first.device.type != "cpu":
            return _Parts()
        if needed <= SHARE * self.memory.size:
            return _Parts()
        self.memory.check_disk(needed)
        kind = torch.empty(0, dtype=first.dtype).numpy().dtype
        with self.memory.file() as file:
            file.truncate(needed)
            array: np.memmap[Any, Any] = np.memmap(file, kind, "r+", shape=(n, *first.shape[1:]))
        self._mapped.add(array._mmap)  # type: ignore[attr-defined]
        MAPPED.add(array._mmap)  # type: ignore[attr-defined]
        return _File(array)


class _Parts:
    """Blocks in memory."""

    def __init__(self) -> None:
        self.parts: list[Tensor] = []

    def add(self, block: Tensor) -> None:
        self.parts.append(block)

    def joined(self) -> Tensor:
        return torch.cat(self.parts)


class _File:
    """Blocks in a mapped file."""

    def __init__(self, array: np.memmap[Any, Any]) -> None:
        self.rows, self.at = torch.from_numpy(array), 0

    def add(self, block: Tensor) -> None:
        self.rows[self.at : self.at + len(block)] = block
        self.at += len(block)

    def joined(self) -> Tensor:
        return self.rows


IN_MEMORY = Shelf()
"""Keeps everything in memory."""
