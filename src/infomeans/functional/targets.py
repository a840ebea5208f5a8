"""The auxiliary targets Q, in closed form and exactly.

Every target of a method is `q_ik ~ p_ik^a w_k`, with weights `w` over the clusters that come from
sums over the **whole data set**. Posteriors, weights and sums are given as logarithms, so that
zeros and clusters without mass do no harm. On top of that neighbours may vote.
"""

import math

import torch
from torch import Tensor


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


def voted_targets(q: Tensor, votes: Tensor, *, say: float, doubt: float) -> Tensor:
    """Targets that the neighbours of a sample have a say in.

        q'_ik ~ q_ik v_ik^c,   v_i = (1 - e) sum_j a_ij p_j + e / K

    They minimise `KL(q' || q) - c sum_k q'_k log v_k`, the divergence from what the sample says
    alone plus the cross-entropy to what its neighbours say. A sample that is sure enough of its
    cluster keeps it; one in doubt goes with its neighbours. They can overturn a lead of at most
    `q_ik / q_il < ((1 - e) K / e + 1)^c`.

    Parameters
    ----------
    q : (n, K) tensor
        Targets of the samples alone, every row with some mass.
    votes : (n, K) tensor
        The mean posteriors `sum_j a_ij p_j` of their neighbours.
    say : float
        The weight `c` of the votes.
    doubt : float
        The share `e` of the votes that all clusters have alike, so that no neighbours can rule a
        cluster out.
    """
    heard = torch.lerp(votes, torch.full_like(votes, 1 / votes.shape[-1]), doubt)
    joint = q * heard**say
    return joint / joint.sum(dim=-1, keepdim=True)


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
    return (log_prior - log_s) / 2


def depict_weight(log_s: Tensor, gamma: float = 1.0, log_prior: Tensor | float = 0.0) -> Tensor:
    """Weights of DEPICT's closed form; `gamma = 1` is the printed one (Eq. q.DEPICT).

    `q_ik ~ p_ik (d_k / s_k)^(gamma / (1 + gamma))`, where `s_k = sum_i p_ik`.
    """
    return (log_prior - log_s) * gamma / (1 + gamma)


def dec_weight(log_s: Tensor, log_prior: Tensor | float = 0.0) -> Tensor:
    """Weights of DEC's target, which DEPICT's released code uses too (Eq. optimal.D.P).

    `q_ik ~ p_ik^2 d_k / s_k`, where `s_k = sum_i p_ik`.
    """
    return log_prior - log_s


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
