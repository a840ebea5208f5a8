r"""The auxiliary targets Q, in closed form and exactly.

Every target here is :math:`q_{ik} \propto p_{ik}^a w_k`, with weights :math:`w` over the clusters
that come from sums over the **whole data set**. All arguments are logarithms, so that posteriors
of zero and clusters without mass do no harm.
"""

import math

import torch
from torch import Tensor


def weighted_targets(log_p: Tensor, power: float, log_weight: Tensor) -> Tensor:
    r""":math:`q_{ik} \propto p_{ik}^{a}\, w_k`, each row normalised.

    Parameters
    ----------
    log_p : (n, K) tensor
    power : float
        The exponent :math:`a`.
    log_weight : (K,) tensor
    """
    return torch.softmax(power * log_p + log_weight, dim=-1)


def mi_adm_weight(log_s: Tensor, log_prior: Tensor | float = 0.0) -> Tensor:
    r"""Weights of MI-ADM's closed form (Eq. optimal.q.Disc).

    .. math:: q_{ik} \propto p_{ik}^2 \sqrt{d_k / s_k}, \qquad s_k = \sum_i p_{ik}^2

    Parameters
    ----------
    log_s : (K,) tensor
        :math:`\log s_k` over the whole data set.
    log_prior : (K,) tensor
        :math:`\log d_k`, the wanted share of each cluster; any constant means equal shares.
    """
    return (log_prior - log_s) / 2


def depict_weight(log_s: Tensor, gamma: float = 1.0, log_prior: Tensor | float = 0.0) -> Tensor:
    r"""Weights of DEPICT's closed form; :math:`\gamma = 1` is the printed one (Eq. q.DEPICT).

    .. math:: q_{ik} \propto p_{ik}\, (d_k / s_k)^{\gamma / (1 + \gamma)},
              \qquad s_k = \sum_i p_{ik}
    """
    return (log_prior - log_s) * gamma / (1 + gamma)


def dec_weight(log_s: Tensor, log_prior: Tensor | float = 0.0) -> Tensor:
    r"""Weights of DEC's target, which DEPICT's released code uses too (Eq. optimal.D.P).

    .. math:: q_{ik} \propto p_{ik}^2\, d_k / s_k, \qquad s_k = \sum_i p_{ik}
    """
    return log_prior - log_s


def exact_weight(log_u: Tensor, gamma: float = 1.0, log_prior: Tensor | float = 0.0) -> Tensor:
    r"""Weights :math:`(d_k / u_k)^\gamma`, where ``u`` stands for the marginal of Q.

    The exact minimisers are fixed points: :math:`q \propto p^2 d / \hat q` for MI-ADM and
    :math:`q \propto p\,(d/\hat q)^\gamma` for DEPICT.
    """
    return (log_prior - log_u) * gamma


def exact_step(log_u: Tensor, q_sum: Tensor, gamma: float = 1.0) -> Tensor:
    r"""One round towards the fixed point, from the additive numbers :math:`\sum_i q_{ik}(u)`.

    .. math:: \log u \leftarrow \frac{\gamma \log u + \log \hat q(u)}{1 + \gamma}

    The damping makes up for the slope :math:`-\gamma` of :math:`\log \hat q` in :math:`\log u`;
    at :math:`\gamma = 1` this is :math:`u \leftarrow \sqrt{u\,\hat q(u)}`.
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
    """The exact minimiser over Q: MI-ADM at ``power=2, gamma=1``, DEPICT at ``power=1``."""
    n_clusters = log_p.shape[-1]
    log_u = log_p.new_full((n_clusters,), -math.log(n_clusters))
    for _ in range(max_rounds):
        q = weighted_targets(log_p, power, exact_weight(log_u, gamma, log_prior))
        before, log_u = log_u, exact_step(log_u, q.sum(dim=0), gamma)
        if (log_u.exp() - before.exp()).abs().max() <= tolerance:
            break
    return weighted_targets(log_p, power, exact_weight(log_u, gamma, log_prior))
