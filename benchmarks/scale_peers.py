"""Clusters, time and memory beside what is commonly used, on small and very large data.

    python benchmarks/scale_peers.py --data-dir DATA --peers-python ENV/bin/python
        [--sets usps,mnist-test,mnist-full,mixture] [--contestants graph,umap] [--threads 1]
        [--limit 3600] [--seed 0]
    python benchmarks/scale_peers.py --table

The peers are installed in an environment of their own:

    ENV/bin/pip install evoc umap-learn hdbscan scikit-learn

Every contestant is its own process, one after the other, and is stopped at the time limit. All get
the pixels, divided by the standard deviation of all, or the embeddings as they are. Only InfoMeans
gets images as images. The clock starts before the fit and ends with the labels; imports do not
count, compiling does. UMAP + HDBSCAN and EVoC find the number of clusters, the others are told it.
Samples that a peer leaves out count as a cluster of their own. No contestant sees the classes.

- graph: `infomeans.graph.agglomerate`, the start of the deep methods.
- infomeans: `InfoMeans` with its defaults; the residual network for embeddings.
- umap: UMAP to 10 dimensions, then HDBSCAN.
- evoc: EVoC with its defaults.
- minibatch: MiniBatchKMeans of scikit-learn, 10 starts.
- spectral: SpectralClustering of scikit-learn on the graph of 10 neighbours.

`mixture` is 1,000,000 embeddings of 64 features: 50 Gaussians of unequal sizes, each wide in 8
directions of its own. Needs Linux.
"""

# No import of infomeans at the top: the peers' interpreter runs this file too.
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

SETS = ("usps", "mnist-test", "mnist-full", "mixture")
OWN, PEERS = ("graph", "infomeans"), ("umap", "evoc", "minibatch", "spectral")
TITLES = {
    "graph": "graph agglomeration",
    "infomeans": "InfoMeans",
    "umap": "UMAP + HDBSCAN",
    "evoc": "EVoC",
    "minibatch": "MiniBatchKMeans",
    "spectral": "SpectralClustering",
}
PACKAGES = {
    "graph": ("infomeans",),
    "infomeans": ("infomeans", "torch"),
    "umap": ("umap-learn", "hdbscan", "numba"),
    "evoc": ("evoc", "numba"),
    "minibatch": ("scikit-learn",),
    "spectral": ("scikit-learn",),
}
MOST_FOR_SPECTRAL = 100_000
TOO_MANY = "not run: its eigenvectors need hours for so many samples"
MIXTURE_N, MIXTURE_D, MIXTURE_K, WIDE = 1_000_000, 64, 50, 8
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")


def main() -> None:
    if "--table" in sys.argv[1:]:
        from common import RESULTS, Results

        (RESULTS / "scale_peers.md").write_text(
            table(Results(RESULTS / "scale_peers.jsonl").rows())
        )
        return
    options = parsed()
    for name in options.sets.split(","):
        with tempfile.TemporaryDirectory() as folder:
            classes, embedded = prepare(name, options, Path(folder))
            for contestant in options.contestants.split(","):
                row = measure(contestant, options, Path(folder), classes, embedded=embedded)
                keep({"data": name, **row})


def parsed() -> Any:
    from common import parser

    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--peers-python", required=True)
    arguments.add_argument("--sets", default=",".join(SETS))
    arguments.add_argument("--contestants", default=",".join(OWN + PEERS))
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--limit", type=float, default=3600.0, help="seconds per contestant")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--table", action="store_true", help="only write scale_peers.md")
    return arguments.parse_args()


def prepare(name: str, options: Any, folder: Path) -> tuple[np.ndarray, bool]:
    """Write the samples; the classes, and whether the samples are embeddings."""
    if name == "mixture":
        X, classes = mixture(options.seed)
        np.save(folder / "images.npy", X)
        np.save(folder / "vectors.npy", X)
        return classes, True
    from common import load

    images, classes = load(name, options.data_dir)
    flat = images.reshape(len(images), -1).astype(np.float32)
    np.save(folder / "images.npy", images)
    np.save(folder / "vectors.npy", flat / flat.std())
    return classes, False


