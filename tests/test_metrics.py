from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from infomeans.metrics import accuracy, ari, nmi, scores

labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


@given(labels)
def test_accuracy_is_the_best_over_all_matchings(pairs):
    classes, clusters = np.array(pairs).T
    best = max((np.array(m)[clusters] == classes).mean() for m in permutations(range(4)))
    assert accuracy(classes, clusters) == pytest.approx(best)


@given(labels)
def test_scores_are_scikit_learns(pairs):
    classes, clusters = np.array(pairs).T
    found = scores(classes, clusters)
    assert found["nmi"] == nmi(classes, clusters) == normalized_mutual_info_score(classes, clusters)
    assert found["ari"] == ari(classes, clusters) == adjusted_rand_score(classes, clusters)


def test_names_of_classes_and_clusters_do_not_matter():
    assert accuracy(["a", "a", "b"], [7, 7, -1]) == 1


def test_more_clusters_than_classes():
    assert accuracy([0, 0, 0, 1], [0, 0, 1, 2]) == 0.75


def test_fewer_clusters_than_classes():
    assert accuracy([0, 1, 2, 2], [0, 0, 1, 1]) == 0.75


def test_labels_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        accuracy([0, 1], [0])


def test_no_labels_are_refused():
    with pytest.raises(ValueError, match="at least one sample"):
        accuracy([], [])
