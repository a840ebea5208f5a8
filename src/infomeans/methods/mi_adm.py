"""MI-ADM: mutual information maximised by an alternating direction method."""

from collections.abc import Sequence
from typing import Literal

from torch import Tensor

from infomeans import functional as IF
from infomeans.methods.base import Batch, Statistics
from infomeans.methods.logistic import Alternating


class MIADMMethod(Alternating):
    r"""Alternate the targets of Eq. optimal.q.Disc with a cross-entropy to them.

    .. math:: q_{ik} \propto \frac{p_{ik}^2}{\sqrt{\sum_{i'} p_{i'k}^2}}, \qquad
              \min\; -\frac1N \sum_{ik} q_{ik} \log p_{ik}
              + \lambda \sum_k \lVert\theta_k\rVert^2 + R

    Parameters
    ----------
    n_clusters, n_features : int
    lam : float
        The regularisation :math:`\lambda` of Eq. RMI.
    targets : {"closed", "exact"}
        The formula above, or the exact minimiser :math:`q \propto p^2 / \hat q`.
    prior : sequence of K positive numbers, optional
        Wanted shares of the clusters, equal if not given.
    """

    power = 2.0

    def __init__(
        self,
        n_clusters: int,
        n_features: int,
        *,
        lam: float = 0.0,
        targets: Literal["closed", "exact"] = "closed",
        prior: Sequence[float] | None = None,
    ) -> None:
        super().__init__(n_clusters, n_features, prior=prior)
        self.lam = lam
        self.exact = targets == "exact"

    def mass(self, log_p: Tensor) -> Tensor:
        """The squared posteriors."""
        return (2 * log_p).exp()

    def closed_weight(self, log_s: Tensor) -> Tensor:
        """One over the root of their sum."""
        return IF.mi_adm_weight(log_s, self.log_prior)

    def loss(self, batch: Batch) -> Statistics:
        """Cross-entropy, reconstruction and the penalty on the weights."""
        terms = super().loss(batch)
        if self.lam:
            terms["penalty"] = self.lam * self.weight.square().sum()
        return terms
