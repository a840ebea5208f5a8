"""The interface between the clustering methods and the trainer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from infomeans import functional as IF
from infomeans.graph import agglomerate
from infomeans.methods.batch import Batch
from infomeans.methods.state import SampleState, Statistics

SUBSTANTIAL = 0.2
"""Share of the mean size that a part needs to become a cluster, as in `agglomerate`."""


class Method(nn.Module, ABC):
    """A clustering method: posteriors, targets and a loss over an embedding.

    Its state is its parameters and buffers. What it needs from the whole data set are sums over
    samples (`statistics`), unless it overrides `refresh`. Values that it keeps for every sample are
    `columns` of the `SampleState`.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    n_features : int
        Length of the embedding.
    """

    pretraining: ClassVar[Literal["reconstruction", "own", "none"]] = "reconstruction"
    """What pretraining minimises: the reconstruction loss, the method's own `pretraining_loss`, or
    nothing."""

    wants_start: ClassVar[bool] = True
    """Whether to find initial clusters and warm up on them. Otherwise training begins with the
    alternation, and `start` gets uniform targets."""

    wants_neighbors: ClassVar[bool] = False
    """Whether batches include a neighbour of every sample, drawn by its weight in the graph."""

    has_targets: ClassVar[bool] = True
    """Whether the loss follows targets after the warm-up."""

    tolerance: ClassVar[float] = 1e-7
    """The alternation ends when the mean squared change of the targets falls below it."""

    soft: ClassVar[bool] = True
    """Whether targets change with every small step. If so, small changes while the learning rate
    still rises do not mean convergence."""

    max_rounds: ClassVar[int] = 200
    """Maximum number of updates of the state before the targets are renewed."""

    gains_information: bool = False
    """Whether I(X;K) should not fall in the alternation; if it does, training has failed."""

    start_lam: float | None = None
    """The `lambda` of Eq. RMI, which soft K-means then starts with; None for its default."""

    gained: ClassVar[tuple[str, ...]] = ()
    """Buffers that saved models of earlier versions lack; they keep their initial values."""

    prototypes: Tensor
    """(K, d): the centres of the clusters in the embedding."""

    def __init__(self, n_clusters: int, n_features: int) -> None:
        super().__init__()
        self.n_clusters = n_clusters
        self.n_features = n_features

    @property
    def columns(self) -> Mapping[str, tuple[int, ...]]:
        """Names of the values kept for every sample, with the shape of one sample's entry."""
        return {}

    def parameter_groups(self, network: nn.Module) -> list[dict[str, Any]]:
        """Parameter groups for the optimiser; each may have its own learning rate `lr`."""
        trained = [*network.parameters(), *self.parameters()]
        return [{"params": [p for p in trained if p.requires_grad]}]

    def pretraining_loss(self, batch: Batch) -> Statistics:
        """Named terms that pretraining minimises."""
        return {"reconstruction": batch.reconstruction}

    def start(self, state: SampleState) -> None:
        """Initialise the method from the initial clusters, given as targets."""
        sums = state.total(moments)
        self._place(IF.weighted_means(sums["q"], sums["qz"], self.prototypes))

    @abstractmethod
    def log_posteriors(self, z: Tensor) -> Tensor:
        """Logarithms of the posteriors (n, K)."""

    def forward(self, z: Tensor) -> Tensor:
        """The posteriors (n, K)."""
        return self.log_posteriors(z).exp()

    def statistics(self, z: Tensor, q: Tensor) -> Statistics:
        """Sums over these samples, from their embedding and their current targets."""
        return {}

    def update(self, statistics: Statistics) -> bool:
        """Update the state from the sums over all samples; return True for another round."""
        return False

    def targets(self, z: Tensor) -> Tensor:
        """Targets of these samples; by default the posteriors."""
        return self(z)

    @abstractmethod
    def loss(self, batch: Batch) -> Statistics:
        """Named terms of the loss, whose sum is minimised."""

    def step_statistics(self, batch: Batch) -> Statistics:
        """Sums over a batch, for `after_step`."""
        return {}

    def after_step(self, statistics: Statistics) -> None:
        """Update the state from the sums over the batch, after the optimiser's step."""

    def follow(self, state: SampleState) -> None:
        """Update the state from the whole data set, with unchanged targets."""
        for _ in range(self.max_rounds):
            if not self.update(state.total(self.statistics)):
                break

    def warm(self, state: SampleState) -> None:
        """Called after every epoch of the warm-up, with the initial clusters as targets."""

    def refresh(self, state: SampleState) -> None:
        """Update the state, then the targets, from the whole data set."""
        self.follow(state)
        state.targets = state.map_rows(self.targets)

    def refill(self, state: SampleState) -> int:
        """Give every empty cluster a part of the largest one, and renew the targets.

        The largest cluster is split by graph agglomeration of its members. If that splits off only
        a few, it is split across its first principal component. A cluster of identical samples
        cannot be split; then the next largest is.

        Returns
        -------
        int
            By how many the number of empty clusters fell.
        """
        empty = (self.sizes(state) == 0).nonzero().flatten().tolist()
        n_empty = len(empty)
        whole = torch.zeros(self.n_clusters, dtype=torch.bool)
        while empty:
            sizes = self.sizes(state).cpu().masked_fill(whole, 0)
            if sizes.max() < 2:
                break
            if self._share(state, source := int(sizes.argmax()), empty[0]):
                empty.pop(0)
            else:
                whole[source] = True
        state.targets = state.map_rows(self)
        return n_empty - int((self.sizes(state) == 0).sum())

    def sizes(self, state: SampleState) -> Tensor:
        """Number of samples whose most probable cluster is k (K,)."""
        return state.total(lambda z, q: {"sizes": self._assigned(z).sum(dim=0)})["sizes"]

    def finish(self, state: SampleState) -> None:
        """Compute what is needed only after training."""

    def split(
        self, state: SampleState, source: int, empty: int, stays: Tensor, leaves: Tensor
    ) -> None:
        """Split one cluster into two.

        A method that does not override this leaves empty clusters empty.

        Parameters
        ----------
        state : SampleState
        source, empty : int
            The cluster to split, and the empty one that gets a part of it.
        stays, leaves : (n, d) tensor
            Embeddings of the members that `source` keeps, and of those that `empty` gets.
        """

    def _place(self, prototypes: Tensor) -> None:
        with torch.no_grad():
            self.prototypes.copy_(prototypes)

    def _assigned(self, z: Tensor) -> Tensor:
        return self._one_hot(self.log_posteriors(z).argmax(dim=1))

    def _one_hot(self, labels: Tensor) -> Tensor:
        return F.one_hot(labels, self.n_clusters)

    def _share(self, state: SampleState, source: int, empty: int) -> bool:
        """Split a cluster with an empty one; return whether that was possible."""
        members = state.map(lambda z: z[self._assigned(z)[:, source] > 0])
        members = state.processes.gathered(members)
        leaves = _part(members, SUBSTANTIAL * state.n_samples / self.n_clusters)
        if leaves.all() or not leaves.any():
            return False
        self.split(state, source, empty, members[~leaves], members[leaves])
        return True


def _part(members: Tensor, least: float) -> Tensor:
    """Which members (n, d) to split off; none if all are identical."""
    if (members == members[0]).all():
        return torch.zeros(len(members), dtype=torch.bool, device=members.device)
    part = torch.as_tensor(agglomerate(members.cpu().numpy(), 2), device=members.device) == 1
    if part.sum() >= least:
        return part
    centred = members - members.mean(dim=0)
    covariance = (centred.T @ centred).cpu().double()
    return centred @ torch.linalg.eigh(covariance).eigenvectors[:, -1].to(centred) > 0


def moments(z: Tensor, q: Tensor) -> Statistics:
    """Mass and weighted sum of the samples of each cluster."""
    return {"q": q.sum(dim=0), "qz": q.T @ z}
