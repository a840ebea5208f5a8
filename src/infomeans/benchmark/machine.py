"""The machine, load and commit that a measurement was made with."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import torch

PACKAGE = Path(__file__).parents[1]


def measured_by() -> dict[str, object]:
    """The machine, its current load, and the commit. Call it before a measurement."""
    return {
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load1": load1(),
        "commit": commit(),
    }


def load1() -> float | None:
    """How many processes wanted to run, in the last minute; None on Windows, which cannot say."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def cpu() -> str:
    """The name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def peak_mb() -> float | None:
    """The most memory that this process has had; None on Windows."""
    status = Path("/proc/self/status")
    if status.exists():
        # On Linux, getrusage may report the peak of the parent process.
        peaks = re.findall(r"^VmHWM:\s*(\d+) kB", status.read_text(), flags=re.MULTILINE)
        if peaks:
            return int(peaks[0]) / 2**10
    try:
        import resource  # Windows has no such module
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


@cache
def commit() -> str | None:
    """The commit of the code when this process first asked for it."""
    return commit_of(PACKAGE)


def commit_of(folder: Path) -> str | None:
    """The commit of a checkout, followed by + if this folder has uncommitted changes."""
    # A git hook sets these variables, and they point to its own repository.
    elsewhere = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
    environment = {name: value for name, value in os.environ.items() if name not in elsewhere}

    def git(*arguments: str) -> str:
        done = subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            check=True,
        )
        return done.stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + "+" * bool(git("status", "-s", "."))
    except (OSError, subprocess.CalledProcessError):
        return None
