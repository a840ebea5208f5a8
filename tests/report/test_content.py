import numpy as np
import pytest

from infomeans import data
from infomeans.data import Dataset
from infomeans.data.rows import ArrayRows
from infomeans.report import content, judging
from infomeans.report.features import features
from infomeans.report.findings import Findings
from infomeans.runs import Run

SURE = np.eye(4)[np.repeat(np.arange(4), 25)] * 0.96 + 0.01


@pytest.fixture
def find(tmp_path):
    """What is found in a run with these posteriors."""

    def find(posteriors, *, classes=None, X=None, history=(), names=None, **metrics):
        n, k = posteriors.shape
        X = np.arange(2.0 * n).reshape(n, 2) if X is None else X
        samples = data.open(X)
        config = {
            "created": "2026-01-02T03:04:05",
            "versions": {"infomeans": "1"},
            "arguments": {"n_clusters": k, "method": "mi-adm", "seed": 0},
            "data": {"source": "x", "fingerprint": "f", "sample_shape": [2], "skipped": []},
        }
        run = Run.create(tmp_path / "run", config)
        run.write_history(history)
        figures = {"seconds": 75.4, "mi": 1.0, "confidence": 0.9, **metrics}
        run.write_results(samples.ids, posteriors, X.reshape(n, -1), figures)
        labels = None if classes is None else np.asarray(classes).astype(str)
        rows = ArrayRows(X)
        return Findings(run, Dataset(rows, samples.ids, samples.schema, "x", labels, names=names))

    return find


def test_a_good_result_has_no_warnings(find):
    found = content.overview(find(SURE))
    assert found["warnings"] == []
    assert found["sentence"].startswith("The 100 samples fall into 4 groups of 25 samples each.")
    assert found["facts"]["samples"] == "100 rows of 2 features"
    assert "For 100% of them" in found["sentence"]
    assert found["facts"]["time"] == "1 min 15 s"


def test_the_overview_says_how_the_start_was_chosen_and_what_training_changed(find):
    scores = {"graph on data and embedding": 1.21, "K-means on data": 1.1, "graph on data": 1.2}
    start = {
        "choice": {"chosen": "graph on data and embedding", "scores": scores},
        "changed": 0.004,
    }
    found = content.overview(find(SURE, stability=0.93, start={"agreement": 1.0, **start}))
    facts = found["facts"]
    assert facts["start"].startswith("graph on data and embedding, 1.210 nats")
    assert facts["start"].endswith("(K-means on data 1.100, graph on data 1.200)")
    assert facts["training"] == "changed the cluster of 0.4% of the samples"
    assert facts["stability"].startswith("0.930")
    assert "agree on 93% of them" in found["sentence"]
    assert found["warnings"] == []


def test_a_start_that_others_disagree_with_is_a_warning(find):
    (warning,) = content.overview(find(SURE, stability=0.5))["warnings"]
    assert "agree on only 50% of the samples" in warning


def test_nearly_all_is_not_all(find):
    posteriors = np.full((1000, 2), [0.99, 0.01])
    posteriors[0] = 0.5
    assert "For 99% of them" in content.overview(find(posteriors))["sentence"]


@pytest.mark.parametrize(
    ("posteriors", "warning"),
    [
        (np.tile([0.97, 0.01, 0.01, 0.01], (100, 1)), "collapsed: 1 of 4 are in use"),
        (SURE[:50], "collapsed: 2 of 4 are in use"),
        (SURE[:75], "Cluster 3 is empty"),
        (np.repeat(SURE[[0, 25, 50]], [1, 60, 60], axis=0), "Cluster 0 is under 1.0%"),
        (np.concatenate([SURE[:1], np.repeat(SURE[25:], 3, axis=0)]), "Cluster 0 is under 1.0%"),
        (np.where(SURE > 0.5, 0.4, 0.2), "mean confidence is 0.40"),
    ],
)
def test_what_is_wrong_is_said(find, posteriors, warning):
    assert any(warning in said for said in content.warnings(find(posteriors)))


