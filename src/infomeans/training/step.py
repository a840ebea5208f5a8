"""A forward pass from a batch to its loss."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from infomeans.methods.base import Method
from infomeans.methods.batch import Batch, Network
from infomeans.methods.state import Statistics
from infomeans.model.model import multiply_adds

Augment = Callable[[Tensor], Tensor]


def step_work(network: nn.Module, shape: tuple[int, ...], batch_size: int) -> int:
    """Estimate the multiply-adds of a training step.

    The backward pass takes twice as many as the forward pass, and a decoder as many as its encoder.

    Parameters
    ----------
    network : nn.Module
        A `Network`.
    shape : tuple of int
        Shape of one sample.
    batch_size : int
        Number of samples per batch.
    """
    device = next((p.device for p in network.parameters()), torch.device("cpu"))
    forward = multiply_adds(network, torch.zeros(1, *shape, device=device))
    return batch_size * forward * (6 if network.reconstructs else 3)


class TrainingStep(nn.Module):
    """Network and method as one module, so that Fabric has to wrap only one forward pass.

    Parameters
    ----------
    network : Network
        The network.
    method : Method or None
        The method; None trains only the reconstruction.
    augment : callable, optional
        Augments the input of the noisy pass. Built-in networks then use no dropout in the
        clustering phases: an image with dropped pixels looks like no sample.
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
        """The named terms of the loss, and the method's statistics of the batch."""
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
        terms = self.terms(batch)
        if self.method is None or self.pretraining:
            return terms, {}
        with torch.no_grad():
            return terms, self.method.step_statistics(batch)

    def terms(self, batch: Batch) -> Statistics:
        """The named terms of the loss."""
        if self.method is None:
            return {"reconstruction": batch.reconstruction}
        return self.method.pretraining_loss(batch) if self.pretraining else self.method.loss(batch)

    def _seen(self, x: Tensor) -> Tensor | None:
        return self.augment(x) if self.augment else None
