"""Find samples that are there twice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from infomeans._typing import Array, IntArray
from infomeans.data import Dataset
from infomeans.data.cells import csv_text, guarded
from infomeans.data.copies import first_copies
from infomeans.data.rows import BLOCK

NEAR = 0.1
"""Samples are near-duplicates if they are closer than this share of the median distance between
neighbours."""


class Duplicates(NamedTuple):
    """Groups of samples that are the same or nearly so.

    Attributes
    ----------
    groups : list of integer arrays
        Positions of the samples of every group, the first sample first.
    exact : (n,) boolean array
        Whether a sample is an exact copy of another one.
    """

    groups: list[IntArray]
    exact: Array

    def as_dict(self) -> dict[str, int]:
        """The counts as JSON."""
        return {
            "groups": len(self.groups),
            "samples": sum(map(len, self.groups)),
            "exact": int(self.exact.sum()),
        }

    def csv(self, ids: Sequence[str]) -> str:
        """The groups as a table: number of the group, id of the sample, whether it is exact."""
        rows = (
            (number, guarded(ids[i]), bool(self.exact[i]))
            for number, group in enumerate(self.groups)
            for i in group.tolist()
        )
        return csv_text(chain([("group", "id", "exact")], rows))


def find_duplicates(data: Dataset, neighbors: IntArray | None = None) -> Duplicates:
    """Find exact copies, and near-duplicates among neighbours.

    Parameters
    ----------
    data : Dataset
        The samples.
    neighbors : (n, m) integer array, optional
        Positions of the nearest neighbours of every sample. Without them, only exact copies are
        found.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.data import Dataset
    >>> from infomeans.workflows.duplicates import find_duplicates
    >>> found = find_duplicates(Dataset.of_array(np.array([[0.0], [1.0], [0.0], [5.0]])))
    >>> [group.tolist() for group in found.groups]
    [[0, 2]]
    """
    same = first_copies(data)
    copies = np.flatnonzero(same != np.arange(len(data)))
    exact = np.zeros(len(data), dtype=bool)
    exact[copies] = exact[same[copies]] = True
    pairs = np.column_stack([same[copies], copies])
    if neighbors is not None and neighbors.size:
        pairs = np.concatenate([pairs, _near(data, neighbors)])
    return Duplicates(_groups(pairs, len(data)), exact)


def _near(data: Dataset, neighbors: IntArray) -> IntArray:
    """Pairs of neighbours that are much closer than neighbours usually are."""
    n, m = neighbors.shape
    distances, spread = np.empty((n, m), np.float32), None
    for at in range(0, n, BLOCK):
        own = _rows(data, np.arange(at, min(at + BLOCK, n)))
        # Columns of a table have different units.
        spread = _spread(own, table=len(data.shape) == 1) if spread is None else spread
        for place, column in enumerate(neighbors[at : at + BLOCK].T):
            apart = (_rows(data, column) - own) / spread
            distances[at : at + BLOCK, place] = np.linalg.norm(apart, axis=1)
    close = np.flatnonzero(distances.ravel() < NEAR * np.median(distances))
    return np.column_stack([close // m, neighbors.ravel()[close]])


def _rows(data: Dataset, samples: IntArray) -> Array:
    return data.batch(samples).reshape(len(samples), -1).astype(np.float64)


def _spread(rows: Array, *, table: bool) -> Array:
    """The spread of every column, or 1."""
    spread = rows.std(axis=0) if table else np.ones(1)
    return np.where(spread > 0, spread, 1.0)


def _groups(pairs: IntArray, n: int) -> list[IntArray]:
    """Connected samples, groups in the order of their first sample."""
    links = sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    _, names = connected_components(links, directed=False)
    together = np.flatnonzero(np.bincount(names)[names] > 1)
    order = together[np.argsort(names[together], kind="stable")]
    parts = np.split(order, np.flatnonzero(np.diff(names[order])) + 1)
    return sorted((part for part in parts if len(part)), key=lambda part: int(part[0]))
