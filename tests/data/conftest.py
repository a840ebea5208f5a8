import sys

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


@pytest.fixture
def draw_heic(tmp_path):
    """Save an array as HEIC under a name in tmp_path, and give the path."""
    import pillow_heif

    def save(name, array, **options):
        path = tmp_path / name
        pillow_heif.from_pillow(Image.fromarray(array)).save(path, quality=95, **options)
        return path

    return save


@pytest.fixture
def closed_heic(tmp_path, monkeypatch):
    """Write files that start like HEIC, where the package that reads them is not installed."""
    monkeypatch.setitem(sys.modules, "pillow_heif", None)

    def write(*names):
        for name in names:
            (tmp_path / name).write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 99)

    return write
