"""What a method is: the interface between the clustering methods and the trainer."""

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
"""The share of the mean size from which on a part of a cluster is one, as in the start."""


class Method(nn.Module, ABC):
    """A clustering method: posteriors, targets and a loss over an embedding.

    Its parameters and buffers are all its state. Whatever it needs from the whole data set is a
    sum over samples (`statistics`), unless it overrides `refresh`. What it keeps for every sample
    are `columns` of the `SampleState`.

    Parameters
    ----------
    n_clusters : int
    n_features : int
        Length of the embedding.
    """

    pretraining: ClassVar[Literal["reconstruction", "own", "none"]] = "reconstruction"
    """What the network learns before the start: to reconstruct, the `pretraining_loss` of the
    method, or nothing."""

    wants_start: ClassVar[bool] = True
    """Whether to find initial clusters and warm up on them. Without, training begins with the
    alternation, and the targets that `start` meets are equal for all clusters."""

    wants_neighbors: ClassVar[bool] = False
    """Whether batches bring a neighbour of every sample, drawn by its weight in the graph."""

    needs_bounded: ClassVar[bool] = False
    """Whether the loss would run away on an unbounded embedding."""

    has_targets: ClassVar[bool] = True
    """Whether the loss follows targets after the warm-up."""

    tolerance: ClassVar[float] = 1e-7
    """The alternation ends when the mean squared change of the targets falls below it."""

    soft: ClassVar[bool] = True
    """Whether targets follow every small change, so that while the learning rate rises they may
    change little by lack of it alone."""

    max_rounds: ClassVar[int] = 200
    """How often at most the state is updated before there are new targets."""

    gains_information: bool = False
    """Whether I(X;K) should not fall in the alternation, so that a fall means a failure."""

    prototypes: Tensor
    """(K, d): the centres of the clusters in the embedding."""

    def __init__(self, n_clusters: int, n_features: int) -> None:
        super().__init__()
        self.n_clusters = n_clusters
        self.n_features = n_features

    @property
    def columns(self) -> Mapping[str, tuple[int, ...]]:
        """What the method keeps for every sample: names, and shapes of one sample's entry."""
        return {}

    def parameter_groups(self, network: nn.Module) -> list[dict[str, Any]]:
        """What the optimiser trains, in groups that may have a learning rate `lr` of their own."""
        trained = [*network.parameters(), *self.parameters()]
        return [{"params": [p for p in trained if p.requires_grad]}]

    def pretraining_loss(self, batch: Batch) -> Statistics:
        """Named terms that pretraining minimises."""
        return {"reconstruction": batch.reconstruction}

    def start(self, state: SampleState) -> None:
        """Take over the initial clusters, given as targets."""
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
        """Take in the sums over all samples; True asks for another round."""
        return False

    def targets(self, z: Tensor) -> Tensor:
        """Targets of these samples; posteriors for a method that has none."""
        return self(z)

    @abstractmethod
    def loss(self, batch: Batch) -> Statistics:
        """Named terms whose sum is minimised."""

    def step_statistics(self, batch: Batch) -> Statistics:
        """Sums over a batch that `after_step` wants."""
        return {}

    def after_step(self, statistics: Statistics) -> None:
        """Take in the sums over the batch, after the optimiser's step."""

    def follow(self, state: SampleState) -> None:
        """Update the state from the whole data set, with the targets as they are."""
        for _ in range(self.max_rounds):
            if not self.update(state.total(self.statistics)):
                break

    def warm(self, state: SampleState) -> None:
        """After every epoch of the warm-up, with the initial clusters as targets."""

    def refresh(self, state: SampleState) -> None:
        """Update the state, then the targets, from the whole data set."""
        self.follow(state)
        state.targets = state.map(self.targets)

    def refill(self, state: SampleState) -> int:
        """Give every empty cluster a part of the largest one, and targets to match.

        The largest is parted where the graph of its members falls apart, or, if no more than a few
        would come off so, across its main direction.

        Returns
        -------
        int
            How many fewer clusters are empty. Where samples are copies of each other there may be
            nothing to share.
        """
        empty = (self.sizes(state) == 0).nonzero().flatten().tolist()
        for cluster in empty:
            if not self._share(state, int(self.sizes(state).argmax()), cluster):
                break
        state.targets = state.map(self)
        return len(empty) - int((self.sizes(state) == 0).sum())

    def sizes(self, state: SampleState) -> Tensor:
        """How many samples each cluster is the most probable one of (K,)."""
        return state.total(lambda z, q: {"sizes": self._assigned(z).sum(dim=0)})["sizes"]

    def finish(self, state: SampleState) -> None:
        """Settle what is only needed after training."""

    def split(
        self, state: SampleState, source: int, empty: int, stays: Tensor, leaves: Tensor
    ) -> None:
        """Make two clusters of one.

        A method that does not override this leaves empty clusters empty.

        Parameters
        ----------
        state : SampleState
        source, empty : int
            The cluster to share, and the one that takes a part of it.
        stays, leaves : (n, d) tensor
            The members of the first that it should keep, and those that should go to the other.
        """

    def _place(self, prototypes: Tensor) -> None:
        with torch.no_grad():
            self.prototypes.copy_(prototypes)

    def _assigned(self, z: Tensor) -> Tensor:
        return self._one_hot(self.log_posteriors(z).argmax(dim=1))

    def _one_hot(self, labels: Tensor) -> Tensor:
        return F.one_hot(labels, self.n_clusters)

    def _share(self, state: SampleState, source: int, empty: int) -> bool:
        """Whether the members of a cluster could be shared with an empty one."""
        members = state.map(lambda z: z[self._assigned(z)[:, source] > 0])
        leaves = _part(members, SUBSTANTIAL * len(state.embedding) / self.n_clusters)
        if leaves.all() or not leaves.any():
            return False
        self.split(state, source, empty, members[~leaves], members[leaves])
        return True


def _part(members: Tensor, least: float) -> Tensor:
    """Which members (n, d) to part from the others; none if they are copies of each other."""
    if (members == members[0]).all():
        return torch.zeros(len(members), dtype=torch.bool, device=members.device)
    part = torch.as_tensor(agglomerate(members.cpu().numpy(), 2), device=members.device) == 1
    if part.sum() >= least:
        return part
    centred = members - members.mean(dim=0)
    covariance = (centred.T @ centred).cpu().double()
    return centred @ torch.linalg.eigh(covariance).eigenvectors[:, -1].to(centred) > 0


def moments(z: Tensor, q: Tensor) -> Statistics:
    """Mass and sum of the samples of each cluster."""
    return {"q": q.sum(dim=0), "qz": q.T @ z}
