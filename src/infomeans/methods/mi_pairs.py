"""MI-Pairs: mutual information between the clusters of neighbours."""

import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans.methods.batch import Batch
from infomeans.methods.logistic import Logistic
from infomeans.methods.parameters import Sizes
from infomeans.methods.state import SampleState, Statistics

WINDOW = 0.5
"""Share of an epoch that the running joint distribution remembers."""


class MIPairsMethod(Logistic):
    """Minimise `-I(K;K')` plus R, where K and K' are the clusters of a sample and its neighbour.

        P_kl = (1/N) sum_i (p_ik p'_il + p_il p'_ik) / 2
        I(K;K') = sum_kl P_kl log(P_kl / (m_k m_l))

    `p'_i` are the posteriors of a neighbour of sample i, drawn by its weight in the graph of the
    start, and `m` is the marginal of P. The same quantity chooses the start. The logarithm is
    treated as a constant, which does not change the gradient. P is a running mean over batches: a
    single batch is too small for K x K numbers.

    Parameters
    ----------
    n_clusters, n_features : int
    sizes : {"equal", "free"} or sequence of K positive numbers
        Desired shares `d` of the clusters: the divergence `KL(m || d)` is added.
    """

    has_targets = False
    wants_neighbors = True
    joint: Tensor
    window: Tensor

    def __init__(self, n_clusters: int, n_features: int, *, sizes: Sizes = "equal") -> None:
        super().__init__(n_clusters, n_features, sizes=sizes)
        self.register_buffer("joint", torch.eye(n_clusters) / n_clusters)
        self.register_buffer("window", torch.ones(()))

    def start(self, state: SampleState) -> None:
        """Linear discriminants, and the joint distribution of the posteriors of neighbours."""
        super().start(state)
        self.window.fill_(max(1.0, WINDOW * state.n_samples))
        self.warm(state)

    @torch.no_grad()
    def warm(self, state: SampleState) -> None:
        """The joint distribution under the present posteriors of all samples."""
        p = state.map(self)
        others = p if state.neighbors is None else state.votes(self, doubt=0.0)
        sums = state.total(lambda z, q, p, others: {"joint": p.T @ others}, p, others)
        self.joint = _symmetric(sums["joint"] / state.n_samples)

    def loss(self, batch: Batch) -> Statistics:
        """Negative mutual information; in the warm-up, the cross-entropy to the targets."""
        log_p = self.log_posteriors(batch.noisy)
        if batch.q is not None:
            clustering = IF.cross_entropy(batch.q, log_p)
        else:
            others = self.log_posteriors(batch.neighbors_noisy).exp()
            clustering = -((log_p.exp() @ self._pointwise()) * others).sum(dim=1).mean()
        return {"clustering": clustering, "reconstruction": batch.reconstruction}

    def step_statistics(self, batch: Batch) -> Statistics:
        """The sum of the joint posteriors over the batch, and its size; none in the warm-up."""
        if batch.q is not None:
            return {}
        p, others = (self(z) for z in (batch.noisy, batch.neighbors_noisy))
        return {"joint": p.T @ others, "n": p.new_tensor(len(p))}

    def after_step(self, statistics: Statistics) -> None:
        """Move the running joint distribution towards that of the batch."""
        if statistics:
            batch = _symmetric(statistics["joint"] / statistics["n"])
            self.joint = torch.lerp(self.joint, batch, (statistics["n"] / self.window).clamp_max(1))

    def _pointwise(self) -> Tensor:
        """The pointwise mutual information of two clusters (K, K), under the running joint."""
        tiny = torch.finfo(self.joint.dtype).tiny
        mass = self.joint.sum(dim=1).clamp_min(tiny)
        marginal, shares = mass.log(), self.log_shares(mass)
        # A pair of clusters that has not occurred yet must not cost infinitely much.
        least = 1 / (self.window * self.n_clusters)
        information = self.joint.clamp_min(least).log() - marginal[:, None] - marginal
        return information + (shares[:, None] + shares) / 2


def _symmetric(joint: Tensor) -> Tensor:
    return (joint + joint.T) / 2
