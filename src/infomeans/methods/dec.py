"""DEC: Student's t posteriors, sharpened towards targets computed from themselves."""

import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans.methods.batch import Batch
from infomeans.methods.prototypes import Prototypical
from infomeans.methods.state import Statistics


class DECMethod(Prototypical):
    """Minimise `KL(Q || P)` with `q_ik ~ p_ik^2 / sum_i p_ik`.

    The posteriors are Student's t with one degree of freedom around prototypes that are learned
    by gradient steps (Eq. optimal.D.P).

    Parameters
    ----------
    n_clusters, n_features : int
    reconstruction : bool
        Whether to keep the decoder and minimise R + 0.1 KL, as IDEC does. DEC drops the decoder.
    """

    log_weight: Tensor

    def __init__(self, n_clusters: int, n_features: int, *, reconstruction: bool = False) -> None:
        super().__init__(n_clusters, n_features, learned=True)
        self.register_buffer("log_weight", torch.zeros(n_clusters))
        self.reconstruction = reconstruction

    def log_posteriors(self, z: Tensor) -> Tensor:
        """Logarithms of the Student's t posteriors."""
        return IF.log_student(z, self.prototypes)

    def statistics(self, z: Tensor, q: Tensor) -> Statistics:
        """The sum of the posteriors."""
        return {"p": self.log_posteriors(z).exp().sum(dim=0)}

    def update(self, statistics: Statistics) -> bool:
        """Set the weights of the targets."""
        self.log_weight = IF.dec_weight(statistics["p"].log())
        return False

    def targets(self, z: Tensor) -> Tensor:
        """DEC's targets."""
        return IF.weighted_targets(self.log_posteriors(z), 2.0, self.log_weight)

    def loss(self, batch: Batch) -> Statistics:
        """The divergence, and for IDEC the reconstruction."""
        assert batch.q is not None
        log_p = self.log_posteriors(batch.noisy)
        divergence = IF.cross_entropy(batch.q, log_p) - IF.conditional_entropy(batch.q)
        if not self.reconstruction:
            return {"clustering": divergence}
        return {"clustering": 0.1 * divergence, "reconstruction": batch.reconstruction}
