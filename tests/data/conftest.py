import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def draw(tmp_path):
    """Save an array or image under a path relative to tmp_path, and give the path."""

    def save(name, content, **options):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        image = content if isinstance(content, Image.Image) else Image.fromarray(content)
        image.save(path, **options)
        return path

    return save


@pytest.fixture
def grey():
    """A grey image of 10 x 12 pixels with values from 0 to 238."""
    return np.arange(0, 240, 2, dtype=np.uint8).reshape(10, 12)


@pytest.fixture
def colour(grey):
    """A colour image of 10 x 12 pixels."""
    return np.stack([grey, 255 - grey, grey // 2], axis=2)
