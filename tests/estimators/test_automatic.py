"""The clusterer that chooses start and method."""

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_blobs

import infomeans
from infomeans import InfoMeans
from infomeans.methods.mi_adm import MIADMMethod
from infomeans.methods.mi_pairs import MIPairsMethod
from infomeans.metrics import accuracy
from infomeans.training import Callback

QUICK = {"pretrain_epochs": 2, "warmup_epochs": 3, "epochs": 2, "random_state": 0}


@pytest.fixture(scope="module")
def overlapping():
    """Groups that starts do not agree on."""
    return make_blobs(400, n_features=8, centers=12, cluster_std=6, random_state=0)[0]


@pytest.fixture(scope="module")
def held(blobs):
    """A fit of samples whose starts agree."""
    return InfoMeans(4, **QUICK).fit(blobs[0])


@pytest.fixture(scope="module")
def moved(overlapping):
    """A fit of samples whose starts disagree."""
    return InfoMeans(12, **QUICK).fit(overlapping)


def test_starts_that_agree_are_held_on_to(held):
    assert held.fitted_.stability.mean() > 0.9
    assert isinstance(held.method_, MIADMMethod)
    assert held.fitted_.method == "mi-adm"


def test_neighbours_decide_where_starts_disagree(moved):
    assert moved.fitted_.stability.mean() < 0.7
    assert isinstance(moved.method_, MIPairsMethod)
    assert moved.fitted_.method == "mi-pairs"


def test_the_chosen_method_is_saved(moved, held, overlapping, blobs, tmp_path):
    for name, X, model in (("moved", overlapping, moved), ("held", blobs[0], held)):
        model.save(tmp_path / name)
        loaded = infomeans.load(tmp_path / name)
        assert type(loaded.method_) is type(model.method_)
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


class Stop(Callback):
    """Interrupts the training in its last phase."""

    def on_epoch(self, record):
        if record.phase == "alternate":
            raise KeyboardInterrupt


def test_a_resumed_fit_chooses_the_same_method(moved, overlapping, tmp_path):
    options = {**QUICK, "checkpoint": tmp_path / "state"}
    with pytest.raises(KeyboardInterrupt):
        InfoMeans(12, callbacks=[Stop()], **options).fit(overlapping)
    resumed = InfoMeans(12, **options).fit(overlapping)
    assert resumed.fitted_.method == "mi-pairs"
    assert resumed.fitted_.score == moved.fitted_.score
    np.testing.assert_array_equal(resumed.labels_, moved.labels_)


def test_neighbourhoods_too_large_for_mi_pairs_do_no_harm():
    X, y = load_wine(return_X_y=True)
    model = infomeans.MIPairs(3, random_state=0).fit(X)
    assert model.history_[-1]["back_to"] is not None
    assert accuracy(y, model.labels_) > 0.9
