"""The data set, the common form of every input."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from infomeans.data.memory import Memory
from infomeans.data.rows import BLOCK, ArrayRows, LazyFeed, PartFeed, Rows
from infomeans.data.schema import ArraySchema, Schema
from infomeans.errors import InputError, few

if TYPE_CHECKING:
    from torch import Tensor

    from infomeans.data.rows import Feed, Index


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples with their ids, and how they were read.

    The samples may be in memory, in a memory-mapped file, or decoded on demand by a function of
    yours (`DecodedRows`). Code that uses a data set need not know which. `open` decodes image files
    once, and keeps them in memory or in a file.

    Parameters
    ----------
    rows : Rows
        The samples: vectors (n, d), grey images (n, h, w), colour images (n, h, w, 3), or an array
        of any other shape.
    ids : sequence of n str
        Unique ids of the samples.
    schema : Schema
        How to read other input in the same way.
    source : str
        Where the samples came from.
    labels : (n,) array of str, optional
        True classes, for scoring only. Empty for samples without a label.
    skipped : list of (id, reason)
        Images that were skipped.
    ignored : list of (name, reason)
        Table columns that are not features.
    names : list of str, optional
        Names of the features of a table.
    memory : Memory
        The limit for samples in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.data import Dataset
    >>> data = Dataset.of_array(np.arange(12.0).reshape(6, 2))
    >>> len(data), data.shape
    (6, (2,))
    >>> data.batch([5, 0])
    array([[10., 11.],
           [ 0.,  1.]])
    """

    rows: Rows
    ids: Sequence[str]
    schema: Schema
    source: str
    labels: NDArray[Any] | None = None
    skipped: list[tuple[str, str]] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    names: list[str] | None = None
    memory: Memory = field(default_factory=Memory)

    def __post_init__(self) -> None:
        if not isinstance(self.ids, RowNumbers) and len(set(self.ids)) < len(self.ids):
            name, times = Counter(self.ids).most_common(1)[0]
            raise InputError(
                f"{self.source}: the id {name!r} occurs {times} times; ids must be unique."
            )

    @classmethod
    def of_array(cls, array: NDArray[Any], source: str = "array") -> Dataset:
        """A data set of the rows of a finite array, with row numbers as ids."""
        return cls(ArrayRows(array), row_numbers(len(array)), ArraySchema(array.shape[1:]), source)

    def __repr__(self) -> str:
        return f"Dataset({len(self)} of shape {self.shape} from {self.source!r})"

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one sample."""
        return self.rows.shape[1:]

    @property
    def X(self) -> NDArray[Any]:  # noqa: N802
        """All samples as one array in memory."""
        return self.rows.whole()

    def batch(self, index: Index) -> NDArray[Any]:
        """The samples at these positions, in any order."""
        return self.rows.batch(index)

    def blocks(self, size: int = BLOCK) -> Iterator[NDArray[Any]]:
        """All samples in order, `size` at a time; fewer if a limit for the memory is low."""
        if self.memory.limit is not None:
            # Sums over a block are in double precision.
            size = min(size, max(1, self.memory.limit // (8 * self.rows.row_bytes)))
        return self.rows.blocks(size)

    def feed(
        self,
        prepare: Callable[[NDArray[Any]], Tensor],
        span: tuple[int, int] | None = None,
    ) -> Feed:
        """The samples as tensors, prepared for a network by a function.

        Parameters
        ----------
        prepare : callable
            Turns an array of samples into a tensor.
        span : (first, end), optional
            The samples of this process; by default all.
        """
        if span is None or span == (0, len(self)):
            return self.rows.feed(prepare, self.memory)
        own = self.rows.part(*span).feed(prepare, self.memory)
        return PartFeed(own, LazyFeed(self.rows, prepare, self.memory))

    def subset(self, index: NDArray[Any]) -> Dataset:
        """The samples at these positions as a new data set, in memory."""
        return replace(
            self,
            rows=ArrayRows(self.batch(index)),
            ids=[self.ids[i] for i in index],
            labels=None if self.labels is None else self.labels[index],
        )

    def check_finite(self) -> Dataset:
        """Return the data set; raise InputError if it contains NaN or infinity."""
        if self.rows.dtype.kind in "fc":
            good = [
                np.isfinite(block).reshape(len(block), -1).all(axis=1) for block in self.blocks()
            ]
            bad = np.flatnonzero(~np.concatenate([*good, np.ones(0, dtype=bool)]))
            if len(bad):
                raise InputError(
                    f"{self.source}: NaN or infinity in the samples "
                    f"{few([self.ids[i] for i in bad.tolist()])}; only finite numbers are accepted."
                )
        return self

    def likely_ids(self) -> list[str]:
        """Features that may be ids: distinct whole numbers, consecutive or with an id-like name."""
        found = []
        first = self.batch(np.arange(min(len(self), BLOCK))) if self.names else np.empty((1, 0))
        for name, at in zip(self.names or (), range(first.shape[1]), strict=True):
            # Of most columns the first values show that they are no ids.
            steps = self._steps(at) if _distinct(first[:, at]) is not None else None
            called = re.fullmatch(r"(.*[_ ])?(id|index|key)|Unnamed: 0", name, re.IGNORECASE)
            if steps is not None and len(self) > 2 and (called or (steps == 1).all()):
                found.append(name)
        return found

    def _steps(self, at: int) -> NDArray[Any] | None:
        """Steps between the sorted values of a feature; None if they are no distinct integers."""
        return _distinct(np.concatenate([block[:, at] for block in self.blocks(16 * BLOCK)]))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the samples' shape, dtype and bytes, and of the ids."""
        # What json.dumps([shape, dtype, ids]) gives, without a copy of all ids.
        head = json.dumps([list(self.rows.shape), self.rows.dtype.str, []])
        digest = hashlib.sha256(head[:-2].encode())
        for first in range(0, len(self.ids), BLOCK):
            part = json.dumps(self.ids[first : first + BLOCK])[1:-1]
            digest.update(f"{', ' if first else ''}{part}".encode())
        digest.update(b"]]")
        for block in self.blocks(16 * BLOCK):
            digest.update(np.ascontiguousarray(block).data)
        return digest.hexdigest()


def _distinct(values: NDArray[Any]) -> NDArray[Any] | None:
    """Steps between sorted values; None if they are no whole numbers or not distinct."""
    steps = np.diff(np.sort(values))
    whole = np.equal(np.mod(values, 1), 0).all() and (steps > 0).all()
    return steps if whole else None


class RowNumbers(Sequence[str]):
    """Row numbers as ids, for samples without names; they take no memory.

    Parameters
    ----------
    n : int
        Number of samples.
    """

    def __init__(self, n: int) -> None:
        self._numbers = range(n)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        found = self._numbers[at]
        return [str(i) for i in found] if isinstance(found, range) else str(found)

    def __iter__(self) -> Iterator[str]:
        return map(str, self._numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __repr__(self) -> str:
        return f"RowNumbers({len(self)})"


def row_numbers(n: int) -> Sequence[str]:
    """Row numbers as ids, for samples without names."""
    return RowNumbers(n)