def mixture(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings and the Gaussian of each."""
    rng = np.random.default_rng(seed)
    shares = rng.uniform(0.5, 2.0, MIXTURE_K)
    classes = rng.choice(MIXTURE_K, MIXTURE_N, p=shares / shares.sum())
    X = np.empty((MIXTURE_N, MIXTURE_D), np.float32)
    for k in range(MIXTURE_K):
        own = np.flatnonzero(classes == k)
        wide = rng.standard_normal((WIDE, MIXTURE_D)) / np.sqrt(WIDE)
        X[own] = 0.6 * rng.standard_normal(MIXTURE_D) + 0.3 * rng.standard_normal(
            (len(own), MIXTURE_D), dtype=np.float32
        )
        X[own] += rng.standard_normal((len(own), WIDE)) @ wide
    return X, classes


def measure(
    name: str, options: Any, folder: Path, classes: np.ndarray, *, embedded: bool
) -> dict[str, Any]:
    """Run a contestant, and score the clusters that it has written."""
    from infomeans.metrics import scores

    job = {"contestant": name, "folder": str(folder), "k": len(np.unique(classes))}
    job |= {"seed": options.seed, "threads": options.threads, "embedded": embedded}
    row = {"contestant": name, "n": len(classes), "true": job["k"], "threads": options.threads}
    row["load1"] = round(os.getloadavg()[0], 2)
    if name == "spectral" and len(classes) > MOST_FOR_SPECTRAL:
        return {**row, "failed": TOO_MANY}
    python = options.peers_python if name in PEERS else sys.executable
    limits = {f"{kind}_NUM_THREADS": str(options.threads) for kind in THREADS}
    try:
        subprocess.run(
            [python, __file__, "--contestant", json.dumps(job)],
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=options.limit,
            env={**os.environ, **limits},
        )
    except subprocess.TimeoutExpired:
        return {**row, "failed": f"stopped after {options.limit:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {**row, "failed": f"ended with code {error.returncode}"}
    labels = np.load(folder / "labels.npy")
    report = json.loads((folder / "report.json").read_text())
    found = {figure: round(value, 4) for figure, value in scores(classes, labels).items()}
    return {**row, "k": len({*np.unique(labels)} - {-1}), **found, **report}


def keep(row: dict[str, Any]) -> None:
    from common import append, machine

    print(json.dumps(row), flush=True)
    append("scale_peers.jsonl", {**row, "machine": machine()})


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: the last measurement of every contestant on every data set."""
    last = {(row["data"], row["contestant"]): row for row in rows}
    heads = (
        "data",
        "samples",
        "method",
        "seconds",
        "on the processor",
        "peak MB",
        "clusters",
        "ACC",
        "NMI",
        "ARI",
        "load",
    )
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for data in SETS:
        for contestant, title in TITLES.items():
            row = last.get((data, contestant))
            if row is None:
                continue
            cells = [data, f"{row['n']:,}", title]
            if "failed" in row:
                cells += [row["failed"], *[""] * 6]
            else:
                cpu = row.get("cpu_seconds")
                cells += [f"{row['seconds']:,.1f}", "" if cpu is None else f"{cpu:,.1f}"]
                cells += [f"{row['peak_mb']:,}", f"{row['k']}"]
                cells += [f"{row[figure]:.3f}" for figure in ("acc", "nmi", "ari")]
            lines.append(f"| {' | '.join([*cells, str(row.get('load1', ''))])} |")
    threads = sorted({row["threads"] for row in last.values()})
    said = f"Threads: {', '.join(map(str, threads))}. Peak memory is that of the whole process."
    said += (
        " The load is that of the machine before; above the number of cores, times are too long."
    )
    return "\n".join([*lines, "", said]) + "\n"


# The process of a contestant.


def contest(job: dict[str, Any]) -> None:
    """Cluster the samples; write the labels, the time and the peak memory."""
    folder, name = Path(job["folder"]), job["contestant"]
    kind = "images" if name == "infomeans" else "vectors"
    fit = FITS[name](job)
    X = np.load(folder / f"{kind}.npy")
    before, began, on_cpu = peak_mb(), time.perf_counter(), time.process_time()
    labels = np.asarray(fit(X))
    seconds = round(time.perf_counter() - began, 2)
    cpu = round(time.process_time() - on_cpu, 2)
    report = {"seconds": seconds, "cpu_seconds": cpu, "before_mb": before, "peak_mb": peak_mb()}
    report["versions"] = {package: version(package) for package in PACKAGES[name]}
    np.save(folder / "labels.npy", labels)
    (folder / "report.json").write_text(json.dumps(report))


def with_graph(job: dict[str, Any]) -> Any:
    from infomeans.graph import agglomerate
    from infomeans.threads import limited

    def fit(X: np.ndarray) -> np.ndarray:
        with limited(job["threads"]):
            return agglomerate(X, job["k"])

    return fit


def with_infomeans(job: dict[str, Any]) -> Any:
    from infomeans import InfoMeans

    options = {"network": "residual"} if job["embedded"] else {}
    model = InfoMeans(job["k"], random_state=job["seed"], n_threads=job["threads"], **options)
    return model.fit_predict


def with_umap(job: dict[str, Any]) -> Any:
    import hdbscan
    import umap

    def fit(X: np.ndarray) -> np.ndarray:
        # With a seed, UMAP uses one thread.
        seed = job["seed"] if job["threads"] == 1 else None
        reducer = umap.UMAP(
            n_neighbors=30, min_dist=0.0, n_components=10, random_state=seed, n_jobs=job["threads"]
        )
        least = max(10, len(X) // 200)
        return hdbscan.HDBSCAN(min_cluster_size=least).fit_predict(reducer.fit_transform(X))

    return fit


def with_evoc(job: dict[str, Any]) -> Any:
    from evoc import EVoC

    return EVoC().fit_predict


def with_minibatch(job: dict[str, Any]) -> Any:
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(job["k"], n_init=10, random_state=job["seed"]).fit_predict


def with_spectral(job: dict[str, Any]) -> Any:
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(
        job["k"],
        affinity="nearest_neighbors",
        n_neighbors=10,
        random_state=job["seed"],
        n_jobs=job["threads"],
    ).fit_predict


FITS = {
    "graph": with_graph,
    "infomeans": with_infomeans,
    "umap": with_umap,
    "evoc": with_evoc,
    "minibatch": with_minibatch,
    "spectral": with_spectral,
}


def peak_mb() -> int:
    """Peak memory of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(round(int(line.split()[1]) / 1024) for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--contestant"]:
        contest(json.loads(sys.argv[2]))
    else:
        main()