def test_a_training_that_was_broken_off_is_said(find):
    moving = [{"phase": "alternate", "epoch": 0, "delta_q": 0.02}]
    still = [{"phase": "alternate", "epoch": 0, "delta_q": 1e-5}]
    assert "more epochs" in content.warnings(find(SURE, history=moving))[0]
    assert content._about_training(still) == []


def test_a_training_that_went_back_is_said(find):
    warm = [{"phase": "warm-up", "epoch": 4, "back_to": 1}]
    assert "in the phase warm-up" in content._about_training(warm)[0]
    lost = [{"phase": "alternate", "epoch": 9, "delta_q": 0.02, "back_to": 6}]
    (said,) = content.warnings(find(SURE, history=lost))
    assert "from epoch 10 to epoch 7" in said


def test_three_quarters_in_one_of_two_clusters_are_no_collapse(find):
    assert content.warnings(find(np.eye(2)[(np.arange(100) < 24).astype(int)])) == []


def test_with_many_clusters_one_in_a_hundred_is_not_small(find):
    posteriors = np.eye(100)[np.arange(1000) % 100]
    assert content.warnings(find(posteriors)) == []


def test_a_card_names_the_typical_and_the_doubtful(find):
    posteriors = SURE.copy()
    posteriors[7] = [0.4, 0.3, 0.2, 0.1]
    card = content.cards(find(posteriors))[0]
    assert card["size"] == 25
    assert card["share"] == 0.25
    assert card["doubtful"][0] == 7
    assert 7 not in card["typical"]
    assert card["typical"][0] == 12
    assert set(card["typical"]) <= set(range(25))


def test_an_empty_cluster_has_a_card_too(find):
    assert content.cards(find(SURE[:75]))[3]["size"] == 0


def test_the_most_doubtful_samples_come_first_and_make_the_pairs(find):
    posteriors = SURE.copy()
    posteriors[30] = [0.02, 0.49, 0.47, 0.02]
    posteriors[31] = [0.02, 0.48, 0.46, 0.04]
    posteriors[60] = [0.01, 0.44, 0.54, 0.01]
    found = content.doubtful(find(posteriors))
    assert set(found["samples"][:3]) == {30, 31, 60}
    pair = found["pairs"][0]
    assert (pair["a"], pair["b"]) == (1, 2)
    assert set(pair["samples"][:3]) == {30, 31, 60}
    assert pair["count"] == 3


def test_where_there_is_no_doubt_nothing_is_called_doubtful(find):
    assert content.doubtful(find(np.eye(4)[np.arange(40) % 4])) == {"samples": [], "pairs": []}


def test_many_small_doubts_are_no_large_one(find):
    assert content.doubtful(find(np.full((5000, 2), [0.99, 0.01])))["pairs"] == []


def test_one_cluster_has_no_pairs(find):
    found = find(np.ones((20, 1)))
    assert content.doubtful(found)["pairs"] == []
    assert content.overview(found)["sentence"].startswith("The 20 samples fall into one group.")
    assert content.warnings(found) == []


def test_features_that_set_a_cluster_apart_come_first(find):
    X = np.random.default_rng(0).normal(size=(100, 5))
    X[:25, 3] += 40
    X[:, 4] = 7
    found = features(find(SURE, X=X, names=["a", "b", "c", "far", "constant"]))
    first = found["clusters"][0][0]
    assert first["name"] == "far"
    assert first["mean"] == pytest.approx(X[:25, 3].mean())
    assert first["distance"] > 1
    assert all(np.isfinite(f["distance"]) for card in found["clusters"] for f in card)
    assert found["values"].shape == (100, 5)


def test_huge_numbers_break_nothing(find):
    X = np.random.default_rng(0).normal(size=(100, 3))
    X[0, 0] = 1e300
    found = find(SURE, X=X)
    assert np.isfinite(features(found)["values"]).all()
    assert len(judging.baselines(found)) == 2


