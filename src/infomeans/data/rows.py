"""Storage of samples: arrays in memory or mapped, and samples decoded on demand."""

from __future__ import annotations

import math
import mmap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from infomeans.data.memory import Memory
from infomeans.data.window import Window

if TYPE_CHECKING:
    from torch import Tensor

    Index = Sequence[int] | NDArray[Any] | Tensor

BLOCK = 1024
"""Number of samples that are read at once."""

BLOCK_BYTES = 2**22
"""Size of a block of large samples."""

WINDOW = 2**18
"""Most samples that are shuffled together, if samples are read from slow storage."""

FAULT = 2**16
"""Bytes of a mapped file that the system may load to read one of them."""


class Rows(ABC):
    """Samples of one shape and type, accessed by position.

    Attributes
    ----------
    shape : tuple of int
        Shape of all samples; the first axis is the sample.
    dtype : numpy dtype
        Type of the values.
    fast : bool
        Whether samples at random positions are read as fast as neighbours.
    held : int
        Number of bytes in memory.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fast: bool = False
    held: int = 0

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def row_bytes(self) -> int:
        """Size of one sample."""
        return max(math.prod(self.shape[1:]) * self.dtype.itemsize, 1)

    @abstractmethod
    def batch(self, index: Index) -> NDArray[Any]:
        """The samples at these positions, in any order."""

    def between(self, first: int, last: int) -> NDArray[Any]:
        """The samples from one position up to another."""
        return self.batch(np.arange(first, last))

    def blocks(self, size: int = BLOCK) -> Iterator[NDArray[Any]]:
        """All samples in order, `size` at a time."""
        for first in range(0, len(self), size):
            yield self.between(first, min(first + size, len(self)))

    def whole(self) -> NDArray[Any]:
        """All samples as one array in memory."""
        return np.concatenate([*self.blocks(), np.empty((0, *self.shape[1:]), self.dtype)])

    def feed(self, prepare: Callable[[NDArray[Any]], Tensor], memory: Memory | None = None) -> Feed:
        """The samples as tensors, prepared for a network by a function.

        If they fit into memory, they are prepared once. Otherwise each batch is prepared on demand.
        """
        import torch

        memory = memory or Memory()
        if not len(self) or self._fits(row := _bytes(prepare(self.batch([0]))), memory):
            return TensorFeed(torch.cat([prepare(block) for block in self.blocks(16 * BLOCK)]))
        self._check_batch(row, memory)
        return LazyFeed(self, prepare, memory)

    def part(self, first: int, end: int) -> Rows:
        """The samples from one position to before another."""
        return RowsPart(self, first, end)

    def _fits(self, row: int, memory: Memory) -> bool:
        """Whether prepared samples of this size fit; while they are joined, there are two copies.

        Without a limit, what is free is free beside the samples as they are.
        """
        needed = float(len(self)) * row
        return (needed if memory.limit is None else self.held + 2 * needed) <= memory.size

    def _check_batch(self, row: int, memory: Memory) -> None:
        """Refuse a limit without room for a batch beside the window."""
        count = min(len(self), BLOCK)
        needed = self.held + 2 * count * (row + self.row_bytes)
        if memory.size < needed:
            raise memory.too_small(needed, f"a batch of {count:,} samples")

    def window(self, memory: Memory) -> Window:
        """The window for reading samples in random order: half of the memory."""
        block = max(1, min(BLOCK, BLOCK_BYTES // self.row_bytes, len(self)))
        slots = min(memory.size / 2 / (block * self.row_bytes), WINDOW / block)
        # A power of two: as the free memory varies, the order hardly ever does.
        return Window(self, block, 2 ** math.floor(math.log2(max(slots, 1))))


def _bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()


class ArrayRows(Rows):
    """The rows of an array.

    Parameters
    ----------
    array : (n, ...) array
    """

    fast = True

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype
        self.held = 0 if isinstance(array, np.memmap) else array.nbytes

    def batch(self, index: Index) -> NDArray[Any]:
        """The samples at these positions."""
        return self.array[np.asarray(index)]

    def between(self, first: int, last: int) -> NDArray[Any]:
        """A slice, which copies nothing."""
        return self.array[first:last]

    def whole(self) -> NDArray[Any]:
        """The array itself."""
        return self.array

    def part(self, first: int, end: int) -> Rows:
        """A slice, which copies nothing; the whole array stays in memory."""
        part = ArrayRows(self.array[first:end])
        part.held = self.held
        return part


class MappedRows(ArrayRows):
    """The rows of an array that is mapped from a file.

    Parameters
    ----------
    array : (n, ...) memmap
    keep : int, optional
        Number of bytes of the file to keep in memory, approximately; by default the system decides.

    Attributes
    ----------
    loaded : int
        Number of bytes that may be in memory at present.
    """

    fast = False

    def __init__(self, array: np.memmap[Any, Any], keep: int | None = None) -> None:
        super().__init__(array)
        self.keep, self.loaded = keep, 0
        self._map: Any = array._mmap  # type: ignore[attr-defined]

    def batch(self, index: Index) -> NDArray[Any]:
        """The samples at these positions."""
        index, each = np.asarray(index), max(self.row_bytes, FAULT)
        found = np.empty((len(index), *self.shape[1:]), self.dtype)
        step = max(1, (self.keep or len(index) * each) // each)
        for first in range(0, len(index), step):
            part = index[first : first + step]
            self._load(len(part) * each)
            found[first : first + step] = self.array[part]
        return found

    def between(self, first: int, last: int) -> NDArray[Any]:
        """A slice, which copies nothing."""
        self._load((last - first) * self.row_bytes)
        return np.asarray(super().between(first, last))

    def part(self, first: int, end: int) -> Rows:
        """The samples from one position to before another, which share the room in memory."""
        return RowsPart(self, first, end)

    def _load(self, count: int) -> None:
        """Make room for more bytes; what the system drops, it reads again when it is needed."""
        if self.keep is not None and self.loaded + count > self.keep:
            if hasattr(self._map, "madvise"):
                self._map.madvise(mmap.MADV_DONTNEED)
            self.loaded = 0
        self.loaded += count


class RowsPart(Rows):
    """The samples of some rows from one position to before another.

    Parameters
    ----------
    rows : Rows
        All samples.
    first, end : int
        The positions.
    """

    def __init__(self, rows: Rows, first: int, end: int) -> None:
        self.rows, self.first = rows, first
        self.shape, self.dtype = (end - first, *rows.shape[1:]), rows.dtype
        self.fast, self.held = rows.fast, rows.held

    def batch(self, index: Index) -> NDArray[Any]:
        """The samples at these positions of the part."""
        return self.rows.batch(np.asarray(index) + self.first)

    def between(self, first: int, last: int) -> NDArray[Any]:
        """The samples from one position of the part up to another."""
        return self.rows.between(self.first + first, self.first + last)


class DecodedRows(Rows):
    """Samples that a function decodes on demand.

    Parameters
    ----------
    decode : callable
        Takes positions and returns the samples there.
    shape : tuple of int
        Shape of all samples; the first axis is the sample.
    dtype : numpy dtype
        Type of the values.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.data.rows import DecodedRows
    >>> rows = DecodedRows(lambda index: np.array([[i, i**2] for i in index]), (5, 2), int)
    >>> rows.batch([3, 1]).tolist()
    [[3, 9], [1, 1]]
    """

    def __init__(
        self,
        decode: Callable[[Sequence[int]], NDArray[Any]],
        shape: tuple[int, ...],
        dtype: Any,
    ) -> None:
        self.decode = decode
        self.shape, self.dtype = shape, np.dtype(dtype)

    def batch(self, index: Index) -> NDArray[Any]:
        """The samples at these positions."""
        return self.decode(np.asarray(index).tolist())


class Feed(ABC):
    """Prepared samples, accessed by position: the input of a network.

    It holds the samples of this process, which may be a part of all samples.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def n_samples(self) -> int:
        """Number of samples of all processes."""
        return len(self)

    def anywhere(self, index: Tensor) -> Tensor:
        """The samples at these positions of the whole data set."""
        return self.batch(index)

    @abstractmethod
    def batch(self, index: Tensor) -> Tensor:
        """The samples at these positions, in any order."""

    @abstractmethod
    def blocks(self, size: int = BLOCK) -> Iterator[Tensor]:
        """All samples in order, `size` at a time."""

    def order(self, samples: Tensor | None = None) -> Tensor:
        """The positions in the order in which an epoch visits them, by torch's random generator.

        Parameters
        ----------
        samples : (m,) integer tensor, optional
            The positions to visit; by default all.
        """
        import torch

        order = torch.randperm(len(self) if samples is None else len(samples))
        return order if samples is None else samples.cpu()[order]

    def mean(self) -> Tensor:
        """The mean sample."""
        import torch

        # On the CPU, because not every device has doubles. One sum, because small tensors that are
        # kept between large temporary ones would fragment the memory.
        total = torch.zeros((), dtype=torch.float64)
        for block in self.blocks():
            total = total + block.cpu().double().sum(dim=0)
        return (total / len(self)).float()


