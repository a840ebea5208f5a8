"""Base classes of methods with logistic posteriors."""

import math
from abc import abstractmethod
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from infomeans import functional as IF
from infomeans.methods.base import Method, moments
from infomeans.methods.batch import Batch
from infomeans.methods.parameters import Sizes
from infomeans.methods.state import SampleState, Statistics


class Logistic(Method):
    """Posteriors `p_ik ~ exp(theta_k^T z_i + b_k)` (Eq. p_expression).

    Parameters
    ----------
    n_clusters, n_features : int
    sizes : {"equal", "free"} or sequence of K positive numbers
        Desired shares of the clusters. "free" learns them: they follow the clusters
        (`learned_shares`). Cluster numbers are arbitrary, so the largest given share goes to the
        largest initial cluster, and so on.
    """

    log_prior: Tensor

    def __init__(self, n_clusters: int, n_features: int, *, sizes: Sizes = "equal") -> None:
        super().__init__(n_clusters, n_features)
        self.shares = None if isinstance(sizes, str) else _checked_shares(sizes, n_clusters)
        self.learns_shares = self.shares is None and sizes == "free"
        self.weight = nn.Parameter(torch.zeros(n_clusters, n_features))
        self.bias = nn.Parameter(torch.zeros(n_clusters))
        self.register_buffer("prototypes", torch.zeros(n_clusters, n_features))
        self.register_buffer("log_prior", torch.zeros(n_clusters))

    @property
    def surest_lead(self) -> float:
        """Largest mean difference of the two highest scores at the start.

        The cross-entropy has no gradient on confident samples. It would train on uncertain ones
        only, whose targets are most often wrong. With a less confident start, all samples
        contribute. The more clusters there are, the larger a difference confidence takes.
        """
        return math.log(self.n_clusters) / 2

    @torch.no_grad()
    def start(self, state: SampleState) -> None:
        """Linear discriminants: Gaussians with one covariance around the initial means."""
        super().start(state)
        sizes = state.total(lambda z, q: {"q": q.sum(dim=0)})["q"]
        shares = sizes / sizes.sum()
        centre = shares @ self.prototypes
        means = self.prototypes - centre

        def scattered(z: Tensor, q: Tensor) -> Statistics:
            # Samples without a cluster have no mass.
            return {"zz": (q.sum(dim=1, keepdim=True) * (z - centre)).T @ (z - centre)}

        scatter = state.total(scattered)["zz"]
        within = scatter / sizes.sum() - means.T @ (shares[:, None] * means)
        # Shrinkage, for features that are nearly constant or correlated.
        floor = 0.01 * within.diagonal().mean().clamp_min(1e-6)
        shape = within + floor * torch.eye(self.n_features, device=within.device)
        weight = torch.linalg.solve(shape, means.T).T
        self.weight.copy_(weight)
        log_shares = shares.clamp_min(torch.finfo(shares.dtype).tiny).log()
        self.bias.copy_(log_shares - weight @ centre - (weight * means).sum(dim=1) / 2)
        self._temper(state)
        if self.shares is not None:
            wanted = self.shares.to(shares).sort(descending=True).values
            order = shares.argsort(descending=True, stable=True)
            self.log_prior[order] = (wanted / wanted.sum()).log()

    def _temper(self, state: SampleState) -> None:
        """Scale the weights down until the posteriors are not overconfident.

        In many dimensions discriminants are so confident that the noise of a training pass costs
        hundreds of nats, and the first steps would ruin the network.
        """

        def leads(z: Tensor, q: Tensor) -> Statistics:
            first, second = F.linear(z, self.weight, self.bias).topk(2, dim=1).values.T
            return {"leads": (first - second).sum(), "n": first.new_tensor(len(first))}

        if self.n_clusters > 1:
            sums = state.total(leads)
            scale = (self.surest_lead * sums["n"] / sums["leads"]).clamp_max(1)
            self.weight.mul_(scale)
            self.bias.mul_(scale)

    def log_posteriors(self, z: Tensor) -> Tensor:
        """Logarithms of the logistic posteriors."""
        return F.log_softmax(F.linear(z, self.weight, self.bias), dim=1)

    def refill(self, state: SampleState) -> int:
        """Fill empty clusters; if sizes are free, only if half of the clusters are empty."""
        empty = int((self.sizes(state) == 0).sum())
        if self.learns_shares and 2 * empty < self.n_clusters:
            return 0
        return super().refill(state)

    def log_shares(self, mass: Tensor) -> Tensor:
        """Logarithms of the desired shares (K,), given the present mass of the clusters (K,)."""
        return IF.learned_shares(mass).log() if self.learns_shares else self.log_prior

    @property
    def equal_shares(self) -> bool:
        """Whether clusters are to have equal shares."""
        return self.shares is None and not self.learns_shares

    def finish(self, state: SampleState) -> None:
        """Centres of the clusters: the soft means under the posteriors."""
        sums = state.total(lambda z, q: moments(z, self.log_posteriors(z).exp()))
        self._place(IF.weighted_means(sums["q"], sums["qz"], self.prototypes))

    @torch.no_grad()
    def split(
        self, state: SampleState, source: int, empty: int, stays: Tensor, leaves: Tensor
    ) -> None:
        """Replace one logit by two that are equal halfway between the means of both parts.

        At the mean of a part, its logit keeps its old value. The two differ only slightly, or they
        would win samples of other clusters, which keep at least half of their lead.
        """
        one, other = stays.mean(dim=0), leaves.mean(dim=0)
        halfway, offset = (one + other) / 2, (other - one) / 2
        far = offset.norm().clamp_min(1e-6)
        spread = ((torch.cat([stays, leaves]) - halfway) @ offset / far).square().mean().sqrt()
        tilt = 0.4 * self.surest_lead * offset / (far * torch.maximum(far, spread))
        sums = state.total(lambda z, q: moments(z, self._assigned(z).to(z)))
        held = (sums["q"] > 0) & (torch.arange(self.n_clusters, device=tilt.device) != source)
        means = sums["qz"][held] / sums["q"][held, None]
        logits = F.linear(means, self.weight, self.bias)
        leads = logits.amax(dim=1) - logits[:, source]
        gains = ((means - halfway) @ tilt).abs() - tilt @ offset
        tilt = tilt * min([1.0, *(leads / (2 * gains.clamp_min(1e-6))).tolist()])
        weight, bias = self.weight[source].clone(), self.bias[source] - tilt @ offset
        for cluster, sign in ((source, -1), (empty, 1)):
            self.weight[cluster] = weight + sign * tilt
            self.bias[cluster] = bias - sign * tilt @ halfway


