"""MI-D: mutual information maximised directly by gradient steps."""

import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans.methods.batch import Batch
from infomeans.methods.logistic import Logistic
from infomeans.methods.parameters import NotNegative, Sizes
from infomeans.methods.state import SampleState, Statistics


class MIDirectMethod(Logistic):
    """Minimise `-I(X;K) + lambda sum_k |theta_k|^2` plus R (Eq. RMI).

        -I(X;K) = (1/N) sum_ik p_ik (log m_k - log p_ik)

    The marginal `m` is treated as a constant. This does not change the gradient, because rows sum
    to one. It is a running mean over batches: the marginal of a single batch of B samples would
    bias H(K) by about (K - 1) / 2B. It comes from the noisy pass, as do the posteriors in the loss;
    only its initial value, before the first step, comes from the clean pass.

    Parameters
    ----------
    n_clusters, n_features : int
    lam : float
        The regularisation `lambda` of Eq. RMI. With it this is regularised information
        maximisation.
    sizes : {"equal", "free"} or sequence of K positive numbers
        Desired shares `d` of the clusters: the divergence `KL(phat || d)` replaces `-H(K)`.
    """

    has_targets = False
    momentum = 0.9
    marginal: Tensor

    def __init__(
        self,
        n_clusters: int,
        n_features: int,
        *,
        lam: NotNegative = 0.0,
        sizes: Sizes = "equal",
    ) -> None:
        super().__init__(n_clusters, n_features, sizes=sizes)
        self.lam = lam
        self.start_lam = lam or None
        self.gains_information = self.equal_shares and not lam
        self.register_buffer("marginal", torch.full((n_clusters,), 1 / n_clusters))

    def start(self, state: SampleState) -> None:
        """Linear discriminants, and their marginal."""
        super().start(state)
        sums = state.total(lambda z, q: self._counted(z))
        self.marginal = sums["p"] / sums["p"].sum()

    def loss(self, batch: Batch) -> Statistics:
        """Negative mutual information; in the warm-up, the cross-entropy to the targets."""
        log_p = self.log_posteriors(batch.noisy)
        if batch.q is not None:
            clustering = IF.cross_entropy(batch.q, log_p)
        else:
            marginal = self.marginal.clamp_min(torch.finfo(log_p.dtype).tiny)
            wanted = marginal.log() - self.log_shares(marginal)
            clustering = (log_p.exp() * (wanted - log_p)).sum(dim=1).mean()
        terms = {"clustering": clustering, "reconstruction": batch.reconstruction}
        if self.lam:
            terms["penalty"] = self.lam * self.weight.square().sum()
        return terms

    def step_statistics(self, batch: Batch) -> Statistics:
        """The sum of the posteriors over the batch."""
        return self._counted(batch.noisy)

    def after_step(self, statistics: Statistics) -> None:
        """Move the running marginal towards that of the batch."""
        batch = statistics["p"] / statistics["p"].sum()
        self.marginal = torch.lerp(batch, self.marginal, self.momentum)

    def _counted(self, z: Tensor) -> Statistics:
        return {"p": self.log_posteriors(z).exp().sum(dim=0)}
