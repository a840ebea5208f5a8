"""Time and memory of graph agglomeration, neighbours included, up to a million samples.

    python benchmarks/graph_scale.py [--sizes 70000x10 70000x16 1000000x16 1000000x64]

Samples come from twenty groups. Each is a bent surface of six dimensions in the space of the
features, with noise around it. Every size is a process of its own, so that its peak memory is true.
Processor seconds count all threads. They say more than seconds on a machine that others use.
With --data-dir, also the first ten principal components of MNIST, with approximate and with exact
neighbours, and the share of the true 20 neighbours that is found among the pixels of MNIST.
"""

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from common import append, load, machine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from infomeans.graph import neighbors, tree
from infomeans.graph.agglomeration import Agglomeration
from infomeans.graph.approximate import approximate_neighbors
from infomeans.graph.neighbors import neighbor_graph, usual_neighbors
from infomeans.metrics import accuracy

GROUPS, LATENT, SEED = 20, 6, 0


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument(
        "--sizes", nargs="*", default=["70000x10", "70000x16", "1000000x16", "1000000x64"]
    )
    arguments.add_argument("--data-dir", type=Path, default=os.environ.get("INFOMEANS_DATA"))
    arguments.add_argument("--one", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.one:
        work = recall if options.one == "mnist-recall" else measured
        print(json.dumps(work(options.one, options.data_dir)))
        return
    names = [
        *options.sizes,
        *(["mnist", "mnist-exact", "mnist-recall"] if options.data_dir else []),
    ]
    for name in names:
        before = machine()
        data = ["--data-dir", str(options.data_dir)] if options.data_dir else []
        command = [sys.executable, __file__, "--one", name, *data]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout.splitlines()[-1])
        print(row, flush=True)
        written = shlex.join(["python", *sys.argv])
        append("graph_scale.jsonl", {**row, "seed": SEED, "command": written, "machine": before})


def measured(name: str, folder: Path | None) -> dict[str, object]:
    """Time, memory and quality of one size, after the compiled code was loaded."""
    X, classes = samples(name, folder)
    if name == "mnist-exact":
        neighbors.EXACT_SAMPLES = len(X)
    tree._compiled()
    small = np.random.default_rng(0).normal(size=(tree.WORTH_COMPILING, 4))
    Agglomeration(small, neighbor_graph(small, 8), 2)
    k = int(classes.max()) + 1
    clocks = [(time.perf_counter(), time.process_time())]
    graph = neighbor_graph(X, usual_neighbors(len(X), k))
    clocks.append((time.perf_counter(), time.process_time()))
    clusters = Agglomeration(X, graph, k)
    clocks.append((time.perf_counter(), time.process_time()))
    labels = clusters.equal()
    clocks.append((time.perf_counter(), time.process_time()))
    seconds, processor = np.diff(np.array(clocks), axis=0).T
    parts = ("neighbours", "merges", "cut")
    return {
        "data": name,
        "samples": X.shape[0],
        "features": X.shape[1],
        "seconds": round(float(seconds.sum()), 2),
        "processor_seconds": round(float(processor.sum()), 2),
        "parts": {part: round(float(s), 2) for part, s in zip(parts, processor, strict=True)},
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "load_after": os.getloadavg()[0],
        "ari": round(float(adjusted_rand_score(classes, labels)), 4),
        "acc": round(float(accuracy(classes, labels)), 4),
    }


def recall(name: str, folder: Path) -> dict[str, object]:
    """The share of true neighbours that is found, over a thousand samples."""
    images, _ = load("mnist-full", folder)
    X = images.reshape(len(images), -1).astype(np.float32)
    began, processor = time.perf_counter(), time.process_time()
    _, found = approximate_neighbors(X, 20)
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    asked = np.random.default_rng(SEED).choice(len(X), 1000, replace=False)
    exact = NearestNeighbors(n_neighbors=21).fit(X).kneighbors(X[asked], return_distance=False)
    met = [len(set(a) & set(b[b != i])) for i, a, b in zip(asked, found[asked], exact, strict=True)]
    return {
        "data": name,
        "recall": float(np.mean(met)) / 20,
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def samples(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Samples and groups: of a size such as "70000x10", or of MNIST."""
    if name.startswith("mnist"):
        images, classes = load("mnist-full", folder)
        pixels = images.reshape(len(images), -1).astype(np.float32)
        return PCA(10, random_state=0).fit_transform(pixels), classes
    n, features = map(int, name.split("x"))
    rng = np.random.default_rng(SEED)
    classes = rng.integers(GROUPS, size=n)
    X = np.empty((n, features), dtype=np.float32)
    for group in range(GROUPS):
        own = np.flatnonzero(classes == group)
        centre = 1.2 * rng.normal(size=features)
        straight, bent = rng.normal(size=(2, LATENT, features)) / np.sqrt(LATENT)
        place = rng.normal(size=(len(own), LATENT))
        noise = 0.1 * rng.normal(size=(len(own), features))
        X[own] = centre + place @ straight + 0.3 * np.sin(2 * place) @ bent + noise
    return X, classes


if __name__ == "__main__":
    main()
