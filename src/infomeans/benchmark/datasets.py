"""The paper's table of data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from infomeans.benchmark.paper import DATASETS
from infomeans.benchmark.tables import plain
from infomeans.data import benchmark
from infomeans.data.arrays import network_shape
from infomeans.data.benchmarks import BENCHMARKS, check_benchmark
from infomeans.errors import InputError

HEADS = ["data set", "", "samples", "classes", "dimensions", "smallest class", "largest class"]


def table(data_dir: str | Path | None = None) -> str:
    """Markdown table of every data set: the counts in its file and those in the paper."""
    rows, reasons = [], []
    for name, info in BENCHMARKS.items():
        try:
            check_benchmark(name, data_dir)
        except InputError as error:
            reasons.append(error)
            counts = ["no file", "", "", "", ""]
        else:
            counts = _counted(name, data_dir)
        rows.append([info.title, "here", *counts])
        if name in DATASETS:
            rows.append(["", "paper", *DATASETS[name]])
    if data_dir is not None and len(reasons) == sum(bool(i.stem) for i in BENCHMARKS.values()):
        raise reasons[0]
    return plain(HEADS, rows)


def _counted(name: str, data_dir: str | Path | None) -> list[str]:
    data = benchmark(name, data_dir)
    n, counts = len(data), np.unique(np.asarray(data.labels), return_counts=True)[1]
    shape = network_shape(data.shape)
    shares = [f"{100 * count / n:.2f} %" for count in (min(counts), max(counts))]
    return [f"{n:,}", str(len(counts)), " x ".join(map(str, shape)), *shares]
