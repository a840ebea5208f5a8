"""Fits on an idle machine and beside two busy processes, with the default threads and with one.

    python benchmarks/threads.py [--rounds 3] [--busy 2] [--spinning]

Every setting runs in its own process, in which quiet and busy fits take turns. --spinning adds a
setting with two threads that spin while they wait, as torch's threads do by default. Needs no data;
run it on an idle machine.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from statistics import median

DATA = ("table", "digits", "images")
TARGET = 2.5
BRIEF = {"pretrain_epochs": 2, "warmup_epochs": 1, "epochs": 1, "random_state": 0}
SPIN = "import os\nwhile os.getppid() == {}:\n    for _ in range(10**6): pass"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--busy", type=int, default=2, help="number of busy processes")
    arguments.add_argument("--spinning", action="store_true")
    arguments.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.measure:
        print(json.dumps(measured(*options.measure, options.rounds, options.busy)))
        return
    from common import append, machine

    for data in DATA:
        for setting in ("default", "1", *(["spinning"] if options.spinning else [])):
            before = machine()
            row = in_own_process(data, setting, options)
            slower = median(row["beside"]) / median(row["quiet"])
            more = {"busy": options.busy, "slower": slower, "machine": before}
            append("threads.jsonl", row | more)
            print(
                f"{data:7} {setting:8} {row['n_threads']} threads  "
                f"quiet {median(row['quiet']):6.2f} s  beside {median(row['beside']):6.2f} s  "
                f"{slower:.2f} times{'' if slower <= TARGET else f', more than {TARGET}'}",
                flush=True,
            )


def in_own_process(data: str, setting: str, options: argparse.Namespace) -> dict[str, object]:
    """Run `measured` in a new process, because OpenMP reads the wait policy only once."""
    arguments = ["--measure", data, setting]
    arguments += ["--rounds", str(options.rounds), "--busy", str(options.busy)]
    done = subprocess.run(
        [sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def measured(data: str, setting: str, rounds: int, busy: int) -> dict[str, object]:
    """Seconds of fits, alternately quiet and beside busy processes; the first fit warms up."""
    if setting == "spinning":
        import torch  # noqa: F401, imported before infomeans, so that its threads spin

    from infomeans import MIADM

    n_threads = {"default": None, "spinning": 2}.get(setting, 1)
    (X, k), seconds = samples(data), {0: [], busy: []}
    model = MIADM(k, n_threads=n_threads, **BRIEF).fit(X)
    for _ in range(rounds):
        for count, times in seconds.items():
            with spinning(count):
                began = time.perf_counter()
                model.fit(X)
                times.append(time.perf_counter() - began)
    return {
        "data": data,
        "setting": setting,
        "n_threads": model.n_threads_,
        "quiet": seconds[0],
        "beside": seconds[busy],
    }


@contextmanager
def spinning(count: int):
    """Run busy processes; they end with this one, even if it is killed."""
    with ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen([sys.executable, "-c", SPIN.format(os.getpid())])
            stack.enter_context(process)
            stack.callback(process.kill)
        yield


def samples(data: str):
    """Samples, a table of blobs or images, and the number of clusters."""
    import numpy as np
    from sklearn.datasets import load_digits, make_blobs

    if data == "table":
        return make_blobs(6435, n_features=36, centers=6, cluster_std=5, random_state=0)[0], 6
    if data == "digits":
        return load_digits().images, 10
    rng = np.random.default_rng(0)
    kinds = rng.random((10, 28, 28))
    return kinds[np.arange(2000) % 10] + rng.normal(0, 0.3, (2000, 28, 28)), 10


if __name__ == "__main__":
    main()
