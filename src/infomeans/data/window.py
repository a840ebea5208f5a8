"""A window on slow samples: the order of an epoch, and the blocks that it needs."""

from __future__ import annotations

from collections.abc import Iterator
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
            Distinct positions to put in order; by default all.
        """
        import torch

        n = len(self.rows)
        order = torch.empty(n if samples is None else len(samples), dtype=torch.int64)
        kind = np.int32 if n < 2**31 else np.int64
        self._place, at = np.full(n, -1, dtype=kind), 0
        # Window by window: arrays of one number per sample are large.
        for part in self._windows(samples):
            part = part[torch.randperm(len(part))]
            order[at : at + len(part)] = part
            self._place[part.numpy()] = np.arange(at, at + len(part), dtype=kind)
            at += len(part)
        return order

    def _windows(self, samples: Tensor | None) -> Iterator[Tensor]:
        """The positions in one window after the other; blocks are dealt to windows at random."""
        import torch

        n = len(self.rows)
        if self.slots == self.n_blocks:
            yield torch.arange(n) if samples is None else samples.cpu()
            return
        kept = torch.full((n,), samples is None)
        if samples is not None:
            kept[samples.cpu()] = True
        within = torch.arange(self.block)
        for blocks in torch.randperm(self.n_blocks).split(self.slots):
            part = (blocks[:, None] * self.block + within).flatten()
            part = part[part < n]
            yield part[kept[part]]

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
