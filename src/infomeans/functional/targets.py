"""The auxiliary targets Q, in closed form and exactly.

Every target of a method is `q_ik ~ p_ik^a w_k`. The weights `w` over the clusters come from sums
over the **whole data set**. Posteriors, weights and sums are given as logarithms, which makes
zeros and clusters without mass harmless. Neighbours may vote on top of that.
"""

import math

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import log_softmax
from torch import Tensor

from infomeans._typing import Array


def weighted_targets(log_p: Tensor, power: float, log_weight: Tensor) -> Tensor:
    """`q_ik ~ p_ik^a w_k`, each row normalised.

    Parameters
    ----------
    log_p : (n, K) tensor
        Logarithms of the posteriors.
    power : float
        The exponent `a`.
    log_weight : (K,) tensor
        Logarithms of the weights.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import weighted_targets
    >>> p = torch.tensor([[0.75, 0.25]])
    >>> weighted_targets(p.log(), power=2.0, log_weight=torch.zeros(2))
    tensor([[0.9000, 0.1000]])
    """
    return torch.softmax(power * log_p + log_weight, dim=-1)


def voted_targets(q: Tensor, votes: Tensor, weight: float) -> Tensor:
    """Targets that combine a sample's own targets with the votes of its neighbours.

        q'_ik ~ q_ik v_ik^c

    They minimise `KL(q' || q) - c sum_k q'_k log v_k`: the divergence from the sample's own
    targets plus the cross-entropy to the votes of its neighbours. A confident sample keeps its
    cluster; an uncertain one follows its neighbours.

    Parameters
    ----------
    q : (n, K) tensor
        Targets without the neighbours; every row has some mass.
    votes : (n, K) tensor
        Mean posteriors `v_i` of the neighbours, all positive.
    weight : float
        The weight `c` of the votes.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import voted_targets
    >>> q, votes = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.9, 0.1]])
    >>> voted_targets(q, votes, weight=1.0)
    tensor([[0.9000, 0.1000]])
    """
    return torch.softmax(q.log() + weight * votes.log(), dim=-1)


def vote_weight(q: Tensor, votes: Tensor, seen: Tensor) -> float:
    """Estimate the weight of the votes from another view of the samples.

        min over a, b >= 0 and u of  - sum_ik p'_ik log softmax_k(a log q_ik + b log v_ik + u_k)

    Neighbours should count as much as they help to predict the network's posteriors for another
    view of a sample, given its own targets. The powers `a` and `b` and the constants `u`
    compensate for the sharpness and the balance of targets and votes; only the ratio `b / a`
    matters. Together, neighbours count for at most as much as the sample itself, so the weight is
    between 0 and 1.

    Parameters
    ----------
    q, votes : (n, K) tensor
        As in `voted_targets`.
    seen : (n, K) tensor
        The posteriors `p'` of another view of the same samples.

    Examples
    --------
    Here the other view agrees with the votes, not with the targets.

    >>> import torch
    >>> from infomeans.functional import vote_weight
    >>> q = torch.tensor([[0.6, 0.4], [0.6, 0.4], [0.4, 0.6], [0.4, 0.6]])
    >>> votes = torch.tensor([[0.8, 0.2], [0.2, 0.8], [0.8, 0.2], [0.2, 0.8]])
    >>> round(vote_weight(q, votes, seen=votes), 2)
    1.0
    """
    rows = [part.detach().cpu().double() for part in (q, votes, seen)]
    floor = torch.finfo(torch.float32).tiny
    logs = [part.clamp_min(floor).log() for part in rows[:2]]
    # Centre the columns: what is the same for all samples belongs to u, not to the powers.
    own, theirs = ((log - log.mean(dim=0)).numpy() for log in logs)
    wanted, n_clusters = rows[2].numpy(), q.shape[1]

    def loss(at: Array) -> tuple[float, Array]:
        logits = at[0] * own + at[1] * theirs + at[2:]
        log_p = log_softmax(logits, axis=1)
        excess = np.exp(log_p) - wanted
        slopes = [(excess * own).sum(), (excess * theirs).sum(), *excess.sum(axis=0)]
        return -(wanted * log_p).sum() / len(own), np.array(slopes) / len(own)

    start = np.array([1.0, 0.0, *[0.0] * n_clusters])
    bounds = [(0, None)] * 2 + [(None, None)] * n_clusters
    powers = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-12).x[:2]
    return float(powers[1] / powers.max()) if powers.any() else 0.0


def learned_shares(mass: Tensor, pull: float = 0.05) -> Tensor:
    """Shares of the clusters from their mass (K,), with a small pull towards equal shares.

        d_k = (n_k + a) / sum_l (n_l + a),   a = pull * mean of n

    This is the maximum a posteriori estimate under a Dirichlet prior. No share falls to zero, so a
    cluster that loses its samples pulls them back.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import learned_shares
    >>> learned_shares(torch.tensor([30.0, 10.0, 0.0]), pull=0.5)
    tensor([0.6111, 0.2778, 0.1111])
    """
    raised = mass + pull * mass.mean()
    return raised / raised.sum()


