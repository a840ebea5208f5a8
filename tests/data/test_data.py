import numpy as np
import pytest
import torch

from infomeans.data import Dataset
from infomeans.data.arrays import channels_first
from infomeans.model.scaling import Scaling


@pytest.mark.parametrize(
    "shape", [(5, 9, 12), (5, 9, 12, 1), (5, 1, 9, 12), (5, 9, 12, 3), (5, 3, 9, 12)]
)
def test_every_layout_becomes_channels_first(shape):
    channels = 3 if 3 in shape else 1
    assert channels_first(np.zeros(shape)).shape == (5, channels, 9, 12)


def test_channels_are_moved_not_reshaped():
    X = np.random.default_rng(0).random((2, 8, 9, 3))
    np.testing.assert_array_equal(channels_first(X)[1, 2], X[1, :, :, 2])


def test_vectors_stay_as_they_are():
    X = np.zeros((4, 3))
    assert channels_first(X) is X


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
