"""The chosen start, what training adds to it, and the plain baselines, on every set.

    python benchmarks/choice.py [--sets usps,texture] [--seeds 0,1,2] [--embeddings NAME=FILE.npz]

One thread, no augmentation, one setting for all sets. Labels serve for scoring alone. Newsgroups
are 100 singular vectors of TF-IDF, of unit length. --embeddings adds features of another model: an
.npz with `X` and `y`.
"""

import gzip
import json
import time
from pathlib import Path

import numpy as np

from infomeans import MIADM, Autoencoder, GraphBaseline, InfoMeans, KMeansBaseline, MIPairs
from infomeans.metrics import scores
from infomeans.threads import limited

SETS = (
    "digits", "digits-vectors", "segment", "texture", "pendigits", "newsgroups",
    "cmu-pie", "usps", "mnist-test", "coil100",
)  # fmt: skip
METHODS = {"auto": InfoMeans, "mi-adm": MIADM, "mi-pairs": MIPairs}


def main() -> None:
    from common import RESULTS, Results, append, machine, parser

    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--sets", default=",".join(SETS))
    arguments.add_argument("--seeds", default="0,1,2")
    arguments.add_argument("--embeddings", action="append", default=[], metavar="NAME=FILE.npz")
    arguments.add_argument("--table", action="store_true", help="only write choice.md")
    options = arguments.parse_args()
    if options.table:
        (RESULTS / "choice.md").write_text(table(Results(RESULTS / "choice.jsonl").rows()))
        return
    files = dict(entry.split("=", 1) for entry in options.embeddings)
    for seed in map(int, options.seeds.split(",")):
        for name in (*filter(None, options.sets.split(",")), *files):
            X, y, embedded = samples(name, options.data_dir, files)
            with limited(1):
                row = measured(X, y, seed, embedded=embedded)
            append("choice.jsonl", {"data": name, "seed": seed, **row, "machine": machine()})
            said = " ".join(f"{key} {value['acc']:.4f}" for key, value in row["scores"].items())
            print(f"{name:14} seed {seed}  {said}  stability {row['stability']:.3f}", flush=True)
            print(f"{'':14} {row['choice']['chosen']}", flush=True)


def samples(name: str, folder: Path, files: dict[str, str]):
    """Samples, classes, and whether the samples are embeddings."""
    from common import load
    from sklearn.datasets import load_digits

    if name in files:
        file = np.load(files[name])
        return file["X"], file["y"], True
    if name == "newsgroups":
        return *newsgroups(folder), True
    if name == "digits-vectors":
        return *load_digits(return_X_y=True), False
    if name in ("segment", "texture"):
        file = np.load(folder / f"{name}.npz")
        return file["features"], file["labels"], False
    return *load(name, folder), False


def newsgroups(folder: Path):
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    with gzip.open(folder / "newsgroups.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    words = TfidfVectorizer(sublinear_tf=True, min_df=3, max_df=0.5, stop_words="english")
    counts = words.fit_transform([row["text"] for row in rows])
    X = normalize(TruncatedSVD(100, random_state=0).fit_transform(counts))
    return X, np.unique([row["label"] for row in rows], return_inverse=True)[1]


def measured(X, y, seed: int, *, embedded: bool) -> dict[str, object]:
    k, seconds = len(set(y)), {}

    def timed(name, fit):
        began = time.perf_counter()
        model = fit()
        seconds[name] = time.perf_counter() - began
        return model

    found = {
        "kmeans": timed(
            "kmeans", lambda: KMeansBaseline(k, random_state=seed, embeddings=embedded).fit(X)
        ).labels_,
        "graph": timed("graph", lambda: GraphBaseline(k, embeddings=embedded).fit(X)).labels_,
    }
    shared = {"random_state": seed, "n_threads": 1, "network": "residual"}
    if not embedded:
        encoder = timed(
            "pretraining",
            lambda: Autoencoder(max(k, 16), random_state=seed, n_threads=1).fit(X),
        )
        shared |= {"network": encoder.network_, "pretrain_epochs": 0}
        z = encoder.transform(X)
        found["graph-embedding"] = GraphBaseline(k, embeddings=True).fit(z).labels_
    for name, method in METHODS.items():
        if name == "auto":
            fitted = timed(name, lambda: InfoMeans(k, **shared).fit(X)).fitted_
            found |= {"start": fitted.initial_labels, "auto": fitted.labels}
        elif name == fitted.method:
            found[name] = fitted.labels
        else:
            found[name] = timed(name, lambda method=method: method(k, **shared).fit(X)).labels_
    seconds["start"] = fitted.start_seconds
    return {
        "scores": {name: scores(y, labels) for name, labels in found.items()},
        "stability": float(fitted.stability.mean()),
        "confidence": float(fitted.confidences.mean()),
        "score": fitted.score,
        "method": fitted.method,
        "choice": dict(fitted.choice),
        "seconds": seconds,
    }


def table(rows) -> str:
    """Markdown: medians over the seeds."""
    heads = ["K-means on data", "graph on data", "graph on embedding", "chosen start", "auto",
             "MI-ADM", "MI-Pairs", "stability", "confidence", "seeds"]  # fmt: skip
    keys = ["kmeans", "graph", "graph-embedding", "start", "auto", "mi-adm", "mi-pairs"]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for name in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == name]
        cells = [
            f"{np.median([row['scores'][key]['acc'] for row in own]):.3f}"
            if key in own[0]["scores"] else ""
            for key in keys
        ]  # fmt: skip
        signs = [
            f"{np.median([row[key] for row in own]):.3f}" for key in ("stability", "confidence")
        ]
        lines.append(f"| {name} | {' | '.join([*cells, *signs, str(len(own))])} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
