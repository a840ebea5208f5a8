"""The number of clusters that is found, next to EVoC and UMAP + HDBSCAN.

    python benchmarks/number.py [--sets usps,texture] [--seeds 0,1,2]
        [--peers-python ENV/bin/python]

One thread, defaults. With the true number, `auto` of `benchmarks/choice.py` is shown. The peers get
the pixels or features, divided by the standard deviation of all, and see no number either. Samples
they leave out count as a cluster of their own. They are installed in an environment of their own:

    ENV/bin/pip install evoc umap-learn hdbscan
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from infomeans import InfoMeans
from infomeans.metrics import ari
from infomeans.threads import limited

SETS = ("digits", "texture", "segment", "pendigits", "cmu-pie", "usps", "mnist-test", "coil100")

PEERS = """
import sys, json, time, warnings
import numpy as np
warnings.simplefilter("ignore")
X = np.load(sys.argv[1]); out = {}
began = time.perf_counter()
from evoc import EVoC
out["evoc"] = EVoC().fit_predict(X).tolist()
out["evoc seconds"] = time.perf_counter() - began
began = time.perf_counter()
import umap, hdbscan
z = umap.UMAP(n_neighbors=30, min_dist=0.0, n_components=10, random_state=0).fit_transform(X)
out["umap"] = hdbscan.HDBSCAN(min_cluster_size=max(10, len(X) // 200)).fit_predict(z).tolist()
out["umap seconds"] = time.perf_counter() - began
json.dump(out, open(sys.argv[2], "w"))
"""


def main() -> None:
    from choice import samples
    from common import RESULTS, Results, append, machine, parser

    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--sets", default=",".join(SETS))
    arguments.add_argument("--seeds", default="0,1,2")
    arguments.add_argument("--peers-python", help="only measure the peers, with this Python")
    arguments.add_argument("--table", action="store_true", help="only write number.md")
    options = arguments.parse_args()
    if options.table:
        rows = (Results(RESULTS / f"{name}.jsonl").rows() for name in ("number", "choice"))
        (RESULTS / "number.md").write_text(table(*rows))
        return
    for seed in map(int, options.seeds.split(",")):
        for name in options.sets.split(","):
            X, y, embedded = samples(name, options.data_dir, {})
            if options.peers_python:
                row = peers(X, y, options.peers_python)
            else:
                with limited(1):
                    row = measured(X, y, seed, embedded=embedded)
            append("number.jsonl", {"data": name, "seed": seed, **row, "machine": machine()})
            print(name, seed, json.dumps(row), flush=True)


def measured(X, y, seed: int, *, embedded: bool) -> dict[str, object]:
    options = {"random_state": seed, "n_threads": 1}
    if embedded:
        options["network"] = "residual"
    began = time.perf_counter()
    model = InfoMeans("auto", **options).fit(X)
    seconds = time.perf_counter() - began
    number = {key: value for key, value in model.fitted_.number.items() if key != "modularity"}
    return {
        "true": len(set(y)),
        "number": number,
        "ari": ari(y, model.labels_),
        "seconds": seconds,
    }


def peers(X, y, python: str) -> dict[str, object]:
    flat = X.reshape(len(X), -1).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "X.npy", Path(folder) / "out.json"
        np.save(source, flat / flat.std())
        subprocess.run([python, "-c", PEERS, str(source), str(made)], check=True)
        found = json.loads(made.read_text())
    return {
        peer: {
            "k": len({*found[peer]} - {-1}),
            "ari": ari(y, np.array(found[peer]) + 1),
            "seconds": found[f"{peer} seconds"],
        }
        for peer in ("evoc", "umap")
    } | {"true": len(set(y))}


def table(rows, known) -> str:
    """Markdown: every seed's number, medians of the ARI."""
    heads = [
        "true K",
        "found",
        "ARI",
        "ARI, true K given",
        "EVoC: K, ARI",
        "UMAP + HDBSCAN: K, ARI",
    ]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for name in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == name and "number" in row]
        others = [row for row in rows if row["data"] == name and "evoc" in row]
        if not own:
            continue
        cells = [
            str(own[0]["true"]),
            ", ".join(str(row["number"]["best"]) for row in own),
            f"{np.median([row['ari'] for row in own]):.3f}",
            f"{np.median([r['scores']['auto']['ari'] for r in known if r['data'] == name]):.3f}",
            *(
                f"{others[0][peer]['k']}, {others[0][peer]['ari']:.3f}" if others else ""
                for peer in ("evoc", "umap")
            ),
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
