"""The choice of the initial clusters."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine, make_blobs, make_circles, make_moons

from infomeans import MIADM
from infomeans.metrics import ari
from infomeans.start import choice, choose_start
from infomeans.start.candidates import Candidate, Choice, matched
from infomeans.training import Callback


def chosen(X, n_clusters, *, table=True, seed=0, z=None):
    """The start of vectors, without a network unless there is an embedding."""
    return choose_start(
        X.__getitem__,
        X if z is None else z,
        n_clusters,
        seed=seed,
        table=table,
        embedded=z is None,
    )


@pytest.mark.parametrize(
    ("X", "y"),
    [
        make_moons(400, noise=0.05, random_state=0),
        make_circles(400, factor=0.4, noise=0.04, random_state=0),
    ],
    ids=["moons", "rings"],
)
def test_the_graph_is_chosen_for_groups_that_are_not_round(X, y):
    start = chosen(X, 2, table=False)
    assert start.choice["chosen"].startswith("graph on data")
    assert ari(y, start.labels.numpy()) > 0.95


def test_overlapping_round_groups_are_left_to_kmeans():
    X, y = make_blobs(1000, n_features=30, centers=8, cluster_std=5.5, random_state=0)
    start = chosen(X, 8, table=False)
    graph = start.choice["scores"]["graph on data"]
    assert start.choice["scores"][start.choice["chosen"]] >= graph
    assert ari(y, start.labels.numpy()) > 0.7


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_a_column_with_large_numbers_does_not_decide(load):
    X, y = load(return_X_y=True)
    start = chosen(X, len(set(y)))
    weights = start.choice["weights"]
    assert weights["standardised"] > 0.9
    assert "standardised" in start.choice["chosen"]


def test_an_embedding_that_shows_the_groups_is_preferred_to_data_that_do_not():
    rng, y = np.random.default_rng(0), np.repeat([0, 1, 2], 100)
    X, z = rng.normal(size=(300, 20)), rng.normal(size=(300, 4)) + 8 * np.eye(4)[y]
    start = chosen(X, 3, z=z)
    assert "embedding" in start.choice["chosen"]
    assert start.choice["weights"]["embedding"] > 0.95
    assert ari(y, start.labels.numpy()) == 1


def test_kmeans_is_chosen_unless_a_graph_leads_clearly():
    X, _ = make_blobs(200, random_state=0)
    start = chosen(X, 3)
    assert sum(start.choice["weights"].values()) == pytest.approx(1, abs=1e-3)
    assert start.choice["n_samples"] == 200
    assert start.choice["chosen"].startswith("K-means")


def test_of_many_runs_of_kmeans_the_best_by_the_score_is_kept(monkeypatch):
    X, _ = make_blobs(300, centers=9, n_features=3, cluster_std=1.5, random_state=3)
    many = chosen(X, 9, table=False).choice["scores"]["K-means on data"]
    monkeypatch.setattr(choice, "RUNS", 1)
    assert many > chosen(X, 9, table=False).choice["scores"]["K-means on data"]


def test_the_score_of_the_start_is_that_of_the_choice():
    X, _ = make_blobs(300, centers=5, n_features=8, cluster_std=4, random_state=1)
    start = chosen(X, 5)
    best = start.choice["scores"][start.choice["chosen"]]
    assert start.score(start.labels.numpy()) == pytest.approx(best, abs=1e-4)


def test_graphs_that_are_level_are_compared_on_the_nearest_neighbours():
    labels = np.zeros(4, dtype=int)
    wider = Candidate("graph", ("data",), labels, score=1.2, near=1.0)
    nearer = Candidate("graph", ("embedding",), labels, score=1.1, near=1.3)
    plain = Candidate("kmeans", ("data",), labels, score=0.9, near=2.0)
    lead = choice.CLEAR_LEAD
    assert choice._ordered([plain, wider, nearer], 0.15 / lead) == [nearer, wider, plain]
    assert choice._ordered([plain, wider, nearer], 0.05 / lead) == [wider, nearer, plain]
    assert choice._ordered([plain, wider, nearer], 0.35 / lead) == [plain, wider, nearer]


def test_a_mixed_graph_must_lead_the_graph_of_one_view():
    labels = np.zeros(4, dtype=int)
    plain = Candidate("kmeans", ("data",), labels, score=0.0, near=0.0)
    single = Candidate("graph", ("data",), labels, score=2.0, near=2.0)
    for near, best in ((2.0005, single), (2.01, None)):
        mixed = Candidate("graph", ("data", "directions"), labels, score=2.0, near=near)
        assert choice._ordered([mixed, single, plain], 2.0)[0] is (best or mixed)


def test_the_same_seed_gives_the_same_start():
    X, _ = make_blobs(300, centers=5, n_features=8, cluster_std=4, random_state=1)
    one, other = chosen(X, 5, seed=3), chosen(X, 5, seed=3)
    assert one.labels.equal(other.labels)
    assert one.choice == other.choice


def test_many_samples_are_decided_on_some_of_them(monkeypatch):
    monkeypatch.setattr(choice, "MOST_SAMPLES", 150)
    monkeypatch.setattr(choice, "PER_CLUSTER", 40)
    X, y = make_blobs(600, centers=3, n_features=6, random_state=0)
    start = chosen(X, 3)
    assert start.choice["n_samples"] == 150
    assert len(start.labels) == len(start.stability) == len(start.neighbors.ids) == 600
    assert ari(y, start.labels.numpy()) == 1


@pytest.mark.parametrize("X", [np.ones((40, 3)), np.arange(40.0)[:, None] % 2], ids=["copies", "1"])
def test_copies_and_a_single_feature_are_clustered_all_the_same(X):
    start = chosen(X, 2)
    assert start.choice["chosen"]
    assert start.labels.shape == (40,)
    assert start.stability.isfinite().all()


def test_twenty_samples_are_enough_to_choose():
    X, _ = make_blobs(20, centers=2, random_state=0)
    model = MIADM(2, pretrain_epochs=2, epochs=2, random_state=0).fit(X)
    assert model.fitted_.choice["chosen"]


def test_neighbours_of_mixed_graphs_are_equally_many_and_weights_sum_to_one():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(120, 5)), rng.normal(size=(120, 3))
    ids, weights = chosen(X, 4, z=z).neighbors
    assert ids.shape == weights.shape
    np.testing.assert_allclose(weights.sum(dim=1), 1, atol=1e-5)


def test_stability_counts_alternatives_by_how_close_they_are():
    labels = np.array([0, 0, 1, 1])
    renamed, halves = np.array([1, 1, 0, 0]), np.array([0, 1, 0, 1])
    candidates = [
        Candidate("graph", ("data",), labels, 1.0, 1.0),
        Candidate("kmeans", ("data",), renamed, 1.0, 1.0),
        Candidate("graph", ("directions",), halves, -100.0, 0.0),
    ]
    stability = Choice(candidates, {"data": 1.0}, None, {}).stability()
    np.testing.assert_allclose(stability, 1)
    closer = [*candidates[:2], Candidate("graph", ("directions",), halves, 1.0, 1.0)]
    np.testing.assert_allclose(np.sort(Choice(closer, {}, None, {}).stability()), [0.5, 0.5, 1, 1])


def test_matched_labels_agree_as_far_as_possible():
    labels, others = np.array([0, 0, 1, 1, 2]), np.array([2, 2, 0, 0, 0])
    np.testing.assert_array_equal(matched(labels, others), [0, 0, 1, 1, 1])


def test_labels_are_never_seen():
    X, y = make_blobs(150, random_state=0)
    first = MIADM(3, pretrain_epochs=2, epochs=2, random_state=0).fit(X, y)
    second = MIADM(3, pretrain_epochs=2, epochs=2, random_state=0).fit(X, y[::-1])
    np.testing.assert_array_equal(first.labels_, second.labels_)
    assert first.fitted_.choice == second.fitted_.choice


class Stop(Callback):
    """Interrupts the training in its last phase."""

    def on_epoch(self, record):
        if record.phase == "alternate":
            raise KeyboardInterrupt


def test_a_resumed_training_remembers_its_choice(tmp_path):
    X, _ = make_blobs(150, n_features=5, random_state=0)
    params = {"pretrain_epochs": 2, "epochs": 3, "random_state": 0}
    whole = MIADM(3, **params).fit(X)
    params["checkpoint"] = tmp_path / "state.safetensors"
    with pytest.raises(KeyboardInterrupt):
        MIADM(3, callbacks=[Stop()], **params).fit(X)
    resumed = MIADM(3, **params).fit(X)
    np.testing.assert_array_equal(resumed.labels_, whole.labels_)
    assert resumed.fitted_.choice == whole.fitted_.choice
    np.testing.assert_array_equal(resumed.fitted_.stability, whole.fitted_.stability)
