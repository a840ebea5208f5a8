"""How well clusters match known classes; for evaluation only."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_consistent_length, column_or_1d


def accuracy(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Share of samples whose cluster is matched to their class, under the best matching.

    Each cluster is matched to at most one class and each class to at most one cluster; samples of
    what stays unmatched, where their numbers differ, count as wrong.
    """
    counts = contingency_matrix(*_labels(classes, clusters))
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / counts.sum())


def nmi(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Normalised mutual information: divided by the mean of the two entropies."""
    return float(normalized_mutual_info_score(*_labels(classes, clusters)))


def ari(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Rand index, adjusted for chance."""
    return float(adjusted_rand_score(*_labels(classes, clusters)))


def scores(classes: ArrayLike, clusters: ArrayLike) -> dict[str, float]:
    """Accuracy, NMI and ARI by the names `acc`, `nmi` and `ari`."""
    return {
        "acc": accuracy(classes, clusters),
        "nmi": nmi(classes, clusters),
        "ari": ari(classes, clusters),
    }


def _labels(classes: ArrayLike, clusters: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    pair = column_or_1d(classes), column_or_1d(clusters)
    check_consistent_length(*pair)
    if len(pair[0]) == 0:
        raise ValueError("classes and clusters are empty; at least one sample is needed.")
    return pair