def mi_adm_weight(log_s: Tensor, log_prior: Tensor | float = 0.0) -> Tensor:
    """Weights of MI-ADM's closed form (Eq. optimal.q.Disc).

        q_ik ~ p_ik^2 sqrt(d_k / s_k),   s_k = sum_i p_ik^2

    Parameters
    ----------
    log_s : (K,) tensor
        `log s_k` over the whole data set.
    log_prior : (K,) tensor
        `log d_k`, the desired share of each cluster; any constant means equal shares.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import mi_adm_weight
    >>> mi_adm_weight(torch.tensor([4.0, 16.0]).log()).exp()
    tensor([0.5000, 0.2500])
    """
    return (log_prior - _finite(log_s)) / 2


def depict_weight(log_s: Tensor, gamma: float = 1.0, log_prior: Tensor | float = 0.0) -> Tensor:
    """Weights of DEPICT's closed form; `gamma = 1` is the printed one (Eq. q.DEPICT).

    `q_ik ~ p_ik (d_k / s_k)^(gamma / (1 + gamma))`, where `s_k = sum_i p_ik`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import depict_weight
    >>> depict_weight(torch.tensor([4.0, 16.0]).log()).exp()
    tensor([0.5000, 0.2500])
    """
    return (log_prior - _finite(log_s)) * gamma / (1 + gamma)


def dec_weight(log_s: Tensor, log_prior: Tensor | float = 0.0) -> Tensor:
    """Weights of DEC's target, which DEPICT's released code uses too (Eq. optimal.D.P).

    `q_ik ~ p_ik^2 d_k / s_k`, where `s_k = sum_i p_ik`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import dec_weight
    >>> dec_weight(torch.tensor([2.0, 8.0]).log()).exp()
    tensor([0.5000, 0.1250])
    """
    return log_prior - _finite(log_s)


def exact_weight(log_u: Tensor, gamma: float = 1.0, log_prior: Tensor | float = 0.0) -> Tensor:
    """Weights `(d_k / u_k)^gamma`, where `u` stands for the marginal of Q.

    The exact minimisers are fixed points: `q ~ p^2 d / qhat` for MI-ADM and
    `q ~ p (d / qhat)^gamma` for DEPICT.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import exact_weight
    >>> exact_weight(torch.tensor([0.25, 0.75]).log()).exp()
    tensor([4.0000, 1.3333])
    """
    return (log_prior - log_u) * gamma


def exact_step(log_u: Tensor, q_sum: Tensor, gamma: float = 1.0) -> Tensor:
    """One iteration towards the fixed point, from the sums `sum_i q_ik(u)`.

        log u <- (gamma log u + log qhat(u)) / (1 + gamma)

    The damping compensates for the slope `-gamma` of `log qhat` in `log u`; at `gamma = 1`
    this is `u <- sqrt(u qhat(u))`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import exact_step
    >>> exact_step(torch.tensor([0.5, 0.5]).log(), q_sum=torch.tensor([2.0, 2.0])).exp()
    tensor([0.5000, 0.5000])
    """
    log_q = (q_sum / q_sum.sum()).clamp_min(torch.finfo(q_sum.dtype).tiny).log()
    return (gamma * log_u + log_q) / (1 + gamma)


def exact_targets(
    log_p: Tensor,
    power: float,
    gamma: float = 1.0,
    log_prior: Tensor | float = 0.0,
    *,
    tolerance: float = 1e-13,
    max_rounds: int = 1000,
) -> Tensor:
    """The exact minimiser over Q: MI-ADM at `power=2, gamma=1`, DEPICT at `power=1`.

    Parameters
    ----------
    log_p : (n, K) tensor
        Logarithms of the posteriors.
    power : float
        Exponent of the posteriors.
    gamma : float
        Weight of the balance of the clusters.
    log_prior : (K,) tensor
        `log d_k`, the desired share of each cluster; any constant means equal shares.
    tolerance : float
        The iteration ends when the marginal changes by less.
    max_rounds : int
        Maximum number of iterations.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import exact_targets
    >>> p = torch.tensor([[0.75, 0.25], [0.25, 0.75]])
    >>> exact_targets(p.log(), power=2.0)
    tensor([[0.9000, 0.1000],
            [0.1000, 0.9000]])
    """
    n_clusters = log_p.shape[-1]
    log_u = log_p.new_full((n_clusters,), -math.log(n_clusters))
    for _ in range(max_rounds):
        q = weighted_targets(log_p, power, exact_weight(log_u, gamma, log_prior))
        before, log_u = log_u, exact_step(log_u, q.sum(dim=0), gamma)
        if (log_u.exp() - before.exp()).abs().max() <= tolerance:
            break
    return weighted_targets(log_p, power, exact_weight(log_u, gamma, log_prior))


def _finite(log_s: Tensor) -> Tensor:
    """Give clusters without mass the smallest positive mass."""
    return log_s.clamp_min(math.log(torch.finfo(log_s.dtype).tiny))
