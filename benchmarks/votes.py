"""What the neighbours' votes should weigh in the targets of augmented images, with no label.

    python benchmarks/votes.py --data-dir DATA [--datasets usps] [--seeds 0 1 2] [--threads 1]
        [--cache .benchmark-cache]

With `augment=True` the targets of MI-ADM are `p^2 v^c`, up to the weights of the clusters: `p` is
the posterior of an image, `v` the mean posterior of its neighbours. How much do these know that the
network does not see in the image itself? As much as they help to tell what it sees in another view
of it: this script takes one random view of every image, and finds the powers of p and v whose
product predicts the posteriors of the views best (the least cross-entropy). Scaled so that the
power of p is 2, the power of v is the weight c. It is measured twice, in the network that the
alternation begins with and in that it ends with. Of the labels only their number is used.
"""

import math
import time
from argparse import Namespace
from pathlib import Path

import numpy as np
import torch
from common import append, machine, parser
from scipy import sparse
from torch import Tensor

from infomeans.benchmark.grid import Job, load, pretrained
from infomeans.estimators import MIADM
from infomeans.functional import cross_entropy
from infomeans.initial import initial_clusters
from infomeans.training import random_affine
from infomeans.training.augmentation import VOTES

POWER = 2  # of the posterior in the targets


def main() -> None:
    arguments = parser(str(__doc__).splitlines()[0])
    arguments.add_argument("--datasets", nargs="+", default=["usps"])
    arguments.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--cache", type=Path, default=Path(".benchmark-cache"))
    options = arguments.parse_args()
    torch.set_num_threads(options.threads)
    for dataset in options.datasets:
        for seed in options.seeds:
            where = machine()
            row = {"dataset": dataset, "seed": seed, **measure(dataset, seed, options)}
            append("votes.jsonl", {**row, "votes": VOTES, "machine": where})
            print(f"{dataset} {seed}: {row['begin']:.2f} at first, {row['end']:.2f} in the end")


def measure(dataset: str, seed: int, options: Namespace) -> dict[str, float]:
    samples = load(dataset, options.data_dir)
    k = len(set(samples.labels))  # their number alone
    encoder, _ = pretrained(Job(dataset, "mi-adm", seed, True), samples, k, options.cache)
    z, images = encoder.transform(samples.X), encoder._read(samples.X, reset=False)
    graph = initial_clusters(z, k, "graph", seed=seed, images=images).graph
    began, found = time.perf_counter(), {}
    for moment, epochs in (("begin", 0), ("end", None)):
        model = MIADM(
            k,
            network=encoder.network_,
            pretrain_epochs=0,
            epochs=epochs,
            augment=True,
            random_state=seed,
        ).fit(samples.X)
        found[moment] = weight(model, samples.X, graph, seed)
    return {**found, "seconds": time.perf_counter() - began}


def weight(model: MIADM, X: np.ndarray, graph: sparse.csr_array, seed: int) -> float:
    """The weight of the votes by which posteriors of other views are best predicted."""
    x = model._scaled(model._read(X, reset=False), model.scaling_, torch.device("cpu"))
    torch.manual_seed(seed)
    with torch.no_grad():
        seen, other = (
            torch.cat([model.method_(model.network_(change(part))) for part in x.split(1024)])
            for change in (torch.clone, random_affine)
        )
    doubt = VOTES["doubt"]
    votes = torch.as_tensor(graph @ seen.double().numpy())
    logs = torch.stack([seen.double(), (1 - doubt) * votes + doubt / votes.shape[1]]).log()
    own, theirs = best_powers(logs.clamp_min(math.log(1e-30)), other.double())
    return POWER * theirs / own


def best_powers(logs: Tensor, other: Tensor) -> tuple[float, float]:
    """Powers of two posteriors, as logarithms (2, n, K), whose product is nearest to a third."""
    powers = torch.tensor([1.0, 0.0], dtype=logs.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS([powers], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        product = (powers[:, None, None] * logs).sum(dim=0)
        value = cross_entropy(other, product.log_softmax(dim=1))
        value.backward()
        return value

    optimizer.step(loss)
    own, theirs = powers.tolist()
    return own, theirs


if __name__ == "__main__":
    main()
