"""The state of each sample during training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from infomeans.data.shelf import IN_MEMORY, Shelf
from infomeans.graph.neighbors import graph_of_rows
from infomeans.processes import ALONE, Processes

Statistics = dict[str, Tensor]


class Neighbors(NamedTuple):
    """The nearest neighbours of every sample.

    Attributes
    ----------
    ids : (n, m) integer tensor
        Positions of the neighbours.
    weights : (n, m) tensor
        Weights of the neighbours; every row sums to one.
    """

    ids: Tensor
    weights: Tensor

    @classmethod
    def of_graph(cls, graph: sparse.csr_array) -> Neighbors:
        """The neighbours in a graph in which every sample has equally many."""
        rows = (graph.indices.astype(np.int32), graph.data.astype(np.float32))
        return cls(*(torch.as_tensor(row.reshape(graph.shape[0], -1)) for row in rows))

    def graph(self) -> sparse.csr_array:
        """The graph with these neighbours."""
        return graph_of_rows(self.ids.numpy(), self.weights.double().numpy())

    def on(self, device: torch.device) -> Neighbors:
        """The neighbours on a device."""
        return self.map(lambda rows: rows.to(device))

    def map(self, function: Callable[[Tensor], Tensor]) -> Neighbors:
        """Apply a function to both tensors."""
        return Neighbors(*map(function, self))


class SampleState:
    """The state of the samples of this process.

    With several processes, each holds the state of its own samples. Positions are those in the
    whole data set.

    Parameters
    ----------
    embedding : (n, d) tensor
        The clean embedding.
    targets : (n, K) tensor
        Targets of the posteriors.
    initial : (n,) integer tensor, optional
        The initial clusters.
    neighbors : Neighbors, optional
        The nearest neighbours.
    columns : mapping of str to shapes
        Names of values that a method keeps for every sample, with the shape of one sample's entry.
        They start at zero.
    index : (n,) integer tensor, optional
        Positions of these samples in the data set; by default those of this process in order.
    processes : Processes
        The processes that train together.
    shelf : Shelf
        Where targets are kept.
    """

    chunk: ClassVar[int] = 8192

    def __init__(
        self,
        embedding: Tensor,
        targets: Tensor,
        *,
        initial: Tensor | None = None,
        neighbors: Neighbors | None = None,
        columns: Mapping[str, tuple[int, ...]] | None = None,
        index: Tensor | None = None,
        processes: Processes = ALONE,
        shelf: Shelf = IN_MEMORY,
    ) -> None:
        self.embedding = embedding
        self.targets = targets
        self.initial = initial
        self.neighbors = neighbors
        self.processes = processes
        self.shelf = shelf
        self.n_samples = processes.count_of(len(embedding)) if index is None else len(index)
        self._index = index
        self.columns = {
            name: embedding.new_zeros(len(embedding), *shape)
            for name, shape in (columns or {}).items()
        }

    def __len__(self) -> int:
        return len(self.embedding)

    @property
    def index(self) -> Tensor:
        """Positions of these samples in the data set."""
        return torch.arange(*self.span) if self._index is None else self._index

    @property
    def span(self) -> tuple[int, int]:
        """The first position of this process' samples, and the one after the last."""
        return self.processes.span(self.n_samples)

    def __getitem__(self, index: Tensor) -> SampleState:
        """The state of some samples."""
        part = SampleState(
            self.embedding[index],
            self.targets[index],
            initial=None if self.initial is None else self.initial[index],
            index=index + self.span[0] if self._index is None else self._index[index],
        )
        if self.neighbors is not None:
            part.neighbors = Neighbors(*(rows[index] for rows in self.neighbors))
        part.columns = self.column_rows(index)
        return part

    def column_rows(self, index: Tensor) -> dict[str, Tensor]:
        """The values that the method keeps for some samples."""
        return {name: column[index] for name, column in self.columns.items()}

    @torch.no_grad()
    def total(self, statistics: Callable[..., Statistics], *others: Tensor) -> Statistics:
        """Sum `statistics(z, q, *others)` over all samples of all processes, chunk by chunk.

        All sums over samples go through this function. Only the weight of the neighbours' votes
        does not: it is fitted to some of the samples.

        Parameters
        ----------
        statistics : callable
            Takes the embedding and the targets of some samples, and returns sums over them.
        *others : (n, ...) tensors
            Further values of every sample that it takes.
        """
        sums: Statistics = {}
        parts = (self.embedding, self.targets, *others)
        for chunk in zip(*(part.split(self.chunk) for part in parts), strict=True):
            for name, value in statistics(*chunk).items():
                sums[name] = sums[name] + value if name in sums else value
            self.shelf.release()
        return self.processes.total(sums)

    @torch.no_grad()
    def map(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply a function of the embedding to every sample of this process."""
        parts = []
        for z in self.embedding.split(self.chunk):
            parts.append(function(z))
            self.shelf.release()
        return torch.cat(parts)

    @torch.no_grad()
    def map_rows(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply a function that gives one row per sample; many rows are kept in a file."""
        parts = (function(z) for z in self.embedding.split(self.chunk))
        return self.shelf.rows(parts, len(self))

    def votes(self, posteriors: Callable[[Tensor], Tensor], *, doubt: float) -> Tensor:
        """The mean posteriors (n, K) of the neighbours of every sample.

        Parameters
        ----------
        posteriors : callable
            Takes embeddings and returns posteriors.
        doubt : float
            Share of the votes that is spread evenly over all clusters, so that neighbours cannot
            rule out a cluster.
        """
        assert self.neighbors is not None
        p = self.processes.gathered(self.map(posteriors))
        # Smaller chunks, because every sample gathers the posteriors of many.
        parts = zip(*(part.split(-(-self.chunk // 8)) for part in self.neighbors), strict=True)
        means = torch.cat([(weights.unsqueeze(1) @ p[ids]).squeeze(1) for ids, weights in parts])
        return torch.lerp(means, torch.full_like(means, 1 / means.shape[1]), doubt)

    def state_dict(self) -> dict[str, Any]:
        """The state of all samples for a checkpoint.

        The embedding is not in it; it can be recomputed.
        """
        everyone = self.processes.gathered
        return {
            "targets": everyone(self.targets),
            "initial": None if self.initial is None else everyone(self.initial),
            "columns": {name: everyone(column) for name, column in self.columns.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore targets and columns of these samples from a checkpoint."""
        own = self.processes.own
        parts = own(state["targets"]).split(self.chunk)
        self.targets = self.shelf.rows((part.to(self.targets) for part in parts), len(self))
        self.columns = {
            name: own(state["columns"][name]).to(column) for name, column in self.columns.items()
        }
