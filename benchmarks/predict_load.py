"""Predictions from many threads: no error, flat memory, the answers of one thread.

    python benchmarks/predict_load.py [--minutes 10] [--threads 8]

Threads share a model of images and one of a table, and ask for the posteriors of random samples.
"""

import argparse
import json
import resource
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import append, machine

import infomeans

QUICK = {"pretrain_epochs": 1, "warmup_epochs": 1, "epochs": 1, "random_state": 0}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--minutes", type=float, default=10.0)
    arguments.add_argument("--threads", type=int, default=8)
    options, before = arguments.parse_args(), machine()
    row = {**vars(options), **load(60 * options.minutes, options.threads)}
    print(json.dumps(row, indent=2))
    append("predict_load.jsonl", {**row, "machine": before})


def load(seconds: float, n_threads: int) -> dict[str, Any]:
    """Predict for so many seconds."""
    rng = np.random.default_rng(0)
    images = rng.normal(size=(400, 16, 16)).astype(np.float32)
    table = rng.normal(size=(400, 12))
    asked = []
    for X in (images, table):
        model = infomeans.MIADM(5, **QUICK).fit(X)
        asked.append((model, X, model.predict_proba(X), model.outlier_score(X)))
    found = {"calls": 0, "errors": 0, "different": 0}
    lock, end = threading.Lock(), time.monotonic() + seconds

    def ask(seed: int) -> None:
        draw = np.random.default_rng(seed)
        while time.monotonic() < end:
            model, X, posteriors, scores = asked[draw.integers(len(asked))]
            some = draw.choice(len(X), draw.integers(1, 200), replace=False)
            try:
                same = np.allclose(model.predict_proba(X[some]), posteriors[some], atol=1e-6)
                same &= np.allclose(model.outlier_score(X[some]), scores[some], atol=1e-6)
            except Exception:
                same = None
            with lock:
                found["calls"] += 1
                found["errors"] += same is None
                found["different"] += same is not None and not same

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(n_threads)]
    for thread in threads:
        thread.start()
    time.sleep(seconds / 4)
    early = resident()
    for thread in threads:
        thread.join()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**found, "mib_early": early, "mib_late": resident(), "mib_peak": round(peak)}


def resident() -> int:
    """Resident memory in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * resource.getpagesize() / 2**20)


if __name__ == "__main__":
    main()
