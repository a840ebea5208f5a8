"""Outlier scores: strangers among the samples of a benchmark, and how well the score finds them.

    python benchmarks/outliers.py --data-dir DATA [--seeds 0 1 2] [--table]
        [--datasets usps mnist-test cifar10 pendigits texture segment]

One stranger is mixed in for every 20 samples. Among images: objects of COIL-100 in the size and
colours of the set, uniform noise, or images of the set of which one half is black. Among vectors:
uniform noise between the extremes of each feature, rows whose every feature comes from another row,
or rows with their features in random order. CIFAR-10 has 5,000 images.

A line has the area under the ROC curve of the fitted samples (`auc`), and that of new samples when
the model has seen half of the set and no stranger (`new_auc`), with the mean score of the new
samples that belong to the set. Seconds are per 10,000 samples on one thread. The scores do not
depend on the clusters, so K-means stands for all methods. Classes are not used.
"""

import statistics
import time
from pathlib import Path

import numpy as np
import torch
from common import RESULTS, append, load, machine, parser
from PIL import Image
from sklearn.metrics import roc_auc_score

from infomeans import KMeansBaseline
from infomeans.benchmark.results_file import Results
from infomeans.data import Dataset
from infomeans.data.benchmarks import BENCHMARKS
from infomeans.model import Strangeness

SETS = ("usps", "mnist-test", "cifar10", "pendigits", "texture", "segment")
AMONG_IMAGES, AMONG_VECTORS = ("objects", "noise", "halves"), ("uniform", "shuffled", "swapped")
SHARE = 0.05


def main() -> None:
    arguments = parser(str(__doc__).splitlines()[0])
    arguments.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments.add_argument("--datasets", nargs="+", default=SETS)
    arguments.add_argument("--table", action="store_true", help="only write the table")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    for dataset in () if options.table else options.datasets:
        samples = samples_of(dataset, options.data_dir)
        for kind in AMONG_IMAGES if samples.ndim > 2 else AMONG_VECTORS:
            for seed in options.seeds:
                row = {"dataset": dataset, "strangers": kind, "seed": seed}
                where = machine()
                rng = np.random.default_rng(seed)
                strange = strangers(samples, kind, rng, options.data_dir)
                row |= measure(samples, strange, rng)
                append("outliers.jsonl", {**row, "machine": where})
                print(
                    f"{dataset:<11}{kind:<9}{seed:>2}  fitted {row['auc']:.4f}"
                    f"  new {row['new_auc']:.4f}, mean {row['new_mean']:.3f}"
                    f"  {row['fit_seconds']:.2f} + {row['score_seconds']:.2f} s",
                    flush=True,
                )
    write_table()


def samples_of(name: str, folder: Path) -> np.ndarray:
    """The samples of a set."""
    if name in BENCHMARKS:
        return load(name, folder)[0]
    with np.load(folder / f"{name}.npz") as file:
        return file["features" if "features" in file else "images"]


def strangers(samples: np.ndarray, kind: str, rng: np.random.Generator, folder: Path) -> np.ndarray:
    """Samples that do not belong to the set, in its type."""
    count = int(SHARE * len(samples))
    low, high = samples.min(axis=0), samples.max(axis=0)
    if kind == "objects":
        objects = samples_of("coil100", folder)
        size, mode = samples.shape[1:3][::-1], "RGB" if samples.ndim == 4 else "L"
        some = objects[rng.choice(len(objects), count, replace=False)]
        made = np.stack([Image.fromarray(one).convert(mode).resize(size) for one in some])
    elif kind in ("noise", "uniform"):
        ends = (low.min(), high.max()) if kind == "noise" else (low, high)
        made = rng.uniform(*ends, size=(count, *samples.shape[1:]))
    else:
        made = samples[rng.choice(len(samples), count, replace=False)].copy()
        if kind == "halves":
            rows, columns = samples.shape[1] // 2, samples.shape[2] // 2
            for image, side in zip(made, rng.integers(4, size=count), strict=True):
                parts = image[:rows], image[rows:], image[:, :columns], image[:, columns:]
                parts[side][...] = 0
        else:
            made = rng.permuted(made, axis=0 if kind == "shuffled" else 1)
    return made.astype(samples.dtype)


def measure(samples: np.ndarray, strange: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    X = np.concatenate([samples, strange])
    is_strange = np.arange(len(X)) >= len(samples)
    order = rng.permutation(len(X))
    X, is_strange = X[order], is_strange[order]
    model = KMeansBaseline(10, n_init=1, random_state=0, n_threads=1).fit(X)
    feed = Dataset.of_array(X).feed(lambda part: model.model_.prepare(part, torch.device("cpu")))
    began = time.perf_counter()
    Strangeness.of(feed)
    learned = time.perf_counter()
    model.outlier_score(X)
    scored = time.perf_counter()
    seen, new = np.array_split(rng.permutation(samples), 2)
    clean = KMeansBaseline(10, n_init=1, random_state=0, n_threads=1).fit(seen)
    own, other = clean.outlier_score(new), clean.outlier_score(strange)
    return {
        "auc": float(roc_auc_score(is_strange, model.outlier_scores_)),
        "new_auc": float(
            roc_auc_score(np.r_[0 * own, 0 * other + 1], np.concatenate([own, other]))
        ),
        "new_mean": float(own.mean()),
        "fit_seconds": (learned - began) / len(X) * 10_000,
        "score_seconds": (scored - learned) / len(X) * 10_000,
    }


def write_table() -> None:
    """The table: medians over seeds, with the lowest and the highest."""
    rows = Results(RESULTS / "outliers.jsonl").rows()
    lines = [
        "| data | strangers | fitted | new | mean score of new | seconds to learn | to score |",
        "|---|---|---|---|---|---|---|",
    ]
    for dataset, kind in dict.fromkeys((row["dataset"], row["strangers"]) for row in rows):
        own = [row for row in rows if (row["dataset"], row["strangers"]) == (dataset, kind)]
        cells = [span([row[name] for row in own]) for name in ("auc", "new_auc")]
        means = [
            f"{statistics.median(row[name] for row in own):.2f}"
            for name in ("new_mean", "fit_seconds", "score_seconds")
        ]
        lines.append(f"| {' | '.join([dataset, kind, *cells, *means])} |")
    (RESULTS / "outliers.md").write_text("\n".join(lines) + "\n")


def span(values: list[float]) -> str:
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


if __name__ == "__main__":
    main()
