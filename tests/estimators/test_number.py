"""Estimators that find the number of clusters."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

import infomeans
from infomeans import DEC, MIADM, GraphBaseline, InfoMeans, KMeansBaseline
from infomeans.metrics import ari
from infomeans.training import Callback

QUICK = {"pretrain_epochs": 3, "warmup_epochs": 5, "epochs": 2}


@pytest.fixture(scope="module")
def groups():
    return make_blobs(240, centers=6, n_features=5, random_state=3)


@pytest.fixture(scope="module")
def counted(groups):
    """A fit that has found its number; to be left as it is."""
    return InfoMeans("auto", random_state=0, **QUICK).fit(groups[0])


@pytest.mark.parametrize("method", [InfoMeans, DEC, GraphBaseline, KMeansBaseline])
def test_every_estimator_counts(method, counted, groups, tmp_path):
    X, y = groups
    options = {**QUICK, "init": "graph"} if method is DEC else {}
    model = counted if method is InfoMeans else method("auto", random_state=0, **options).fit(X)
    assert model.n_clusters_ == model.fitted_.number["best"] == 6
    assert model.n_clusters == "auto"
    assert ari(y, model.labels_) > 0.9
    assert model.predict_proba(X).shape == (240, 6)
    model.save(tmp_path / "model")
    loaded = infomeans.load(tmp_path / "model")
    assert loaded.n_clusters_ == 6
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)
    assert clone(loaded).n_clusters == "auto"


def test_a_check_changes_nothing(counted, groups, tmp_path):
    counted.check(groups[0][:50])
    assert counted.n_clusters_ == 6
    counted.save(tmp_path / "model")
    assert infomeans.load(tmp_path / "model").n_clusters_ == 6


@pytest.mark.parametrize("method", [MIADM, KMeansBaseline])
def test_a_number_of_numpy_can_be_saved(method, groups, tmp_path):
    options = {**QUICK, "init": "graph"} if method is MIADM else {}
    method(np.int64(3), random_state=0, **options).fit(groups[0]).save(tmp_path / "model")
    assert infomeans.load(tmp_path / "model").n_clusters_ == 3


def test_a_random_state_is_drawn_from_once(groups):
    one, other = np.random.RandomState(0), np.random.RandomState(0)
    KMeansBaseline(3, random_state=one).fit(groups[0])
    other.randint(2**31 - 1)
    assert one.randint(1000) == other.randint(1000)


def test_copies_are_refused_before_training():
    with pytest.raises(ValueError, match="all samples are the same"):
        MIADM("auto").fit(np.ones((50, 3)))


def test_a_given_number_is_kept(groups):
    model = MIADM(4, init="graph", random_state=0, **QUICK).fit(groups[0])
    assert model.n_clusters_ == 4
    assert model.fitted_.number is None


class Stop(Callback):
    """Interrupts the training in its last phase."""

    def on_epoch(self, record):
        if record.phase == "alternate":
            raise KeyboardInterrupt


def test_a_resumed_fit_keeps_its_number(counted, groups, tmp_path):
    options = {**QUICK, "random_state": 0, "checkpoint": tmp_path / "state"}
    with pytest.raises(KeyboardInterrupt):
        InfoMeans("auto", callbacks=[Stop()], **options).fit(groups[0])
    resumed = InfoMeans("auto", **options).fit(groups[0])
    assert resumed.fitted_.number == counted.fitted_.number
    np.testing.assert_array_equal(resumed.labels_, counted.labels_)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k_min": 5, "k_max": 3}, "k_min=5 is more than k_max=3"),
        ({"sizes": [0.5, 0.5]}, "cannot be used with sizes as shares"),
        ({"init": np.zeros(240, dtype=int)}, "cannot be used with init as labels"),
        ({"network": lambda shape, k: None}, "cannot be used with a callable network"),
        ({"n_clusters": "many"}, "'auto'"),
    ],
)
def test_what_needs_a_number(options, words, groups):
    with pytest.raises(ValueError, match=words):
        MIADM(**{"n_clusters": "auto", **options}).fit(groups[0])


def test_too_few_samples():
    with pytest.raises(ValueError, match="n_samples=19 is too few to find the number"):
        MIADM("auto").fit(np.random.default_rng(0).normal(size=(19, 3)))
