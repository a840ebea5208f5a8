"""What the benchmarks share: data, the machine, and where results go."""

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
    """Arguments that every benchmark on real data takes."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument(
        "--data-dir",
        type=Path,
        default=os.environ.get("INFOMEANS_DATA"),
        required="INFOMEANS_DATA" not in os.environ,
        help="folder with usps.npz, mnist.npz, ...; INFOMEANS_DATA does as well",
    )
    return arguments


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Samples and classes, counted from 0, of a benchmark set."""
    samples = benchmark(name, folder)
    return samples.X, np.unique(samples.labels, return_inverse=True)[1]


def machine() -> dict[str, object]:
    """Where a figure was measured, and with what."""
    return {**measured_by(), **versions()}


def append(name: str, row: dict[str, object]) -> None:
    """One more line in a results file."""
    Results(RESULTS / name).append(row)
