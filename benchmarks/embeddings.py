"""Embeddings of another model: a head only, and the residual network.

    python benchmarks/embeddings.py --data-dir DATA [--seeds 0 1 2] [--threads 1]
        [--datasets pendigits coil100 usps] [--methods mi-adm sr-kmeans depict mi-d dec dcn]

The embeddings are the 16 features of Pendigits, 64 principal components of COIL-100, and the
embedding of USPS by the default auto-encoder with seed 0. Each is clustered with network=None and
network="residual". Every line has the scores of the start, which is the graph on the unchanged
embeddings, and of the end. Labels are used for scoring only.
"""

import time

import numpy as np
import torch
from common import append, load, machine, parser
from sklearn.decomposition import PCA

import infomeans
from infomeans.methods import METHODS
from infomeans.metrics import scores

COMPONENTS = 64


def main() -> None:
    arguments = parser(str(__doc__).splitlines()[0])
    arguments.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--datasets", nargs="+", default=["pendigits", "coil100", "usps"])
    arguments.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    options = arguments.parse_args()
    torch.set_num_threads(options.threads)
    for dataset in options.datasets:
        samples, classes = load(dataset, options.data_dir)
        X = embed(samples)
        for method in options.methods:
            for seed in options.seeds:
                for network in (None, "residual"):
                    row = {"dataset": dataset, "method": method, "seed": seed, "network": network}
                    where = machine()
                    row |= measure(X, classes, method, seed, network)
                    append("embeddings.jsonl", {**row, "machine": where})
                    print(
                        f"{dataset:<10}{method:<10}{seed:>2} {network!s:<9}"
                        f" start {row['start']['acc']:.4f} / {row['start']['nmi']:.4f}"
                        f"  end {row['acc']:.4f} / {row['nmi']:.4f}  {row['seconds']:.0f} s",
                        flush=True,
                    )


def embed(samples: np.ndarray) -> np.ndarray:
    """Vectors unchanged, colour images by principal components, grey ones by an auto-encoder."""
    if samples.ndim == 2:
        return samples
    if samples.ndim == 4:
        pixels = samples.reshape(len(samples), -1).astype(np.float32)
        return PCA(COMPONENTS, random_state=0).fit_transform(pixels)
    return infomeans.Autoencoder(random_state=0).fit_transform(samples)


def measure(
    X: np.ndarray, classes: np.ndarray, method: str, seed: int, network: str | None
) -> dict[str, object]:
    estimator = getattr(infomeans, METHODS[method].estimator)
    began = time.perf_counter()
    model = estimator(len(set(classes)), network=network, random_state=seed).fit(X)
    seconds = time.perf_counter() - began
    return {
        **scores(classes, model.labels_),
        "start": scores(classes, model.initial_labels_),
        "confidence": float(model.confidences_.mean()),
        "epochs": len(model.history_),
        "seconds": seconds,
    }


if __name__ == "__main__":
    main()
