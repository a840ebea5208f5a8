"""Bad input gets one clear error before any training; odd but valid input gets no NaN."""

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn

from infomeans import DCN, DEC, DEPICT, MIADM, MID, Autoencoder, KMeansBaseline, SRKMeans
from infomeans.errors import ClusteringWarning, InputError
from infomeans.methods import find_method

CLUSTERERS = [MIADM, SRKMeans, DEPICT, MID, DEC, DCN]
QUICK = {"pretrain_epochs": 2, "warmup_epochs": 1, "epochs": 3, "random_state": 0}
X = np.random.default_rng(0).normal(size=(30, 4))


def prototypes(model):
    return model.model_.decoded_centres(model.cluster_centers_)


def with_value(value):
    spoiled = X.copy()
    spoiled[3, 2] = value
    return spoiled


@pytest.fixture(autouse=True)
def _no_training(monkeypatch, request):
    """Whatever is refused is refused before the first step."""
    if "trains" not in request.keywords:

        def step(*_):
            raise AssertionError("training started")

        monkeypatch.setattr("infomeans.training.step.TrainingStep.forward", step)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (with_value(np.nan), "NaN"),
        (with_value(np.inf), "infinity"),
        (X[:0], "0 sample"),
        (np.array(1.0), "scalar array"),
        (X[0], "Reshape your data"),
        ([["a", "b"]] * 9, "numeric"),
        (X[:5], "n_samples=5 is less than n_clusters=8"),
        (np.zeros((30, 7, 9)), "Images of 7 x 9 pixels are too small; at least 8 x 8"),
        (np.zeros((30, 9, 9, 2)), "with 1 or 3 channels"),
        (np.zeros((30, 9, 9, 9, 3)), "with 1 or 3 channels"),
    ],
)
@pytest.mark.parametrize("cls", CLUSTERERS)
def test_bad_data(cls, data, message):
    with pytest.raises(ValueError, match=message):
        cls(**QUICK).fit(data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters'.*Got 0"),
        ({"n_clusters": 2.5}, "'n_clusters'.*Got 2.5"),
        ({"epochs": -1}, "'epochs'.*Got -1"),
        ({"batch_size": 0}, "'batch_size'.*Got 0"),
        ({"learning_rate": 0.0}, "'learning_rate'.*Got 0.0"),
        ({"preset": "slow"}, "'preset'.*'slow'"),
        ({"device": "gpu"}, "device='gpu' is unknown; 'auto', 'cpu'"),
        ({"device": "cuda:x"}, "device='cuda:x' is unknown"),
        ({"device": "cpu:1"}, "device='cpu:1' is unknown"),
        ({"precision": "64-true"}, "'precision'.*'64-true'"),
        ({"init": "random"}, "init='random' is unknown; choose one of auto, graph"),
        ({"init": [0, 1]}, "one integer label for each of the 30 samples"),
        ({"init": np.full(30, 8)}, "they must be between 0 and 7"),
        ({"init": np.full(30, -1)}, "labels from -1"),
        ({"init": np.full(30, 0.5)}, "type float64"),
        ({"network": "resnet"}, "network='resnet' is unknown"),
        ({"sizes": [1, 2]}, "one positive number for each of the n_clusters=8"),
        ({"sizes": [1, 1, 1, 1, 1, 1, 1, 0]}, "one positive number"),
        ({"targets": "fuzzy"}, "'targets'.*'fuzzy'"),
        ({"lam": -1}, "'lam'.*Got -1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        MIADM(**{**QUICK, **parameters}).fit(X)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has the device")
def test_a_device_that_is_not_there():
    with pytest.raises(ValueError, match="device='cuda' is not available on this machine"):
        MIADM(device="cuda").fit(X)


def test_an_unknown_method():
    with pytest.raises(ValueError, match="method='k-means' is unknown; choose one of mi-adm"):
        find_method("k-means")


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "transform", "score"])
def test_nothing_is_predicted_before_a_fit(ask):
    with pytest.raises(NotFittedError, match="MIADM instance is not fitted"):
        getattr(MIADM(), ask)(X)


def test_nothing_is_predicted_after_a_refused_fit():
    model = MIADM(8)
    with pytest.raises(ValueError, match="n_samples=3"):
        model.fit(X[:3])
    with pytest.raises(NotFittedError):
        model.predict(X[:3])


@pytest.mark.trains
def test_another_shape_at_predict_time():
    images = np.random.default_rng(0).random((20, 9, 8))
    model = MIADM(2, init="graph", **QUICK).fit(images)
    with pytest.raises(ValueError, match=r"shape \(8, 9\).*fitted with samples of shape \(9, 8\)"):
        model.predict(images.transpose(0, 2, 1))
    with pytest.raises(ValueError, match=r"3 features.*expecting 4 features"):
        MIADM(2, init="graph", **QUICK).fit(X).predict(X[:, :3])


ODD = {
    "one cluster": (X, 1),
    "constant": (np.ones((20, 3)), 3),
    "all duplicates of two": (np.repeat([[0.0, 1.0], [5.0, 2.0]], 10, axis=0), 4),
    "one feature": (X[:, :1], 3),
    "as many clusters as samples": (X[:6], 6),
    "one more sample than clusters": (X[:6], 5),
    "huge values": (1e30 * X, 3),
    "tiny values": (1e-30 * X, 3),
    "constant images": (np.zeros((12, 8, 8), dtype=np.uint8), 2),
    "truth values": (X > 0, 2),
    "integers": (np.arange(40).reshape(20, 2), 2),
}


