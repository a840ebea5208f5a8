"""Clusters of unequal sizes: equal, free and automatic sizes, on thinned sets.

    python benchmarks/sizes.py [--sets usps,pendigits] [--spreads 1,7.45,48.3] [--seeds 0,1,2]

Classes are thinned in the order of their names, each by the same factor, until the first is
`spread` times as large as the last: 7.45 is a factor of 0.8 with ten classes, 48.3 one of 0.65. One
thread, no augmentation, one setting for all. Labels serve for thinning and scoring alone.
"""

import time

import numpy as np

from infomeans import Autoencoder, InfoMeans
from infomeans.metrics import scores
from infomeans.threads import limited

SETS = ("mnist-test", "usps", "cmu-pie", "pendigits", "texture", "digits")
SIZES = ("equal", "auto", "free")


def main() -> None:
    from choice import samples
    from common import RESULTS, Results, append, machine, parser

    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--sets", default=",".join(SETS))
    arguments.add_argument("--spreads", default="7.45,48.3,1")
    arguments.add_argument("--seeds", default="0,1,2")
    arguments.add_argument("--table", action="store_true", help="only write sizes.md")
    options = arguments.parse_args()
    if options.table:
        (RESULTS / "sizes.md").write_text(table(Results(RESULTS / "sizes.jsonl").rows()))
        return
    for seed in map(int, options.seeds.split(",")):
        for name in options.sets.split(","):
            for spread in map(float, options.spreads.split(",")):
                X, y, _ = samples(name, options.data_dir, {})
                kept = thinned(y, spread)
                with limited(1):
                    row = measured(X[kept], y[kept], seed)
                append(
                    "sizes.jsonl",
                    {"data": name, "spread": spread, "seed": seed, **row, "machine": machine()},
                )
                said = " ".join(f"{key} {value['acc']:.4f}" for key, value in row["scores"].items())
                print(f"{name:11} 1:{spread:<5} seed {seed}  {said}", flush=True)


def thinned(y, spread: float):
    """Positions of the samples that remain."""
    names = np.unique(y)
    factor = spread ** (-1 / (len(names) - 1))
    kept = [
        np.flatnonzero(y == name)[: max(round(factor**rank * (y == name).sum()), 1)]
        for rank, name in enumerate(names)
    ]
    return np.sort(np.concatenate(kept))


def measured(X, y, seed: int) -> dict[str, object]:
    k, found, seconds, fits = len(set(y)), {}, {}, {}
    encoder = Autoencoder(max(k, 16), random_state=seed, n_threads=1).fit(X)
    shared = {"network": encoder.network_, "pretrain_epochs": 0, "random_state": seed}
    for sizes in SIZES:
        began = time.perf_counter()
        fits[sizes] = InfoMeans(k, sizes=sizes, n_threads=1, **shared).fit(X).fitted_
        seconds[sizes] = time.perf_counter() - began
        found |= {f"start-{sizes}": fits[sizes].initial_labels, sizes: fits[sizes].labels}
    return {
        "scores": {name: scores(y, labels) for name, labels in found.items()},
        "free": fits["auto"].free,
        "start": fits["equal"].choice["chosen"],
        "methods": {sizes: fitted.method for sizes, fitted in fits.items()},
        "seconds": seconds,
    }


def table(rows) -> str:
    """Markdown: medians of the accuracy over the seeds, start and result."""
    lines = ["| | equal | auto | free | auto learned sizes | seeds |", "|---" * 6 + "|"]
    for name, spread in dict.fromkeys((row["data"], row["spread"]) for row in rows):
        own = [row for row in rows if (row["data"], row["spread"]) == (name, spread)]
        cells = [
            " -> ".join(
                f"{np.median([row['scores'][key]['acc'] for row in own]):.3f}"
                for key in (f"start-{sizes}", sizes)
            )
            for sizes in SIZES
        ]
        free = f"{sum(row['free'] for row in own)} of {len(own)}"
        which = name if spread == 1 else f"{name}, 1 : {spread:.0f}"
        lines.append(f"| {which} | {' | '.join([*cells, free, str(len(own))])} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
