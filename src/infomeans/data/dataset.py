"""The data set: what every input becomes."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from infomeans.data.rows import BLOCK, ArrayRows, Rows
from infomeans.data.schema import ArraySchema, Schema
from infomeans.errors import InputError, few

if TYPE_CHECKING:
    from torch import Tensor

    from infomeans.data.rows import Feed, Index


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples with their ids, and how they were read.

    It does not matter to those who use it where the samples lie: in memory, in a mapped file, or in
    image files that are decoded when they are asked for.

    Parameters
    ----------
    rows : Rows
        Vectors (n, d), grey images (n, h, w), colour images (n, h, w, 3), or the shape of an array.
    ids : list of n str
        Unique.
    schema : Schema
        How to read other input the same way.
    source : str
        Where the samples came from.
    labels : (n,) array of str, optional
        For scoring only; empty where a sample has none.
    skipped : list of (id, reason)
        Images that were left out.
    ignored : list of (name, reason)
        Columns of a table that are not features.
    names : list of str, optional
        The features of a table.

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
    ids: list[str]
    schema: Schema
    source: str
    labels: NDArray[Any] | None = None
    skipped: list[tuple[str, str]] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    names: list[str] | None = None

    def __post_init__(self) -> None:
        if len(set(self.ids)) < len(self.ids):
            name, times = Counter(self.ids).most_common(1)[0]
            raise InputError(
                f"{self.source}: the id {name!r} occurs {times} times; ids must be unique."
            )

    @classmethod
    def of_array(cls, array: NDArray[Any], source: str = "array") -> Dataset:
        """The rows of an array, which must be finite, with their numbers as ids."""
        return cls(ArrayRows(array), row_numbers(len(array)), ArraySchema(array.shape[1:]), source)

    def __repr__(self) -> str:
        return f"Dataset({len(self)} of shape {self.shape} from {self.source!r})"

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one sample."""
        return self.rows.shape[1:]

    @property
    def X(self) -> NDArray[Any]:  # noqa: N802
        """All samples as one array in memory."""
        return self.rows.whole()

    def batch(self, index: Index) -> NDArray[Any]:
        """The samples of these numbers, in any order."""
        return self.rows.batch(index)

    def blocks(self, size: int = BLOCK) -> Iterator[NDArray[Any]]:
        """All samples in their order, some at a time."""
        return self.rows.blocks(size)

    def feed(self, prepare: Callable[[NDArray[Any]], Tensor]) -> Feed:
        """The samples as a function prepares them for a network."""
        return self.rows.feed(prepare)

    def subset(self, index: NDArray[Any]) -> Dataset:
        """The samples of these numbers as a data set of their own."""
        return replace(
            self,
            rows=ArrayRows(self.batch(index)),
            ids=[self.ids[i] for i in index],
            labels=None if self.labels is None else self.labels[index],
        )

    def check_finite(self) -> Dataset:
        """The same data set, once it is known that it holds neither NaN nor infinity."""
        if self.rows.dtype.kind in "fc":
            good = [
                np.isfinite(block).reshape(len(block), -1).all(axis=1) for block in self.blocks()
            ]
            bad = np.flatnonzero(~np.concatenate([*good, np.ones(0, dtype=bool)]))
            if len(bad):
                raise InputError(
                    f"{self.source}: NaN or infinity in the samples "
                    f"{few([self.ids[i] for i in bad])}; only finite numbers are accepted."
                )
        return self

    def likely_ids(self) -> list[str]:
        """Features that may be ids: whole numbers that count, or differ and are named so."""
        found = []
        for name, values in zip(self.names or (), self.X.T, strict=False):
            steps = np.diff(np.sort(values))
            whole = len(values) > 2 and np.equal(np.mod(values, 1), 0).all() and (steps > 0).all()
            called = re.fullmatch(r"(.*[_ ])?(id|index|key)|Unnamed: 0", name, re.IGNORECASE)
            if whole and (called or (steps == 1).all()):
                found.append(name)
        return found

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the samples' shape, type and bytes, and of the ids."""
        head = [list(self.rows.shape), self.rows.dtype.str, self.ids]
        digest = hashlib.sha256(json.dumps(head).encode())
        for block in self.blocks(16 * BLOCK):
            digest.update(np.ascontiguousarray(block).data)
        return digest.hexdigest()


def row_numbers(n: int) -> list[str]:
    """The ids of samples without names."""
    return [str(i) for i in range(n)]
