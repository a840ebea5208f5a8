r"""Entropies, divergences and mutual information of posteriors.

Throughout, ``p`` and ``q`` are row-stochastic (n, K): one distribution over clusters per sample.
All values are in nats.
"""

import torch
from torch import Tensor


def marginal(p: Tensor) -> Tensor:
    r"""Distribution of the labels, :math:`\hat p_k = \frac1N \sum_i p_{ik}`."""
    return p.mean(dim=0)


def entropy(p: Tensor) -> Tensor:
    r"""Entropy of each distribution along the last axis, with :math:`0 \log 0 = 0`."""
    return -torch.xlogy(p, p).sum(dim=-1)


def label_entropy(p: Tensor) -> Tensor:
    r"""Entropy of the labels, :math:`H(K) = -\sum_k \hat p_k \log \hat p_k`."""
    return entropy(marginal(p))


def conditional_entropy(p: Tensor) -> Tensor:
    r""":math:`H(K|X) = -\frac1N \sum_i \sum_k p_{ik} \log p_{ik}`."""
    return entropy(p).mean()


def mutual_information(p: Tensor) -> Tensor:
    r""":math:`I(X;K) = H(K) - H(K|X)` (Eq. MI of the paper)."""
    return label_entropy(p) - conditional_entropy(p)


def kl_divergence(q: Tensor, p: Tensor) -> Tensor:
    r""":math:`KL(Q\|P) = \frac1N \sum_i \sum_k q_{ik} \log (q_{ik}/p_{ik})` (Eq. KL)."""
    return (torch.xlogy(q, q) - torch.xlogy(q, p)).sum(dim=-1).mean()


def cross_entropy(q: Tensor, log_p: Tensor) -> Tensor:
    r""":math:`-\frac1N \sum_i \sum_k q_{ik} \log p_{ik}` (Eq. param-learn-depict)."""
    return -(q * log_p).sum(dim=-1).mean()


def adm_objective(q: Tensor, p: Tensor) -> Tensor:
    r"""What the alternating direction method maximises (Eq. objective.MI-ADM-KL).

    .. math:: \frac1N \sum_{ik} q_{ik} \log p_{ik} - \sum_k \hat q_k \log \hat q_k - KL(Q\|P)
    """
    fit = torch.xlogy(q, p).sum(dim=-1).mean()
    return fit + label_entropy(q) - kl_divergence(q, p)


def mi_adm_objective(q: Tensor, p: Tensor) -> Tensor:
    r"""What MI-ADM minimises over Q (Eq. objective.MI-ADM-KL-2).

    .. math:: KL(Q\|P) + \tfrac12 \sum_k \hat q_k \log \hat q_k + \tfrac12 H(Q)
    """
    return kl_divergence(q, p) - label_entropy(q) / 2 + conditional_entropy(q) / 2


def depict_objective(q: Tensor, p: Tensor, gamma: float = 1.0) -> Tensor:
    r"""What DEPICT minimises over Q (Eq. kl.disc).

    .. math:: KL(Q\|P) + \gamma \sum_k \hat q_k \log \hat q_k
    """
    return kl_divergence(q, p) - gamma * label_entropy(q)
