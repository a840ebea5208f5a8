"""From what the user asked for to a network for data of this shape."""

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

Shape = tuple[int, ...]
NetworkFactory = Callable[[Shape, int], nn.Module]
NetworkSpec = nn.Module | NetworkFactory | Literal["auto", "residual"] | None
AnyNetwork = DenoisingAutoencoder | ResidualNetwork | UserNetwork | Identity

_KNOWN = "'auto', 'residual', None, a torch module or a callable (shape, n_clusters) -> module"


def build_network(
    network: NetworkSpec, shape: Shape, n_clusters: int, *, n_features: int = 16, **options: Any
) -> AnyNetwork:
    """A network for samples of this shape, of its own: what was passed in stays untouched.

    Parameters
    ----------
    network : "auto", "residual", None, nn.Module or callable
        "auto" is the paper's convolutional auto-encoder for images and a dense one for vectors.
        "residual" and None take vectors as embeddings: the one moves them, the other leaves them as
        they are. A module is copied; a callable is asked for a module with
        `network(shape, n_clusters)`.
    shape : tuple of int
        Of one sample: `(d,)` or `(channels, height, width)`.
    n_clusters : int
    n_features : int
        Length of the embedding of the network that "auto" stands for.
    **options
        Passed on to that network.
    """
    if network is None or network == "residual":
        if len(shape) != 1:
            raise ValueError(
                f"network={network!r} clusters embeddings and takes X of shape (n, d), but the "
                f"samples have the shape {shape}; use network='auto' for images."
            )
        return Identity() if network is None else ResidualNetwork(shape[0])
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
    """Whether this is for samples that another model has embedded."""
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
    """How to build a network of the same architecture; of one that is not ours, only that."""
    if isinstance(network, Identity):
        return {"kind": "identity"}
    return {**(getattr(network, "config", None) or {"kind": "custom"})}


def network_from_config(config: Mapping[str, Any], given: nn.Module | None = None) -> AnyNetwork:
    """The network, its weights still to be loaded.

    Parameters
    ----------
    config : mapping
        From `network_to_config`.
    given : nn.Module, optional
        A module of the right architecture, for one that is not ours.
    """
    options = {**config}
    kind = options.pop("kind")
    if kind == "identity":
        return Identity()
    if kind == "residual":
        return ResidualNetwork(**options)
    if kind == "custom":
        if given is None:
            raise InputError(
                "The model was fitted with a network of your own, of which only the weights are "
                "saved; pass a module of the same architecture as network=."
            )
        return _as_network(copy.deepcopy(given))
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
    except Exception as error:  # it is the user's own
        raise ValueError(f"The network does not take samples of shape {shape}: {error}") from error
    network.train(training)
    if z.ndim != 2 or len(z) != 2:
        raise ValueError(
            f"The network maps 2 samples of shape {shape} to a tensor of shape {tuple(z.shape)}; "
            f"an embedding of shape (2, d) is needed."
        )
