"""Hard cases: data that make methods fail, and whether they say so.

    python benchmarks/hard_cases.py [--cases NAME ...] [--methods SLUG ...] [--seeds 0] [--full]
        [--table]

30 small sets: clusters of very different sizes, copies, outliers, huge and tiny values, constant
features, far too many clusters, few samples. Every method clusters each of them on one thread, with
at most 10 epochs per phase, 2 for more than 2,000 samples; with --full, as many as by default. A
line says whether all results are finite, also those of absurd new samples, how many clusters are
alive, and what was warned of. A fit is silent if fewer than K - 1 clusters are alive and nothing
was said.
"""

import argparse
import time
import warnings
from collections import Counter

import numpy as np
import torch
from common import RESULTS, append, machine
from sklearn.datasets import load_digits, make_blobs

import infomeans
from infomeans.benchmark.results_file import Results
from infomeans.errors import ClusteringWarning
from infomeans.methods import METHODS

PHASES = ("pretrain_epochs", "warmup_epochs", "epochs")
SHORT, SHORTER, MANY = 10, 2, 2_000
"""Epochs per phase, those of more samples, and how many these are."""

ABSURD = (0.0, 1.0, -1e6, 1e38, -1e200, 1e300, -1.7e308, 1e-300)
"""Values of new samples."""


def blobs(rng, sizes, d=5, spread=0.5):
    """Separate groups of these sizes, in random order."""
    X, _ = make_blobs(
        list(sizes),
        n_features=d,
        centers=6 * rng.normal(size=(len(sizes), d)),
        cluster_std=spread,
        random_state=int(rng.integers(2**31)),
    )
    return X


def digits(rng, n=200):
    images = load_digits().images
    return images[rng.choice(len(images), n, replace=False)]


def with_outliers(rng, X, rows, value, columns=slice(None)):
    X = X.copy()
    for row in rng.choice(len(X), rows, replace=False):
        X[row][columns] = value
    return X


def two_sided(rng):
    X = blobs(rng, [75] * 4)
    X[:5] *= 1e6 * np.array([[1], [-1], [0.01], [1], [-1]])
    return X


def mostly_blank(rng):
    images = np.zeros((200, 8, 8))
    images[:40, 2:6, 2:6] = 1 + 0.1 * rng.normal(size=(40, 4, 4))
    return images


def dead_channel(rng):
    images = np.zeros((200, 8, 8, 3), np.float32)
    images[..., 0] = digits(rng)
    images[..., 1] = 16
    return images


def mixed_units(rng):
    return blobs(rng, [75] * 4, 3) * [1e-200, 1.0, 1e200]


