"""Entropies, divergences and mutual information of posteriors.

Throughout, `p` and `q` are row-stochastic (n, K): one distribution over clusters per sample.
All values are in nats.
"""

import torch
from torch import Tensor


def marginal(p: Tensor) -> Tensor:
    """Marginal distribution of the labels, `phat_k = (1/N) sum_i p_ik`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import marginal
    >>> marginal(torch.tensor([[1.0, 0.0], [0.5, 0.5]]))
    tensor([0.7500, 0.2500])
    """
    return p.mean(dim=0)


def entropy(p: Tensor) -> Tensor:
    """Entropy of each distribution along the last axis, with `0 log 0 = 0`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import entropy
    >>> entropy(torch.tensor([[1.0, 0.0], [0.5, 0.5]])).abs()
    tensor([0.0000, 0.6931])
    """
    return -torch.xlogy(p, p).sum(dim=-1)


def label_entropy(p: Tensor) -> Tensor:
    """Entropy of the labels, `H(K) = -sum_k phat_k log phat_k`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import label_entropy
    >>> label_entropy(torch.eye(2))
    tensor(0.6931)
    """
    return entropy(marginal(p))


def conditional_entropy(p: Tensor) -> Tensor:
    """Conditional entropy, `H(K|X) = -(1/N) sum_i sum_k p_ik log p_ik`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import conditional_entropy
    >>> conditional_entropy(torch.full((3, 2), 0.5))
    tensor(0.6931)
    """
    return entropy(p).mean()


def mutual_information(p: Tensor) -> Tensor:
    """Mutual information, `I(X;K) = H(K) - H(K|X)` (Eq. MI of the paper).

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import mutual_information
    >>> mutual_information(torch.eye(2))
    tensor(0.6931)
    """
    return label_entropy(p) - conditional_entropy(p)


def kl_divergence(q: Tensor, p: Tensor) -> Tensor:
    """Divergence, `KL(Q || P) = (1/N) sum_i sum_k q_ik log(q_ik / p_ik)` (Eq. KL).

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import kl_divergence
    >>> kl_divergence(torch.eye(2), torch.full((2, 2), 0.5))
    tensor(0.6931)
    """
    return (torch.xlogy(q, q) - torch.xlogy(q, p)).sum(dim=-1).mean()


def cross_entropy(q: Tensor, log_p: Tensor) -> Tensor:
    """Cross-entropy, `-(1/N) sum_i sum_k q_ik log p_ik` (Eq. param-learn-depict).

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import cross_entropy
    >>> cross_entropy(torch.eye(2), torch.full((2, 2), 0.5).log())
    tensor(0.6931)
    """
    return -torch.where(q == 0, 0, q * log_p).sum(dim=-1).mean()


def adm_objective(q: Tensor, p: Tensor) -> Tensor:
    """Objective that the alternating direction method maximises (Eq. objective.MI-ADM-KL).

    `(1/N) sum_ik q_ik log p_ik - sum_k qhat_k log qhat_k - KL(Q || P)`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import adm_objective
    >>> adm_objective(torch.eye(2), torch.eye(2))
    tensor(0.6931)
    """
    fit = torch.xlogy(q, p).sum(dim=-1).mean()
    return fit + label_entropy(q) - kl_divergence(q, p)


def mi_adm_objective(q: Tensor, p: Tensor) -> Tensor:
    """Objective that MI-ADM minimises over Q (Eq. objective.MI-ADM-KL-2).

    `KL(Q || P) + (1/2) sum_k qhat_k log qhat_k + (1/2) H(Q)`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import mi_adm_objective
    >>> mi_adm_objective(torch.eye(2), torch.eye(2))
    tensor(-0.3466)
    """
    return kl_divergence(q, p) - label_entropy(q) / 2 + conditional_entropy(q) / 2


def depict_objective(q: Tensor, p: Tensor, gamma: float = 1.0) -> Tensor:
    """Objective that DEPICT minimises over Q (Eq. kl.disc).

    `KL(Q || P) + gamma sum_k qhat_k log qhat_k`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import depict_objective
    >>> depict_objective(torch.eye(2), torch.eye(2), gamma=1.0)
    tensor(-0.6931)
    """
    return kl_divergence(q, p) - gamma * label_entropy(q)
