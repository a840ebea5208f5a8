import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from infomeans import MIADM
from infomeans.functional import affine, random_affine, view_maps, warp
from infomeans.graph import agglomerate
from infomeans.methods.mi_adm import MIADMMethod
from infomeans.methods.state import SampleState
from infomeans.networks import build_network
from infomeans.training.step import TrainingStep


@pytest.fixture
def squares():
    """A bright square on a dark ground, in 200 copies."""
    x = -torch.ones(200, 1, 28, 28)
    x[:, :, 10:18, 10:18] = 1
    return x


def test_every_image_is_changed_in_its_own_way(squares):
    moved = random_affine(squares)
    assert moved.shape == squares.shape
    assert len(torch.unique(moved.flatten(1), dim=0)) == 200


def test_changes_are_small_and_go_both_ways(squares):
    moved = (random_affine(squares) + 1) / 2
    mass = moved.sum(dim=(1, 2, 3))
    rows = torch.arange(28.0)
    down = (moved.sum(dim=(1, 3)) @ rows) / mass - 13.5
    right = (moved.sum(dim=(1, 2)) @ rows) / mass - 13.5
    for shift in (down, right):
        assert shift.abs().max() < 0.06 * 28 * 1.3
        assert abs(shift.mean()) < 0.3
        assert shift.std() > 0.5
    assert (mass / 64).min() > 0.75
    assert (mass / 64).max() < 1.3


def test_the_background_stays_the_background():
    x = -torch.ones(20, 3, 17, 12)
    torch.testing.assert_close(random_affine(x), x)


def test_views_have_the_mean_and_the_covariance_of_random_changes(monkeypatch):
    seen = {}
    maps = affine._affine_maps
    monkeypatch.setattr(affine, "_affine_maps", lambda a, ratio: seen.update(a=a) or maps(a, ratio))
    assert view_maps(8, 12).shape == (8, 2, 3)
    amounts = seen["a"]
    torch.testing.assert_close(amounts.mean(dim=1), torch.zeros(5))
    torch.testing.assert_close(amounts @ amounts.T / amounts.shape[1], torch.eye(5) / 3)
    random_affine(torch.zeros(20_000, 1, 8, 12))
    torch.testing.assert_close(seen["a"].cov(), torch.eye(5) / 3, atol=0.02, rtol=0)


def test_posteriors_are_means_over_views_whichever_samples_come_together():
    images = load_digits().images[:200]
    settings = {
        "init": "graph",
        "pretrain_epochs": 2,
        "warmup_epochs": 1,
        "epochs": 1,
        "random_state": 0,
    }
    model = MIADM(10, augment=True, **settings).fit(images)
    x = model.model_.prepare(images, torch.device("cpu"))
    with torch.no_grad():
        views = [x, *(warp(x, view[None]) for view in view_maps(8, 8))]
        posteriors = torch.stack([model.method_(model.network_(view)) for view in views])
        embedding = model.network_(x)
    assert posteriors.std(dim=0).max() > 1e-3
    np.testing.assert_allclose(model.predict_proba(images), posteriors.mean(dim=0), atol=1e-6)
    np.testing.assert_allclose(
        model.predict_proba(images[7:8])[0], posteriors[:, 7].mean(dim=0), atol=1e-5
    )
    np.testing.assert_allclose(model.transform(images), embedding, atol=1e-6)
    np.testing.assert_array_equal(model.labels_, model.predict(images))


def test_a_fit_sees_augmented_images_and_the_seed_decides(stripes):
    images, _ = stripes
    settings = {
        "init": "graph",
        "pretrain_epochs": 2,
        "warmup_epochs": 1,
        "epochs": 2,
        "random_state": 0,
    }
    one, two = (MIADM(3, augment=True, **settings).fit(images) for _ in range(2))
    plain = MIADM(3, **settings).fit(images)
    assert np.array_equal(one.predict_proba(images), two.predict_proba(images))
    assert not np.array_equal(one.predict_proba(images), plain.predict_proba(images))


