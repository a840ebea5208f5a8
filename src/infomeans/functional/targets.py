"""The auxiliary targets Q, in closed form and exactly.

Every target of a method is `q_ik ~ p_ik^a w_k`, with weights `w` over the clusters that come from
sums over the **whole data set**. Posteriors, weights and sums are given as logarithms, so that
zeros and clusters without mass do no harm. On top of that neighbours may vote.
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
    power : float
        The exponent `a`.
    log_weight : (K,) tensor
    """
    return torch.softmax(power * log_p + log_weight, dim=-1)


def voted_targets(q: Tensor, votes: Tensor, weight: float) -> Tensor:
    """Targets that the neighbours of a sample have a say in.

        q'_ik ~ q_ik v_ik^c

    They minimise `KL(q' || q) - c sum_k q'_k log v_k`, the divergence from what the sample says
    alone plus the cross-entropy to what its neighbours say. A sample that is sure enough of its
    cluster keeps it; one in doubt goes with its neighbours.

    Parameters
    ----------
    q : (n, K) tensor
        Targets of the samples alone, every row with some mass.
    votes : (n, K) tensor
        The mean posteriors `v_i` of their neighbours, all positive.
    weight : float
        The weight `c` of the votes.
    """
    return torch.softmax(q.log() + weight * votes.log(), dim=-1)


def vote_weight(q: Tensor, votes: Tensor, seen: Tensor) -> float:
    """The weight of the votes that another look at the samples speaks for.

        min over a, b >= 0 and u of  - sum_ik p'_ik log softmax_k(a log q_ik + b log v_ik + u_k)

    Neighbours should count for as much as they help to tell what the network sees in another view
    of a sample, beside what it sees in this one. The powers `a` and `b` and the constants `u` make
    up for how sharp targets and votes are, and how they weigh the clusters; what matters is the
    ratio `b / a`. Together neighbours count for no more than the sample itself, so that the weight
    lies between 0 and 1.

    Parameters
    ----------
    q, votes : (n, K) tensor
        As in `voted_targets`.
    seen : (n, K) tensor
        The posteriors `p'` of another view of the same samples.
    """
    rows = [part.detach().cpu().double() for part in (q, votes, seen)]
    floor = torch.finfo(torch.float32).tiny
    logs = [part.clamp_min(floor).log() for part in rows[:2]]
    # Less what u can make up for, so that what is the same for all samples has no power.
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


def mi_adm_weight(log_s: Tensor, log_prior: Tensor | float = 0.0) -> Tensor:
    """Weights of MI-ADM's closed form (Eq. optimal.q.Disc).

        q_ik ~ p_ik^2 sqrt(d_k / s_k),   s_k = sum_i p_ik^2

    Parameters
    ----------
    log_s : (K,) tensor
        `log s_k` over the whole data set.
    log_prior : (K,) tensor
        `log d_k`, the wanted share of each cluster; any constant means equal shares.
    """
    return (log_prior - _finite(log_s)) / 2


def depict_weight(log_s: Tensor, gamma: float = 1.0, log_prior: Tensor | float = 0.0) -> Tensor:
    """Weights of DEPICT's closed form; `gamma = 1` is the printed one (Eq. q.DEPICT).

    `q_ik ~ p_ik (d_k / s_k)^(gamma / (1 + gamma))`, where `s_k = sum_i p_ik`.
    """
    return (log_prior - _finite(log_s)) * gamma / (1 + gamma)


def dec_weight(log_s: Tensor, log_prior: Tensor | float = 0.0) -> Tensor:
    """Weights of DEC's target, which DEPICT's released code uses too (Eq. optimal.D.P).

    `q_ik ~ p_ik^2 d_k / s_k`, where `s_k = sum_i p_ik`.
    """
    return log_prior - _finite(log_s)


def exact_weight(log_u: Tensor, gamma: float = 1.0, log_prior: Tensor | float = 0.0) -> Tensor:
    """Weights `(d_k / u_k)^gamma`, where `u` stands for the marginal of Q.

    The exact minimisers are fixed points: `q ~ p^2 d / qhat` for MI-ADM and
    `q ~ p (d / qhat)^gamma` for DEPICT.
    """
    return (log_prior - log_u) * gamma


def exact_step(log_u: Tensor, q_sum: Tensor, gamma: float = 1.0) -> Tensor:
    """One round towards the fixed point, from the additive numbers `sum_i q_ik(u)`.

        log u <- (gamma log u + log qhat(u)) / (1 + gamma)

    The damping makes up for the slope `-gamma` of `log qhat` in `log u`; at `gamma = 1`
    this is `u <- sqrt(u qhat(u))`.
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
    """The exact minimiser over Q: MI-ADM at `power=2, gamma=1`, DEPICT at `power=1`."""
    n_clusters = log_p.shape[-1]
    log_u = log_p.new_full((n_clusters,), -math.log(n_clusters))
    for _ in range(max_rounds):
        q = weighted_targets(log_p, power, exact_weight(log_u, gamma, log_prior))
        before, log_u = log_u, exact_step(log_u, q.sum(dim=0), gamma)
        if (log_u.exp() - before.exp()).abs().max() <= tolerance:
            break
    return weighted_targets(log_p, power, exact_weight(log_u, gamma, log_prior))


def _finite(log_s: Tensor) -> Tensor:
    """The same with a little mass for clusters that have none."""
    return log_s.clamp_min(math.log(torch.finfo(log_s.dtype).tiny))
