"""What a method is: the interface between the clustering methods and the trainer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from infomeans import functional as IF
from infomeans.graph import agglomerate

Statistics = dict[str, Tensor]

SUBSTANTIAL = 0.2
"""The share of the mean size from which on a part of a cluster is one, as in the start."""


class Network(Protocol):
    """What methods and trainer ask of a network."""

    bounded: bool
    reconstructs: bool

    def __call__(self, x: Tensor) -> Tensor:
        """The clean embedding (n, d)."""

    def noisy(self, x: Tensor, *, drop: bool = True) -> Tensor:
        """The embedding of a corrupted copy of the input (n, d); it may do without dropout."""

    def reconstruction(self, x: Tensor, noisy: Tensor) -> Tensor:
        """The reconstruction loss R from the noisy embedding."""


class Batch:
    """A batch in training. What a loss does not ask for is not computed.

    Attributes
    ----------
    network : Network
    x : (n, ...) tensor
    q : (n, K) tensor or None
        The targets of these samples; None for a method that has no targets.
    seen : (n, ...) tensor
        What the noisy pass sees: the samples, or augmented copies of them.
    drop : bool
        Whether the noisy pass drops activations.
    """

    def __init__(
        self,
        network: Network,
        x: Tensor,
        q: Tensor | None = None,
        seen: Tensor | None = None,
        *,
        drop: bool = True,
    ) -> None:
        self.network = network
        self.x = x
        self.q = q
        self.seen = x if seen is None else seen
        self.drop = drop

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


class Neighbors(NamedTuple):
    """For every sample the ones next to it in the graph that the start came from.

    Attributes
    ----------
    ids : (n, m) integer tensor
        Their numbers.
    weights : (n, m) tensor
        How much each counts; every row sums to one.
    """

    ids: Tensor
    weights: Tensor


class Embedded:
    """The whole data set as a method sees it: the clean embedding and the current targets.

    Attributes
    ----------
    z : (n, d) tensor
    q : (n, K) tensor
    neighbors : Neighbors or None
        Whose votes count in the targets.
    """

    chunk: ClassVar[int] = 8192

    def __init__(self, z: Tensor, q: Tensor, neighbors: Neighbors | None = None) -> None:
        self.z = z
        self.q = q
        self.neighbors = neighbors

    @torch.no_grad()
    def total(self, statistics: Callable[[Tensor, Tensor], Statistics]) -> Statistics:
        """Add up over all samples what `statistics(z, q)` says of each chunk of them."""
        sums: Statistics = {}
        for z, q in zip(self.z.split(self.chunk), self.q.split(self.chunk), strict=True):
            for name, value in statistics(z, q).items():
                sums[name] = sums[name] + value if name in sums else value
        return sums

    @torch.no_grad()
    def map(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply a function of the embedding to every sample."""
        return torch.cat([function(z) for z in self.z.split(self.chunk)])

    def votes(self, posteriors: Callable[[Tensor], Tensor], *, doubt: float) -> Tensor:
        """The mean posteriors (n, K) of the neighbours of every sample.

        Parameters
        ----------
        posteriors : callable
            Of samples, by their embedding.
        doubt : float
            The share of the votes that all clusters have alike, so that no neighbours can rule a
            cluster out.
        """
        assert self.neighbors is not None
        p = self.map(posteriors)
        # Every sample looks at the posteriors of many, so the chunks are smaller.
        parts = zip(*(part.split(-(-self.chunk // 8)) for part in self.neighbors), strict=True)
        means = torch.cat([(weights.unsqueeze(1) @ p[ids]).squeeze(1) for ids, weights in parts])
        return torch.lerp(means, torch.full_like(means, 1 / means.shape[1]), doubt)


class Method(nn.Module, ABC):
    """A clustering method: posteriors, targets and a loss over an embedding.

    Its parameters and buffers are all its state. Whatever it needs from the whole data set is a
    sum over samples (`statistics`), unless it overrides `refresh`.

    Parameters
    ----------
    n_clusters : int
    n_features : int
        Length of the embedding.
    """

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

    def start(self, data: Embedded) -> None:
        """Take over the initial clusters, given as one-hot targets."""
        sums = data.total(moments)
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

    def follow(self, data: Embedded) -> None:
        """Update the state from the whole data set, with the targets as they are."""
        for _ in range(self.max_rounds):
            if not self.update(data.total(self.statistics)):
                break

    def warm(self, data: Embedded) -> None:
        """After every epoch of the warm-up, with the initial clusters as targets."""

    def refresh(self, data: Embedded) -> None:
        """Update the state, then the targets, from the whole data set."""
        self.follow(data)
        data.q = data.map(self.targets)

    def refill(self, data: Embedded) -> int:
        """Give every empty cluster a part of the largest one, and targets to match.

        The largest is parted where the graph of its members falls apart, or, if no more than a few
        would come off so, across its main direction.

        Returns
        -------
        int
            How many fewer clusters are empty. Where samples are copies of each other there may be
            nothing to share.
        """
        empty = (self.sizes(data) == 0).nonzero().flatten().tolist()
        for cluster in empty:
            if not self._share(data, int(self.sizes(data).argmax()), cluster):
                break
        data.q = data.map(self)
        return len(empty) - int((self.sizes(data) == 0).sum())

    def sizes(self, data: Embedded) -> Tensor:
        """How many samples each cluster is the most probable one of (K,)."""
        return data.total(lambda z, q: {"sizes": self._assigned(z).sum(dim=0)})["sizes"]

    def finish(self, data: Embedded) -> None:
        """Settle what is only needed after training."""

    def split(self, data: Embedded, source: int, empty: int, stays: Tensor, leaves: Tensor) -> None:
        """Make two clusters of one.

        A method that does not override this leaves empty clusters empty.

        Parameters
        ----------
        data : Embedded
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

    def _share(self, data: Embedded, source: int, empty: int) -> bool:
        """Whether the members of a cluster could be shared with an empty one."""
        members = data.map(lambda z: z[self._assigned(z)[:, source] > 0])
        leaves = _part(members, SUBSTANTIAL * len(data.z) / self.n_clusters)
        if leaves.all() or not leaves.any():
            return False
        self.split(data, source, empty, members[~leaves], members[leaves])
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
