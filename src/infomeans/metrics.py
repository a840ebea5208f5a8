"""Scores of clusters against known classes, for evaluation only."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import comb, entr
from sklearn.metrics import adjusted_rand_score, mutual_info_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_consistent_length, column_or_1d


@dataclass(frozen=True)
class Confusion:
    """Number of samples of each class in each cluster.

    Attributes
    ----------
    counts : (classes, clusters) integer array
        Ordered so that the best matching is on the diagonal; unmatched classes and clusters come
        last.
    classes, clusters : arrays
        The classes of the rows and the clusters of the columns.
    """

    counts: NDArray[np.int64]
    classes: NDArray[Any]
    clusters: NDArray[Any]


def confusion(classes: ArrayLike, clusters: ArrayLike) -> Confusion:
    """The confusion matrix under the best matching of clusters to classes.

    Examples
    --------
    >>> from infomeans.metrics import confusion
    >>> confusion(["cat", "cat", "cat", "dog"], [1, 1, 0, 0]).counts
    array([[2, 1],
           [0, 1]])
    """
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

    Each cluster is matched to at most one class, and each class to at most one cluster. Samples of
    unmatched clusters and classes count as wrong.

    Examples
    --------
    >>> from infomeans.metrics import accuracy
    >>> accuracy(["cat", "cat", "cat", "dog"], [1, 1, 0, 0])
    0.75
    """
    counts = contingency_matrix(*_labels(classes, clusters))
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / counts.sum())


def nmi(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Normalised mutual information: divided by the mean of the two entropies.

    Examples
    --------
    >>> from infomeans.metrics import nmi
    >>> round(nmi(["cat", "cat", "dog", "dog"], [1, 1, 0, 0]), 4)
    1.0
    """
    return float(normalized_mutual_info_score(*_labels(classes, clusters)))


def ari(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Rand index, adjusted for chance.

    Examples
    --------
    >>> from infomeans.metrics import ari
    >>> round(ari(["cat", "cat", "dog", "dog"], [1, 1, 0, 0]), 4)
    1.0
    """
    return float(adjusted_rand_score(*_labels(classes, clusters)))


def scores(classes: ArrayLike, clusters: ArrayLike) -> dict[str, float]:
    """Accuracy, NMI and ARI under the names `acc`, `nmi` and `ari`.

    Examples
    --------
    >>> from infomeans.metrics import scores
    >>> figures = scores(["cat", "cat", "cat", "dog"], [1, 1, 0, 0])
    >>> {name: round(value, 3) for name, value in figures.items()}
    {'acc': 0.75, 'nmi': 0.344, 'ari': 0.0}
    """
    # Numbers are compared faster than texts.
    pair = [np.unique(one, return_inverse=True)[1] for one in _labels(classes, clusters)]
    return {"acc": accuracy(*pair), "nmi": nmi(*pair), "ari": ari(*pair)}


def scores_of_one(inside: int, size: int, total: int, n_samples: int) -> dict[str, float]:
    """NMI and ARI of one cluster and one class, each against all other samples.

    Parameters
    ----------
    inside : int
        Number of samples of the class in the cluster.
    size, total : int
        Number of samples in the cluster, and of the class.
    n_samples : int
        Number of all samples.

    Examples
    --------
    >>> from infomeans.metrics import scores_of_one
    >>> scores_of_one(inside=2, size=2, total=2, n_samples=5)
    {'nmi': 1.0, 'ari': 1.0}
    """
    counts = np.array(
        [[inside, total - inside], [size - inside, n_samples - size - total + inside]]
    )
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    mean = (entr(rows / n_samples).sum() + entr(columns / n_samples).sum()) / 2
    shared = mutual_info_score(None, None, contingency=counts)
    pairs, together = comb(n_samples, 2), comb(counts, 2).sum()
    in_class, in_cluster = comb(rows, 2).sum(), comb(columns, 2).sum()
    expected = in_class * in_cluster / pairs if pairs else 0.0
    most = (in_class + in_cluster) / 2
    return {
        "nmi": float(shared / mean) if mean > 0 else 1.0,
        "ari": float((together - expected) / (most - expected)) if most != expected else 1.0,
    }


def labelled(classes: ArrayLike) -> NDArray[np.bool_]:
    """Mask of the samples that have a class (n,); the empty string means none."""
    given = column_or_1d(classes)
    return given != "" if given.dtype.kind == "U" else np.ones(len(given), dtype=bool)


def scores_of_labelled(classes: ArrayLike, clusters: ArrayLike) -> dict[str, float]:
    """Scores on the samples that have a class, and their number as `scored`."""
    given, found = column_or_1d(classes), column_or_1d(clusters)
    check_consistent_length(given, found)
    known = labelled(given)
    return {**scores(given[known], found[known]), "scored": int(known.sum())}


def scored_on(scored: int, n_samples: int) -> str:
    """Note on how many samples were scored; empty if all were."""
    if scored == n_samples:
        return ""
    return f"on the {scored:,} of {n_samples:,} samples that have a label"


def _labels(classes: ArrayLike, clusters: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    pair = column_or_1d(classes), column_or_1d(clusters)
    check_consistent_length(*pair)
    if len(pair[0]) == 0:
        raise ValueError("classes and clusters are empty; at least one sample is needed.")
    return pair
