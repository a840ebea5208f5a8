"""What the benchmarks share: data, the machine, and where results go."""

import argparse
import json
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

from infomeans.data import benchmark

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
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load1": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "scikit-learn": version("scikit-learn"),
        "infomeans": version("infomeans"),
        "commit": _git("rev-parse", "--short", "HEAD")
        + ("+" if _git("status", "-s", "src") else ""),
    }


def append(name: str, row: dict[str, object]) -> None:
    """One more line in a results file."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / name).open("a") as file:
        file.write(json.dumps(row) + "\n")


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _git(*arguments: str) -> str:
    here = Path(__file__).parent.parent
    return subprocess.run(
        ["git", *arguments], capture_output=True, text=True, cwd=here
    ).stdout.strip()