def test_images_have_no_table_of_features(find):
    assert features(find(SURE, X=np.zeros((100, 8, 8)))) is None


def test_simpler_methods_stand_beside_the_result(find):
    X = np.repeat(np.eye(4) * 9, 25, axis=0) + np.random.default_rng(0).normal(0, 0.1, (100, 4))
    classes = np.repeat(np.arange(4), 25)
    start = {"agreement": 0.5, "acc": 0.6, "nmi": 0.5, "ari": 0.4}
    found = find(SURE, X=X, classes=classes, start=start, acc=1.0, nmi=1.0, ari=1.0)
    own, begun, kmeans = judging.baselines(found)
    assert own["agreement"] == 1
    assert begun["acc"] == 0.6
    assert kmeans["acc"] == kmeans["agreement"] == 1


def test_clusters_stand_against_the_classes_they_match(find):
    names = np.array(["10", "2", "x", "b²"])
    found = judging.against_classes(find(SURE, classes=names[np.repeat(np.arange(4), 25)]))
    assert found["classes"] == ["2", "10", "b²", "x"]
    assert found["clusters"] == [1, 0, 3, 2]
    assert np.array_equal(found["counts"], 25 * np.eye(4))
    assert all(row["accuracy"] == row["found"] == row["ari"] == 1 for row in found["rows"])


@pytest.mark.parametrize("kinds", [2, 7])
def test_more_or_fewer_classes_than_clusters(find, kinds):
    classes = np.arange(100) % kinds
    found = judging.against_classes(find(SURE, classes=classes))
    counts = np.array(found["counts"])
    assert counts.shape == (kinds, 4)
    matched = [row for row in found["rows"] if row["class"] is not None]
    assert len(matched) == min(kinds, 4)
    right = sum(counts[at, at] for at in range(len(matched)))
    assert right / 100 == pytest.approx(found["scores"]["acc"])


def test_without_classes_there_is_nothing_to_stand_against(find):
    assert judging.against_classes(find(SURE)) is None


def test_few_large_images_are_compared_with_kmeans(find):
    images = np.random.default_rng(0).random((20, 16, 16))
    posteriors = np.eye(2)[np.arange(20) % 2]
    own, kmeans = judging.baselines(find(posteriors, X=images))
    assert own["own"]
    assert -1 <= kmeans["agreement"] <= 1


@pytest.mark.parametrize("shape", [(2,), (12, 12)])
def test_copies_of_two_samples_stand_beside_two_clusters_of_kmeans(shape, find):
    X = np.random.default_rng(0).normal(size=(2, *shape)).repeat(50, axis=0)
    _, kmeans = judging.baselines(find(SURE, X=X))
    assert 0 < kmeans["agreement"] < 1


def test_samples_without_a_label_are_left_out_of_the_table_of_classes(find):
    classes = np.repeat(["a", "b", "", "d"], 25)
    classes[0] = ""
    found = judging.against_classes(find(SURE, classes=classes))
    assert found["counts"].sum() == 74
    assert found["classes"] == ["a", "b", "d"]
    assert found["scores"] == {"acc": 1.0, "nmi": 1.0, "ari": 1.0, "scored": 74}
    assert {row["cluster"]: row["class"] for row in found["rows"]} == {0: "a", 1: "b", 3: "d"}


def test_a_sample_of_the_data_without_any_label_has_a_baseline_without_scores(find, monkeypatch):
    monkeypatch.setattr(judging, "BASELINE_SAMPLES", 50)
    some = np.random.default_rng(0).permutation(100)[:50]
    classes = np.repeat(["a", "b", "c", "d"], 25)
    classes[some] = ""
    *_, baseline = judging.baselines(find(SURE, classes=classes))
    assert baseline["method"].startswith("K-means")
    assert "acc" not in baseline
