"""Build the network for a parameter `network` and a sample shape."""

import copy
from collections.abc import Callable, Mapping
from typing import Any, Literal

import torch
from torch import nn

from infomeans.errors import InputError
from infomeans.networks.adapters import Identity, UserNetwork
from infomeans.networks.autoencoder import DenoisingAutoencoder
from infomeans.networks.convolutional import convolutional_autoencoder
from infomeans.networks.dense import dense_autoencoder
from infomeans.networks.residual import ResidualNetwork

COMPONENTS = 64
"""Number of principal components that the residual network keeps of longer embeddings."""

Shape = tuple[int, ...]
NetworkFactory = Callable[[Shape, int], nn.Module]
NetworkSpec = nn.Module | NetworkFactory | Literal["auto", "residual"] | None
AnyNetwork = DenoisingAutoencoder | ResidualNetwork | UserNetwork | Identity

_KNOWN = "'auto', 'residual', None, a torch module or a callable (shape, n_clusters) -> module"


def build_network(
    network: NetworkSpec, shape: Shape, n_clusters: int, *, n_features: int = 16, **options: Any
) -> AnyNetwork:
    """Build a network for samples of this shape. A module that is passed in is copied.

    Parameters
    ----------
    network : "auto", "residual", None, nn.Module or callable
        "auto" is the paper's convolutional auto-encoder for images and a dense one for vectors.
        "residual" and None treat vectors as embeddings: "residual" fine-tunes them, None keeps
        them fixed. A module is copied. A callable is called as `network(shape, n_clusters)` and
        returns a module.
    shape : tuple of int
        Shape of one sample: `(d,)` or `(channels, height, width)`.
    n_clusters : int
        Number of clusters, for a callable.
    n_features : int
        Length of the embedding, for "auto".
    **options
        Further arguments of the auto-encoder, for "auto".

    Returns
    -------
    nn.Module

    Examples
    --------
    >>> import torch
    >>> from infomeans.networks import build_network
    >>> network = build_network("auto", shape=(1, 16, 16), n_clusters=10, n_features=12)
    >>> network(torch.zeros(2, 1, 16, 16)).shape
    torch.Size([2, 12])
    """
    if network is None or network == "residual":
        if len(shape) != 1:
            raise ValueError(
                f"network={network!r} needs embeddings, X of shape (n, d), but the samples have "
                f"the shape {shape}; use network='auto' for images."
            )
        if network is None:
            return Identity()
        many = shape[0] > COMPONENTS
        return ResidualNetwork(shape[0], n_components=COMPONENTS if many else None)
    if isinstance(network, str):
        if network != "auto":
            raise ValueError(f"network={network!r} is unknown; use {_KNOWN}.")
        return default_network(shape, n_features, **options)
    if isinstance(network, nn.Module):
        return _adapt(copy.deepcopy(network), shape)
    if callable(network):
        return _adapt(copy.deepcopy(network(shape, n_clusters)), shape)
    raise TypeError(f"network={network!r} is a {type(network).__name__}; use {_KNOWN}.")


def takes_embeddings(network: NetworkSpec) -> bool:
    """Whether a network expects embeddings of another model."""
    if isinstance(network, nn.Module):
        return isinstance(network, Identity | ResidualNetwork)
    return network is None or network == "residual"


def default_network(shape: Shape, n_features: int, **options: Any) -> DenoisingAutoencoder:
    """The convolutional auto-encoder for images, the dense one for vectors."""
    if len(shape) == 1:
        return dense_autoencoder(shape[0], n_features, **options)
    channels, height, width = shape
    return convolutional_autoencoder((channels, height, width), n_features, **options)


def network_to_config(network: nn.Module) -> dict[str, Any]:
    """How to rebuild a built-in network; for other modules, only that they are custom."""
    if isinstance(network, Identity):
        return {"kind": "identity"}
    return {**(getattr(network, "config", None) or {"kind": "custom"})}


def network_from_config(config: Mapping[str, Any], given: nn.Module | None = None) -> AnyNetwork:
    """Rebuild a network without its trained weights.

    A built-in one has no storage until its weights are loaded, whatever sizes the file claims.

    Parameters
    ----------
    config : mapping
        Result of `network_to_config`.
    given : nn.Module, optional
        A module of the right architecture, for a custom network.
    """
    options = {**config}
    kind = options.pop("kind")
    if kind == "identity":
        return Identity()
    if kind == "custom":
        if given is None:
            raise InputError(
                "The model was fitted with a custom network, of which only the weights are saved; "
                "pass a module of the same architecture as network=."
            )
        return _as_network(copy.deepcopy(given))
    with torch.device("meta"):
        if kind == "residual":
            return ResidualNetwork(**options)
        return default_network(tuple(options.pop("shape")), **options)


def _as_network(module: nn.Module) -> AnyNetwork:
    return module if isinstance(module, AnyNetwork) else UserNetwork(module)


def _adapt(module: nn.Module, shape: Shape) -> AnyNetwork:
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"The network callable returned a {type(module).__name__}, not a torch module."
        )
    network = _as_network(module)
    network.to("cpu", torch.float32)
    _check_embedding(network, shape)
    return network


def _check_embedding(network: AnyNetwork, shape: Shape) -> None:
    """Try the network on two samples before anything is trained."""
    training = network.training
    try:
        with torch.no_grad():
            z = network.eval()(torch.zeros(2, *shape))
    except Exception as error:  # a user's code may raise anything
        raise ValueError(
            f"The network does not accept samples of shape {shape}: {error}"
        ) from error
    network.train(training)
    if z.ndim != 2 or len(z) != 2:
        raise ValueError(
            f"The network maps 2 samples of shape {shape} to a tensor of shape {tuple(z.shape)}; "
            f"an embedding of shape (2, d) is needed."
        )
