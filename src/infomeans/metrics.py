"""How well clusters match known classes; for evaluation only."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_consistent_length, column_or_1d


@dataclass(frozen=True)
class Confusion:
    """How many samples of each class lie in each cluster.

    Attributes
    ----------
    counts : (classes, clusters) integer array
        Ordered so that the best matching lies on the diagonal; classes and clusters that have no
        partner come last.
    classes, clusters : arrays
        What the rows and the columns stand for.
    """

    counts: NDArray[np.int64]
    classes: NDArray[Any]
    clusters: NDArray[Any]


def confusion(classes: ArrayLike, clusters: ArrayLike) -> Confusion:
    """The confusion table under the best matching of clusters to classes."""
    pair = _labels(classes, clusters)
    counts = contingency_matrix(*pair)
    rows, columns = (
        [*matched, *sorted({*range(size)} - {*matched})]
        for matched, size in zip(
            map(np.ndarray.tolist, linear_sum_assignment(counts, maximize=True)),
            counts.shape,
            strict=True,
        )
    )
    classes_, clusters_ = map(np.unique, pair)
    return Confusion(counts[rows][:, columns], classes_[rows], clusters_[columns])


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


def labelled(classes: ArrayLike) -> NDArray[np.bool_]:
    """Which samples have a class (n,); those with an empty text have none."""
    given = column_or_1d(classes)
    return given != "" if given.dtype.kind == "U" else np.ones(len(given), dtype=bool)


def scores_of_labelled(classes: ArrayLike, clusters: ArrayLike) -> dict[str, float]:
    """The scores on the samples that have a class, and how many these are, as `scored`."""
    given, found = column_or_1d(classes), column_or_1d(clusters)
    check_consistent_length(given, found)
    known = labelled(given)
    return {**scores(given[known], found[known]), "scored": int(known.sum())}


def scored_on(scored: int, n_samples: int) -> str:
    """What is said of scores on some of the samples; nothing where all of them were scored."""
    if scored == n_samples:
        return ""
    return f"on the {scored:,} of {n_samples:,} samples that have a label"


def _labels(classes: ArrayLike, clusters: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    pair = column_or_1d(classes), column_or_1d(clusters)
    check_consistent_length(*pair)
    if len(pair[0]) == 0:
        raise ValueError("classes and clusters are empty; at least one sample is needed.")
    return pair
