"""Total time from samples to clusters, with defaults and all cores.

    python benchmarks/from_nothing.py --data-dir DATA [--datasets usps,mnist-test] [--seed 0]
        [--method mi-adm] [--augment] [--threads 1]

The methods are MI-ADM and the graph on the pixels, which trains nothing. The time includes
pretraining, start and both phases, but not reading the file. Run it on an idle machine; the load is
recorded. On a busy one, compare `cpu_seconds`.
"""

import time
from collections import Counter

from choice import samples
from common import append, machine, parser

from infomeans import MIADM, GraphBaseline
from infomeans.metrics import scores

METHODS = {"mi-adm": MIADM, "graph": GraphBaseline}


def main() -> None:
    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--datasets", default="usps,mnist-test", help="separated by commas")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--method", choices=METHODS, default="mi-adm")
    arguments.add_argument("--augment", action="store_true")
    arguments.add_argument("--threads", type=int, help="by default as many as are worth it")
    options = arguments.parse_args()
    for dataset in options.datasets.split(","):
        X, classes, _ = samples(dataset, options.data_dir, {})
        before = machine()
        began, cpu_began = time.perf_counter(), time.process_time()
        model = METHODS[options.method](
            len(set(classes)),
            augment=options.augment,
            random_state=options.seed,
            n_threads=options.threads,
        ).fit(X)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu_began
        row = {
            "dataset": dataset,
            "method": options.method,
            "augment": options.augment,
            "seed": options.seed,
            "threads": model.n_threads_,
            "seconds": seconds,
            "cpu_seconds": cpu,
            "phases": phases(model.history_),
            "epochs": epochs(model.history_),
            **scores(classes, model.labels_),
            **({"start": scores(classes, model.initial_labels_)} if model.history_ else {}),
            "machine": before,
        }
        print(f"{dataset}: {seconds:.0f} s, ACC {row['acc']:.4f}, NMI {row['nmi']:.4f}", flush=True)
        append("from_nothing.jsonl", row)


def epochs(history: list[dict]) -> dict[str, int]:
    """Number of epochs of each phase."""
    return dict(Counter(record["phase"] for record in history))


def phases(history: list[dict]) -> dict[str, float]:
    """Seconds of each phase."""
    names = dict.fromkeys(record["phase"] for record in history)
    return {
        name: round(sum(r["seconds"] for r in history if r["phase"] == name), 1) for name in names
    }


if __name__ == "__main__":
    main()
