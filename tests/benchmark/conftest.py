from dataclasses import replace

import numpy as np
import pytest

from infomeans.training.settings import PRESETS, fast


@pytest.fixture(autouse=True, scope="module")
def _briefly():
    """A part of the epochs of the usual settings."""

    def brief(*arguments):
        usual = fast(*arguments)
        return replace(
            usual,
            pretrain_epochs=usual.pretrain_epochs // 6,
            warmup_epochs=usual.warmup_epochs // 6,
            epochs=usual.epochs // 6,
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "fast", brief)
        yield


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
