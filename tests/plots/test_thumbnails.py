import base64
import io

import numpy as np
import pytest
from PIL import Image

from infomeans.plots.thumbnails import data_url, make_thumbnails


def picture(text):
    return Image.open(io.BytesIO(base64.b64decode(text)))


def cut(thumbs, index):
    """A thumbnail, found as the page finds it."""
    each = thumbs.columns**2
    sheet = picture(thumbs.sheets[index // each])
    top, left = divmod(index % each, thumbs.columns)
    box = (left * thumbs.width, top * thumbs.height)
    return np.asarray(sheet.crop((*box, box[0] + thumbs.width, box[1] + thumbs.height)), float)


def test_every_sample_is_found_at_its_place():
    shades = np.linspace(0, 255, 1300).astype(np.uint8)
    images = np.broadcast_to(shades[:, None, None], (1300, 10, 12)).copy()
    thumbs = make_thumbnails(images)
    assert (thumbs.width, thumbs.height) == (12, 10)
    assert len(thumbs.sheets) == 3
    for index in (0, 23, 24, 575, 576, 1299):
        assert cut(thumbs, index).mean() == pytest.approx(shades[index], abs=12)


@pytest.mark.parametrize("layout", ["last", "first"])
def test_colours_survive(layout):
    images = np.zeros((4, 16, 16, 3), np.uint8)
    images[..., 0] = 200
    X = images if layout == "last" else images.transpose(0, 3, 1, 2)
    red, green, blue = cut(make_thumbnails(X), 2).reshape(-1, 3).mean(axis=0)
    assert red > 150
    assert max(green, blue) < 50


def test_floats_are_painted_between_their_extremes():
    images = np.full((3, 8, 8), -2.0)
    images[1] = 6
    thumbs = make_thumbnails(images)
    assert cut(thumbs, 0).mean() < 10
    assert cut(thumbs, 1).mean() > 245


def test_constant_images_are_no_problem():
    assert cut(make_thumbnails(np.ones((2, 8, 8))), 1).mean() < 10


def test_large_images_get_small_and_keep_their_shape():
    thumbs = make_thumbnails(np.zeros((3, 60, 300), np.uint8))
    assert (thumbs.width, thumbs.height) == (96, 19)


def test_what_would_be_too_heavy_is_made_smaller():
    noise = np.random.default_rng(0).integers(0, 256, (600, 32, 32), dtype=np.uint8)
    free, tight = make_thumbnails(noise), make_thumbnails(noise, most_bytes=60_000)
    assert tight.bytes * 3 // 4 <= 60_000 < free.bytes * 3 // 4
    assert tight.width < free.width


def test_more_samples_mean_smaller_thumbnails():
    assert make_thumbnails(np.zeros((40, 64, 64), np.uint8), pixels=40 * 30 * 30).width == 30


def test_a_single_image_is_an_address():
    kind, text = data_url(np.full((8, 8, 1), 128, np.uint8)).split(",")
    assert kind == "data:image/webp;base64"
    assert np.asarray(picture(text)).mean() == pytest.approx(128, abs=8)
