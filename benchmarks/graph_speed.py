"""Time of graph agglomeration, including the neighbour search, and its growth with n.

    python benchmarks/graph_speed.py --data-dir DATA

On the first principal components of MNIST: with ten, neighbours are found in a tree. With sixteen,
the smallest size of a default embedding, they are found by comparing all pairs.
"""

import math
import time

import numpy as np
from common import append, load, machine, parser
from sklearn.decomposition import PCA

from infomeans.graph import agglomerate


def main() -> None:
    options = parser(__doc__.splitlines()[0]).parse_args()
    images, _ = load("mnist-full", options.data_dir)
    pixels = images.reshape(len(images), -1).astype(np.float32)
    order = np.random.default_rng(0).permutation(len(pixels))
    for features in (10, 16):
        measure(PCA(features, random_state=0).fit_transform(pixels)[order])


def measure(X: np.ndarray) -> None:
    before = machine()
    agglomerate(X[:1000], 10)
    features, seconds = X.shape[1], {}
    for n in (7_000, 11_000, 22_000, 35_000, 70_000):
        part = np.ascontiguousarray(X[:n])
        began = time.perf_counter()
        agglomerate(part, 10)
        seconds[n] = time.perf_counter() - began
        print(f"{n:>6} x {features}: {seconds[n]:6.2f} s", flush=True)
    exponent = math.log(seconds[70_000] / seconds[7_000]) / math.log(10)
    print(f"growth from 7,000 to 70,000: n^{exponent:.2f}")
    append(
        "graph_speed.jsonl",
        {"features": features, "seconds": seconds, "exponent": exponent, "machine": before},
    )


if __name__ == "__main__":
    main()
