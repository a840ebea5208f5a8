"""The dense auto-encoder for vectors."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from torch import nn

from infomeans.networks.autoencoder import DenoisingAutoencoder, activation


def dense_autoencoder(
    n_inputs: int,
    n_features: int,
    *,
    hidden: Sequence[int] = (256, 256),
    hidden_activation: str = "leaky_relu",
    dropout: Sequence[float] | None = None,
    **options: Any,
) -> DenoisingAutoencoder:
    """Dense layers with leaky ReLU, an embedding with tanh, and their mirror image.

    Parameters
    ----------
    n_inputs : int
        Length of a vector; vectors are standardised.
    n_features : int
        Length of the embedding.
    hidden : sequence of int
        Widths of the hidden layers.
    hidden_activation : {"leaky_relu", "relu"}
        Activation of the hidden layers.
    dropout : sequence of float, optional
        As for `DenoisingAutoencoder`; by default a tenth of the first hidden layer.
    **options
        `hidden_weight`, `detach_clean` and `glorot` of `DenoisingAutoencoder`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.networks import dense_autoencoder
    >>> network = dense_autoencoder(n_inputs=20, n_features=10)
    >>> network.decode(network(torch.zeros(2, 20))).shape
    torch.Size([2, 20])
    """
    widths = (n_inputs, *hidden, n_features)
    last, between = len(hidden), partial(activation, hidden_activation)
    encoder = [
        nn.Sequential(nn.Linear(wide, narrow), nn.Tanh() if depth == last else between())
        for depth, (wide, narrow) in enumerate(pairwise(widths))
    ]
    decoder: list[nn.Module] = [
        nn.Sequential(nn.Linear(narrow, wide), between()) if depth else nn.Linear(narrow, wide)
        for depth, (wide, narrow) in enumerate(pairwise(widths))
    ]
    # No dropout of the input: unlike a pixel, a feature of a table cannot be inferred from its
    # neighbours.
    if dropout is None:
        dropout = [0.0, *[0.1] * min(len(hidden), 1), *[0.0] * (len(hidden) - 1)]
    config = {
        "kind": "dense",
        "shape": [n_inputs],
        "n_features": n_features,
        "hidden": list(hidden),
        "hidden_activation": hidden_activation,
        "dropout": list(dropout),
        **options,
    }
    return DenoisingAutoencoder(encoder, decoder, dropout=dropout, config=config, **options)
