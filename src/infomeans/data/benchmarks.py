"""Benchmark data sets of deep clustering, read from files that the user downloads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infomeans.data.containers import Arrays, is_label_array, is_sample_array
from infomeans.data.dataset import Dataset, row_numbers
from infomeans.data.rows import ArrayRows
from infomeans.data.schema import ArraySchema
from infomeans.errors import InputError

Labelled = tuple[NDArray[Any], NDArray[Any]]

_JULE = "https://github.com/jwyang/JULE.torch"
_UCI = "https://archive.ics.uci.edu/dataset/81"
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"


@dataclass(frozen=True)
class Benchmark:
    """A data set, and where to get it.

    Parameters
    ----------
    name, title : str
        Its name in commands and in tables.
    stem : str
        Name of its file without .npz, .h5 or .hdf5; empty if it needs no file.
    origin : str
        Where to download it.
    first : int
        First row of the file that belongs to it.
    parts : tuple of str
        Prefixes of its IDX files.
    vectors : bool
        Whether the samples are vectors, not images.
    """

    name: str
    title: str
    stem: str
    origin: str
    first: int = 0
    parts: tuple[str, ...] = ()
    vectors: bool = False

    @property
    def layouts(self) -> str:
        """Description of the accepted files."""
        hdf5 = f"{self.stem}.h5 or .hdf5 (data, labels)"
        idx = " and ".join(f"{part}-images-idx3-ubyte[.gz] with its labels" for part in self.parts)
        return f"{self.stem}.npz (images or features, labels), {hdf5}" + (idx and f", {idx}")


BENCHMARKS = {
    info.name: info
    for info in (
        Benchmark("usps", "USPS", "usps", _JULE),
        Benchmark("mnist-test", "MNIST-test", "mnist", _MNIST, first=60_000, parts=("t10k",)),
        Benchmark("mnist-full", "MNIST-full", "mnist", _MNIST, parts=("train", "t10k")),
        Benchmark("cmu-pie", "CMU-PIE", "cmu_pie", _JULE),
        Benchmark("frgc", "FRGC", "frgc", _JULE),
        Benchmark("ytf", "YTF", "ytf", _JULE),
        Benchmark("coil100", "COIL-100", "coil100", _JULE),
        Benchmark("pendigits", "Pendigits", "pendigits", _UCI, vectors=True),
        Benchmark("digits", "Digits", "", "scikit-learn, which includes it"),
    )
}


def benchmark(name: str, data_dir: str | Path | None = None) -> Dataset:
    """Load a benchmark data set with its labels.

    Parameters
    ----------
    name : str
        A key of `BENCHMARKS`.
    data_dir : path, optional
        Folder that holds its file; by default the environment variable INFOMEANS_DATA.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the name is unknown or the file is missing.

    Examples
    --------
    >>> from infomeans import data
    >>> digits = data.benchmark("digits")
    >>> len(digits), digits.shape
    (1797, (8, 8))
    """
    X, labels = _load(_named(name), data_dir)
    return Dataset(
        rows=ArrayRows(X),
        ids=row_numbers(len(X)),
        schema=ArraySchema(X.shape[1:]),
        source=name,
        labels=labels.astype(str),
    ).check_finite()


def check_benchmark(name: str, data_dir: str | Path | None = None) -> None:
    """Raise what `benchmark` raises if files are missing, without reading any."""
    info = _named(name)
    if info.stem:
        _files(info, data_dir)


def _named(name: str) -> Benchmark:
    if name not in BENCHMARKS:
        raise InputError(f"{name!r} is not a benchmark; choose one of {', '.join(BENCHMARKS)}.")
    return BENCHMARKS[name]


def _load(info: Benchmark, data_dir: str | Path | None) -> Labelled:
    if not info.stem:
        from sklearn.datasets import load_digits

        digits = load_digits()
        return digits.images, digits.target
    images, classes = _files(info, data_dir)
    if classes:
        X, labels = _read_idx(images), _read_idx(classes)
    else:
        read = _read_npz if images[0].suffix == ".npz" else _read_hdf5
        X, labels = (part[info.first :] for part in read(Arrays.in_file(images[0])))
    if not len(X) or len(X) != len(labels):
        where = images[0].parent
        raise InputError(f"{info.name} in {where} has {len(X)} samples and {len(labels)} labels.")
    return X, labels


def _files(info: Benchmark, data_dir: str | Path | None) -> tuple[list[Path], list[Path]]:
    """One file with images and labels, or IDX files of images and IDX files of labels."""
    given = data_dir or os.environ.get("INFOMEANS_DATA")
    if not given:
        raise InputError(
            f"{info.name} needs the folder of its file: set --data-dir (data_dir=) or the "
            f"environment variable INFOMEANS_DATA."
        )
    folder = Path(given)
    if not folder.is_dir():
        raise InputError(f"{folder}, the folder for {info.name}, is not a folder.")
    for suffix in (".npz", ".h5", ".hdf5"):
        path = folder / f"{info.stem}{suffix}"
        if path.exists():
            return [path], []
    images = _idx_files(folder, info.parts, "images?idx3-ubyte*")
    classes = _idx_files(folder, info.parts, "labels?idx1-ubyte*")
    if not images or not len(images) == len(classes) == len(info.parts):
        raise InputError(
            f"{info.name}: no file found in {folder}; accepted are {info.layouts}; download them "
            f"from {info.origin}."
        )
    return images, classes


def _read_npz(arrays: Arrays) -> Labelled:
    X, _ = arrays.read(None, is_sample_array, hint="images")
    return X, arrays.read("labels", is_label_array)[0]


def _read_hdf5(arrays: Arrays) -> Labelled:
    """HDF5 files have images as (n, c, h, w), and labels that may be floats."""
    X, _ = arrays.read("data", is_sample_array)
    if X.ndim == 4:
        X = X[:, 0] if X.shape[1] == 1 else np.ascontiguousarray(X.transpose(0, 2, 3, 1))
    labels, _ = arrays.read("labels", is_label_array)
    return X, labels.ravel().astype(np.int64)


def _idx_files(folder: Path, parts: tuple[str, ...], pattern: str) -> list[Path]:
    found = [sorted(folder.glob(f"{part}-{pattern}")) for part in parts]
    return [paths[0] for paths in found if paths]


def _read_idx(paths: list[Path]) -> NDArray[Any]:
    return np.concatenate([Arrays.in_file(path).read(None, is_sample_array)[0] for path in paths])
