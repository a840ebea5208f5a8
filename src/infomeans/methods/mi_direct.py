"""MI-D: the mutual information maximised directly, by gradient steps."""

from collections.abc import Sequence

import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans.methods.batch import Batch
from infomeans.methods.logistic import Logistic
from infomeans.methods.state import Statistics


class MIDirectMethod(Logistic):
    """Minimise `-I(X;K) = (1/N) sum_ik p_ik (log m_k - log p_ik)` plus R.

    The marginal `m` is a constant to the gradient, which changes nothing because rows sum
    to one. It is counted over the whole data set once an epoch and kept running in between: the
    marginal of a single batch of B samples would bias H(K) by about (K - 1) / 2B.

    Parameters
    ----------
    n_clusters, n_features : int
    prior : sequence of K positive numbers, optional
        Wanted shares `d` of the clusters: the divergence `KL(phat || d)` takes the place of
        `-H(K)`.
    """

    has_targets = False
    momentum = 0.9
    marginal: Tensor

    def __init__(
        self, n_clusters: int, n_features: int, *, prior: Sequence[float] | None = None
    ) -> None:
        super().__init__(n_clusters, n_features, prior=prior)
        self.gains_information = prior is None
        self.register_buffer("marginal", torch.full((n_clusters,), 1 / n_clusters))

    def statistics(self, z: Tensor, q: Tensor) -> Statistics:
        """The sum of the posteriors."""
        return {"p": self.log_posteriors(z).exp().sum(dim=0)}

    def update(self, statistics: Statistics) -> bool:
        """Set the marginal."""
        self.marginal = statistics["p"] / statistics["p"].sum()
        return False

    def loss(self, batch: Batch) -> Statistics:
        """Negative mutual information; the cross-entropy while there are targets to warm up on."""
        log_p = self.log_posteriors(batch.noisy)
        if batch.q is not None:
            clustering = IF.cross_entropy(batch.q, log_p)
        else:
            wanted = self.marginal.clamp_min(torch.finfo(log_p.dtype).tiny).log() - self.log_prior
            clustering = (log_p.exp() * (wanted - log_p)).sum(dim=1).mean()
        return {"clustering": clustering, "reconstruction": batch.reconstruction}

    def step_statistics(self, batch: Batch) -> Statistics:
        """The sum of the posteriors over the batch."""
        return self.statistics(batch.noisy, batch.noisy)

    def after_step(self, statistics: Statistics) -> None:
        """Move the running marginal towards that of the batch."""
        batch = statistics["p"] / statistics["p"].sum()
        self.marginal = torch.lerp(batch, self.marginal, self.momentum)
