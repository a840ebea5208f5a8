"""Entropies, divergences and mutual information of posteriors.

Throughout, `p` and `q` are row-stochastic (n, K): one distribution over clusters per sample.
All values are in nats.
"""

import torch
from torch import Tensor


def marginal(p: Tensor) -> Tensor:
    """Distribution of the labels, `phat_k = (1/N) sum_i p_ik`."""
    return p.mean(dim=0)


def entropy(p: Tensor) -> Tensor:
    """Entropy of each distribution along the last axis, with `0 log 0 = 0`."""
    return -torch.xlogy(p, p).sum(dim=-1)


def label_entropy(p: Tensor) -> Tensor:
    """Entropy of the labels, `H(K) = -sum_k phat_k log phat_k`."""
    return entropy(marginal(p))


def conditional_entropy(p: Tensor) -> Tensor:
    """`H(K|X) = -(1/N) sum_i sum_k p_ik log p_ik`."""
    return entropy(p).mean()


def mutual_information(p: Tensor) -> Tensor:
    """`I(X;K) = H(K) - H(K|X)` (Eq. MI of the paper)."""
    return label_entropy(p) - conditional_entropy(p)


def kl_divergence(q: Tensor, p: Tensor) -> Tensor:
    """`KL(Q || P) = (1/N) sum_i sum_k q_ik log(q_ik / p_ik)` (Eq. KL)."""
    return (torch.xlogy(q, q) - torch.xlogy(q, p)).sum(dim=-1).mean()


def cross_entropy(q: Tensor, log_p: Tensor) -> Tensor:
    """`-(1/N) sum_i sum_k q_ik log p_ik` (Eq. param-learn-depict)."""
    return -torch.where(q == 0, 0, q * log_p).sum(dim=-1).mean()


def adm_objective(q: Tensor, p: Tensor) -> Tensor:
    """What the alternating direction method maximises (Eq. objective.MI-ADM-KL).

    `(1/N) sum_ik q_ik log p_ik - sum_k qhat_k log qhat_k - KL(Q || P)`.
    """
    fit = torch.xlogy(q, p).sum(dim=-1).mean()
    return fit + label_entropy(q) - kl_divergence(q, p)


def mi_adm_objective(q: Tensor, p: Tensor) -> Tensor:
    """What MI-ADM minimises over Q (Eq. objective.MI-ADM-KL-2).

    `KL(Q || P) + (1/2) sum_k qhat_k log qhat_k + (1/2) H(Q)`.
    """
    return kl_divergence(q, p) - label_entropy(q) / 2 + conditional_entropy(q) / 2


def depict_objective(q: Tensor, p: Tensor, gamma: float = 1.0) -> Tensor:
    """What DEPICT minimises over Q (Eq. kl.disc).

    `KL(Q || P) + gamma sum_k qhat_k log qhat_k`.
    """
    return kl_divergence(q, p) - gamma * label_entropy(q)
