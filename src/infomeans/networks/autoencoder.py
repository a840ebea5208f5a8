"""The denoising auto-encoder: a noisy and a clean pass with shared weights."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Offset(nn.Module):
    """Adds a learned value to every pixel of an image, before a tanh.

    It starts at the mean image, so the embedding only has to represent how samples differ. Without
    it, a network on images with a common background first saturates the tanh of its embedding, and
    may never recover.

    Parameters
    ----------
    shape : (channels, height, width)
        Shape of an image.
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.zeros(shape))

    def forward(self, x: Tensor) -> Tensor:
        """Images with the offset added."""
        return x + self.value

    @torch.no_grad()
    def start(self, mean: Tensor) -> None:
        """Set the offset such that a zero image becomes the mean image after the tanh."""
        self.value.copy_(mean.clamp(-0.99, 0.99).atanh())


class DenoisingAutoencoder(nn.Module):
    """A stack of encoder layers, mirrored by a stack of decoder layers.

    The noisy pass has dropout and feeds the decoder. The clean pass gives the embedding and the
    layers that the decoder has to reconstruct,

        R = (1/N) sum_i sum_{l=0..L-1} (w_l / size(z_i^l)) |z_i^l - ztilde_i^l|^2,   w_0 = 1

    Parameters
    ----------
    encoder : sequence of modules
        From the input to the embedding.
    decoder : sequence of modules
        `decoder[l]` maps the output of `encoder[l]` back to its input.
    dropout : sequence of floats
        `dropout[l]` is the share of the inputs of `encoder[l]` that the noisy pass drops. One more
        entry is the share of the embedding.
    hidden_weight : float
        The weight `w_l` of the hidden layers in the reconstruction loss.
    detach_clean : bool
        Whether to detach the clean layers from the gradient, which saves a backward pass.
    glorot : bool
        Whether to initialise the weights as the paper does, and not start at the mean image. That
        needs the paper's low learning rate.
    config : mapping, optional
        How to rebuild the same network, for networks that can be saved by name.
    """

    double_precision = True

    def __init__(
        self,
        encoder: Sequence[nn.Module],
        decoder: Sequence[nn.Module],
        *,
        dropout: Sequence[float],
        hidden_weight: float = 0.0,
        detach_clean: bool = True,
        glorot: bool = False,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.encoder = nn.ModuleList(encoder)
        self.decoder = nn.ModuleList(decoder)
        self.dropout = tuple(dropout)
        self.hidden_weight = hidden_weight
        self.detach_clean = detach_clean
        self.reconstructs = True
        if glorot:
            self.apply(_glorot)

    def start(self, mean: Tensor) -> None:
        """Before training, let the decoder start at the mean sample."""
        for module in self.decoder[0].modules():
            if isinstance(module, Offset):
                module.start(mean)

    def forward(self, x: Tensor) -> Tensor:
        """The clean embedding."""
        for layer in self.encoder:
            x = layer(x)
        return x

    def noisy(self, x: Tensor, *, drop: bool = True) -> Tensor:
        """The embedding with dropout; without `drop`, the clean embedding."""
        *shares, last = [*self.dropout, 0.0][: len(self.encoder) + 1]
        for layer, share in zip(self.encoder, shares, strict=True):
            x = layer(F.dropout(x, share) if share and drop else x)
        return F.dropout(x, last) if last and drop else x

    def decode(self, z: Tensor) -> Tensor:
        """The input decoded from an embedding."""
        return self._restored(z)[0]

    def reconstruction(self, x: Tensor, noisy: Tensor) -> Tensor:
        """The loss R between the clean layers and those decoded from the noisy embedding."""
        restored = self._restored(noisy)
        loss = F.mse_loss(restored[0], x)
        if self.hidden_weight:
            clean = x.detach()
            for layer, back in zip(self.encoder[:-1], restored[1:], strict=True):
                clean = layer(clean)
                target = clean.detach() if self.detach_clean else clean
                loss = loss + self.hidden_weight * F.mse_loss(back, target)
        return loss

    def _restored(self, z: Tensor) -> list[Tensor]:
        """The decoded layers, the input first."""
        layers = []
        for layer in reversed(self.decoder):
            z = layer(z)
            layers.append(z)
        return layers[::-1]


def activation(name: str) -> nn.Module:
    """Activation of a hidden layer by name: "leaky_relu" or "relu"."""
    known = {"leaky_relu": nn.LeakyReLU, "relu": nn.ReLU}
    if name not in known:
        raise ValueError(f"activation={name!r} is unknown; choose one of {', '.join(known)}.")
    return known[name]()


def _glorot(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
