"""The paper's table of data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from infomeans.benchmark.tables import plain
from infomeans.data import benchmark
from infomeans.data.benchmarks import BENCHMARKS
from infomeans.errors import InputError


def table(data_dir: str | Path | None = None) -> str:
    """Markdown, with the shares of the classes where the file is there to be counted."""
    rows = []
    for name, info in BENCHMARKS.items():
        n, classes, shape, shares = info.n, info.classes, info.shape, ("", "")
        try:
            samples = benchmark(name, data_dir)
        except InputError:
            shares = ("no file", "no file")
        else:
            counts = np.unique(np.asarray(samples.labels), return_counts=True)[1]
            n, classes, shape = len(samples), len(counts), samples.X.shape[1:]
            shares = (f"{counts.min() / n:.2%}", f"{counts.max() / n:.2%}")
        dimensions = " x ".join(map(str, shape))
        rows.append([info.title, f"{n:,}", classes, dimensions, *shares])
    heads = ["data set", "samples", "classes", "dimensions", "smallest class", "largest class"]
    return plain(heads, rows)
