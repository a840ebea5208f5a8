"""One forward pass from a batch to its loss."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from infomeans.methods.base import Method
from infomeans.methods.batch import Batch, Network
from infomeans.methods.state import Statistics

Augment = Callable[[Tensor], Tensor]


class TrainingStep(nn.Module):
    """Network and method as one module, so that one forward is all a strategy has to wrap.

    Parameters
    ----------
    network : Network
    method : Method or None
        None trains the reconstruction alone.
    augment : callable, optional
        Changes the samples that the noisy pass sees. In the clustering phases our own networks drop
        nothing then: an image with dropped pixels looks like no sample.
    pretraining : bool
        Whether to minimise the method's `pretraining_loss`, not its `loss`.
    """

    def __init__(
        self,
        network: Network,
        method: Method | None = None,
        augment: Augment | None = None,
        *,
        pretraining: bool = False,
    ) -> None:
        super().__init__()
        self.network = network
        self.method = method
        self.augment = augment
        self.pretraining = pretraining or method is None

    def forward(
        self,
        x: Tensor,
        q: Tensor | None = None,
        index: Tensor | None = None,
        columns: Mapping[str, Tensor] | None = None,
        neighbors: Tensor | None = None,
    ) -> tuple[Statistics, Statistics]:
        """The named terms of the loss, and what the method counts in the batch."""
        batch = Batch(
            self.network,
            x,
            q,
            self._seen(x),
            drop=self.pretraining or self.augment is None,
            index=index,
            columns=columns,
            neighbors=neighbors,
            neighbors_seen=None if neighbors is None else self._seen(neighbors),
        )
        if self.method is None:
            return {"reconstruction": batch.reconstruction}, {}
        if self.pretraining:
            return self.method.pretraining_loss(batch), {}
        terms = self.method.loss(batch)
        with torch.no_grad():
            return terms, self.method.step_statistics(batch)

    def _seen(self, x: Tensor) -> Tensor | None:
        return self.augment(x) if self.augment else None
