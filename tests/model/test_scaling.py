import numpy as np
import onnxruntime
import pytest
import torch
from sklearn.datasets import load_digits

from infomeans import MIADM, KMeansBaseline, load
from infomeans.data import Dataset
from infomeans.data.rows import ArrayRows
from infomeans.errors import InputError
from infomeans.model import Model, scaling
from infomeans.model.export import to_onnx
from infomeans.model.scaling import Scaling
from infomeans.networks import Identity

KINDS = ("of_features", "of_table", "of_embeddings")


def test_images_are_scaled_to_their_range():
    X = np.array([[0, 51], [102, 255]], dtype=np.uint8)
    scaled = Scaling.of_images(Dataset.of_array(X))(torch.tensor(X, dtype=torch.float32))
    torch.testing.assert_close(scaled, torch.tensor([[-1.0, -0.6], [-0.2, 1.0]]))


def test_features_are_standardised_and_constant_ones_become_zero():
    X = np.random.default_rng(0).normal(5, [1, 100, 0], (50, 3))
    scaled = Scaling.of_features(Dataset.of_array(X))(torch.tensor(X)).numpy()
    np.testing.assert_allclose(scaled[:, :2].mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled[:, :2].std(0), 1)
    assert (scaled[:, 2] == 0).all()


def test_embeddings_keep_the_proportions_of_their_distances():
    X = np.random.default_rng(0).normal(3, [1, 10], (50, 2))
    scaled = Scaling.of_embeddings(Dataset.of_array(X))(torch.tensor(X)).numpy()
    np.testing.assert_allclose(scaled.std(0)[1] / scaled.std(0)[0], X.std(0)[1] / X.std(0)[0])
    assert scaled.var(0).mean() == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
def test_many_blocks_are_scaled_like_one_in_one_pass(kind, monkeypatch):
    """Even where the mean is large compared with the spread."""
    X = np.random.default_rng(0).normal(1e6, [1, 2, 30], (50, 3))
    whole = getattr(Scaling, kind)(Dataset.of_array(X))
    passes, blocks = [], ArrayRows.blocks

    def counted(rows, size):
        passes.append(size)
        return blocks(rows, size)

    monkeypatch.setattr(ArrayRows, "blocks", counted)
    monkeypatch.setattr(scaling, "BLOCK", 7)
    parts = getattr(Scaling, kind)(Dataset.of_array(X))
    assert passes == [7]
    torch.testing.assert_close(parts.shift, whole.shift, rtol=1e-14, atol=0)
    torch.testing.assert_close(parts.scale, whole.scale, rtol=1e-9, atol=0)


@pytest.mark.parametrize("size", [7, 100])
@pytest.mark.parametrize("unit", [1e-200, 1e200, 1e306])
def test_numbers_that_cannot_be_squared_are_scaled_too(unit, size, monkeypatch):
    monkeypatch.setattr(scaling, "BLOCK", size)
    X = np.random.default_rng(0).normal(3, 1, (50, 2))
    X[:, 1] *= unit
    scaled = Scaling.of_features(Dataset.of_array(X))(torch.tensor(X)).numpy()
    np.testing.assert_allclose(scaled.mean(0), 0, atol=1e-9)
    np.testing.assert_allclose(scaled.std(0), 1)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("shape", [(20, 4), (20, 8, 8)])
@pytest.mark.parametrize("estimator", [MIADM, KMeansBaseline])
def test_nan_in_a_data_set_is_named_with_its_samples(value, shape, estimator):
    X = np.random.default_rng(0).random(shape)
    X[3, 1] = X[7, 2] = value
    with pytest.raises(InputError, match="array: NaN or infinity in the samples 3, 7; only finite"):
        estimator(2).fit(Dataset.of_array(X))


@pytest.mark.parametrize(("widths", "one_unit"), [([1, 1.5, 2, 0], True), ([1, 1, 9, 0], False)])
def test_a_table_keeps_its_proportions_if_its_features_seem_to_have_one_unit(widths, one_unit):
    X = np.linspace(0, 1, 40)[:, None] * widths + 5.0
    data = Dataset.of_array(X)
    expected = Scaling.of_embeddings(data) if one_unit else Scaling.of_features(data)
    scaled = Scaling.of_table(data)(torch.tensor(X))
    torch.testing.assert_close(scaled, expected(torch.tensor(X)))


