"""How well MI-ADM does with its defaults, and its own graph start, on real data.

    python benchmarks/quality.py --data-dir DATA [--datasets usps ...] [--seeds 0 1 2]

Labels serve for scoring alone. Every run adds a line to results/quality.jsonl; what has a line
there already is not run again.
"""

import json
import time
from statistics import median

from common import RESULTS, append, load, machine, parser
from rich.console import Console
from rich.table import Table

import infomeans
from infomeans.metrics import scores

DATASETS = ["usps", "pendigits", "mnist-test", "coil100"]


def main() -> None:
    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--datasets", nargs="+", default=DATASETS)
    arguments.add_argument("--methods", nargs="+", default=["MIADM"])
    arguments.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    options = arguments.parse_args()
    rows = []
    for dataset in options.datasets:
        for method in options.methods:
            rows += [run(dataset, method, seed, options.data_dir) for seed in options.seeds]
    show(rows)


def run(dataset: str, method: str, seed: int, folder) -> dict[str, object]:
    key = {"dataset": dataset, "method": method, "seed": seed}
    for row in done():
        if key.items() <= row.items():
            return row
    where = machine()
    X, classes = load(dataset, folder)
    began = time.perf_counter()
    model = getattr(infomeans, method)(len(set(classes)), random_state=seed).fit(X)
    row = {
        **key,
        **scores(classes, model.labels_),
        "start": scores(classes, model.initial_labels_),
        "mi": model.history_[-1]["mi"],
        "empty": model.history_[-1]["empty"],
        "epochs": len(model.history_),
        "seconds": time.perf_counter() - began,
        "machine": where,
    }
    append("quality.jsonl", row)
    print(key, {name: round(row[name], 4) for name in ("acc", "nmi", "seconds")}, flush=True)
    return row


def done() -> list[dict]:
    path = RESULTS / "quality.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def show(rows: list[dict]) -> None:
    table = Table(title="median over seeds [lowest, highest]")
    for name in ("data", "method", "start acc", "start NMI", "acc", "NMI", "ARI", "seconds"):
        table.add_column(name)
    for dataset, method in dict.fromkeys((row["dataset"], row["method"]) for row in rows):
        group = [r for r in rows if (r["dataset"], r["method"]) == (dataset, method)]
        starts = [row["start"] for row in group]
        table.add_row(
            dataset,
            method,
            spread([s["acc"] for s in starts]),
            spread([s["nmi"] for s in starts]),
            *(spread([row[name] for row in group]) for name in ("acc", "nmi", "ari")),
            spread([row["seconds"] for row in group], digits=0),
        )
    Console(width=130).print(table)


def spread(values: list[float], digits: int = 4) -> str:
    low, middle, high = min(values), median(values), max(values)
    return f"{middle:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


if __name__ == "__main__":
    main()
