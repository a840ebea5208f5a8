"""Storage of samples: arrays in memory or mapped, and samples decoded on demand."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

    Index = Sequence[int] | NDArray[Any] | Tensor

BLOCK = 1024
"""Number of samples that are read at once."""

MEMORY_SHARE = 0.5
"""Share of the free memory that prepared samples may take."""


class Rows(ABC):
    """Samples of one shape and type, accessed by position.

    Attributes
    ----------
    shape : tuple of int
        Shape of all samples; the first axis is the sample.
    dtype : numpy dtype
        Type of the values.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def batch(self, index: Index) -> NDArray[Any]:
        """The samples at these positions, in any order."""

    def blocks(self, size: int = BLOCK) -> Iterator[NDArray[Any]]:
        """All samples in order, `size` at a time."""
        for first in range(0, len(self), size):
            yield self.batch(np.arange(first, min(first + size, len(self))))

    def whole(self) -> NDArray[Any]:
        """All samples as one array in memory."""
        return np.concatenate([*self.blocks(), np.empty((0, *self.shape[1:]), self.dtype)])

    def feed(self, prepare: Callable[[NDArray[Any]], Tensor]) -> Feed:
        """The samples as tensors, prepared for a network by a function.

        If they fit into memory, they are prepared once. Otherwise each batch is prepared on demand.
        """
        import torch

        if not len(self) or self._prepared_bytes(prepare) <= MEMORY_SHARE * free_memory():
            return TensorFeed(torch.cat([prepare(block) for block in self.blocks(16 * BLOCK)]))
        return LazyFeed(self, prepare)

    def part(self, first: int, end: int) -> Rows:
        """The samples from one position to before another."""
        shape = (end - first, *self.shape[1:])
        return DecodedRows(lambda index: self.batch(np.asarray(index) + first), shape, self.dtype)

    def _prepared_bytes(self, prepare: Callable[[NDArray[Any]], Tensor]) -> float:
        one = prepare(self.batch([0]))
        return float(len(self)) * one.numel() * one.element_size()


class ArrayRows(Rows):
    """The rows of an array, in memory or mapped from a file.

    Parameters
    ----------
    array : (n, ...) array
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def batch(self, index: Index) -> NDArray[Any]:
        """The samples at these positions."""
        return self.array[np.asarray(index)]

    def blocks(self, size: int = BLOCK) -> Iterator[NDArray[Any]]:
        """Slices, which copy nothing."""
        for first in range(0, len(self), size):
            yield self.array[first : first + size]

    def whole(self) -> NDArray[Any]:
        """The array itself."""
        return self.array

    def part(self, first: int, end: int) -> Rows:
        """A slice, which copies nothing."""
        return ArrayRows(self.array[first:end])


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

    def order(self, samples: Tensor | None = None) -> Tensor:
        """The order in which an epoch visits samples, by torch's random numbers.

        Parameters
        ----------
        samples : (m,) integer tensor, optional
            Positions of the samples to visit; by default all.
        """
        import torch

        if samples is None:
            return torch.randperm(len(self))
        return samples[torch.randperm(len(samples)).to(samples.device)]

    @abstractmethod
    def batch(self, index: Tensor) -> Tensor:
        """The samples at these positions, in any order."""

    @abstractmethod
    def blocks(self, size: int = BLOCK) -> Iterator[Tensor]:
        """All samples in order, `size` at a time."""

    def mean(self) -> Tensor:
        """The mean sample."""
        # On the CPU, because not every device has doubles.
        sums = [block.cpu().double().sum(dim=0) for block in self.blocks()]
        return (sum(sums[1:], start=sums[0]) / len(self)).float()


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

    Parameters
    ----------
    rows : Rows
        The samples.
    prepare : callable
        Turns an array of samples into a tensor.
    """

    def __init__(self, rows: Rows, prepare: Callable[[NDArray[Any]], Tensor]) -> None:
        self.rows = rows
        self.prepare = prepare

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self, index: Tensor) -> Tensor:
        """The samples at these positions."""
        return self.prepare(self.rows.batch(index.cpu().numpy()))

    def blocks(self, size: int = BLOCK) -> Iterator[Tensor]:
        """All samples in order, `size` at a time."""
        yield from map(self.prepare, self.rows.blocks(size))


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
