"""Soft, regularised K-means: distances, softmins, prototypes and the objective.

`z` is the embedding (n, d), `prototypes` are the soft means `theta'` (K, d) and `temperature` is
the paper's `lambda K`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def squared_distances(z: Tensor, prototypes: Tensor) -> Tensor:
    """Squared distances `|z_i - theta'_k|^2`, (n, K).

    They are computed from differences, not from inner products: a small temperature would amplify
    the rounding errors of those.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import squared_distances
    >>> squared_distances(torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [3.0]]))
    tensor([[0., 9.],
            [1., 4.]])
    """
    if torch.compiler.is_compiling():  # export formats have no cdist
        return (z[:, None] - prototypes).square().sum(dim=2)
    return torch.cdist(z, prototypes, compute_mode="donot_use_mm_for_euclid_dist").square()


def log_softmin(z: Tensor, prototypes: Tensor, temperature: float | Tensor) -> Tensor:
    """Logarithm of `q_ik ~ exp(-|z_i - theta'_k|^2 / (lambda K))`.

    Eq. qik.Gener of the paper.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import log_softmin
    >>> log_softmin(torch.tensor([[1.0]]), torch.tensor([[0.0], [2.0]]), temperature=0.1).exp()
    tensor([[0.5000, 0.5000]])
    """
    return F.log_softmax(-squared_distances(z, prototypes) / temperature, dim=1)


def log_student(z: Tensor, prototypes: Tensor) -> Tensor:
    """Logarithm of DEC's posteriors: Student's t with one degree of freedom.

    `p_ik ~ 1 / (1 + |z_i - mu_k|^2)`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import log_student
    >>> log_student(torch.tensor([[0.0]]), torch.tensor([[0.0], [2.0]])).exp()
    tensor([[0.8333, 0.1667]])
    """
    return F.log_softmax(-torch.log1p(squared_distances(z, prototypes)), dim=1)


def weighted_means(q_sum: Tensor, qz_sum: Tensor, fallback: Tensor) -> Tensor:
    """Soft means `theta'_k = (sum_i q_ik z_i) / (sum_i q_ik)` (Eq. centroids.Gener).

    Parameters
    ----------
    q_sum : (K,) tensor
        Mass of each cluster, `sum_i q_ik`.
    qz_sum : (K, d) tensor
        Weighted sums, `sum_i q_ik z_i`.
    fallback : (K, d) tensor
        Means of clusters without mass.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import weighted_means
    >>> mass, sums = torch.tensor([2.0, 0.0]), torch.tensor([[6.0], [0.0]])
    >>> weighted_means(mass, sums, fallback=torch.tensor([[1.0], [7.0]]))
    tensor([[3.],
            [7.]])
    """
    mass = q_sum.unsqueeze(1)
    least = torch.finfo(mass.dtype).tiny
    return torch.where(mass > least, qz_sum / mass.clamp_min(least), fallback)


def soft_kmeans_objective(z: Tensor, q: Tensor, prototypes: Tensor, temperature: float) -> Tensor:
    """The regularised soft K-means loss (Eq. R-soft-kmeans).

    `sum_ik q_ik |z_i - theta'_k|^2 + lambda K sum_ik q_ik log q_ik - sum_i z_i^T z_i`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import soft_kmeans_objective
    >>> z = torch.tensor([[0.0], [1.0]])
    >>> soft_kmeans_objective(z, torch.eye(2), prototypes=z, temperature=0.1)
    tensor(-1.)
    """
    spread = (q * squared_distances(z, prototypes)).sum()
    return spread + temperature * torch.xlogy(q, q).sum() - z.square().sum()


def logistic_view(prototypes: Tensor, q_hat: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """The logistic posteriors whose MI-ADM target is the softmin over these prototypes.

        theta_k = theta'_k / (lambda K)
        b_k = (1/2) log qhat_k - |theta'_k|^2 / (2 lambda K)

    With these, `p_ik^2 / qhat_k`, rows normalised, is the softmin. The paper's `b_k` lacks the
    second term.

    Returns
    -------
    weight : (K, d) tensor
    bias : (K,) tensor

    Examples
    --------
    >>> import torch
    >>> from infomeans.functional import logistic_view
    >>> prototypes, q_hat = torch.tensor([[1.0], [3.0]]), torch.tensor([0.5, 0.5])
    >>> weight, bias = logistic_view(prototypes, q_hat, temperature=0.5)
    >>> weight.flatten(), bias
    (tensor([2., 6.]), tensor([-1.3466, -9.3466]))
    """
    norms = prototypes.square().sum(dim=1)
    return prototypes / temperature, q_hat.log() / 2 - norms / (2 * temperature)
