import numpy as np
import pytest


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory, stripes):
    """A tiny file in the layout of usps."""
    folder = tmp_path_factory.mktemp("data")
    images, classes = stripes
    pixels = (255 * (images - images.min()) / np.ptp(images)).astype(np.uint8)
    np.savez(folder / "usps.npz", images=pixels, labels=classes)
    return folder


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")
