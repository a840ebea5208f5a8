"""MI-ADM: mutual information maximised by an alternating direction method."""

from typing import Literal

from torch import Tensor

from infomeans import functional as IF
from infomeans.methods.batch import Batch
from infomeans.methods.logistic import Alternating
from infomeans.methods.parameters import NotNegative, Sizes
from infomeans.methods.state import Statistics


class MIADMMethod(Alternating):
    """Alternate the targets of Eq. optimal.q.Disc with a cross-entropy to them.

        q_ik ~ p_ik^2 / sqrt(sum_i p_ik^2)
        min -(1/N) sum_ik q_ik log p_ik + (lambda / 2) sum_k |theta_k|^2 + R

    The factor 1/2 is there because the regularised objective (Eq. ML.Gener.1) contains the
    cross-entropy twice.

    Parameters
    ----------
    n_clusters, n_features : int
    lam : float
        The regularisation `lambda` of Eq. RMI.
    targets : {"closed", "exact"}
        The formula above, or the exact minimiser `q ~ p^2 / qhat`.
    sizes : {"equal", "free"} or sequence of K positive numbers
        Desired shares of the clusters; see `Logistic`.
    """

    power = 2.0

    def __init__(
        self,
        n_clusters: int,
        n_features: int,
        *,
        lam: NotNegative = 0.0,
        targets: Literal["closed", "exact"] = "closed",
        sizes: Sizes = "equal",
    ) -> None:
        super().__init__(n_clusters, n_features, sizes=sizes)
        self.lam = lam
        self.start_lam = lam or None
        self.exact = targets == "exact"
        # Proposition 3; other shares or a penalty may reduce the information.
        self.gains_information = self.equal_shares and not lam

    def mass(self, log_p: Tensor) -> Tensor:
        """The squared posteriors."""
        return (2 * log_p).exp()

    def closed_weight(self, log_s: Tensor) -> Tensor:
        """One over the root of the sum of the squared posteriors."""
        return IF.mi_adm_weight(log_s, self.log_shares(log_s.exp()))

    def loss(self, batch: Batch) -> Statistics:
        """Cross-entropy, reconstruction and the penalty on the weights."""
        terms = super().loss(batch)
        if self.lam:
            terms["penalty"] = self.lam / 2 * self.weight.square().sum()
        return terms
