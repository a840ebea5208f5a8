"""Outlier scores."""

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from infomeans import MIADM, GraphBaseline, KMeansBaseline, load
from infomeans.data.rows import TensorFeed
from infomeans.errors import InputError
from infomeans.model import Strangeness, strangeness

QUICK = {"init": "graph", "pretrain_epochs": 1, "warmup_epochs": 1, "epochs": 1, "random_state": 0}


def learned(x):
    return Strangeness.of(TensorFeed(torch.as_tensor(x, dtype=torch.float32)))


def digits(n=600, side=12, *, seed=0):
    """Pictures of a bright bar across another one, on black."""
    rng = np.random.default_rng(seed)
    images = np.zeros((n, side, side), np.float32)
    for image, (row, column) in zip(images, rng.integers(0, side - 3, (n, 2)), strict=True):
        image[row : row + 3] = rng.uniform(0.5, 1)
        image[:, column : column + 2] = rng.uniform(0.5, 1)
    return images


@pytest.mark.parametrize(
    "model",
    [
        MIADM(4, **QUICK),
        MIADM(4, network=None, **QUICK),
        MIADM(4, network="residual", **QUICK),
        KMeansBaseline(4, random_state=0),
        GraphBaseline(4),
        GraphBaseline(1),
    ],
)
def test_strangers_among_vectors_have_the_highest_scores(model, blobs):
    X = np.concatenate([blobs[0], np.random.default_rng(0).uniform(-12, 12, (8, 6))])
    scores = model.fit(X).outlier_scores_
    assert set(np.argsort(scores)[-8:]) == set(range(200, 208))
    np.testing.assert_allclose(model.outlier_score(X), scores, atol=1e-6)
    assert model.outlier_score(X[:1] + 50)[0] == 1


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("kind", ["grey", "noise", "halves"])
def test_strangers_among_images_are_found(kind, inverted):
    rng = np.random.default_rng(1)
    images, strange = digits(), digits(30, seed=2)
    if kind == "grey":
        strange = 0.2 + 0.1 * strange
    elif kind == "noise":
        strange = rng.uniform(0, 1, strange.shape)
    else:
        strange[:, :, 6:] = 0
    X = np.concatenate([images, strange])
    X = 1 - X if inverted else X
    scores = KMeansBaseline(3, random_state=0).fit(X).outlier_scores_
    assert roc_auc_score(np.arange(len(X)) >= len(images), scores) > 0.9


def test_a_dense_group_with_rare_values_is_strange():
    rng = np.random.default_rng(0)
    x = (rng.uniform(size=(600, 20)) < 0.4).repeat(2, axis=1) + rng.normal(0, 0.05, (600, 40))
    grey = 0.5 + rng.normal(0, 0.02, (30, 40))
    _, scores = learned(np.concatenate([x, grey]))
    assert scores[600:].min() > 0.9


def test_noise_among_smooth_samples_is_strange():
    rng = np.random.default_rng(0)
    waves = np.sin(np.outer(np.arange(1, 9), np.linspace(0, 3, 200)))
    x = rng.normal(size=(600, 8)) @ waves + rng.normal(0, 0.05, (600, 200))
    noise = 1 + rng.normal(0, 0.4, (30, 200))
    _, scores = learned(np.concatenate([x, noise]))
    assert scores[600:].min() > 0.9


def test_features_that_no_longer_go_together_are_strange():
    x = np.random.default_rng(0).normal(size=(500, 2)).repeat(20, axis=1)
    x += np.random.default_rng(1).normal(0, 0.3, x.shape)
    found, _ = learned(x)
    torn = np.random.default_rng(2).permuted(x[:100], axis=0)
    assert found(torch.as_tensor(torn)).min() > 0.95


def test_scores_are_shares_of_the_samples():
    x = np.random.default_rng(0).normal(size=(3000, 5))
    _, scores = learned(x)
    np.testing.assert_allclose(np.sort(scores), np.linspace(0, 1, 3000), atol=2e-3)
    found, _ = learned(x[:1500])
    new = found(torch.as_tensor(x[1500:])).numpy()
    assert abs(new.mean() - 0.5) < 0.03
    assert 0.02 < (new > 0.95).mean() < 0.08


@pytest.mark.parametrize("n", [300, 2 * strangeness.SAMPLES])
def test_a_fitted_sample_and_the_same_sample_as_new_agree(n):
    x = torch.randn(n, 30, generator=torch.manual_seed(0))
    found, scores = Strangeness.of(TensorFeed(x))
    for some in (slice(1), slice(5, 9), slice(20, None, 7)):
        np.testing.assert_allclose(found(x[some]), scores[some])
    # Close to it is not much different either.
    assert np.abs(found(x + 1e-4).numpy() - scores).mean() < 0.05


@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (7, 1), (40, 2), (30, 100), (9, 1, 8, 8)])
@pytest.mark.parametrize("kind", ["random", "equal", "two values", "one differs"])
def test_there_is_always_a_number(shape, kind):
    x = torch.randn(shape, generator=torch.manual_seed(0))
    if kind != "random":
        x = (x > 0).float() if kind == "two values" else torch.zeros(shape)
    if kind == "one differs":
        x[0] = 1
    found, scores = Strangeness.of(TensorFeed(x))
    for made in (scores, found(x).numpy(), found(torch.full(shape, torch.inf)).numpy()):
        assert np.isfinite(made).all()
        assert ((made >= 0) & (made <= 1)).all()
    if kind == "equal":
        assert not scores.any()
    if kind == "one differs" and shape[0] > 2:
        assert scores[0] == scores.max() > scores[1:].max() == 0


def test_copies_have_one_score():
    x = torch.randn(50, 4, generator=torch.manual_seed(0))
    _, scores = Strangeness.of(TensorFeed(x.repeat(3, 1)))
    np.testing.assert_allclose(scores.reshape(3, 50), np.tile(scores[:50], (3, 1)))


def test_of_many_features_and_samples_only_some_are_kept(tmp_path):
    X = np.random.default_rng(0).normal(size=(2 * strangeness.SAMPLES, 40, 40)).astype(np.float32)
    model = KMeansBaseline(2, n_init=1, random_state=0).fit(X)
    again = KMeansBaseline(3, n_init=1, random_state=5).fit(X)
    np.testing.assert_array_equal(model.outlier_scores_, again.outlier_scores_)
    model.save(tmp_path / "model")
    assert sum(file.stat().st_size for file in (tmp_path / "model").iterdir()) < 1_000_000
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.outlier_score(X[:100]), model.outlier_score(X[:100]))
    assert not hasattr(loaded, "outlier_scores_")


def test_samples_of_another_shape_are_refused(blobs):
    model = KMeansBaseline(4, random_state=0).fit(blobs[0])
    with pytest.raises(ValueError, match="features"):
        model.outlier_score(blobs[0][:, :3])


def test_without_what_it_needs_there_is_one_clear_message(blobs):
    model = KMeansBaseline(4, random_state=0).fit(blobs[0])
    model.model_.strangeness = None
    with pytest.raises(InputError, match="fit it again"):
        model.outlier_score(blobs[0])
