import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from infomeans import MIADM, KMeansBaseline
from infomeans.data import Dataset
from infomeans.errors import ClusteringWarning
from infomeans.problems import cluster_problems, start_facts, start_problems, training_problems


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([10, 12, 9], []),
        ([100], []),
        ([97, 1, 1, 1], ["collapsed: 4 of 4 are in use"]),
        ([10, 10, 0, 0], ["collapsed: 2 of 4 are in use"]),
        ([10, 10, 10, 0], ["Cluster 3 is empty"]),
    ],
)
def test_collapsed_and_empty_clusters_are_named(sizes, expected):
    said = cluster_problems(sizes)
    assert len(said) == len(expected)
    assert all(words in problem for words, problem in zip(expected, said, strict=True))


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ({"distinct": 3}, "only 3 samples are distinct"),
        ({"distinct": 1}, "all samples are the same"),
        ({"distinct": 40, "groups": 2}, "about 2 groups; .*n_clusters='auto'"),
        ({"distinct": 40, "groups": 9}, "fewer clusters"),
        (None, "fewer clusters"),
    ],
)
@pytest.mark.parametrize("sizes", [[10, 10, 10, 0], [39, 1, 0, 0]])
def test_empty_clusters_have_a_reason_and_a_remedy(sizes, why, said):
    (problem,) = cluster_problems(sizes, why)
    assert re.search(said, problem)


@pytest.mark.parametrize("kind", [KMeansBaseline, partial(MIADM, pretrain_epochs=1, epochs=1)])
def test_copies_are_the_reason_that_a_fit_gives(kind):
    copies = np.repeat([[0.0], [1.0], [2.0]], 5, axis=0)
    with pytest.warns(ClusteringWarning, match="only 3 samples are distinct"):
        kind(5, random_state=0).fit(copies)


def test_samples_that_differ_by_rounding_errors_are_the_same():
    X = 1 + 1e-13 * np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(ClusteringWarning, match="all samples are the same"):
        KMeansBaseline(3, random_state=0).fit(X)


def test_groups_are_counted_if_clusters_are_empty():
    X, _ = make_blobs(150, centers=[[0, 0], [9, 9], [0, 9]], cluster_std=0.3, random_state=0)
    model = KMeansBaseline(3, random_state=0).fit(X)
    lost = replace(model.fitted_, posteriors=np.eye(8)[model.labels_])
    with pytest.warns(ClusteringWarning, match="about 3 groups"):
        model._keep(model.model_, lost, Dataset.of_array(X))


def test_an_undone_epoch_is_said():
    history = [{"phase": "warm-up", "halvings": None}, {"phase": "alternate", "halvings": 2}]
    (said,) = training_problems(history)
    assert "phase alternate: 2 epochs were undone" in said
    assert training_problems([{"phase": "pretrain"}]) == []


@pytest.mark.parametrize(("agreement", "lost"), [(None, False), (0.9, False), (0.2, True)])
def test_a_start_that_was_lost_is_named(agreement, lost):
    assert bool(start_problems(agreement)) == lost


def test_a_fit_with_an_empty_cluster_warns():
    copies = np.repeat([[0.0], [1.0], [2.0]], 5, axis=0)
    with pytest.warns(ClusteringWarning, match="Cluster 3 is empty"):
        KMeansBaseline(4, random_state=0).fit(copies)


@pytest.mark.parametrize("call", ["fit", "fit_predict", "fit_transform"])
@pytest.mark.parametrize("kind", [KMeansBaseline, partial(MIADM, pretrain_epochs=1, epochs=1)])
def test_the_warning_names_the_line_of_the_caller(call, kind):
    copies = np.repeat([[0.0], [1.0], [2.0]], 5, axis=0)
    with pytest.warns(ClusteringWarning) as caught:
        getattr(kind(4, random_state=0), call)(copies)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize(("total", "said"), [(50_000, True), (12_000, False)])
def test_a_number_found_in_a_selection_says_so(total, said):
    number = {"best": 3, "others": [], "finest": 3, "sure": 1.0, "n_samples": 12_000}
    facts = start_facts({"number": number, "sizes": [total - 2, 1, 1]})
    assert ("counted in 12,000 samples" in facts["clusters"]) is said


def test_learned_sizes_are_said():
    assert start_facts({"start": {"free": True}})["sizes"] == "learned, not equal"
    assert "sizes" not in start_facts({"start": {"free": False}})
