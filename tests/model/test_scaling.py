import numpy as np
import pytest
import torch

from infomeans import MIADM, KMeansBaseline
from infomeans.data import Dataset
from infomeans.data.rows import ArrayRows
from infomeans.errors import InputError
from infomeans.model import scaling
from infomeans.model.scaling import Scaling

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
