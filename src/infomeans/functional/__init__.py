"""The paper's formulas as pure functions on tensors: one formula, one function."""

from infomeans.functional.information import (
    adm_objective,
    conditional_entropy,
    cross_entropy,
    depict_objective,
    entropy,
    kl_divergence,
    label_entropy,
    marginal,
    mi_adm_objective,
    mutual_information,
)
from infomeans.functional.kmeans import (
    log_softmin,
    log_student,
    logistic_view,
    soft_kmeans_objective,
    squared_distances,
    weighted_means,
)
from infomeans.functional.targets import (
    dec_weight,
    depict_weight,
    exact_step,
    exact_targets,
    exact_weight,
    mi_adm_weight,
    voted_targets,
    weighted_targets,
)

__all__ = [
    "adm_objective",
    "conditional_entropy",
    "cross_entropy",
    "dec_weight",
    "depict_objective",
    "depict_weight",
    "entropy",
    "exact_step",
    "exact_targets",
    "exact_weight",
    "kl_divergence",
    "label_entropy",
    "log_softmin",
    "log_student",
    "logistic_view",
    "marginal",
    "mi_adm_objective",
    "mi_adm_weight",
    "mutual_information",
    "soft_kmeans_objective",
    "squared_distances",
    "voted_targets",
    "weighted_means",
    "weighted_targets",
]
