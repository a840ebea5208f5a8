"""A batch in training, as a method sees it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor


class Network(Protocol):
    """What methods and trainer ask of a network."""

    bounded: bool
    reconstructs: bool

    def __call__(self, x: Tensor) -> Tensor:
        """The clean embedding (n, d)."""

    def noisy(self, x: Tensor, *, drop: bool = True) -> Tensor:
        """The embedding of a corrupted copy of the input (n, d); without dropout on request."""

    def reconstruction(self, x: Tensor, noisy: Tensor) -> Tensor:
        """The reconstruction loss R from the noisy embedding."""


class Batch:
    """A batch in training. What a loss does not ask for is not computed.

    Parameters
    ----------
    network : Network
    x : (n, ...) tensor
    q : (n, K) tensor or None
        The targets of these samples; None for a method that has no targets.
    seen : (n, ...) tensor, optional
        What the noisy pass sees: augmented copies of the samples, or the samples.
    drop : bool
        Whether the noisy pass drops activations.
    index : (n,) integer tensor, optional
        The numbers of the samples in the data set.
    columns : mapping of str to (n, ...) tensors
        The samples' entries in the columns that the method keeps.
    neighbors : (n, ...) tensor, optional
        For every sample one of its neighbours, drawn by weight, if the method wants them.
    neighbors_seen : (n, ...) tensor, optional
        What the noisy pass sees of the neighbours: augmented copies, or the neighbours.
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
        """The clean embedding, a constant to the gradient."""
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
        """The clean embedding of the neighbours, a constant to the gradient."""
        assert self.neighbors is not None, "the method must set wants_neighbors"
        with torch.no_grad():
            return self.network(self.neighbors)
