"""Data that exceed the memory: peak memory, ARI, and time against data in memory.

    python benchmarks/streaming.py [--samples 5000000] [--memory 1GiB] [--images 70000]

Vectors: `cluster` of a mixture of 20 clusters in 64 dimensions, in a .npy file that exceeds
--memory, and of the first --in-memory rows, which do not. Times are per sample and epoch.

Images: `cluster` of a folder of PNG files of 28 x 28 pixels, in memory and with --image-memory,
against the same images as one array. Times are those of the second epoch, when all is decoded.

Every run is a process of its own. Needs no data, but Linux.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from common import append, machine
from folder_reading import draw
from PIL import Image
from sklearn.metrics import adjusted_rand_score

DIMENSIONS, CLUSTERS, WRITTEN = 64, 20, 100_000


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--samples", type=int, default=5_000_000)
    arguments.add_argument("--in-memory", type=int, default=200_000)
    arguments.add_argument("--memory", default="1GiB")
    arguments.add_argument("--images", type=int, default=70_000)
    arguments.add_argument("--image-memory", default="120MB")
    arguments.add_argument("--epochs", type=int, default=3)
    options, before = arguments.parse_args(), machine()
    row = {**vars(options)}
    with tempfile.TemporaryDirectory() as folder:
        if options.samples:
            row["vectors"] = vectors(Path(folder), options)
        if options.images:
            row["pictures"] = pictures(Path(folder), options)
    append("streaming.jsonl", {**row, "machine": before})


def vectors(folder: Path, options: argparse.Namespace) -> dict[str, object]:
    classes = write_mixture(folder / "x.npy", options.samples)
    np.save(folder / "some.npy", np.load(folder / "x.npy", mmap_mode="r")[: options.in_memory])
    large = run(folder, folder / "x.npy", options, "--memory", options.memory)
    small = run(folder, folder / "some.npy", options)
    for one, name in ((large, "streamed"), (small, "in memory")):
        one["ari"] = adjusted_rand_score(classes[: len(one["labels"])], one.pop("labels"))
        print(f"{name}: peak {one['peak_mib']:.0f} MiB, ARI {one['ari']:.4f}, {one['seconds']}")
    ratios = {
        phase: (large["seconds"][phase] / options.samples)
        / (small["seconds"][phase] / options.in_memory)
        for phase in large["seconds"]
        if phase in small["seconds"]
    }
    print(f"time per sample and epoch against memory: {ratios}")
    return {"streamed": large, "in_memory": small, "ratios": ratios}


def pictures(folder: Path, options: argparse.Namespace) -> dict[str, object]:
    (folder / "png").mkdir()
    draw(folder / "png", options.images)
    paths = sorted((folder / "png").rglob("*.png"))
    np.save(folder / "images.npy", np.stack([np.asarray(Image.open(path)) for path in paths]))
    kinds = {
        "array": (folder / "images.npy",),
        "folder": (folder / "png",),
        "stored": (folder / "png", "--memory", options.image_memory),
    }
    found = {name: run(folder, given[0], options, *given[1:]) for name, given in kinds.items()}
    for name, one in found.items():
        one.pop("labels")
        against = one["second"] / found["array"]["second"]
        print(f"{name}: second epoch {one['second']:.2f} s, {against:.2f} of the array's")
        one["ratio"] = against
    return found


def write_mixture(path: Path, n: int) -> np.ndarray:
    """Gaussian clusters at random places; returns which sample is of which."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 1.5, (CLUSTERS, DIMENSIONS))
    classes = rng.integers(CLUSTERS, size=n)
    array = np.lib.format.open_memmap(path, "w+", np.float32, (n, DIMENSIONS))
    for first in range(0, n, WRITTEN):
        own = classes[first : first + WRITTEN]
        array[first : first + WRITTEN] = centres[own] + rng.normal(size=(len(own), DIMENSIONS))
    array.flush()
    return classes


def run(folder: Path, source: Path, options: argparse.Namespace, *more: str) -> dict[str, object]:
    """Cluster in another process: its peak memory, seconds of an epoch by phase, and labels."""
    out = folder / f"run-{source.stem}-{len(more)}"
    epochs = ["--epochs", str(options.epochs), "--pretrain-epochs", str(options.epochs)]
    epochs += ["--set", f"warmup_epochs={options.epochs}"]
    command = [sys.executable, "-m", "infomeans", "cluster", source, "-k", str(CLUSTERS)]
    process = subprocess.Popen([*map(str, command), "--out", str(out), *epochs, *more])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"cluster failed on {source}")
    history = [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]
    phases: dict[str, list[float]] = {}
    for record in history:
        phases.setdefault(record["phase"], []).append(record["seconds"])
    return {
        "peak_mib": usage.ru_maxrss / 1024,
        "seconds": {phase: median(seconds) for phase, seconds in phases.items()},
        "second": phases["pretrain"][:2][-1],
        "labels": np.load(out / "posteriors.npy", mmap_mode="r").argmax(axis=1),
    }


if __name__ == "__main__":
    main()
