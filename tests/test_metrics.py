from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from infomeans.metrics import (
    accuracy,
    ari,
    labelled,
    nmi,
    scores,
    scores_of_labelled,
    scores_of_one,
)

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


@given(labels, st.data())
def test_samples_without_a_label_count_for_nothing(pairs, draw):
    classes, clusters = np.array(pairs).T
    n = len(classes)
    known = draw.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any))
    given_ = np.where(known, classes.astype(str), "")
    assert labelled(given_).tolist() == known
    found = scores_of_labelled(given_, clusters)
    assert found == {**scores(classes[known], clusters[known]), "scored": sum(known)}


def test_labels_that_are_numbers_are_all_given():
    assert scores_of_labelled([0, 0, 1], [1, 1, 0])["scored"] == 3
    assert labelled(np.array([0, 1])).all()


def test_scores_are_strict_about_lengths_where_labels_are_missing():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        scores_of_labelled(["a", ""], [0])


def test_scores_of_one_class_and_one_cluster_are_scikit_learns():
    rng = np.random.default_rng(0)
    for n in range(2, 60):
        wanted = rng.random(n) < rng.random()
        inside = np.where(rng.random(n) < 0.3, wanted, rng.random(n) < 0.4)
        counts = int((wanted & inside).sum()), int(inside.sum()), int(wanted.sum()), n
        expected = {"nmi": nmi(wanted, inside), "ari": ari(wanted, inside)}
        assert scores_of_one(*counts) == pytest.approx(expected, abs=1e-9)
