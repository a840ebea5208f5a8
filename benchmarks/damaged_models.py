"""Damaged models: each is refused, or is still the same model.

    python benchmarks/damaged_models.py [--models 2000] [--seed 0]

Models of four kinds are saved, damaged by a seeded accident each, loaded, and asked for posteriors.
Every second description gets a hash that fits what it has become. Another answer than before (with
the old hash), another error than ValueError, more than 2 seconds or 1 GB count as bad.
"""

import argparse
import json
import random
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from damage import damage_one

import infomeans
from infomeans.files import json_hash

SECONDS, MIB = 2.0, 1024
QUICK = {"pretrain_epochs": 1, "warmup_epochs": 1, "epochs": 1, "random_state": 0}


def main() -> None:
    from common import append, machine

    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--models", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=0)
    options, before = arguments.parse_args(), machine()
    row = {**vars(options), **campaign(options.models, options.seed)}
    print(json.dumps(row, indent=2))
    append("damaged_models.jsonl", {**row, "machine": before})


def campaign(models: int, seed: int) -> dict[str, Any]:
    """Damage so many models, load them and predict."""
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    bad, slowest, largest = [], 0.0, 0.0
    with tempfile.TemporaryDirectory() as root:
        kinds = saved(Path(root))
        for number in range(models):
            rng = random.Random(f"{seed} {number}")  # noqa: S311
            name = sorted(kinds)[number % len(kinds)]
            X, expected = kinds[name]
            folder = Path(root, "damaged")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(Path(root, name), folder)
            file, _ = damage_one(folder, rng)
            forged = number % 2 and rehashed(file)
            peak, began = _peak(), time.perf_counter()
            outcome, why = tried(folder, X, expected)
            took = time.perf_counter() - began
            slowest, largest = max(slowest, took), max(largest, _peak() - peak)
            if forged and outcome == "another model":
                outcome = "forged"
            if took > SECONDS or _peak() - peak > MIB:
                outcome = "costly"
            counts[outcome] += 1
            if outcome not in ("refused", "identical", "forged"):
                bad.append([name, number, file.name, outcome, why])
    return {
        "counts": dict(counts),
        "bad": bad,
        "slowest": round(slowest, 3),
        "largest_mib": round(largest),
    }


def rehashed(file: Path) -> bool:
    """Give a changed description a hash that fits it, as a stranger might."""
    try:
        description = json.loads(file.read_text())
        del description["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    file.write_text(json.dumps({**description, "sha256": json_hash(description)}))
    return True


def tried(folder: Path, X: np.ndarray, expected: np.ndarray) -> tuple[str, str]:
    try:
        found = infomeans.load(folder).predict_proba(X)
    except ValueError as error:
        return ("refused", "") if "\n" not in str(error) else ("several lines", str(error))
    except Exception as error:
        return "other error", f"{type(error).__name__}: {error}"
    return ("identical" if np.array_equal(found, expected) else "another model"), ""


def saved(root: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Saved models: for each, some samples and their posteriors."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(60, 5)) + 6 * rng.integers(0, 3, (60, 1))
    images = rng.normal(size=(40, 8, 8)).astype(np.float32)
    images[::2, :4] += 3
    kinds: dict[str, Any] = {
        "table": (infomeans.MIADM(3, **QUICK), vectors),
        "images": (infomeans.MIADM(2, **QUICK), images),
        "graph": (infomeans.GraphBaseline(3), vectors),
        "residual": (infomeans.DEPICT(3, network="residual", **QUICK), vectors),
    }
    for name, (model, X) in kinds.items():
        model.fit(X).save(root / name)
    return {name: (X, model.predict_proba(X)) for name, (model, X) in kinds.items()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