@pytest.mark.parametrize(
    ("augment", "clusters", "noise"),
    [(None, True, True), (torch.clone, True, False), (torch.clone, False, True)],
)
def test_augmentation_is_all_the_noise_of_the_clustering(augment, clusters, noise, stripes):
    x = torch.tensor(stripes[0], dtype=torch.float32)[:, None]
    network = build_network("auto", x.shape[1:], 3, n_features=4)
    method = MIADMMethod(3, 4) if clusters else None
    step = TrainingStep(network, method, augment).train()
    q = torch.full((len(x), 3), 1 / 3)
    one, two = (step(x, q)[0]["reconstruction"] for _ in range(2))
    assert (one != two) == noise


def test_an_augmented_fit_starts_from_images_as_near_as_changes_bring_them():
    images = load_digits().images[:600]
    settings = {
        "init": "graph",
        "pretrain_epochs": 5,
        "warmup_epochs": 0,
        "epochs": 0,
        "random_state": 0,
    }
    model = MIADM(10, augment=True, **settings).fit(images)
    plain, start = (
        agglomerate(model.transform(images), 10, images=given) for given in (None, images)
    )
    np.testing.assert_array_equal(model.initial_labels_, start)
    assert not np.array_equal(plain, start)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (3, 3)])
def test_a_few_images_can_be_augmented_too(n, k, stripes):
    settings = {
        "init": "graph",
        "pretrain_epochs": 2,
        "warmup_epochs": 1,
        "epochs": 2,
        "random_state": 0,
    }
    model = MIADM(k, augment=True, **settings).fit(stripes[0][:n])
    assert model.labels_.shape == (n,)
    assert set(model.labels_) <= set(range(k))


@pytest.mark.parametrize(
    ("given", "vote"),
    [({"augment": True}, True), ({}, False), ({"augment": True, "init": "kmeans"}, False)],
)
def test_neighbours_in_the_graph_vote_where_images_are_augmented(given, vote, stripes, monkeypatch):
    seen, votes = [], SampleState.votes
    monkeypatch.setattr(
        SampleState,
        "votes",
        lambda self, *p, **q: seen.append(self.neighbors) or votes(self, *p, **q),
    )
    settings = {
        "init": "graph",
        "pretrain_epochs": 1,
        "warmup_epochs": 0,
        "epochs": 1,
        "random_state": 0,
    }
    model = MIADM(3, **{**settings, **given}).fit(stripes[0])
    assert (model.history_[-1]["vote_weight"] is not None) == vote
    if not vote:
        assert not seen
        return
    ids, weights = seen[0]
    assert ids.shape == weights.shape == (len(stripes[0]), 8)
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(len(ids)))
    own = torch.arange(len(ids))[:, None]
    assert (ids != own).all()


def test_vectors_are_refused(blobs):
    with pytest.raises(ValueError, match=r"augment=True .* needs images"):
        MIADM(3, augment=True).fit(blobs[0])


def test_a_turn_keeps_distances_whatever_the_shape(monkeypatch):
    only_turned = {"degrees": 60.0, "scale": 0.0, "shear": 0.0, "shift": 0.0}
    monkeypatch.setattr(affine, "LIMITS", only_turned)
    x = torch.zeros(50, 1, 40, 80)
    x[:, :, 19:21, 51:53] = 1  # 12 pixels to the right of the centre
    moved = random_affine(x)[:, 0]
    mass = moved.sum(dim=(1, 2))
    down = (moved.sum(dim=2) @ torch.arange(40.0)) / mass - 19.5
    right = (moved.sum(dim=1) @ torch.arange(80.0)) / mass - 39.5
    assert down.abs().max() > 8
    torch.testing.assert_close(torch.hypot(down, right), torch.full((50,), 12.0), atol=0.3, rtol=0)
