"""A training batch, as methods see it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor


class Network(Protocol):
    """The interface of a network for methods and trainer."""

    reconstructs: bool

    def __call__(self, x: Tensor) -> Tensor:
        """The clean embedding (n, d)."""

    def noisy(self, x: Tensor, *, drop: bool = True) -> Tensor:
        """The embedding of a corrupted copy of the input (n, d); `drop=False` for no dropout."""

    def reconstruction(self, x: Tensor, noisy: Tensor) -> Tensor:
        """The reconstruction loss R from the noisy embedding."""


class Batch:
    """A training batch. Embeddings and losses are computed when a loss first uses them.

    Parameters
    ----------
    network : Network
        The network.
    x : (n, ...) tensor
        The samples.
    q : (n, K) tensor or None
        Targets of these samples; None for a method without targets.
    seen : (n, ...) tensor, optional
        Input of the noisy pass: augmented copies of the samples, by default the samples.
    drop : bool
        Whether the noisy pass uses dropout.
    index : (n,) integer tensor, optional
        Positions of the samples in the data set.
    columns : mapping of str to (n, ...) tensors
        The values that the method keeps for these samples.
    neighbors : (n, ...) tensor, optional
        One neighbour of every sample, drawn by weight, if the method wants them.
    neighbors_seen : (n, ...) tensor, optional
        Input of the noisy pass of the neighbours: augmented copies, by default the neighbours.
    """

    def __init__(
        self,
        network: Network,
        x: Tensor,
        q: Tensor | None = None,
        seen: Tensor | None = None,
        *,
        drop: bool = True,
        index: Tensor | None = None,
        columns: Mapping[str, Tensor] | None = None,
        neighbors: Tensor | None = None,
        neighbors_seen: Tensor | None = None,
    ) -> None:
        self.network = network
        self.x = x
        self.q = q
        self.seen = x if seen is None else seen
        self.drop = drop
        self.index = index
        self.columns = dict(columns or {})
        self.neighbors = neighbors
        self.neighbors_seen = neighbors if neighbors_seen is None else neighbors_seen

    @cached_property
    def noisy(self) -> Tensor:
        """The noisy embedding, which the losses act on."""
        return self.network.noisy(self.seen, drop=self.drop)

    @cached_property
    def clean(self) -> Tensor:
        """The clean embedding, without gradient."""
        with torch.no_grad():
            return self.network(self.x)

    @cached_property
    def reconstruction(self) -> Tensor:
        """The reconstruction loss R."""
        return self.network.reconstruction(self.seen, self.noisy)

    @cached_property
    def neighbors_noisy(self) -> Tensor:
        """The noisy embedding of the neighbours."""
        assert self.neighbors_seen is not None, "the method must set wants_neighbors"
        return self.network.noisy(self.neighbors_seen, drop=self.drop)

    @cached_property
    def neighbors_clean(self) -> Tensor:
        """The clean embedding of the neighbours, without gradient."""
        assert self.neighbors is not None, "the method must set wants_neighbors"
        with torch.no_grad():
            return self.network(self.neighbors)
