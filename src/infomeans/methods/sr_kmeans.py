"""SR-K-means: soft and regularised K-means, the generative face of MI-ADM."""

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
        min (1 / (N lambda K)) sum_i (sum_k q_ik |z_i - theta'_k|^2 - |z_i|^2) + R

    At fixed targets and prototypes the loss is linear in the embedding, so that only a bounded
    network keeps it from running away.

    Parameters
    ----------
    n_clusters, n_features : int
    lam : float
        The regularisation `lambda`; the softmin's temperature is `lambda K`.
    """

    needs_bounded = True
    tolerance = 1e-5
    soft = False

    def __init__(self, n_clusters: int, n_features: int, *, lam: Positive = 1e-4) -> None:
        super().__init__(n_clusters, n_features)
        self.temperature = lam * n_clusters

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
        """The K-means terms, with the squared norms cancelled, and the reconstruction."""
        assert batch.q is not None
        norms = self.prototypes.square().sum(dim=1)
        pull = batch.q @ norms - 2 * (batch.noisy * (batch.q @ self.prototypes)).sum(dim=1)
        return {
            "clustering": pull.mean() / self.temperature,
            "reconstruction": batch.reconstruction,
        }
