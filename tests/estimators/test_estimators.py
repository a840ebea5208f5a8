import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

from infomeans import DCN, DEC, DEPICT, MIADM, MID, Autoencoder, SRKMeans
from infomeans.methods.dcn import DCNMethod
from infomeans.metrics import accuracy
from infomeans.training import Callback

CLUSTERERS = [MIADM, SRKMeans, DEPICT, MID, DEC, DCN]
QUICK = {"init": "graph", "pretrain_epochs": 2, "warmup_epochs": 1, "epochs": 2, "random_state": 0}
SHORT = {"init": "graph", "pretrain_epochs": 10, "epochs": 5, "random_state": 0}
RECORD = [
    *("phase", "epoch", "loss"),
    *("mi", "h_k", "h_k_x", "delta_q", "vote_weight", "empty", "back_to", "halvings", "seconds"),
]


# All clusterers share what this checks: they differ in their methods only.
@parametrize_with_checks([MIADM(**QUICK), Autoencoder(epochs=2)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", CLUSTERERS)
def test_vectors_are_clustered(cls, blobs):
    X, classes = blobs
    model = cls(4, **SHORT).fit(X)
    assert adjusted_rand_score(classes, model.labels_) > 0.95


@pytest.mark.parametrize("cls", CLUSTERERS)
def test_images_are_clustered(cls, stripes):
    images, classes = stripes
    model = cls(3, **SHORT).fit(images)
    assert adjusted_rand_score(classes, model.labels_) > 0.95


@pytest.mark.parametrize("cls", CLUSTERERS)
def test_given_embeddings_are_clustered_as_they_are(cls, blobs):
    X, classes = blobs
    model = cls(4, network=None, init="graph", random_state=0, epochs=10).fit(X)
    assert adjusted_rand_score(classes, model.labels_) > 0.95
    shifted = X - X.mean(0)
    np.testing.assert_allclose(
        model.transform(X), shifted / np.sqrt(shifted.var(0).mean()), rtol=1e-6
    )


@pytest.mark.parametrize("cls", [MIADM, SRKMeans, DEC])
def test_embeddings_that_no_plane_can_cut_are_moved_until_one_can(cls):
    X, classes = make_moons(200, noise=0.05, random_state=0)
    given, moved = (
        cls(2, network=network, init="graph", random_state=0).fit(X)
        for network in (None, "residual")
    )
    assert adjusted_rand_score(classes, given.initial_labels_) == 1
    assert adjusted_rand_score(classes, given.labels_) < 0.6
    assert adjusted_rand_score(classes, moved.labels_) > 0.95


@pytest.mark.parametrize("cls", [MIADM, DEC])
def test_rings_that_were_only_just_parted_do_not_mix_again(cls):
    X, classes = make_circles(240, noise=0.05, factor=0.4, random_state=0)
    model = cls(2, network="residual", init="graph", random_state=1).fit(X)
    assert adjusted_rand_score(classes, model.labels_) > 0.95


def test_embeddings_start_where_they_are_whoever_made_their_network(blobs):
    X, _ = blobs
    settings = {"init": "graph", "warmup_epochs": 0, "epochs": 0, "random_state": 0}
    model = MIADM(4, network="residual", **settings).fit(X)
    shifted = X - X.mean(0)
    scaled = shifted / np.sqrt(shifted.var(0).mean())
    np.testing.assert_allclose(model.transform(X), scaled, rtol=1e-6)
    again = MIADM(4, network=model.network_, **settings).fit(X)
    np.testing.assert_allclose(again.transform(X), scaled, rtol=1e-6)


@pytest.mark.parametrize("cls", [MIADM, MID])
@pytest.mark.parametrize("network", [None, "residual"])
def test_a_few_embeddings_that_lie_far_apart_leave_no_doubt(cls, network):
    rng, classes = np.random.default_rng(0), np.arange(200) % 4
    X = 8 * np.eye(4, 16)[classes] + rng.normal(size=(200, 16))
    model = cls(4, network=network, init="graph", random_state=0).fit(X)
    assert adjusted_rand_score(classes, model.labels_) == 1
    assert model.confidences_.mean() > 0.85


@pytest.fixture(scope="module", params=CLUSTERERS)
def fitted(request, stripes):
    """A short fit of each method on images."""
    return request.param(3, **QUICK).fit(stripes[0])


def test_what_a_fitted_model_has(fitted, stripes):
    model, images = fitted, stripes[0]
    posteriors, embedding = model.predict_proba(images), model.transform(images)
    np.testing.assert_array_equal(model.labels_, model.predict(images))
    np.testing.assert_array_equal(model.labels_, posteriors.argmax(1))
    np.testing.assert_allclose(posteriors.sum(1), 1, rtol=1e-5)
    assert model.cluster_centers_.shape == (3, embedding.shape[1])
    assert embedding.shape == (120, 16)
    assert all({*RECORD} <= {*record} for record in model.history_)
    assert "reconstruction" in model.history_[0]
    assert "clustering" in model.history_[-1]
    phases = list(dict.fromkeys(record["phase"] for record in model.history_))
    assert phases == ["pretrain", "warm-up", "alternate"]
    last = model.history_[-1]
    assert last["mi"] == pytest.approx(last["h_k"] - last["h_k_x"])
    assert model.score(images) == pytest.approx(last["mi"], abs=1e-4)


@pytest.mark.parametrize("cls", CLUSTERERS)
def test_the_history_ends_with_the_model_that_is_returned(cls):
    X = np.random.default_rng(0).normal(size=(200, 5))  # no groups, so that targets keep moving
    model = cls(4, **QUICK).fit(X)
    assert model.score(X) == pytest.approx(model.history_[-1]["mi"], abs=1e-5)


def test_the_same_seed_gives_the_same_result_twice(fitted, stripes):
    images, _ = stripes
    again = clone(fitted).fit(images)
    np.testing.assert_array_equal(again.predict_proba(images), fitted.predict_proba(images))


def test_the_start_that_is_chosen_is_the_same_twice_and_another_of_another_seed(blobs):
    X, _ = blobs
    first, second, other = (
        MIADM(4, **{**QUICK, "init": "auto", "random_state": seed}).fit(X) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    assert not np.array_equal(first.transform(X), other.transform(X))


def test_labels_never_reach_a_fit(blobs):
    X, classes = blobs
    wrong = np.random.default_rng(0).permutation(classes)
    without, given = (MIADM(4, **{**QUICK, "init": "auto"}).fit(X, y) for y in (None, wrong))
    np.testing.assert_array_equal(given.predict_proba(X), without.predict_proba(X))


def test_nothing_global_is_changed_by_a_fit(stripes):
    images, _ = stripes
    module = nn.Sequential(nn.Flatten(), nn.Linear(72, 4), nn.Tanh())
    weights, data = copy.deepcopy(module.state_dict()), images.copy()
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    expected = torch.rand(3), np.random.rand(3)  # noqa: NPY002
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    threads, cudnn = torch.get_num_threads(), torch.backends.cudnn.deterministic
    MIADM(3, network=module, **{**QUICK, "init": "auto"}).fit(images)
    torch.testing.assert_close(torch.rand(3), expected[0])
    np.testing.assert_array_equal(np.random.rand(3), expected[1])  # noqa: NPY002
    torch.testing.assert_close(module.state_dict(), weights)
    np.testing.assert_array_equal(images, data)
    assert torch.get_num_threads() == threads
    assert torch.backends.cudnn.deterministic == cudnn
    assert module.training


def test_a_seed_of_none_leaves_numpys_global_state_alone(blobs):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    MIADM(4, **{**QUICK, "init": "auto", "random_state": None}).fit(blobs[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_the_same_seed_gives_the_same_images_with_two_threads(stripes):
    images, _ = stripes
    torch.set_num_threads(2)
    try:
        first, second = (MIADM(3, **QUICK).fit(images) for _ in range(2))
    finally:
        torch.set_num_threads(1)
    np.testing.assert_array_equal(first.predict_proba(images), second.predict_proba(images))


def test_a_module_that_insists_on_single_precision_works(blobs):
    class Single(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(6, 3)

        def forward(self, x):
            return self.layer(x.float())

    X, _ = blobs
    model = MIADM(4, network=Single(), **QUICK).fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))


def test_features_far_from_zero_are_seen_as_in_training(blobs):
    X, classes = blobs
    module = nn.Sequential(nn.Linear(6, 8), nn.Tanh())
    model = MIADM(4, network=module, init="graph", random_state=0, epochs=3).fit(X + 1e9)
    assert adjusted_rand_score(classes, model.labels_) > 0.95


def test_a_trained_offset_is_not_overwritten(stripes):
    images, _ = stripes
    autoencoder = Autoencoder(4, epochs=2, random_state=0).fit(images)
    nothing = {"init": "graph", "pretrain_epochs": 0, "warmup_epochs": 0, "epochs": 0}
    model = MIADM(3, network=autoencoder.network_, **nothing).fit(images)
    for ours, theirs in zip(
        model.network_.parameters(), autoencoder.network_.parameters(), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("layout", ["(n, h, w, 1)", "(n, 1, h, w)"])
def test_every_layout_of_an_image_gives_the_same(layout, stripes):
    images, _ = stripes
    moved = images[..., None] if layout == "(n, h, w, 1)" else images[:, None]
    model, reference = (MIADM(3, **QUICK).fit(X) for X in (moved, images))
    np.testing.assert_array_equal(model.labels_, reference.labels_)


def test_colour_images_in_both_layouts_give_the_same(stripes):
    images, _ = stripes
    last = np.stack([images, 1 - images, images**2], axis=-1)
    first = last.transpose(0, 3, 1, 2)
    model, reference = (MIADM(3, **QUICK).fit(X) for X in (first, last))
    np.testing.assert_array_equal(model.predict_proba(first), reference.predict_proba(last))


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_the_range_of_the_pixels_does_not_matter(dtype, stripes):
    images, _ = stripes
    low, high = images.min(), images.max()
    bytes_ = np.round(255 * (images - low) / (high - low)).astype(np.uint8)
    model = MIADM(3, **QUICK).fit(bytes_.astype(dtype))
    reference = MIADM(3, **QUICK).fit(bytes_ / 255)
    np.testing.assert_allclose(
        model.predict_proba(bytes_), reference.predict_proba(bytes_ / 255), atol=1e-3
    )


@pytest.mark.parametrize("init", ["graph", "kmeans", "soft_kmeans"])
def test_every_start_works(init, blobs):
    X, classes = blobs
    model = MIADM(4, **{**SHORT, "init": init}).fit(X)
    assert adjusted_rand_score(classes, model.initial_labels_) > 0.9


def test_labels_can_be_the_start(blobs):
    X, classes = blobs
    model = MIADM(4, **{**QUICK, "init": classes}).fit(X)
    np.testing.assert_array_equal(model.initial_labels_, classes)
    assert (model.labels_ == classes).mean() > 0.9


def test_a_pretrained_autoencoder_serves_several_clusterers(stripes):
    images, classes = stripes
    autoencoder = Autoencoder(8, epochs=10, random_state=0).fit(images)
    assert autoencoder.transform(images).shape == (120, 8)
    for cls in (MIADM, SRKMeans):
        model = cls(3, network=autoencoder.network_, **{**SHORT, "pretrain_epochs": 0})
        assert adjusted_rand_score(classes, model.fit_predict(images)) > 0.95
        assert model.history_[0]["phase"] == "warm-up"


def test_a_prior_gives_the_larger_share_to_the_larger_cluster(blobs):
    X, classes = blobs
    uneven = np.concatenate([X[classes == 0], X[classes == 1][:10]])
    given = {"sizes": [1, 5], "network": None, "init": "graph", "random_state": 0, "epochs": 10}
    model = MIADM(2, **given).fit(uneven)
    assert sorted(np.bincount(model.labels_)) == [10, 50]
    largest = np.bincount(model.initial_labels_).argmax()
    shares = model.method_.log_prior.exp().numpy()
    assert shares[largest] == pytest.approx(5 / 6)


@pytest.mark.parametrize("cls", [MIADM, DEPICT])
@pytest.mark.parametrize("targets", ["closed", "exact"])
def test_closed_and_exact_targets_work(cls, targets, blobs):
    X, classes = blobs
    model = cls(4, targets=targets, network=None, **SHORT).fit(X)
    assert adjusted_rand_score(classes, model.labels_) > 0.95


def test_the_papers_preset_stops_by_itself_and_can_be_shortened(blobs):
    X, classes = blobs
    model = MIADM(4, preset="paper", **{**SHORT, "epochs": 50}).fit(X)
    assert model.transform(X).shape == (200, 4)
    warm_up = [record for record in model.history_ if record["phase"] == "warm-up"]
    assert 1 <= len(warm_up) < 200
    assert adjusted_rand_score(classes, model.labels_) > 0.95


def test_callbacks_see_every_epoch_and_can_end_a_phase():
    class Watch(Callback):
        def __init__(self):
            self.seen, self.ended = [], 0

        def on_phase(self, phase, epochs):
            self.seen.append((phase, epochs))

        def on_epoch(self, record):
            self.seen.append((record.phase, record.epoch))
            return record.phase == "pretrain"

        def on_end(self):
            self.ended += 1

    watch = Watch()
    MIADM(4, callbacks=[watch], **QUICK).fit(np.random.default_rng(0).random((90, 6)))
    assert watch.seen == [
        ("pretrain", 2), ("pretrain", 0), ("start", 0), ("warm-up", 1), ("warm-up", 0),
        ("alternate", 2), ("alternate", 0), ("alternate", 1),
    ]  # fmt: skip
    assert watch.ended == 1


def test_progress_bars_show_every_phase(blobs, capsys):
    MIADM(4, verbose=1, **QUICK).fit(blobs[0])
    shown = capsys.readouterr().err
    for phase in ("pretrain", "warm-up", "alternate"):
        assert phase in shown
    assert "I(X;K)" in shown


def test_models_pickle_clone_and_deepcopy(blobs):
    X, _ = blobs
    model = MIADM(4, verbose=0, **QUICK).fit(X)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301
        np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()
    with torch.no_grad():
        assert all(p.device.type == "cpu" for p in model.network_.parameters())


def test_pipelines_frames_and_grid_search(blobs):
    X, _ = blobs
    frame = pd.DataFrame(X, columns=list("abcdef"))
    pipeline = make_pipeline(StandardScaler(), MIADM(4, **QUICK)).set_output(transform="pandas")
    embedded = pipeline.fit_transform(frame)
    assert list(embedded.columns[:2]) == ["miadm0", "miadm1"]
    search = GridSearchCV(MIADM(**QUICK), {"n_clusters": [2, 4]}, cv=2).fit(X)
    assert search.best_params_["n_clusters"] == 4


def test_there_is_no_warm_up_where_there_is_nothing_to_train(blobs):
    model = DCN(4, **{**QUICK, "network": None}).fit(blobs[0])
    assert {record["phase"] for record in model.history_} == {"alternate"}


def test_dcn_leaves_its_warm_up_with_the_means_of_the_initial_clusters(blobs):
    found = {}

    class Watched(DCNMethod):
        def refresh(self, data):
            if not found:
                found["own"] = data.targets.T @ data.embedding / data.targets.sum(0)[:, None]
                found["centroids"], found["counts"] = self.prototypes.clone(), self.counts.clone()
                found["sizes"] = data.targets.sum(0)
            super().refresh(data)

    class WatchedDCN(DCN):
        method = Watched

    WatchedDCN(4, **QUICK).fit(blobs[0])
    torch.testing.assert_close(found["centroids"], found["own"])
    torch.testing.assert_close(found["counts"], found["sizes"])


def test_sr_kmeans_keeps_its_start_on_vectors():
    X, classes = (part[:600] for part in load_digits(return_X_y=True))
    model = SRKMeans(10, init="graph", random_state=0, pretrain_epochs=15).fit(X)
    start, end = accuracy(classes, model.initial_labels_), accuracy(classes, model.labels_)
    assert start > 0.7
    assert end > start - 0.02
    assert sum(record["phase"] == "alternate" for record in model.history_) >= 12
