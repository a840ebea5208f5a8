"""The sizes that clusters are to have."""

import numpy as np
import pytest
import torch
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import infomeans
from infomeans import DCN, DEPICT, MIADM, MID, InfoMeans, MIPairs

SKEWED = [450, 225, 30, 15, 8]
QUICK = {"network": None, "epochs": 10, "random_state": 0}


@pytest.fixture(scope="module")
def skewed():
    return make_blobs(SKEWED, centers=5.0 * np.eye(5, 8), random_state=0)


@pytest.fixture(scope="module")
def learned(skewed):
    """A fit that has learned its sizes; to be left as it is."""
    return MIADM(5, **QUICK).fit(skewed[0])


@pytest.mark.parametrize(
    ("cls", "init"),
    [
        *((cls, "auto") for cls in (MIADM, MIPairs, InfoMeans)),
        *((cls, "graph") for cls in (MIADM, MID, DEPICT)),
    ],
)
def test_groups_of_very_different_sizes_are_found(cls, init, skewed):
    X, y = skewed
    model = cls(5, init=init, **QUICK).fit(X)
    assert model.fitted_.free
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert len(set(model.labels_)) >= 4


def test_equal_sizes_part_the_largest_group(skewed):
    X, y = skewed
    model = MIADM(5, sizes="equal", **QUICK).fit(X)
    assert not model.fitted_.free
    assert adjusted_rand_score(y, model.labels_) < 0.8


def test_equal_groups_are_left_as_they_were(blobs):
    X, _ = blobs
    given = {"network": None, "random_state": 0, "epochs": 5}
    auto, equal = (MIADM(4, sizes=sizes, **given).fit(X) for sizes in ("auto", "equal"))
    assert not auto.fitted_.free
    assert (auto.predict_proba(X) == equal.predict_proba(X)).all()


def test_shares_are_learned_where_equal_ones_ruin_the_start(skewed):
    X, y = skewed
    model = MIADM(5, sizes="free", **QUICK).fit(X)
    found = np.sort(np.bincount(model.labels_, minlength=5))[::-1]
    assert np.abs(found - np.bincount(y)).max() <= 8
    equal = MIADM(5, sizes="equal", init=y, **QUICK).fit(X)
    assert adjusted_rand_score(y, equal.labels_) < adjusted_rand_score(y, model.labels_)


def test_a_cluster_without_mass_pulls_samples_back():
    shares = infomeans.functional.learned_shares(torch.tensor([100.0, 0.0]))
    assert shares[1] > 0.02
    assert shares.sum() == pytest.approx(1)


def test_a_saved_model_is_the_same(learned, skewed, tmp_path):
    X, _ = skewed
    learned.save(tmp_path / "model")
    loaded = infomeans.load(tmp_path / "model")
    assert loaded.sizes == "auto"
    assert (loaded.predict_proba(X) == learned.predict_proba(X)).all()


def test_an_interrupted_fit_keeps_its_sizes(learned, skewed, tmp_path):
    X, _ = skewed

    class Stop(infomeans.training.Callback):
        def on_epoch(self, record):
            if record.phase == "alternate" and record.epoch == 1:
                raise KeyboardInterrupt

    given = {**QUICK, "checkpoint": tmp_path / "state"}
    with pytest.raises(KeyboardInterrupt):
        MIADM(5, callbacks=[Stop()], **given).fit(X)
    resumed = MIADM(5, **given).fit(X)
    assert resumed.fitted_.free
    assert (resumed.predict_proba(X) == learned.predict_proba(X)).all()


def test_methods_without_shares_refuse_them(blobs):
    with pytest.raises(ValueError, match="DCN cannot aim at given sizes; 'auto', 'equal' and"):
        DCN(4, sizes=[1, 1, 2, 2], **QUICK).fit(blobs[0])


@pytest.mark.parametrize(
    ("cls", "params"),
    [(DCN, {}), (DCN, {"sizes": "free"}), (MIADM, {"sizes": SKEWED})],
)
def test_only_learned_sizes_are_called_learned(cls, params, skewed):
    assert not cls(5, init="graph", **params, **{**QUICK, "epochs": 1}).fit(skewed[0]).fitted_.free


def test_one_cluster_has_no_sizes_to_learn(skewed):
    assert (
        not MIADM(1, sizes="free", init="graph", **{**QUICK, "epochs": 1})
        .fit(skewed[0])
        .fitted_.free
    )


def test_the_papers_settings_have_equal_sizes(skewed):
    given = {"preset": "paper", "epochs": 2, "warmup_epochs": 1, "network": None, "random_state": 0}
    auto, equal = (MIADM(5, sizes=s, **given).fit(skewed[0]) for s in ("auto", "equal"))
    assert not auto.fitted_.free
    assert (auto.predict_proba(skewed[0]) == equal.predict_proba(skewed[0])).all()


@pytest.mark.parametrize("sizes", [["a", "b", "c", "d"], [1, 2], [1, 1, 1, -1], [[1, 1, 1, 1]]])
def test_sizes_that_do_not_fit_are_refused(sizes, blobs):
    with pytest.raises(ValueError, match="one positive number for each of the n_clusters=4"):
        MIADM(4, sizes=sizes, **QUICK).fit(blobs[0])


def test_a_loaded_model_says_what_it_does_not_keep(blobs, tmp_path):
    MIADM(4, **{**QUICK, "epochs": 1}).fit(blobs[0]).save(tmp_path / "model")
    loaded = infomeans.load(tmp_path / "model")
    for name in ("tree_", "outlier_scores_"):
        with pytest.raises(AttributeError, match="not saved with the model"):
            getattr(loaded, name)
