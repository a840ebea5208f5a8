"""Samples per second of one process and of two, each with one thread.

    python benchmarks/processes.py [--samples 6000] [--side 28] [--rounds 3]

Pretraining and the alternation of MI-ADM on random images, default settings. Both are measured in
turn, each time in new processes. Needs no data.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import numpy as np

PHASES = ("pretrain", "warm-up", "alternate")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--samples", type=int, default=6000)
    arguments.add_argument("--side", type=int, default=28)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--work", action="store_true", help="what each process does")
    options = arguments.parse_args()
    if options.work:
        work(options.samples, options.side)
        return
    from common import append, machine

    found = {count: [] for count in (1, 2)}
    for _ in range(options.rounds):
        for count, rates in found.items():
            rates.append(measured(count, options))
            print(count, json.dumps(rates[-1]), flush=True)
    row = {"samples": options.samples, "side": options.side, "rounds": options.rounds}
    for phase in PHASES:
        rates = {count: median(one[phase] for one in found[count]) for count in found}
        row[phase] = {**{str(count): rate for count, rate in rates.items()}}
        row[phase]["ratio"] = rates[2] / rates[1]
        print(f"{phase:10} {rates[1]:8.0f} {rates[2]:8.0f} samples/s, {rates[2] / rates[1]:.2f}")
    append("processes.jsonl", {**row, "machine": machine()})


def measured(count: int, options: argparse.Namespace) -> dict[str, float]:
    launcher = [sys.executable]
    if count > 1:
        launcher += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    line = [*launcher, __file__, "--work", "--samples", str(options.samples)]
    done = subprocess.run(
        [*line, "--side", str(options.side)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return json.loads(done.stdout.splitlines()[-1])


def work(samples: int, side: int) -> None:
    import infomeans

    rng = np.random.default_rng(0)
    shapes = rng.normal(size=(10, side, side))
    y = rng.integers(0, 10, samples)
    X = (shapes[y] + rng.normal(size=(samples, side, side))).astype(np.float32)
    model = infomeans.MIADM(
        10,
        init=y,
        pretrain_epochs=3,
        warmup_epochs=3,
        epochs=3,
        n_threads=1,
        random_state=0,
    ).fit(X)
    if int(os.environ.get("RANK", "0")) == 0:
        seconds = {phase: [] for phase in PHASES}
        for record in model.history_:
            seconds[record["phase"]].append(record["seconds"])
        print(json.dumps({phase: samples / min(one) for phase, one in seconds.items() if one}))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