CASES = {
    "1 to 100": lambda rng: (blobs(rng, [500, 5]), 2),
    "1 to 1,000": lambda rng: (blobs(rng, [1000, 1000, 1]), 3),
    "1 to 10,000": lambda rng: (blobs(rng, [10_000, 1]), 2),
    "1, 10, 100, 1,000": lambda rng: (blobs(rng, [1, 10, 100, 1000]), 4),
    "three values, 3": lambda rng: (np.repeat(rng.normal(size=(3, 4)), 50, axis=0), 3),
    "three values, 10": lambda rng: (np.repeat(rng.normal(size=(3, 4)), 50, axis=0), 10),
    "half copies": lambda rng: (np.r_[np.zeros((150, 4)), blobs(rng, [50] * 3, 4)], 5),
    "all copies": lambda rng: (np.ones((100, 3)), 4),
    "near copies": lambda rng: (1 + 1e-13 * rng.normal(size=(100, 3)), 4),
    "one outlier": lambda rng: (with_outliers(rng, blobs(rng, [75] * 4), 1, 1e6, 2), 4),
    "three outliers": lambda rng: (with_outliers(rng, blobs(rng, [75] * 4), 3, 1e6), 4),
    "outliers on both sides": lambda rng: (two_sided(rng), 4),
    "outlier of 1e300": lambda rng: (with_outliers(rng, blobs(rng, [75] * 4), 1, 1e300), 4),
    "heavy tails": lambda rng: (blobs(rng, [75] * 4) + rng.standard_cauchy((300, 5)), 4),
    "huge values": lambda rng: (1e300 * blobs(rng, [75] * 4), 4),
    "tiny values": lambda rng: (1e-300 * blobs(rng, [75] * 4), 4),
    "mixed units": lambda rng: (mixed_units(rng), 4),
    "constant features": lambda rng: (np.c_[blobs(rng, [75] * 4, 2), np.ones((300, 8))], 4),
    "one binary feature": lambda rng: (np.c_[rng.integers(0, 2, 200), np.ones((200, 3))], 2),
    "one feature": lambda rng: (blobs(rng, [100] * 3, 1), 3),
    "50 of three groups": lambda rng: (blobs(rng, [100] * 3, 2), 50),
    "20 of noise": lambda rng: (rng.random((300, 5)), 20),
    "few samples": lambda rng: (blobs(rng, [4] * 3), 3),
    "one sample each": lambda rng: (rng.normal(size=(8, 5)), 8),
    "counts": lambda rng: (rng.poisson(0.05, (300, 30)), 5),
    "wide": lambda rng: (blobs(rng, [20] * 3, 500), 3),
    "image of 1e6": lambda rng: (with_outliers(rng, digits(rng), 1, 1e6), 10),
    "hot pixels": lambda rng: (with_outliers(rng, digits(rng), 3, 1e6, (3, 3)), 10),
    "mostly blank": lambda rng: (mostly_blank(rng), 3),
    "constant channels": lambda rng: (dead_channel(rng), 10),
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    arguments.add_argument("--cases", nargs="+", default=CASES)
    arguments.add_argument("--methods", nargs="+", default=METHODS)
    arguments.add_argument("--seeds", type=int, nargs="+", default=[0])
    arguments.add_argument("--full", action="store_true", help="as many epochs as by default")
    arguments.add_argument("--table", action="store_true", help="only write the table")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    for seed in () if options.table else options.seeds:
        for case in options.cases:
            for method in options.methods:
                row = {"case": case, "method": method, "seed": seed, "full": options.full}
                where = machine()
                row |= measure(case, method, seed, full=options.full)
                append("hard_cases.jsonl", {**row, "machine": where})
                said = "; ".join(row["warned"]) or row["error"]
                print(
                    f"{case:<24}{method:<10}{row['alive']:>3} of {row['k']:<3}"
                    f"{row['outcome']:<9}{row['seconds']:>6.1f} s  {said[:100]}",
                    flush=True,
                )
    write_table()


def measure(
    case: str, method: str, seed: int, *, full: bool = False, **settings: object
) -> dict[str, object]:
    """Fit a method to a case, and see what comes of it."""
    X, k = CASES[case](np.random.default_rng([seed, *case.encode()]))
    short = dict.fromkeys(PHASES, SHORTER if len(X) > MANY else SHORT)
    settings = settings if full else {**short, **settings}
    cls = getattr(infomeans, METHODS[method].estimator)
    model = cls(k, random_state=seed, n_threads=1, **settings)
    found = {"n": len(X), "k": k, "alive": 0, "finite": False, "error": ""}
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X)
            found["alive"] = len(np.unique(model.labels_))
            found["finite"] = is_finite(model, X)
        except ValueError as error:
            found["error"] = str(error)
    found["seconds"] = time.perf_counter() - began
    found["warned"] = [str(w.message) for w in caught if w.category is ClusteringWarning]
    return {**found, "outcome": outcome(found)}


def outcome(found: dict[str, object]) -> str:
    if found["error"]:
        return "refused"
    if not found["finite"]:
        return "failed"
    if found["alive"] >= found["k"] - 1:
        return "alive"
    return "warned" if found["warned"] else "silent"


def is_finite(model: object, X: np.ndarray) -> bool:
    """Whether everything that the model says is finite, also of absurd samples."""
    new = np.stack([np.full(X.shape[1:], value) for value in ABSURD])
    own = [model.embedding_, model.outlier_scores_, model.confidences_]
    new = [model.predict_proba(new), model.transform(new), model.outlier_score(new)]
    losses = [record["loss"] for record in model.history_]
    sums = np.allclose(new[0].sum(axis=1), 1, atol=1e-4)
    return bool(sums and all(np.isfinite(part).all() for part in [*own, *new, losses]))


def write_table() -> None:
    """The table: the outcomes of every method."""
    rows = Results(RESULTS / "hard_cases.jsonl").rows()
    kinds = ("alive", "warned", "refused", "silent", "failed")
    last = {(row["case"], row["method"], row["seed"], row["full"]): row for row in rows}.values()
    lines = [f"| method | {' | '.join(kinds)} |", "|---" * (len(kinds) + 1) + "|"]
    for method in dict.fromkeys(row["method"] for row in last):
        counts = Counter(row["outcome"] for row in last if row["method"] == method)
        lines.append(f"| {method} | {' | '.join(str(counts[kind]) for kind in kinds)} |")
    (RESULTS / "hard_cases.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
