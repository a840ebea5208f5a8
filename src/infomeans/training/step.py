"""One forward from a batch to its loss."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from infomeans.methods.base import Batch, Method, Network, Statistics
from infomeans.threads import multiply_adds

Augment = Callable[[Tensor], Tensor]


def step_work(network: nn.Module, shape: tuple[int, ...], batch_size: int) -> int:
    """About how many multiply-adds a training step takes.

    The backward pass takes twice as many as the forward pass, and a decoder as many as its encoder.

    Parameters
    ----------
    network : nn.Module
        A `Network`.
    shape : tuple of int
        Of one sample.
    batch_size : int
    """
    device = next((p.device for p in network.parameters()), torch.device("cpu"))
    forward = multiply_adds(network, torch.zeros(1, *shape, device=device))
    return batch_size * forward * (6 if network.reconstructs else 3)


class TrainingStep(nn.Module):
    """Network and method as one module, so that one forward is all a strategy has to wrap.

    Parameters
    ----------
    network : Network
    method : Method or None
        None trains the reconstruction alone.
    augment : callable, optional
        Changes the samples that the noisy pass sees. Beside a method nothing is dropped then, but
        by a network of the user's own: dropped pixels look like no sample, and samples as they are,
        which targets and clusters are read off, would look like nothing it was trained on.
    """

    def __init__(
        self, network: Network, method: Method | None = None, augment: Augment | None = None
    ) -> None:
        super().__init__()
        self.network = network
        self.method = method
        self.augment = augment

    def forward(self, x: Tensor, q: Tensor | None) -> tuple[Statistics, Statistics]:
        """The named terms of the loss, and what the method counts in the batch."""
        seen = self.augment(x) if self.augment else None
        drop = self.method is None or self.augment is None
        batch = Batch(self.network, x, q, seen, drop=drop)
        if self.method is None:
            return {"reconstruction": batch.reconstruction}, {}
        terms = self.method.loss(batch)
        with torch.no_grad():
            return terms, self.method.step_statistics(batch)
