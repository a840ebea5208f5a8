"""One forward from a batch to its loss."""

import torch
from torch import Tensor, nn

from infomeans.methods.base import Batch, Method, Network, Statistics


class TrainingStep(nn.Module):
    """Network and method as one module, so that one forward is all a strategy has to wrap.

    Parameters
    ----------
    network : Network
    method : Method or None
        None trains the reconstruction alone.
    """

    def __init__(self, network: Network, method: Method | None = None) -> None:
        super().__init__()
        self.network = network
        self.method = method

    def forward(self, x: Tensor, q: Tensor | None) -> tuple[Statistics, Statistics]:
        """The named terms of the loss, and what the method counts in the batch."""
        batch = Batch(self.network, x, q)
        if self.method is None:
            return {"reconstruction": batch.reconstruction}, {}
        terms = self.method.loss(batch)
        with torch.no_grad():
            return terms, self.method.step_statistics(batch)
