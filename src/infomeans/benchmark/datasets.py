"""The paper's table of data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from infomeans.benchmark.paper import DATASETS
from infomeans.benchmark.tables import plain
from infomeans.data import benchmark
from infomeans.data.benchmarks import BENCHMARKS
from infomeans.errors import InputError

HEADS = ["data set", "", "samples", "classes", "dimensions", "smallest class", "largest class"]


def table(data_dir: str | Path | None = None) -> str:
    """Markdown: for every data set what its file holds, and what the paper prints."""
    rows = []
    for name, info in BENCHMARKS.items():
        rows.append([info.title, "here", *_counted(name, data_dir)])
        if name in DATASETS:
            n, classes, smallest, largest = DATASETS[name]
            rows.append(["", "paper", f"{n:,}", classes, _times(info.shape), smallest, largest])
    return plain(HEADS, rows)


def _counted(name: str, data_dir: str | Path | None) -> list[object]:
    try:
        samples = benchmark(name, data_dir)
    except InputError:
        return ["no file", "", "", "", ""]
    counts = np.unique(np.asarray(samples.labels), return_counts=True)[1]
    shares = [
        f"{count / len(samples):.2%}".replace("%", " %") for count in (min(counts), max(counts))
    ]
    return [f"{len(samples):,}", len(counts), _times(samples.X.shape[1:]), *shares]


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
