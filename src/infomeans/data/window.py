"""A window on slow samples: the order of an epoch, and the blocks that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

    from infomeans.data.rows import Rows


class Window:
    """The last few blocks of some rows, in one array.

    Parameters
    ----------
    rows : Rows
        The samples.
    block : int
        Number of samples in a block. A block is read as a whole.
    slots : int
        Number of blocks to hold.

    Attributes
    ----------
    reads : int
        Number of blocks that were read so far.
    """

    def __init__(self, rows: Rows, block: int, slots: int) -> None:
        self.rows, self.block = rows, block
        self.n_blocks = -(-len(rows) // block)
        self.slots = min(slots, self.n_blocks)
        self.reads = 0
        self._held: NDArray[Any] | None = None
        self._slot = np.full(self.n_blocks, -1)
        self._block = np.full(self.slots, -1)
        self._used = np.zeros(self.slots, dtype=np.int64)
        self._place: NDArray[Any] | None = None
        self._clock = 0

    @property
    def size(self) -> int:
        """Number of samples that the window holds at most."""
        return self.slots * self.block

    def order(self, samples: Tensor | None = None) -> Tensor:
        """A random order that reads every block about once, drawn from torch's generator.

        Blocks are dealt at random to windows. Windows come one after the other, and samples are
        shuffled within each.

        Parameters
        ----------
        samples : (m,) integer tensor, optional
            Positions to put in order; by default all.
        """
        import torch

        n = len(self.rows)
        blocks = torch.randperm(self.n_blocks) if self.slots < self.n_blocks else None
        order = torch.randperm(n if samples is None else len(samples))
        order = order if samples is None else samples.cpu()[order]
        if blocks is not None:
            windows = torch.empty(self.n_blocks, dtype=torch.int32)
            windows[blocks] = torch.arange(self.n_blocks, dtype=torch.int32) // self.slots
            order = order[windows[order // self.block].argsort(stable=True)]
        self._place = np.full(n, -1, dtype=np.int32 if n < 2**31 else np.int64)
        self._place[order.numpy()] = np.arange(len(order))
        return order

    def batch(self, index: NDArray[Any]) -> NDArray[Any]:
        """The samples at these positions, of a batch of the order or any others."""
        if not self._in_order(index):
            return self.rows.batch(index)
        found = np.empty((len(index), *self.rows.shape[1:]), self.rows.dtype)
        blocks, left = index // self.block, np.arange(len(index))
        while len(left):
            slots = self._slot[blocks[left]]
            there, at = left[slots >= 0], slots[slots >= 0]
            self._clock += 1
            self._used[at] = self._clock
            if self._held is not None:
                found[there] = self._held[at * self.block + index[there] % self.block]
            left = left[slots < 0]
            # A large batch spans several windows, which come one after the other.
            self._load(list(dict.fromkeys(blocks[left].tolist()))[: self.slots])
        return found

    def _in_order(self, index: NDArray[Any]) -> bool:
        """Whether positions follow each other in the order; others would empty the window."""
        if self._place is None or not len(index):
            return False
        places = self._place[index]
        return bool(places.min() >= 0 and np.ptp(places) < max(self.size, len(index)))

    def _load(self, blocks: list[int]) -> None:
        """Read blocks into the slots that were used least recently."""
        if self._held is None:
            self._held = np.empty((self.size, *self.rows.shape[1:]), self.rows.dtype)
        slots = np.argsort(self._used, kind="stable")[: len(blocks)]
        for block, slot in zip(blocks, slots.tolist(), strict=True):
            first = block * self.block
            rows = self.rows.between(first, min(first + self.block, len(self.rows)))
            self._held[slot * self.block : slot * self.block + len(rows)] = rows
            if self._block[slot] >= 0:
                self._slot[self._block[slot]] = -1
            self._slot[block], self._block[slot] = slot, block
            self._used[slot] = self._clock
            self.reads += 1