class Alternating(Logistic):
    """Logistic posteriors trained towards targets `q_ik ~ p_ik^a w_k`.

    The weights come in closed form from one sum over the data, or exactly from an iteration that
    sums K numbers over the data in each round.
    """

    power: float
    gamma: float = 1.0
    exact: bool = False
    precision: float = 1e-5
    log_weight: Tensor
    log_u: Tensor

    def __init__(self, n_clusters: int, n_features: int, *, sizes: Sizes = "equal") -> None:
        super().__init__(n_clusters, n_features, sizes=sizes)
        self.register_buffer("log_weight", torch.zeros(n_clusters))
        self.register_buffer("log_u", torch.full((n_clusters,), 1 / n_clusters).log())

    def start(self, state: SampleState) -> None:
        """Start the iteration of the exact weights at clusters of equal size."""
        super().start(state)
        if self.exact:
            self.log_weight = self._exact_weight()

    @abstractmethod
    def mass(self, log_p: Tensor) -> Tensor:
        """Terms (n, K) whose sum over the samples the closed form uses."""

    @abstractmethod
    def closed_weight(self, log_s: Tensor) -> Tensor:
        """Weights of the closed form from the logarithm of that sum (K,)."""

    def statistics(self, z: Tensor, q: Tensor) -> Statistics:
        """The K sums that the weights are computed from."""
        mass = self.targets(z) if self.exact else self.mass(self.log_posteriors(z))
        return {"s": mass.sum(dim=0)}

    def update(self, statistics: Statistics) -> bool:
        """Set the weights; exact ones need more rounds until they converge."""
        if not self.exact:
            self.log_weight = self.closed_weight(statistics["s"].log())
            return False
        before = self.log_u
        self.log_u = IF.exact_step(before, statistics["s"], self.gamma)
        self.log_weight = self._exact_weight()
        change = (self.log_u.exp() - before.exp()).abs().max() / self.log_u.exp().max()
        return bool(change > self.precision)

    def _exact_weight(self) -> Tensor:
        return IF.exact_weight(self.log_u, self.gamma, self.log_shares(self.log_u.exp()))

    def targets(self, z: Tensor) -> Tensor:
        """Targets of these samples under the current weights."""
        return IF.weighted_targets(self.log_posteriors(z), self.power, self.log_weight)

    def loss(self, batch: Batch) -> Statistics:
        """Cross-entropy to the targets, and the reconstruction (Eq. maximization.Disc.2)."""
        assert batch.q is not None
        return {
            "clustering": IF.cross_entropy(batch.q, self.log_posteriors(batch.noisy)),
            "reconstruction": batch.reconstruction,
        }


def _checked_shares(sizes: Sequence[float], n_clusters: int) -> Tensor:
    try:
        shares = torch.as_tensor(sizes, dtype=torch.float64)
    except (TypeError, ValueError):
        shares = torch.empty(0)
    if shares.shape != (n_clusters,) or not (shares.isfinite() & (shares > 0)).all():
        raise ValueError(
            f"sizes={sizes!r} must hold one positive number for each of the "
            f"n_clusters={n_clusters} clusters."
        )
    return shares
