"""The auto-encoders, and adapters for networks of the user."""

from infomeans.networks.adapters import Identity, UserNetwork
from infomeans.networks.autoencoder import DenoisingAutoencoder
from infomeans.networks.build import (
    AnyNetwork,
    NetworkSpec,
    build_network,
    default_network,
    network_from_config,
    network_to_config,
    takes_embeddings,
)
from infomeans.networks.convolutional import convolutional_autoencoder, kernel_and_padding
from infomeans.networks.dense import dense_autoencoder
from infomeans.networks.residual import ResidualNetwork
from infomeans.networks.weights import load_weights

__all__ = [
    "AnyNetwork",
    "DenoisingAutoencoder",
    "Identity",
    "NetworkSpec",
    "ResidualNetwork",
    "UserNetwork",
    "build_network",
    "convolutional_autoencoder",
    "default_network",
    "dense_autoencoder",
    "kernel_and_padding",
    "load_weights",
    "network_from_config",
    "network_to_config",
    "takes_embeddings",
]