def plain(data, kind):
    """The scaling by all values, however far out they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling, "FEW", 0.0)
        patch.setattr(scaling, "FEWEST", np.inf)
        return getattr(Scaling, kind)(data)


rng = np.random.default_rng(0)
ORDINARY = {
    "normal": rng.normal(3, [1, 1e-3, 1e4], (2_000, 3)),
    "whole": rng.integers(0, 1_000, (500, 3)),
    "single": rng.normal(size=(500, 3)).astype(np.float32),
    "few": rng.normal(size=(9, 3)),
    "counts": rng.poisson(0.01, (2_000, 3)),
    "rare": (rng.random((3_000, 3)) < 0.001).astype(float),
    "zero but for amounts": (rng.random((2_000, 3)) < 0.02) * rng.lognormal(3, 1, (2_000, 3)),
    "heavy tails": rng.standard_t(2, (2_000, 3)),
    "very heavy tails": rng.lognormal(0, 2, (2_000, 3)),
    "huge": 1e300 * rng.random((60, 3)),
    "tiny": 1e-300 * rng.random((60, 3)),
    "constant": np.ones((60, 3)),
    "constant but one": np.r_[np.ones((60, 3)), [[1e6] * 3]],
    "rounding": np.r_[np.full((60, 3), 0.3), np.full((60, 3), 0.1 + 0.2), [[9.0] * 3]],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_tables_are_scaled_by_all_values(name, kind):
    data = Dataset.of_array(ORDINARY[name])
    found, expected = getattr(Scaling, kind)(data), plain(data, kind)
    assert found.low is None
    assert torch.equal(found.shift, expected.shift)
    assert torch.equal(found.scale, expected.scale)


@pytest.mark.parametrize(
    "images",
    [
        load_digits().images,
        rng.normal(size=(50, 8, 8)).astype(np.float32),
        np.where(np.arange(200)[:, None, None] == 7, 255, rng.integers(0, 2, (200, 8, 8))).astype(
            np.uint8
        ),
        np.where(np.arange(200)[:, None, None] == 7, 1.0, np.zeros((200, 8, 8))),
    ],
)
def test_ordinary_images_are_scaled_by_all_values(images):
    found = Scaling.of_images(Dataset.of_array(images))
    low, high = float(images.min()) / 2, float(images.max()) / 2
    assert found.low is None
    assert (found.shift.item(), found.scale.item()) == (low + high, 1 / (high - low))


@pytest.mark.parametrize("size", [7, 100_000])
@pytest.mark.parametrize("value", [1e6, -1e6, 1e38, 1e300, -1e308])
@pytest.mark.parametrize("kind", KINDS)
def test_a_single_outlier_does_not_set_the_scale(kind, value, size, monkeypatch):
    X = np.random.default_rng(0).normal(5, [1, 2, 3], (300, 3))
    without = getattr(Scaling, kind)(Dataset.of_array(X[1:]))
    X[0, 1] = value
    monkeypatch.setattr(scaling, "BLOCK", size)
    found = getattr(Scaling, kind)(Dataset.of_array(X))
    torch.testing.assert_close(found.scale, without.scale, rtol=0.2, atol=0)
    scaled = found(torch.tensor(X))
    assert 5 < scaled[0, 1].abs() < 20
    assert scaled[1:].abs().max() < 5


def test_outliers_on_both_sides_and_of_several_sizes_are_found():
    X = np.random.default_rng(0).normal(size=(400, 2))
    X[:6, 1] = [1e6, -1e6, 1e4, 1e300, -1e5, 1e9]
    scaled = Scaling.of_features(Dataset.of_array(X))(torch.tensor(X))
    assert scaled[6:].std(dim=0).min() > 0.5
    assert scaled.abs().max() < 20


@pytest.mark.parametrize("value", [1e6, -1e6, 1e300])
def test_a_single_image_does_not_set_the_scale(value):
    images = load_digits().images[:200].copy()
    images[3] = value
    images[4, 2, 2] = value
    model = Scaling.of_images(Dataset.of_array(images))
    scaled = model(torch.tensor(images))
    others = np.arange(200) > 4
    assert (scaled[others].min(), scaled[others].max()) == (-1, 1)
    assert scaled.abs().max() == 3


def test_the_limits_of_outliers_are_saved_and_exported(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[0, 0] = 1e6
    for samples in (X, np.tile(X[:, :, None], 3)):
        model = KMeansBaseline(3, random_state=0).fit(samples)
        model.save(tmp_path / f"model {samples.ndim}")
        loaded = load(tmp_path / f"model {samples.ndim}")
        assert torch.equal(loaded.scaling_.high, model.scaling_.high)
        assert np.array_equal(loaded.predict_proba(samples), model.predict_proba(samples))
        to_onnx(model, tmp_path / "model.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
        given = {"samples": samples.astype(np.float32)}
        (found,) = session.run(["posteriors"], given)
        np.testing.assert_allclose(found, model.predict_proba(samples), atol=1e-3)


def test_models_without_outliers_are_saved_as_before(blobs):
    model = KMeansBaseline(4, random_state=0).fit(blobs[0])
    assert [*model.scaling_.state_dict()] == ["shift", "scale"]


@pytest.mark.parametrize("shift", [0.0, 1e308])
@pytest.mark.parametrize("scale", [0.0, 1e-3, 1e300])
def test_absurd_values_stay_finite(shift, scale):
    model = Model((2,), Scaling(*torch.tensor([shift, scale], dtype=torch.float64)), Identity())
    new = [[-1.7e308, 1.7e308], [3.0, -1e-300]]
    scaled = model.scaled(torch.tensor(new, dtype=torch.float64))
    assert scaled.isfinite().all()
    assert scaled.abs().max() <= 1e6
    assert scale or not scaled.any()
    assert model.scaled(torch.tensor([[np.nan, 1.0]]))[0, 0].isnan()


def test_clipped_samples_keep_their_type():
    samples = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    samples[7, 1] = 1e9
    clipped = Scaling.of_features(Dataset.of_array(samples)).clipped(samples)
    assert clipped.dtype == np.float32
    assert 10 < clipped.max() + 10 < 1e6
    assert np.array_equal(np.delete(clipped, 7, axis=0), np.delete(samples, 7, axis=0))
