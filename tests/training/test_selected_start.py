"""A start that was found in some of the samples, with a state in files."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import infomeans
from infomeans.data import Dataset
from infomeans.data.memory import Memory
from infomeans.estimators import deep_clusterer
from infomeans.metrics import accuracy
from infomeans.training import Callback

METHODS = (infomeans.MIADM, infomeans.SRKMeans, infomeans.MID, infomeans.DEC, infomeans.DCN)


@pytest.fixture(scope="module")
def blobs():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deep_clusterer, "start_samples", lambda memory, n_clusters: 300)
        yield make_blobs(n_samples=900, centers=4, n_features=6, cluster_std=1.5, random_state=3)


@pytest.fixture(scope="module")
def whole(blobs):
    """A fit that nothing interrupts, in memory."""
    return fitted(blobs[0])


def fitted(X, estimator=infomeans.MIADM, *, limit=None, **options):
    data = Dataset.of_array(X)
    if limit is not None:
        data = replace(data, memory=Memory(limit))
    model = estimator(4, network="residual", warmup_epochs=10, epochs=2, random_state=0, **options)
    return model.fit(data)


@pytest.mark.parametrize("estimator", METHODS)
def test_the_network_assigns_the_samples_that_were_not_looked_at(blobs, whole, estimator):
    X, y = blobs
    model = whole if estimator is infomeans.MIADM else fitted(X, estimator)
    assert model.fitted_.n_selected == 300
    assert model.initial_labels_.min() == 0
    assert len(model.fitted_.stability) == 900
    assert accuracy(y, model.labels_) > 0.97


@pytest.mark.parametrize("options", [{"init": "soft_kmeans"}, {"sizes": "free"}])
def test_any_start_can_be_found_in_a_selection(blobs, options):
    X, y = blobs
    model = fitted(X, **options)
    assert model.fitted_.n_selected == 300
    assert accuracy(y, model.labels_) > 0.97


def test_neighbours_of_all_samples_are_found_after_a_selection(blobs):
    X, y = blobs
    assert accuracy(y, fitted(X, infomeans.MIPairs).labels_) > 0.97


def test_files_instead_of_memory_change_nothing(blobs, whole):
    limited = fitted(blobs[0], limit=150_000)
    np.testing.assert_array_equal(whole.labels_, limited.labels_)
    np.testing.assert_array_equal(whole.embedding_, limited.embedding_)


@pytest.mark.parametrize("phase", ["warm-up", "alternate"])
def test_it_resumes_to_the_same_end(blobs, whole, tmp_path, phase):
    X, _ = blobs

    class Stop(Callback):
        def on_epoch(self, record):
            if record.phase == phase:
                raise KeyboardInterrupt

    path = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        fitted(X, checkpoint=path, callbacks=[Stop()])
    resumed = fitted(X, checkpoint=path)
    np.testing.assert_array_equal(resumed.labels_, whole.labels_)
    np.testing.assert_array_equal(resumed.initial_labels_, whole.initial_labels_)
    assert resumed.fitted_.n_selected == 300
