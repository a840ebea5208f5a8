"""DCN: hard K-means on the embedding, with centroids that follow every batch."""

import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans.methods.base import moments
from infomeans.methods.batch import Batch
from infomeans.methods.parameters import NotNegative
from infomeans.methods.prototypes import Prototypical
from infomeans.methods.state import SampleState, Statistics


class DCNMethod(Prototypical):
    """Minimise `(lambda / 2) |z_i - m_{s(i)}|^2 + R`, where s(i) is the nearest centroid.

    After every step the centroids move by their members in the batch,
    `m_k <- (c_k m_k + sum_{s(i)=k} z_i) / (c_k + n_k)`, and the counts `c_k` grow by
    `n_k` (Eq. objective.k.means). In the warm-up s(i) is the initial cluster, because the nearest
    centroid is a poor guide to initial clusters that are not round.

    Parameters
    ----------
    n_clusters, n_features : int
    lam : float
        Weight of the clustering term.
    """

    has_targets = False
    soft = False
    counts: Tensor

    def __init__(self, n_clusters: int, n_features: int, *, lam: NotNegative = 1.0) -> None:
        super().__init__(n_clusters, n_features)
        self.lam = lam
        self.register_buffer("counts", torch.ones(n_clusters))

    def start(self, state: SampleState) -> None:
        """Centroids and counts of the initial clusters."""
        super().start(state)
        self.counts = state.total(moments)["q"].clamp_min(1)

    def warm(self, state: SampleState) -> None:
        """Keep the centroids at the means of the initial clusters."""
        self.start(state)

    def log_posteriors(self, z: Tensor) -> Tensor:
        """Zero for the nearest centroid, minus infinity for the others."""
        return self._nearest(z).log()

    def loss(self, batch: Batch) -> Statistics:
        """Squared distance to the assigned centroid, and the reconstruction."""
        own = self._own(batch) @ self.prototypes
        distance = (batch.noisy - own).square().sum(dim=1).mean()
        return {"clustering": self.lam / 2 * distance, "reconstruction": batch.reconstruction}

    def step_statistics(self, batch: Batch) -> Statistics:
        """Members of each cluster in the batch, and their sum."""
        return moments(batch.clean, self._own(batch))

    def after_step(self, statistics: Statistics) -> None:
        """Move the centroids by the batch."""
        count, counts = statistics["q"], self.counts
        self.counts = counts + count
        self._place((counts[:, None] * self.prototypes + statistics["qz"]) / self.counts[:, None])

    def split(
        self, state: SampleState, source: int, empty: int, stays: Tensor, leaves: Tensor
    ) -> None:
        """Split the centroid and its count."""
        super().split(state, source, empty, stays, leaves)
        share, count = len(leaves) / (len(stays) + len(leaves)), self.counts[source].clone()
        self.counts[source], self.counts[empty] = (1 - share) * count, share * count

    def _own(self, batch: Batch) -> Tensor:
        """Assignment: the initial one in the warm-up, which may be soft, else the nearest."""
        return self._nearest(batch.clean) if batch.q is None else batch.q

    def _nearest(self, z: Tensor) -> Tensor:
        """One-hot assignment to the nearest centroid (n, K)."""
        return self._one_hot(IF.squared_distances(z, self.prototypes).argmin(dim=1)).to(z)
