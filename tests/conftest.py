import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, settings
from sklearn.datasets import make_blobs

settings.register_profile(
    "infomeans",
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("infomeans")


@pytest.fixture(autouse=True, scope="session")
def _denormals():
    """The command changes how its process treats tiny numbers; the tests' must not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "set_flush_denormal", lambda _: True)
        yield


@pytest.fixture(scope="session")
def blobs():
    """Four well separated groups of vectors, and which is which."""
    return make_blobs(200, n_features=6, centers=4, cluster_std=0.5, random_state=3)


@pytest.fixture(scope="session")
def stripes():
    """Small grey images of three kinds: a bright row at the top, middle or bottom."""
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1, 2], 40)
    images = rng.normal(0, 0.1, (120, 9, 8))
    for image, kind in zip(images, classes, strict=True):
        image[1 + 3 * kind : 3 + 3 * kind] += 1
    return images, classes
