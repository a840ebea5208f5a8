"""Find the initial clusters in the embedding of a pretrained network."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from torch import Tensor

from infomeans import functional as IF
from infomeans._typing import Array, IntArray
from infomeans.data.memory import SHARE, Memory, in_parts, joined, total_memory
from infomeans.graph.agglomeration import Sizes, clusters_and_graph
from infomeans.methods.state import Neighbors
from infomeans.start.score import Score
from infomeans.threads import allowed, openmp_threads
from infomeans.torchrun import on_this_machine

Init = Literal["auto", "graph", "kmeans", "soft_kmeans"] | ArrayLike
NAMES = ("auto", "graph", "kmeans", "soft_kmeans")
N_INIT = 20
"""Number of random starts of K-means."""

UNEVEN = 0.95
"""Sizes are uneven if the entropy of the shares is below this share of its maximum."""

COMPARED = 2_000
"""Number of samples that the others are compared with, if only some were looked at."""

SAMPLE_BYTES, FEWEST_SELECTED, PER_CLUSTER = 8192, 20_000, 200
"""Memory that the graph needs per sample, and the fewest samples to look at, in all and per
cluster."""

LAM = 1e-4
"""Regularisation of soft K-means, for methods without their own."""


@dataclass(frozen=True)
class Start:
    """The initial clusters.

    Attributes
    ----------
    labels : (n,) integer tensor
        Initial cluster of each sample; -1 for samples that were not looked at.
    targets : (n, K) tensor, optional
        Soft targets; by default the one-hot labels.
    neighbors : Neighbors, optional
        Neighbours in the graph, if the clusters come from one.
    choice : dict, optional
        The candidates and their scores, if there was a choice; see `Choice.as_dict`.
    stability : (n,) tensor, optional
        Share of the alternatives that agree with the cluster of each sample.
    score : Score, optional
        What the candidates were compared by.
    seconds : float
        Time to find the clusters.
    number : dict, optional
        How the number of clusters was found; see `NumberOfClusters.as_dict`.
    free : bool
        Whether the clusters were cut without regard to their sizes.
    n_selected : int, optional
        Number of samples that were looked at, if not all.
    was_uneven : bool, optional
        Whether the sizes of the clusters were uneven in these.
    """

    labels: Tensor
    targets: Tensor | None = None
    neighbors: Neighbors | None = None
    choice: Mapping[str, Any] | None = None
    stability: Tensor | None = None
    score: Score | None = None
    seconds: float = 0.0
    number: Mapping[str, Any] | None = None
    free: bool = False
    n_selected: int | None = None
    was_uneven: bool | None = None

    def of_selected(self, selected: IntArray, z: Array) -> Start:
        """The start of all samples, from that of some: the others have no cluster yet.

        Their stability is that of the nearest sample among a few that were looked at.

        Parameters
        ----------
        selected : (m,) integer array
            Positions of the samples that this start is about.
        z : (n, d) array
            The embedding of all samples.
        """
        labels = torch.full((len(z),), -1)
        labels[selected] = self.labels
        stability, score = self.stability, self.score
        if stability is not None:
            few = np.linspace(0, len(selected) - 1, min(len(selected), COMPARED)).astype(int)
            known, stability = stability, stability[few][_nearest(z, z[selected[few]])]
            stability[selected] = known
        targets = self.targets
        if targets is not None:
            soft, targets = targets, targets.new_zeros(len(z), targets.shape[1])
            targets[selected] = soft
        if score is not None:
            score = replace(score, samples=torch.as_tensor(selected)[score.samples])
        return replace(
            self,
            labels=labels,
            targets=targets,
            neighbors=None,
            stability=stability,
            score=score,
            n_selected=len(selected),
            was_uneven=self.uneven(int(self.labels.max()) + 1),
        )

    def uneven(self, n_clusters: int) -> bool:
        """Whether the sizes of the clusters are far from equal, by their entropy."""
        if self.was_uneven is not None:
            return self.was_uneven
        known = self.labels[self.labels >= 0]
        shares = torch.bincount(known, minlength=n_clusters).double() / len(known)
        return IF.entropy(shares).item() < UNEVEN * math.log(n_clusters)

    @property
    def lasting(self) -> dict[str, Any]:
        """Neighbours, and how the start was chosen, for a checkpoint."""
        score = self.score and self.score.state_dict()
        return {
            "neighbors": self.neighbors,
            "choice": self.choice,
            "stability": self.stability,
            "score": score,
            "seconds": self.seconds,
            "number": self.number,
            "free": self.free,
            "n_selected": self.n_selected,
            "was_uneven": self.was_uneven,
        }

    @classmethod
    def restored(cls, labels: Tensor, lasting: Mapping[str, Any]) -> Start:
        """The start of an interrupted training."""
        neighbors, score = lasting["neighbors"], lasting["score"]
        found = {
            "neighbors": neighbors and Neighbors(*neighbors),
            "score": score and Score.restored(score),
        }
        return cls(labels, **{**lasting, **found})


def start_samples(memory: Memory, n_clusters: int) -> int:
    """Number of samples that initial clusters can be found in, within a limit of the memory."""
    fewest = max(FEWEST_SELECTED, PER_CLUSTER * n_clusters)
    # What is free now must not decide; the machine may.
    size = memory.limit or SHARE * total_memory() / on_this_machine()
    return max(int(min(size / SAMPLE_BYTES, sys.maxsize)), fewest)


def _nearest(z: Array, some: Array, block: int = 16_384) -> IntArray:
    """The nearest of some samples for each sample (n,)."""
    with openmp_threads(allowed()):
        parts = (pairwise_distances_argmin(part, some) for part in in_parts(z, block))
        return joined(parts, len(z))


def check_init(init: Init, n_samples: int, n_clusters: int) -> IntArray | None:
    """Refuse an invalid `init`; return an array of labels as integers, None for a name."""
    if isinstance(init, str):
        if init not in NAMES:
            raise ValueError(
                f"init={init!r} is unknown; choose one of {', '.join(NAMES)} or give an array of "
                f"n_samples labels."
            )
        return None
    labels = np.asarray(init)
    if labels.shape != (n_samples,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"init is an array of shape {labels.shape} and type {labels.dtype}; one integer label "
            f"for each of the {n_samples} samples is accepted."
        )
    if labels.min() < 0 or labels.max() >= n_clusters:
        raise ValueError(
            f"init has labels from {labels.min()} to {labels.max()}; with n_clusters={n_clusters} "
            f"they must be between 0 and {n_clusters - 1}."
        )
    return labels.astype(np.int64)


def find_start(
    z: Array,
    n_clusters: int,
    init: Init,
    *,
    seed: int,
    lam: float = LAM,
    images: NDArray[Any] | None = None,
    sizes: Sizes = "equal",
) -> Start:
    """Find the initial clusters of an embedding (n, d).

    Parameters
    ----------
    z : (n, d) array
        The embedding.
    n_clusters : int
        Number of clusters.
    init : {"auto", "graph", "kmeans", "soft_kmeans"} or array of labels
        Sparse graph agglomeration for "auto" and "graph"; K-means; or K-means followed by soft
        updates, which gives soft targets, as in the paper.
    seed : int
        Seed of K-means.
    lam : float
        Regularisation of soft K-means.
    images : (n, c, h, w) array, optional
        The embedded images, if small affine maps do not alter what they show; see `agglomerate`.
    sizes : {"auto", "equal", "free"}
        Whether the graph is cut into clusters of similar sizes; see `Agglomeration.parts_groups`.
    """
    labels = check_init(init, len(z), n_clusters)
    if labels is not None:
        return Start(torch.as_tensor(labels))
    if init in ("auto", "graph"):
        found = clusters_and_graph(z, n_clusters, images=images, sizes=sizes)
        neighbors = None if found.graph is None else Neighbors.of_graph(found.graph)
        return Start(torch.as_tensor(found.labels), neighbors=neighbors, free=found.free)
    plain = kmeans(z, n_clusters, seed=seed)
    if init == "kmeans":
        return Start(torch.as_tensor(plain.labels_.astype(np.int64)))
    targets = torch.as_tensor(soft_kmeans(z, plain.cluster_centers_, lam=lam))
    return Start(targets.argmax(dim=1), targets)


def kmeans(
    X: Array, n_clusters: int, *, seed: int, n_init: int = N_INIT, init: Array | None = None
) -> KMeans:
    """K-means by scikit-learn, with a deterministic result.

    Parameters
    ----------
    X : (n, d) array
        Samples.
    n_clusters : int
        Number of clusters.
    seed : int
        Seed of the random starts.
    n_init : int
        Number of random starts; the best one is kept.
    init : (n_clusters, d) array, optional
        The centres to start from, instead of random ones.
    """
    given = {"n_init": n_init} if init is None else {"init": init, "n_init": 1}
    # With several threads the order of summation varies, and ties could be broken either way.
    with openmp_threads(1), warnings.catch_warnings():
        # Duplicate samples leave clusters empty; the estimators warn about that.
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        return KMeans(n_clusters, random_state=seed, **given).fit(X)


def soft_kmeans(z: Array, prototypes: Array, *, lam: float = LAM, max_rounds: int = 100) -> Array:
    """Soft assignments (n, K): alternate prototypes and softmins until convergence."""
    points, centres = torch.as_tensor(z).double(), torch.as_tensor(prototypes).double()
    temperature = lam * len(centres)
    q = IF.log_softmin(points, centres, temperature).exp()
    for _ in range(max_rounds):
        centres = IF.weighted_means(q.sum(dim=0), q.T @ points, centres)
        before, q = q, IF.log_softmin(points, centres, temperature).exp()
        if (q - before).abs().max() < 1e-6:
            break
    return q.numpy()
