"""Reading a folder of small images, compared with a bare loop over Pillow.

    python benchmarks/folder_reading.py [--images 10000] [--rounds 7]

All run in turn in one process, so other load on the machine affects all of them. Needs no data, but
Linux, to pin a process to one core.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from common import append, machine
from PIL import Image

from infomeans import data

SIDE = 28


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--images", type=int, default=10_000)
    arguments.add_argument("--rounds", type=int, default=7)
    options, before = arguments.parse_args(), machine()
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder), options.images)
        rows = [measure(Path(folder)) for _ in range(options.rounds + 1)][1:]  # the first warms up
    seconds = {name: median(row[name] for row in rows) for name in rows[0]}
    ratios = {
        name: median(row[name] / row["bare"] for row in rows) for name in seconds if name != "bare"
    }
    for name, ratio in ratios.items():
        print(f"{name}: {seconds[name]:.2f} s, {ratio:.2f} of the bare loop")
    append(
        "folder_reading.jsonl",
        {**vars(options), "seconds": seconds, "ratios": ratios, "machine": before},
    )


def draw(folder: Path, count: int) -> None:
    """Noise on soft blobs, which compress about as badly as handwriting."""
    rng = np.random.default_rng(0)
    for i in range(count):
        coarse = Image.fromarray(rng.integers(0, 256, (4, 4), dtype=np.uint8))
        image = np.asarray(coarse.resize((SIDE, SIDE))) // 8 * 8
        path = folder / f"{i % 10}" / f"{i:06}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(image + rng.integers(0, 8, image.shape, dtype=np.uint8)).save(path)


def measure(folder: Path) -> dict[str, float]:
    """Seconds of the bare loop, and of `data.open` on one core and on two."""
    cores = os.sched_getaffinity(0)
    one, two = set(sorted(cores)[:1]), set(sorted(cores)[:2])
    row = {
        "bare": timed(lambda: bare(folder), one),
        "one core": timed(lambda: data.open(folder), one),
        "two cores": timed(lambda: data.open(folder), two),
    }
    os.sched_setaffinity(0, cores)
    print("  ".join(f"{name} {seconds:.2f} s" for name, seconds in row.items()), flush=True)
    return row


def bare(folder: Path) -> list[np.ndarray]:
    return [np.asarray(Image.open(path)) for path in sorted(folder.rglob("*.png"))]


def timed(run: Callable[[], object], cores: set[int]) -> float:
    os.sched_setaffinity(0, cores)
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
