"""Shared by the benchmarks: data, the machine, and the results folder."""

import argparse
import os
from pathlib import Path

import numpy as np
import torch

from infomeans.benchmark.machine import measured_by
from infomeans.benchmark.results_file import Results
from infomeans.data import benchmark
from infomeans.workflows.cluster import versions

torch.set_flush_denormal(True)
RESULTS = Path(__file__).parent / "results"


def parser(description: str) -> argparse.ArgumentParser:
    """Arguments of every benchmark on real data."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument(
        "--data-dir",
        type=Path,
        default=os.environ.get("INFOMEANS_DATA"),
        required="INFOMEANS_DATA" not in os.environ,
        help="folder with usps.npz, mnist.npz, ...; default INFOMEANS_DATA",
    )
    return arguments


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Samples and classes of a benchmark; classes are numbered from 0."""
    samples = benchmark(name, folder)
    return samples.X, np.unique(samples.labels, return_inverse=True)[1]


def machine() -> dict[str, object]:
    """The machine, load, commit and versions of a measurement."""
    return {**measured_by(), **versions()}


def append(name: str, row: dict[str, object]) -> None:
    """Append a line to a results file."""
    Results(RESULTS / name).append(row)
