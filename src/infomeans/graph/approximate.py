"""Approximate nearest neighbours by faiss, for very many samples.

K-means divides the samples into cells; neighbours are looked for in the cells nearest to a sample.
How many cells that takes depends on the data, so it is measured: the neighbours of a few hundred
samples are also found exactly, and the number of cells grows until nearly all of them are met.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infomeans._typing import Array, IntArray
from infomeans.threads import allowed

CELL = 256
"""Mean number of samples in a cell."""

RECALL, PROBES = 0.98, 300
"""Share of the true neighbours to meet, and number of samples on which it is measured."""

CELLS = 16
"""Number of cells near a sample that are looked up once, to store the sample and to search."""

SEARCHED = 4096
"""Number of samples whose neighbours are searched at once."""

TRAINING, ROUNDS = 20, 5
"""Number of samples per cell that K-means looks at, and of its iterations."""


@cache
def faiss() -> ModuleType | None:
    """The library; None if it is not installed."""
    with warnings.catch_warnings():
        # The types of SWIG are deprecated in recent versions of Python.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return import_module("faiss")
        except ImportError:
            return None


def approximate_neighbors(X: Array, count: int) -> tuple[Array, IntArray]:
    """Squared distances and indices of most of the nearest neighbours, both (n, count).

    The nearest comes first. The result is a function of X, whatever the number of threads.
    """
    library = faiss()
    assert library is not None
    z, unit = _scaled(X)
    index = library.IndexIVFFlat(
        library.IndexFlatL2(z.shape[1]), z.shape[1], max(len(z) // CELL, 1)
    )
    index.cp.niter, index.cp.max_points_per_centroid = ROUNDS, TRAINING
    index.train(z)
    near = index.quantizer.search(z, min(CELLS, index.nlist))
    own = np.ascontiguousarray(near[1][:, 0])
    index.add_core(len(z), library.swig_ptr(z), None, library.swig_ptr(own))
    index.nprobe = _cells(index, z, count)
    squared, neighbors = _without_itself(_search(index, z, count + 1, *near), np.arange(len(z)))
    short = np.flatnonzero((neighbors < 0).any(axis=1))
    if len(short):
        index.nprobe = index.nlist
        found = _without_itself(index.search(z[short], count + 1), short)
        squared[short], neighbors[short] = found
    return squared.astype(np.float64) * unit**2, neighbors


def _scaled(X: Array) -> tuple[NDArray[np.float32], float]:
    """The samples in single precision, around zero and in units of their spread, and that unit."""
    mean = X.mean(axis=0, dtype=np.float64)
    spread = np.sqrt(max(X.var(axis=0, dtype=np.float64).mean(), 0.0))
    unit = float(spread) if spread > 0 else 1.0
    z = np.empty(X.shape, dtype=np.float32)
    for first in range(0, len(X), 2**16):
        part = slice(first, first + 2**16)
        z[part] = (X[part] - mean) / unit
    return z, unit


def _cells(index: Any, z: NDArray[np.float32], count: int) -> int:
    """The number of cells to search, such that enough of the true neighbours are met."""
    some = z[np.random.default_rng(0).choice(len(z), min(PROBES, len(z)), replace=False)]
    index.nprobe = index.nlist
    # Of copies any may be met, so distances are compared. Both searches compute them alike.
    farthest = index.search(some, count + 1)[0][:, -1:]
    cells = 4
    while cells < index.nlist:
        index.nprobe = cells
        if (index.search(some, count + 1)[0] <= farthest).mean() >= RECALL:
            break
        cells += max(cells // 6, 1)
    return min(cells, index.nlist)


def _search(
    index: Any, z: NDArray[np.float32], count: int, far: NDArray[np.float32], cells: IntArray
) -> tuple[NDArray[np.float32], IntArray]:
    """The nearest of all samples, given the cells near each of them and how far these are."""
    if index.nprobe > cells.shape[1]:
        found: tuple[NDArray[np.float32], IntArray] = index.search(z, count)
        return found
    squared = np.empty((len(z), count), np.float32)
    neighbors = np.empty((len(z), count), np.int64)

    def search(first: int) -> None:
        part = slice(first, first + SEARCHED)
        known = (np.ascontiguousarray(one[part, : index.nprobe]) for one in (cells, far))
        squared[part], neighbors[part] = index.search_preassigned(z[part], count, *known)

    with ThreadPoolExecutor(allowed()) as threads:
        for _ in threads.map(search, range(0, len(z), SEARCHED)):
            pass
    return squared, neighbors


def _without_itself(
    found: tuple[NDArray[np.float32], IntArray], rows: IntArray
) -> tuple[NDArray[np.float32], IntArray]:
    """Neighbours of some samples without the sample itself, or the last if copies hide it."""
    squared, neighbors = found
    other = neighbors != rows[:, None]
    other[other.all(axis=1), -1] = False
    shape = len(neighbors), neighbors.shape[1] - 1
    return squared[other].reshape(shape), neighbors[other].reshape(shape)
