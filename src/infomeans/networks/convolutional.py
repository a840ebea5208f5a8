"""The paper's convolutional auto-encoder, for any image size from 8 x 8 up."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from torch import nn

from infomeans.networks.autoencoder import DenoisingAutoencoder, Offset, activation

SMALLEST_IMAGE = 8


def kernel_and_padding(size: int) -> tuple[int, int]:
    """Kernel and padding of a convolution of stride 2 along an axis of this length.

    The parity of the kernel is chosen such that the transposed convolution restores `size`
    exactly. At 16, 28, 32 and 55 this gives the values of the paper's data sets.
    """
    if size % 2:
        return 5, 2
    return (4, 2) if size >= 32 else (4, 0)


def halved(size: int) -> int:
    """Length of the axis after that convolution."""
    kernel, padding = kernel_and_padding(size)
    return (size + 2 * padding - kernel) // 2 + 1


def convolutional_autoencoder(
    shape: tuple[int, int, int],
    n_features: int,
    *,
    maps: int = 50,
    glorot: bool = False,
    hidden_activation: str = "leaky_relu",
    dropout: Sequence[float] = (0.1, 0.1, 0.0),
    **options: Any,
) -> DenoisingAutoencoder:
    """Two strided convolutions and a dense layer with tanh, and their mirror image.

    Parameters
    ----------
    shape : (channels, height, width)
        Shape of one image, scaled to [-1, 1].
    n_features : int
        Length of the embedding.
    maps : int
        Number of feature maps of each convolution.
    glorot : bool
        As for `DenoisingAutoencoder`.
    hidden_activation : {"leaky_relu", "relu"}
        Activation of all layers but the embedding and the output, which have a tanh.
    dropout : sequence of float
        As for `DenoisingAutoencoder`.
    **options
        `hidden_weight` and `detach_clean` of `DenoisingAutoencoder`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.networks import convolutional_autoencoder
    >>> network = convolutional_autoencoder((1, 16, 16), n_features=10)
    >>> network.decode(network(torch.zeros(2, 1, 16, 16))).shape
    torch.Size([2, 1, 16, 16])
    """
    channels, height, width = shape
    if min(height, width) < SMALLEST_IMAGE:
        raise ValueError(
            f"Images of {height} x {width} pixels are too small; at least {SMALLEST_IMAGE} x "
            f"{SMALLEST_IMAGE} are needed. Flatten them to vectors, or pass your own network."
        )
    middle = halved(height), halved(width)
    last = halved(middle[0]), halved(middle[1])
    flat = maps * last[0] * last[1]
    hidden = partial(activation, hidden_activation)
    return DenoisingAutoencoder(
        encoder=[
            nn.Sequential(nn.Conv2d(channels, maps, **_geometry(height, width)), hidden()),
            nn.Sequential(nn.Conv2d(maps, maps, **_geometry(*middle)), hidden()),
            nn.Sequential(nn.Flatten(), nn.Linear(flat, n_features), nn.Tanh()),
        ],
        decoder=[
            nn.Sequential(
                nn.ConvTranspose2d(maps, channels, **_geometry(height, width)),
                *([] if glorot else [Offset(shape)]),
                nn.Tanh(),
            ),
            nn.Sequential(nn.ConvTranspose2d(maps, maps, **_geometry(*middle)), hidden()),
            nn.Sequential(
                nn.Linear(n_features, flat),
                hidden(),
                nn.Unflatten(1, (maps, *last)),
            ),
        ],
        dropout=dropout,
        glorot=glorot,
        config={
            "kind": "convolutional",
            "shape": list(shape),
            "n_features": n_features,
            "maps": maps,
            "glorot": glorot,
            "hidden_activation": hidden_activation,
            "dropout": list(dropout),
            **options,
        },
        **options,
    )


def _geometry(height: int, width: int) -> dict[str, Any]:
    (kernel_h, padding_h), (kernel_w, padding_w) = map(kernel_and_padding, (height, width))
    return {
        "kernel_size": (kernel_h, kernel_w),
        "stride": (2, 2),
        "padding": (padding_h, padding_w),
    }
