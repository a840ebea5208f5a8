"""Array files: .npy, .npz, HDF5 and IDX."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infomeans.data.files import GZIP, content, printable, reading
from infomeans.data.memory import Memory
from infomeans.data.rows import BLOCK_BYTES, ArrayRows, MappedRows, Rows
from infomeans.data.storing import SHARE, store
from infomeans.data.storing import fits as fits_in
from infomeans.errors import InputError, few

ByName = Mapping[str | None, Any]
"""Arrays by name; the key is None if the source has a single, unnamed array."""

MAPPED = 2**26
"""Size in bytes above which .npy files are memory-mapped, not read."""

IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


@dataclass(frozen=True)
class Arrays:
    """One or several arrays, in memory or in a file."""

    source: str
    open: Callable[[], AbstractContextManager[ByName]]
    path: Path | None = None

    @classmethod
    def in_file(cls, path: Path) -> Arrays:
        """The arrays in a .npy, .npz, HDF5 or IDX file."""
        return cls(printable(str(path)), partial(_open, path), path)

    def read(
        self, key: str | None, fits: Callable[[Any], bool], *, hint: str | None = None
    ) -> tuple[NDArray[Any], str | None]:
        """Read an array in native byte order; return it and its name.

        Parameters
        ----------
        key : str, optional
            Name of the array. Without it, exactly one array must satisfy `fits`.
        fits : callable
            Whether an array is a candidate.
        hint : str, optional
            Name to prefer if several arrays are candidates.
        """
        with reading(self.source), self.open() as arrays:
            name = self._choose(arrays, key, fits, hint)
            return _native(np.asanyarray(arrays[name])), name

    def rows(
        self,
        key: str | None,
        fits: Callable[[Any], bool],
        *,
        hint: str | None = None,
        memory: Memory,
    ) -> tuple[Rows, str | None]:
        """Like `read`, but what does not fit into memory stays in a file."""
        most = min(MAPPED, SHARE * memory.size)
        opened = self.open() if self.path is None else _open(self.path, most)
        with reading(self.source), opened as arrays:
            name = self._choose(arrays, key, fits, hint)
            return _rows(arrays[name], self.source, memory), name

    def _choose(
        self, arrays: ByName, key: str | None, fits: Callable[[Any], bool], hint: str | None
    ) -> str | None:
        if key in arrays:
            return key
        fitting = [name for name, array in arrays.items() if fits(array)]
        if key is None and hint in fitting:
            return hint
        if key is None and len(fitting) == 1:
            return fitting[0]
        found = few([f"{name or 'one array'} {array.shape}" for name, array in arrays.items()], 8)
        wanted = "name one with --key (key=)" if key is None else f"there is no {key!r}"
        raise InputError(f"{self.source} holds {found or 'no array'}; {wanted}.")


def _rows(array: Any, source: str, memory: Memory) -> Rows:
    """An array of a file or in memory as rows."""
    native = array.dtype == array.dtype.newbyteorder("=")
    size = math.prod(array.shape) * array.dtype.itemsize
    in_file = isinstance(array, np.memmap) or not isinstance(array, np.ndarray)
    if in_file and array.dtype.kind in "buif" and len(array.shape) > 1:
        mapped = _mapped(array) if native else None
        if mapped is not None and (array is mapped or not fits_in(size, memory)):
            return MappedRows(mapped, memory.mapped)
        if not fits_in(size, memory):
            blocks = _slices(array, source)
            return store(blocks, array.shape, array.dtype.newbyteorder("="), memory)
    if memory.limit is not None and size > memory.limit:
        raise memory.too_small(size, f"{source}, which is not read in parts,")
    return ArrayRows(_native(np.asanyarray(array)))


def _mapped(array: Any) -> np.memmap[Any, Any] | None:
    """A mapped array, or a data set of HDF5 that is stored in one piece; None if it is not."""
    if isinstance(array, np.memmap):
        return array
    offset = array.id.get_offset()
    if offset is None or array.external:
        return None
    return np.memmap(array.file.filename, array.dtype, "r", offset, array.shape)


def _slices(array: Any, source: str) -> Iterator[NDArray[Any]]:
    """The samples in order, in whole chunks of the file."""
    n, row = array.shape[0], math.prod(array.shape[1:]) * array.dtype.itemsize
    chunk = (getattr(array, "chunks", None) or (1,))[0]
    step = chunk * max(1, BLOCK_BYTES // max(row * chunk, 1))
    for first in range(0, n, step):
        last = min(first + step, n)
        with reading(f"{source}, rows {first:,} to {last - 1:,},"):
            block = _native(array[first:last])
        yield block


def _native(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def is_sample_array(array: Any) -> bool:
    """Whether an array has at least two dimensions."""
    return len(array.shape) >= 2


def is_label_array(array: Any) -> bool:
    """Whether an array has one dimension."""
    return len(array.shape) == 1


def is_idx(path: Path) -> bool:
    """Whether a file has the header of an IDX file, gzipped or not."""
    with path.open("rb") as file:
        start = file.read(4)
    if start.startswith(GZIP):
        with reading(path), gzip.open(path) as unzipped:
            start = unzipped.read(4)
    return len(start) == 4 and start[:2] == b"\0\0" and start[2] in IDX_TYPES and start[3] > 0


@contextmanager
def _open(path: Path, most: float = MAPPED) -> Iterator[ByName]:
    if path.suffix.lower() in (".h5", ".hdf5"):
        with _hdf5(path) as arrays:
            yield arrays
    elif path.suffix.lower() in (".npy", ".npz"):
        yield _numpy(path, most)
    else:
        yield {None: _idx(content(path))}


def _numpy(path: Path, most: float) -> ByName:
    if not path.stat().st_size:
        raise InputError(f"{path} is empty.")
    if path.suffix.lower() == ".npy" and path.stat().st_size > most:
        return {None: np.load(path, mmap_mode="r", allow_pickle=False)}
    with path.open("rb") as file:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {None: loaded}
        return {name: _member(loaded, name) for name in loaded.files}


def _member(npz: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    try:
        return npz[name]
    except ValueError:  # pickled objects, which could execute any code
        return np.empty(0, dtype=object)


@contextmanager
def _hdf5(path: Path) -> Iterator[ByName]:
    try:
        import h5py
    except ImportError:
        raise InputError(f"{path} needs h5py to be read: pip install 'infomeans[hdf5]'.") from None
    arrays: dict[str | None, Any] = {}

    def collect(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            arrays[name] = item

    with h5py.File(path) as file:
        file.visititems(collect)
        yield arrays


def _idx(raw: bytes) -> NDArray[Any]:
    start = 4 + 4 * raw[3]
    shape = tuple(int(length) for length in np.frombuffer(raw[4:start], ">u4"))
    dtype = np.dtype(IDX_TYPES[raw[2]])
    expected = start + math.prod(shape) * dtype.itemsize
    if len(raw) != expected:
        raise ValueError(f"it has {len(raw)} bytes, but its header says {expected}")
    return np.frombuffer(raw, dtype, offset=start).reshape(shape).copy()
