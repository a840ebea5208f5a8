"""SR-K-means: soft and regularised K-means, the generative face of MI-ADM."""

import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans.methods.base import moments
from infomeans.methods.batch import Batch
from infomeans.methods.parameters import Positive
from infomeans.methods.prototypes import Prototypical
from infomeans.methods.state import SampleState, Statistics


class SRKMeansMethod(Prototypical):
    """Alternate prototypes, softmin targets and network (Eq. R-soft-kmeans).

        theta'_k = (sum_i q_ik z_i) / (sum_i q_ik)
        q_ik ~ exp(-|z_i - theta'_k|^2 / (lambda K))
        min (1 / (N lambda K)) sum_i (sum_k q_ik |z_i - theta'_k|^2 - f_tau(z_i)) + R
        f_tau(z) = -tau log sum_j exp(-|z - theta'_j|^2 / tau)

    The paper prints `|z_i|^2` in place of `f_tau(z_i)`, which makes the loss linear in the
    embedding: its gradient depends on the origin, and pushes samples on and on, past other
    clusters. The soft minimum of all distances takes its place. For a large `tau` it is the printed
    loss, with the origin at the mean of the prototypes. Here `tau` is the mean squared distance of
    the samples to their prototypes at the start.

    Parameters
    ----------
    n_clusters, n_features : int
    lam : float
        The regularisation `lambda`; the softmin's temperature is `lambda K`.
    """

    tolerance = 1e-5
    gained = ("tau",)
    tau: Tensor

    def __init__(self, n_clusters: int, n_features: int, *, lam: Positive = 1e-4) -> None:
        super().__init__(n_clusters, n_features)
        self.temperature = lam * n_clusters
        self.start_lam = lam
        self.register_buffer("tau", torch.ones(()))

    def start(self, state: SampleState) -> None:
        """Prototypes of the initial clusters, and how far samples are from them."""
        super().start(state)
        sums = state.total(lambda z, q: {"far": (q * self._distances(z)).sum(), "n": q.sum()})
        self.tau = (sums["far"] / sums["n"]).clamp_min(1e-6)

    def log_posteriors(self, z: Tensor) -> Tensor:
        """Logarithms of the softmin."""
        return IF.log_softmin(z, self.prototypes, self.temperature)

    def statistics(self, z: Tensor, q: Tensor) -> Statistics:
        """Mass and sum of the samples of each cluster."""
        return moments(z, q)

    def warm(self, state: SampleState) -> None:
        """Keep the prototypes at the means of the initial clusters."""
        self.follow(state)

    def update(self, statistics: Statistics) -> bool:
        """Move the prototypes to the soft means."""
        self._place(IF.weighted_means(statistics["q"], statistics["qz"], self.prototypes))
        return False

    def loss(self, batch: Batch) -> Statistics:
        """The K-means terms, and the reconstruction."""
        assert batch.q is not None
        log_p = IF.log_softmin(batch.noisy, self.prototypes, self.tau)
        pull = self.tau * IF.cross_entropy(batch.q, log_p)
        return {"clustering": pull / self.temperature, "reconstruction": batch.reconstruction}

    def _distances(self, z: Tensor) -> Tensor:
        return IF.squared_distances(z, self.prototypes)
