"""DEPICT: a KL divergence to targets, with a term that balances the clusters."""

from typing import Literal

from torch import Tensor

from infomeans import functional as IF
from infomeans.methods.logistic import Alternating
from infomeans.methods.parameters import NotNegative, Sizes


class DEPICTMethod(Alternating):
    """Alternate DEPICT's targets with a cross-entropy to them (Eq. kl.disc).

    The published formula `q ~ p / sqrt(sum p)` does not sharpen, and with it the mutual
    information falls. The authors' released program uses `q ~ p^2 / sum p` instead, and so does
    this class by default.

    Parameters
    ----------
    n_clusters, n_features : int
    gamma : float
        Weight of the balance; has no effect on the released formula.
    targets : {"released", "closed", "exact"}
        The released formula, the printed closed form (Eq. q.DEPICT), or the exact minimiser of
        the printed objective, `q ~ p / qhat^gamma`.
    sizes : {"equal", "free"} or sequence of K positive numbers
        Desired shares of the clusters; see `Logistic`.
    """

    def __init__(
        self,
        n_clusters: int,
        n_features: int,
        *,
        gamma: NotNegative = 1.0,
        targets: Literal["released", "closed", "exact"] = "released",
        sizes: Sizes = "equal",
    ) -> None:
        super().__init__(n_clusters, n_features, sizes=sizes)
        self.gamma = gamma
        self.released = targets == "released"
        self.exact = targets == "exact"
        self.power = 2.0 if self.released else 1.0

    def mass(self, log_p: Tensor) -> Tensor:
        """The posteriors."""
        return log_p.exp()

    def closed_weight(self, log_s: Tensor) -> Tensor:
        """One over the sum of the posteriors, or over its power gamma / (1 + gamma)."""
        log_shares = self.log_shares(log_s.exp())
        if self.released:
            return IF.dec_weight(log_s, log_shares)
        return IF.depict_weight(log_s, self.gamma, log_shares)
