"""The model, which maps raw samples to their embedding and posteriors."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from infomeans import functional as IF
from infomeans._typing import Array
from infomeans.data.arrays import channel_axis, network_shape
from infomeans.model.scaling import LARGEST, Scaling
from infomeans.model.strangeness import Strangeness
from infomeans.networks import AnyNetwork, Identity
from infomeans.randomness import Draws

EXACT = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.uint16, torch.float16)
"""Types whose values float32 represents exactly, besides float32 itself."""

NO_VIEWS = np.empty((0, 2, 3), np.float32)


class Model(nn.Module):
    """Scaling, network and method. A trained network is applied only here.

    Parameters
    ----------
    shape : tuple of int
        Shape of one raw sample.
    scaling : Scaling
        Scaling of the samples.
    network : nn.Module
        Maps scaled samples to their embedding.
    method : nn.Module, optional
        Maps an embedding to posteriors; None for an auto-encoder.
    views : (v, 2, 3) array
        Affine maps. Posteriors are averaged over an image and its transformed views. All images
        get the same views, so no sample depends on another.
    strangeness : Strangeness, optional
        Scores samples by how strange they are.

    Examples
    --------
    >>> import torch
    >>> from infomeans.model import Model, Scaling
    >>> from infomeans.networks import Identity
    >>> model = Model((2,), Scaling(torch.tensor(1.0), torch.tensor(0.5)), Identity())
    >>> model.scaled(torch.tensor([[1.0, 3.0]]))
    tensor([[0., 1.]])
    """

    views: Tensor

    def __init__(
        self,
        shape: tuple[int, ...],
        scaling: Scaling,
        network: AnyNetwork,
        method: nn.Module | None = None,
        views: ArrayLike = NO_VIEWS,
        strangeness: Strangeness | None = None,
    ) -> None:
        super().__init__()
        self.shape = shape
        self.scaling = scaling
        self.network = network
        self.method = method
        self.strangeness = strangeness
        self.register_buffer("views", torch.as_tensor(views))

    @property
    def images(self) -> bool:
        """Whether samples are images, not vectors."""
        return len(self.shape) > 1

    @property
    def n_features(self) -> int:
        """Length of the embedding."""
        device = next(iter(self.parameters()), self.views).device
        one = torch.zeros(1, *network_shape(self.shape), device=device)
        return self.embed([one]).flatten(1).shape[1]

    @cached_property
    def work(self) -> int:
        """Multiply-adds of the network for one sample."""
        device = next(iter(self.parameters()), self.views).device
        return multiply_adds(
            self.network, torch.zeros(1, *network_shape(self.shape), device=device)
        )

    def forward(self, samples: Tensor) -> tuple[Tensor, Tensor]:
        """Embedding (n, d) and posteriors (n, K) of raw samples."""
        return self.assign(self.scaled(samples))

    def scaled(self, samples: Tensor) -> Tensor:
        """Scaled samples in single precision, images with channels first: the network's input.

        Absurd values of new samples are cut off, so that the network meets no infinity.
        """
        axis = channel_axis(samples.shape)
        x = samples if axis is None else samples.movedim(axis, 1)
        x = x[:, None] if x.ndim == 3 else x
        exact = self.images and (x.dtype in EXACT or x.dtype == torch.float32)
        scaled: Tensor = self.scaling(x.to(torch.float32 if exact else torch.float64))
        return scaled.clamp(-LARGEST, LARGEST).float()

    def prepare(self, samples: NDArray[Any], device: torch.device) -> Tensor:
        """An array of raw samples, scaled and on a device."""
        x = self.scaled(as_tensor(samples)).to(device)
        return x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x

    def assign(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Embedding (n, d) and posteriors (n, K) of scaled samples."""
        assert self.method is not None
        z = self.network(x)
        seen = [self.method(z)]
        seen += [self.method(self.network(IF.warp(x, view[None]))) for view in self.views]
        return z.flatten(1), sum(seen) / len(seen)

    def embed(
        self, x: Iterable[Tensor], join: Callable[[Iterator[Tensor]], Tensor] | None = None
    ) -> Tensor:
        """The clean embedding (n, d) of scaled samples, block by block.

        Parameters
        ----------
        x : iterable of tensors
            Blocks of scaled samples.
        join : callable, optional
            Makes one tensor of the blocks of the embedding.
        """
        with evaluating(self.network), torch.no_grad():
            blocks = (self.network(block).float() for block in x)
            return torch.cat([*blocks]) if join is None else join(blocks)

    def outputs(
        self,
        x: Iterable[Tensor],
        device: torch.device,
        *,
        posteriors: bool = True,
        outliers: bool = False,
    ) -> Iterator[tuple[Tensor, ...]]:
        """Embedding, posteriors and outlier scores of scaled samples, block by block.

        For vectors, built-in networks run in double precision on the CPU: the result for a sample
        then does not depend on the other samples in its block. Everything else runs in single
        precision on the device.

        Parameters
        ----------
        x : iterable of tensors
            Blocks of scaled samples.
        device : torch.device
            Device to compute on.
        posteriors : bool
            Whether to compute posteriors too.
        outliers : bool
            Whether to compute outlier scores too.
        """
        double = not self.images and self.network.double_precision
        if double or isinstance(self.network, Identity):
            device = torch.device("cpu")
        module = self.eval()
        if double or device.type != "cpu":
            module = copy.deepcopy(module).to(device, torch.float64 if double else torch.float32)
        for block in x:
            with torch.inference_mode():
                scores = (self.strangeness(block),) if outliers and self.strangeness else ()
                block = block.to(device, torch.float64 if double else torch.float32)
                found = module.assign(block) if posteriors else (module.network(block).flatten(1),)
                yield *found, *scores

    def decoded_centres(self, centres: Array) -> Array | None:
        """Decode points of the embedding to images, in the units of the data.

        None for vectors, and for a network without a decoder.
        """
        if not self.images:
            return None
        z = torch.as_tensor(centres, dtype=torch.float32)
        if isinstance(self.network, Identity):
            return self.scaling.inverse(z.reshape(-1, *network_shape(self.shape))).numpy()
        if not self.network.reconstructs:
            return None
        with evaluating(self.network), torch.inference_mode():
            decoded: Tensor = self.network.decode(z)  # type: ignore[operator]
            return self.scaling.inverse(decoded).numpy()


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Put a module in evaluation mode, and restore the mode of every part afterwards."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


def multiply_adds(module: nn.Module, samples: Tensor) -> int:
    """Count the multiply-adds of a forward pass by running it.

    Parameters
    ----------
    module : nn.Module
        The module, run in evaluation mode.
    samples : Tensor
        Its input.
    """
    with (
        Draws(0),
        torch.no_grad(),
        evaluating(module),
        FlopCounterMode(display=False) as counter,
    ):
        module(samples)
    return int(counter.get_total_flops() // 2)


def as_tensor(samples: NDArray[Any]) -> Tensor:
    """A tensor with a copy of an array.

    torch accepts neither negative strides nor read-only arrays, nor long doubles or foreign byte
    orders.
    """
    dtype = np.dtype(np.float64) if samples.dtype == np.longdouble else samples.dtype
    return torch.tensor(np.ascontiguousarray(samples, dtype.newbyteorder("=")))
