import numpy as np
import pytest

from infomeans.data.arrays import channels_first


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
