"""The trained parts as one: from scaled samples to their embedding and their posteriors."""

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from infomeans.training import warp


class Assignment(nn.Module):
    """Embeds samples, and gives them to clusters.

    Parameters
    ----------
    network, method : nn.Module
    views : (v, 2, 3) array
        Affine maps. Posteriors are means over an image and what these make of it; all images are
        changed alike, so that no sample depends on another.
    """

    views: Tensor

    def __init__(self, network: nn.Module, method: nn.Module, views: ArrayLike = ()) -> None:
        super().__init__()
        self.network = network
        self.method = method
        self.register_buffer("views", torch.as_tensor(views))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The embedding (n, d) of samples as they are, and their posteriors (n, K)."""
        z = self.network(x)
        seen = [self.method(z)]
        seen += [self.method(self.network(warp(x, view[None]))) for view in self.views]
        return z.flatten(1), sum(seen) / len(seen)