SCALED = ("huge values", "tiny values", "truth values", "integers")
"""Odd before they are scaled, so methods do not meet them."""


@pytest.mark.trains
@pytest.mark.parametrize(
    ("cls", "init", "name"),
    [
        *((MIADM, "auto", name) for name in ODD),
        *((cls, "graph", name) for cls in CLUSTERERS[1:] for name in ODD if name not in SCALED),
    ],
)
def test_odd_data_give_no_nan(cls, init, name):
    data, k = ODD[name]
    model = cls(k, init=init, **QUICK).fit(data)
    assert np.isfinite(model.predict_proba(data)).all()
    assert np.isfinite(model.transform(data)).all()
    assert np.isfinite(model.cluster_centers_).all()
    assert set(model.labels_) <= set(range(k))
    for record in model.history_:
        assert all(np.isfinite(v) for v in record.values() if isinstance(v, float)), record


@pytest.mark.trains
@pytest.mark.parametrize("name", [name for name, (data, _) in ODD.items() if data.ndim == 2])
@pytest.mark.parametrize("init", ["graph", "soft_kmeans"])
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_no_network_and_odd_data(init, name):
    data, k = ODD[name]
    model = MIADM(k, network=None, init=init, **QUICK).fit(data)
    assert np.isfinite(model.predict_proba(data)).all()


@pytest.mark.trains
def test_the_autoencoder_takes_a_single_sample():
    assert Autoencoder(2, epochs=2).fit_transform(X[:1]).shape == (1, 2)


def test_an_autoencoder_that_cannot_decode():
    with pytest.raises(ValueError, match=r"decode\(z\)"):
        Autoencoder(network=nn.Linear(6, 2)).fit(np.random.default_rng(0).random((20, 6)))


ONE_STEP = {"batch_size": 500, "random_state": 0}
SHORT = {"pretrain_epochs": 1, "warmup_epochs": 0, "epochs": 1}


@pytest.mark.trains
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            MIADM(3, learning_rate=1e20, random_state=0, **SHORT),
            r"the loss is nan.*learning_rate below 1e\+20",
        ),
        (DCN(3, learning_rate=1e38, **SHORT, **ONE_STEP), "embeddings contain NaN or infinity"),
        (
            Autoencoder(learning_rate=1e38, epochs=1, **ONE_STEP),
            "embeddings contain NaN or infinity",
        ),
        (Autoencoder(learning_rate=1e20, epochs=1), r"phase pretrain.*Autoencoder\("),
    ],
)
def test_a_training_that_diverges_says_so(stripes, model, message):
    with pytest.raises(InputError, match=f"[Tt]raining diverged: .*{message}"):
        model.fit(stripes[0])


@pytest.mark.trains
def test_a_head_that_diverges_says_so(blobs):
    model = MIADM(4, network=None, learning_rate=1e38, **SHORT, **ONE_STEP)
    with pytest.warns(ClusteringWarning, match="became NaN or infinite in the phase alternate"):
        model.fit(blobs[0])


@pytest.mark.trains
def test_a_network_that_knows_no_numbers(blobs):
    class Broken(nn.Module):
        def forward(self, x):
            return x / 0

    with pytest.raises(InputError, match="before any training"):
        MIADM(4, network=Broken(), **QUICK).fit(blobs[0] - blobs[0])


@pytest.mark.parametrize(("shift", "scale"), [(1e9, 1.0), (0.0, 1e300), (-1e300, 1e300)])
def test_images_of_any_range_are_scaled_alike(shift, scale, stripes):
    images, _ = stripes
    images = (images - images.min()) / np.ptp(images)
    plain, other = (
        KMeansBaseline(3, random_state=0).fit(X) for X in (images, images * scale + shift)
    )
    assert np.abs(other.embedding_ - plain.embedding_).max() < 1e-5
    shown = (prototypes(other) - shift) / scale
    assert np.abs(shown - prototypes(plain)).max() < 1e-5


def test_numbers_too_small_to_tell_apart_are_a_constant(blobs):
    X = blobs[0] * np.array([1e-310, 1, 1, 1, 1, 1])
    assert not KMeansBaseline(4, random_state=0).fit(X).embedding_[:, 0].any()


def test_a_column_whose_squares_overflow_still_counts(blobs):
    X, _ = blobs
    # Of different units both times, so that every column is standardised.
    plain = KMeansBaseline(4, random_state=0).fit(X * np.array([100, 1, 1, 1, 0.01, 1]))
    huge = KMeansBaseline(4, random_state=0).fit(X * np.array([1e200, 1, 1, 1, 1e-200, 1]))
    assert np.abs(huge.embedding_ - plain.embedding_).max() < 1e-5


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">u2", np.longdouble])
def test_numbers_that_torch_does_not_know(dtype, stripes):
    whole = np.round(1000 * (stripes[0] - stripes[0].min()))
    plain, other = (KMeansBaseline(3, random_state=0).fit(X) for X in (whole, whole.astype(dtype)))
    assert np.array_equal(other.labels_, plain.labels_)
