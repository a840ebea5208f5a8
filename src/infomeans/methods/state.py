"""What is known of each sample while a model trains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

Statistics = dict[str, Tensor]


class Neighbors(NamedTuple):
    """The nearest neighbours of every sample, in the graph that the start came from.

    Attributes
    ----------
    ids : (n, m) integer tensor
        Their numbers.
    weights : (n, m) tensor
        How much each counts; every row sums to one.
    """

    ids: Tensor
    weights: Tensor


class SampleState:
    """What is known of the samples of this process.

    Parameters
    ----------
    embedding : (n, d) tensor
        The clean embedding.
    targets : (n, K) tensor
        What the posteriors are trained towards.
    initial : (n,) integer tensor, optional
        The initial clusters.
    neighbors : Neighbors, optional
    columns : mapping of str to shapes
        What a method keeps for every sample, by name, and the shape of one sample's entry; all
        zeros at first.
    index : (n,) integer tensor, optional
        The numbers of these samples in the data set; by default all of them in order.
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
    ) -> None:
        self.embedding = embedding
        self.targets = targets
        self.initial = initial
        self.neighbors = neighbors
        self.index = torch.arange(len(embedding)) if index is None else index
        self.columns = {
            name: embedding.new_zeros(len(embedding), *shape)
            for name, shape in (columns or {}).items()
        }

    def __len__(self) -> int:
        return len(self.embedding)

    def __getitem__(self, index: Tensor) -> SampleState:
        """The state of some samples."""
        part = SampleState(
            self.embedding[index],
            self.targets[index],
            initial=None if self.initial is None else self.initial[index],
            index=self.index[index],
        )
        if self.neighbors is not None:
            part.neighbors = Neighbors(*(rows[index] for rows in self.neighbors))
        part.columns = self.column_rows(index)
        return part

    def column_rows(self, index: Tensor) -> dict[str, Tensor]:
        """The entries of some samples in the columns of the method."""
        return {name: column[index] for name, column in self.columns.items()}

    @torch.no_grad()
    def total(self, statistics: Callable[[Tensor, Tensor], Statistics]) -> Statistics:
        """Add up over all samples what `statistics(z, q)` says of each chunk of them.

        This is the one place where sums over samples are made.
        """
        sums: Statistics = {}
        chunks = self.embedding.split(self.chunk), self.targets.split(self.chunk)
        for z, q in zip(*chunks, strict=True):
            for name, value in statistics(z, q).items():
                sums[name] = sums[name] + value if name in sums else value
        return sums

    @torch.no_grad()
    def map(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply a function of the embedding to every sample."""
        return torch.cat([function(z) for z in self.embedding.split(self.chunk)])

    def votes(self, posteriors: Callable[[Tensor], Tensor], *, doubt: float) -> Tensor:
        """The mean posteriors (n, K) of the neighbours of every sample.

        Parameters
        ----------
        posteriors : callable
            Of samples, by their embedding.
        doubt : float
            The share of the votes that all clusters get alike, so that no neighbours can rule a
            cluster out.
        """
        assert self.neighbors is not None
        p = self.map(posteriors)
        # Every sample looks at the posteriors of many, so the chunks are smaller.
        parts = zip(*(part.split(-(-self.chunk // 8)) for part in self.neighbors), strict=True)
        means = torch.cat([(weights.unsqueeze(1) @ p[ids]).squeeze(1) for ids, weights in parts])
        return torch.lerp(means, torch.full_like(means, 1 / means.shape[1]), doubt)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps; the embedding can be made again."""
        return {
            "targets": self.targets,
            "initial": self.initial,
            "neighbors": self.neighbors,
            "columns": self.columns,
            "index": self.index,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take the targets and the columns from a checkpoint."""
        self.targets = state["targets"].to(self.targets)
        self.columns = {
            name: state["columns"][name].to(column) for name, column in self.columns.items()
        }