class TensorFeed(Feed):
    """Samples in one tensor.

    Parameters
    ----------
    x : (n, ...) tensor
    """

    def __init__(self, x: Tensor) -> None:
        self.x = x

    def __len__(self) -> int:
        return len(self.x)

    def batch(self, index: Tensor) -> Tensor:
        """The samples at these positions."""
        return self.x[index.to(self.x.device)]

    def blocks(self, size: int = BLOCK) -> Iterator[Tensor]:
        """Slices, which copy nothing."""
        yield from self.x.split(size)

    def mean(self) -> Tensor:
        """The mean sample."""
        return self.x.mean(dim=0)


class LazyFeed(Feed):
    """Samples that are read and prepared on demand.

    Samples of slow storage are read in blocks, and shuffled within a window of several.

    Parameters
    ----------
    rows : Rows
        The samples.
    prepare : callable
        Turns an array of samples into a tensor.
    memory : Memory, optional
        The limit for the window.

    Attributes
    ----------
    window : Window or None
        The blocks in memory; None for rows that need none.
    """

    def __init__(
        self,
        rows: Rows,
        prepare: Callable[[NDArray[Any]], Tensor],
        memory: Memory | None = None,
    ) -> None:
        self.rows = rows
        self.prepare = prepare
        self.window = None if rows.fast else rows.window(memory or Memory())

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self, index: Tensor) -> Tensor:
        """The samples at these positions."""
        return self.prepare((self.window or self.rows).batch(index.cpu().numpy()))

    def blocks(self, size: int = BLOCK) -> Iterator[Tensor]:
        """All samples in order, `size` at a time."""
        yield from map(self.prepare, self.rows.blocks(size))

    def order(self, samples: Tensor | None = None) -> Tensor:
        """The positions in the order in which an epoch visits them."""
        return super().order(samples) if self.window is None else self.window.order(samples)


class PartFeed(Feed):
    """The samples of one of several processes.

    Parameters
    ----------
    own : Feed
        The samples of this process.
    everything : Feed
        All samples, read on demand: neighbours may belong to another process.
    """

    def __init__(self, own: Feed, everything: Feed) -> None:
        self.own, self.everything = own, everything

    def __len__(self) -> int:
        return len(self.own)

    @property
    def n_samples(self) -> int:
        """Number of samples of all processes."""
        return len(self.everything)

    def batch(self, index: Tensor) -> Tensor:
        """Some of the samples of this process."""
        return self.own.batch(index)

    def anywhere(self, index: Tensor) -> Tensor:
        """The samples at these positions of the whole data set."""
        return self.everything.batch(index)

    def order(self, samples: Tensor | None = None) -> Tensor:
        """The order in which an epoch visits the samples of this process."""
        return self.own.order(samples)

    def blocks(self, size: int = BLOCK) -> Iterator[Tensor]:
        """All samples of this process in order."""
        return self.own.blocks(size)

    def mean(self) -> Tensor:
        """The mean sample of this process."""
        return self.own.mean()
