"""Samples: what every input becomes."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infomeans.data.recipes import Recipe
from infomeans.errors import InputError, few


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples with their ids, and how they were read.

    Parameters
    ----------
    X : (n, d), (n, h, w), (n, h, w, 3) or other array
        Vectors, grey or colour images, or whatever shape an array had; finite numbers.
    ids : list of n str
        Unique.
    recipe : Recipe
        How to read other input the same way.
    source : str
        Where they came from.
    labels : (n,) array of str, optional
        For scoring alone.
    skipped : list of (id, reason)
        Images that were left out.
    ignored : list of (name, reason)
        Columns of a table that are no features.
    names : list of str, optional
        The features of a table.
    """

    X: NDArray[Any]
    ids: list[str]
    recipe: Recipe
    source: str
    labels: NDArray[np.str_] | None = None
    skipped: list[tuple[str, str]] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    names: list[str] | None = None

    def __post_init__(self) -> None:
        if len(set(self.ids)) < len(self.ids):
            name, times = Counter(self.ids).most_common(1)[0]
            raise InputError(
                f"{self.source}: the id {name!r} occurs {times} times; ids must be unique."
            )
        finite = np.isfinite(self.X).reshape(len(self.X), -1).all(axis=1)
        if not finite.all():
            bad = [name for name, good in zip(self.ids, finite, strict=True) if not good]
            raise InputError(
                f"{self.source}: NaN or infinite values in the samples {few(bad)}; only finite "
                f"numbers are accepted."
            )

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

    def __repr__(self) -> str:
        return f"Samples({len(self)} of shape {self.X.shape[1:]} from {self.source!r})"

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the array's shape, type and bytes, and of the ids."""
        head = [list(self.X.shape), self.X.dtype.str, self.ids]
        digest = hashlib.sha256(json.dumps(head).encode())
        digest.update(np.ascontiguousarray(self.X).data)
        return digest.hexdigest()


def row_numbers(n: int) -> list[str]:
    """The ids of samples without names."""
    return [str(i) for i in range(n)]
