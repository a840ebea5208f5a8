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

        min over t, c of the cross-entropy of p'_i to softmax_k(t log q_ik + t c log v_ik)

    Neighbours should count for as much as they help to tell what the network sees in another view
    of a sample, beside what it sees in this one. How sharp targets are does not matter, for t
    makes up for it. Votes that do not help have no weight.

    Parameters
    ----------
    q, votes : (n, K) tensor
        As in `voted_targets`.
    seen : (n, K) tensor
        The posteriors `p'` of another view of the same samples.
    """
    tiny = torch.finfo(q.dtype).tiny
    logs, seen = torch.stack([q, votes]).clamp_min(tiny).double().log(), seen.double()
    powers = logs.new_tensor([1.0, 0.0]).requires_grad_()
    optimizer = torch.optim.LBFGS([powers], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        predicted = torch.tensordot(powers, logs, dims=1).log_softmax(dim=-1)
        value = -(seen * predicted).sum(dim=-1).mean()
        value.backward()
        return value

    with torch.enable_grad():
        optimizer.step(loss)
    own, theirs = powers.tolist()
    return max(theirs, 0.0) / own if own > 0 else 0.0


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
