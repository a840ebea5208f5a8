"""Trainings that are killed at random moments, and resumed: the labels are the same bit for bit.

    python benchmarks/kills.py [--kills 200] [--together 5] [--seed 0]

Every 20 kills give a line of results, so that a campaign that is cut off has its lines.

A process trains a run and is killed with SIGKILL, up to three times, at moments drawn over the time
that an undisturbed run takes. The last resume ends by itself. Its labels.csv, posteriors.npy and
embedding.npy are compared with those of the undisturbed run. Methods, images, tables, and data
streamed with --memory take turns. Of two processes that train together, one is killed, and the
labels are compared. Needs a system with `fork`.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

ENDS = ("labels.csv", "posteriors.npy", "embedding.npy")
METHODS = ("mi-adm", "sr-kmeans", "depict", "mi-d", "mi-pairs", "dec", "dcn")
QUICK = ["--pretrain-epochs", "5", "--epochs", "5", "--set", "warmup_epochs=6", "--threads", "1"]
MOST = 3
"""Times that a training is killed at most."""

PART = 20
"""Kills that give a line of results."""

Runs = dict[tuple[str, str], tuple[Path, float]]
"""The folders of undisturbed runs and their seconds, by input and method."""


def main() -> None:
    from common import append, machine

    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--kills", type=int, default=200)
    arguments.add_argument("--together", type=int, default=5)
    arguments.add_argument("--seed", type=int, default=0)
    options, before = arguments.parse_args(), machine()
    with tempfile.TemporaryDirectory() as root:
        whole = undisturbed_runs(Path(root))
        done = number = 0
        while done < options.kills:
            most = min(PART, options.kills - done)
            row = campaign(Path(root), whole, most, options.seed, number)
            done, number = done + row["killed"], number + row["runs"]
            print(json.dumps(row), flush=True)
            append("kills.jsonl", {"seed": options.seed, **row, "machine": before})
        if options.together:
            row = {"together": together(Path(root), options.together, options.seed)}
            print(json.dumps(row))
            append("kills.jsonl", {"seed": options.seed, **row, "machine": before})


def undisturbed_runs(root: Path) -> Runs:
    return {case: undisturbed(root, *case) for case in cases(write_inputs(root))}


def campaign(root: Path, whole: Runs, kills: int, seed: int, number: int = 0) -> dict[str, Any]:
    """Kill trainings so many times; `number` counts the runs of all campaigns."""
    counts: Counter[str] = Counter()
    during: Counter[str] = Counter()
    bad, first, done = [], number, 0
    while done < kills:
        case = sorted(whole)[number % len(whole)]
        rng = random.Random(f"{seed} {number}")  # noqa: S311
        number += 1
        folder, took = root / "killed", whole[case][1]
        shutil.rmtree(folder, ignore_errors=True)
        for _ in range(rng.randrange(1, MOST + 1)):
            ended = run(arguments(folder, *case), rng.uniform(0.0, took))
            if ended == 0:
                break
            done += 1
            during[phase(folder)] += 1
        if (last := run(arguments(folder, *case), None)) != 0:
            counts["failed"] += 1
            bad.append([case, number, f"exit {last}"])
        elif differs := [name for name in ENDS if not same(folder, whole[case][0], name)]:
            counts["different"] += 1
            bad.append([case, number, differs])
        else:
            counts["the same"] += 1
    return {
        "runs": number - first,
        "killed": done,
        "phases": dict(during),
        "counts": dict(counts),
        "bad": bad,
    }


def cases(inputs: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, method) for i, name in enumerate(sorted(inputs)) for method in METHODS[i % 2 :]]


def write_inputs(root: Path) -> dict[str, list[str]]:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 300)
    np.save(root / "table.npy", rng.normal(size=(300, 6)) + 5 * np.eye(3, 6)[kinds])
    images = rng.normal(size=(300, 8, 8))
    for image, kind in zip(images, kinds, strict=True):
        image[1 + 2 * kind : 3 + 2 * kind] += 3
    np.save(root / "images.npy", images.astype(np.float32))
    kinds = rng.integers(0, 3, 6000)
    np.save(root / "streamed.npy", rng.normal(size=(6000, 6)) + 5 * np.eye(3, 6)[kinds])
    return {name: [] for name in ("table", "images", "streamed")}


def arguments(folder: Path, name: str, method: str) -> list[str]:
    if (folder / "config.json").exists():
        return ["cluster", "--resume", "--out", str(folder), "--threads", "1"]
    memory = ["--memory", "200kB"] if name == "streamed" else []
    source = str(folder.parent / f"{name}.npy")
    given = ["cluster", source, "-k", "3", "--method", method, "--out", str(folder)]
    return [*given, *QUICK, *memory]


def undisturbed(root: Path, name: str, method: str) -> tuple[Path, float]:
    """An undisturbed run, and the seconds that it takes."""
    folder, began = root / f"whole-{name}-{method}", time.perf_counter()
    if run(arguments(folder, name, method), None) != 0:
        sys.exit(f"{name} {method} fails without a kill")
    return folder, time.perf_counter() - began


def run(given: list[str], kill_after: float | None) -> int:
    """Call the command in a forked process; its exit code, negative if it was killed."""
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        sys.argv[1:] = given
        from infomeans.cli import app

        try:
            app()
        except SystemExit as end:
            os._exit(int(end.code or 0))
        os._exit(99)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def phase(folder: Path) -> str:
    """How far a run had come."""
    history = folder / "history.jsonl"
    lines = history.read_text().splitlines() if history.exists() else []
    if (folder / "metrics.json").exists():
        return "done"
    return json.loads(lines[-1])["phase"] if lines else "before the first epoch"


def same(folder: Path, whole: Path, name: str) -> bool:
    return (folder / name).read_bytes() == (whole / name).read_bytes()


def together(root: Path, runs: int, seed: int) -> dict[str, int]:
    """Kill one of two processes, and resume with one."""
    counts: Counter[str] = Counter()
    expected = None
    for number in range(runs + 1):
        rng = random.Random(f"{seed} together {number}")  # noqa: S311
        folder = root / f"together-{number}"
        line = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        line += ["--nproc-per-node", "2", "-m", "infomeans"]
        process = subprocess.Popen(
            [*line, *arguments(folder, "table", "mi-adm")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        if expected is None:
            process.wait()
            expected = np.load(folder / "posteriors.npy").argmax(axis=1)
            continue
        while not (folder / "history.jsonl").exists() and process.poll() is None:
            time.sleep(0.05)
        time.sleep(rng.uniform(0, 1))
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if children:
            os.kill(int(rng.choice(children)), signal.SIGKILL)
        process.wait()
        ended = run(arguments(folder, "table", "mi-adm"), None)
        labels = np.load(folder / "posteriors.npy").argmax(axis=1) if ended == 0 else None
        equal = labels is not None and np.array_equal(labels, expected)
        counts["equal" if equal else "failed" if labels is None else "different"] += 1
    return dict(counts)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    import infomeans.workflows.cluster  # noqa: F401  # before the first fork

    main()
