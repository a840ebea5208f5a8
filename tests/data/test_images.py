import os
import sys

import numpy as np
import pytest
from PIL import Image

from infomeans.data import open as open_samples
from infomeans.data.decoding import NO_HEIF
from infomeans.data.schema import ImageSchema, Schema
from infomeans.errors import InputError


def flat(value, height, width):
    return np.full((height, width), value, np.uint8)


def test_images_of_one_small_size_stay_as_they_are(draw, tmp_path, grey):
    draw("a.png", grey)
    draw("b.png", 255 - grey)
    samples = open_samples(tmp_path)
    np.testing.assert_array_equal(samples.X, [grey, 255 - grey])
    assert samples.X.dtype == np.uint8
    assert samples.ids == ["a.png", "b.png"]
    assert samples.schema == ImageSchema(10, 12, 1, "uint8")
    assert samples.skipped == []
    assert samples.source == str(tmp_path)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([(10, 20), (12, 20), (40, 9)], (12, 20)),
        ([(64, 64), (64, 64)], (64, 64)),
        ([(100, 200), (100, 200)], (32, 64)),
        ([(300, 150), (300, 150), (9, 9)], (64, 32)),
        ([(3, 5), (3, 5)], (8, 8)),
        ([(10, 400), (10, 400)], (8, 64)),
    ],
)
def test_mixed_sizes_become_the_median_of_at_most_64(draw, tmp_path, sizes, expected):
    for i, (height, width) in enumerate(sizes):
        draw(f"{i}.png", flat(10 * i, height, width))
    X = open_samples(tmp_path).X
    assert X.shape == (len(sizes), *expected)
    assert [np.unique(image).tolist() for image in X] == [[10 * i] for i in range(len(sizes))]


def test_image_size_makes_squares(draw, tmp_path, colour):
    draw("small.png", flat(7, 9, 9))
    draw("large.png", flat(9, 300, 200))
    draw("colour.png", colour)
    X = open_samples(tmp_path, image_size=11).X
    assert X.shape == (3, 11, 11, 3)
    assert np.unique(X[1]).tolist() == [9]


def test_an_image_size_below_eight_is_refused(draw, tmp_path, grey):
    draw("a.png", grey)
    with pytest.raises(InputError, match="image_size=7 is too small; at least 8"):
        open_samples(tmp_path, image_size=7)


def test_one_colour_image_makes_the_data_colour(draw, tmp_path, grey, colour):
    draw("a.png", grey)
    draw("b.png", colour)
    X = open_samples(tmp_path).X
    np.testing.assert_array_equal(X[0], np.dstack([grey] * 3))
    np.testing.assert_array_equal(X[1], colour)


def test_eight_bits_among_sixteen_are_spread_over_the_range(draw, tmp_path, grey, colour):
    draw("a.png", grey)
    draw("b.png", grey.astype(np.uint16) + 300)
    samples = open_samples(tmp_path)
    assert samples.schema.depth == "uint16"
    np.testing.assert_array_equal(samples.X, [grey.astype(np.uint16) * 257, grey + np.uint16(300)])
    draw("c.png", colour)
    X = open_samples(tmp_path).X
    assert X.shape == (3, 10, 12, 3)
    assert X.dtype == np.uint16
    np.testing.assert_array_equal(X[2], colour * np.uint16(257))
    np.testing.assert_array_equal(X[1, :, :, 2], grey + np.uint16(300))


def test_floats_keep_their_values(draw, tmp_path, grey):
    draw("a.tif", grey.astype(np.float32) / 7)
    draw("b.png", grey)
    X = open_samples(tmp_path).X
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, [grey.astype(np.float32) / 7, grey])


def test_not_a_number_in_a_float_image_is_refused(draw, tmp_path, grey):
    draw("a.tif", grey.astype(np.float32))
    draw("b.tif", np.where(grey == 2, np.nan, grey).astype(np.float32))
    with pytest.raises(InputError, match=r"NaN or infinity in the samples b.tif"):
        open_samples(tmp_path)


@pytest.fixture
def spoiled(draw, tmp_path, grey):
    """Two good images, and three that cannot be read: two small ones and a large one."""
    draw("a.png", grey)
    draw("d.png", grey + 1)
    (tmp_path / "b.png").write_text("text")
    photo = np.random.default_rng(0).integers(0, 256, (200, 200), dtype=np.uint8)
    whole = draw("c.png", photo).read_bytes()
    (tmp_path / "c.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "e.jpg").symlink_to("nowhere")
    return tmp_path


def test_unreadable_images_are_skipped_and_listed(spoiled, grey):
    samples = open_samples(spoiled, image_size=12)
    assert samples.ids == ["a.png", "d.png"]
    assert [name for name, _ in samples.skipped] == ["b.png", "c.png", "e.jpg"]
    reasons = dict(samples.skipped)
    assert reasons["b.png"] == "not an image"
    assert "truncated" in reasons["c.png"]
    assert reasons["e.jpg"] == "No such file or directory"


def test_a_large_image_may_turn_out_unreadable_late(spoiled):
    samples = open_samples(spoiled)
    assert samples.ids == ["a.png", "d.png"]
    assert samples.skipped[1][0] == "c.png"


def test_strict_names_the_unreadable_ones(spoiled):
    message = r"3 of 5 images cannot be read: b.png \(not an image\); c.png \(.*truncated"
    for options in ({}, {"image_size": 12}, {"image_size": 12, "fit": "pad"}):
        with pytest.raises(InputError, match=message):
            open_samples(spoiled, strict=True, **options)


def test_a_message_stays_on_one_line_whatever_the_names(tmp_path):
    (tmp_path / "a\nb.png").write_text("text")
    with pytest.raises(InputError, match=r"a b.png \(not an image\)"):
        open_samples(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes on Windows")
def test_pipes_and_folders_that_are_read_already_are_skipped(draw, tmp_path, grey):
    draw("set/a.png", grey)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "set/b.png").symlink_to(tmp_path / "pipe")
    (tmp_path / "set/again").symlink_to(tmp_path / "set")
    samples = open_samples(tmp_path / "set")
    assert samples.ids == ["a.png"]
    assert samples.skipped == [
        ("b.png", "not a regular file"),
        ("again", "a link to what is read already"),
    ]
    (tmp_path / "list.txt").write_text("set/a.png\npipe\n")
    assert open_samples(tmp_path / "list.txt").skipped == [("pipe", "not a regular file")]


def test_nothing_readable_is_an_error(tmp_path):
    for i in range(5):
        (tmp_path / f"{i}.png").write_text("text")
    with pytest.raises(InputError, match=r"5 of 5 .* 0.png, .* and 2 more \(not an image\)"):
        open_samples(tmp_path)


def test_heic_without_its_extra_is_skipped_and_listed(closed_heic, draw, tmp_path, grey):
    draw("a.jpg", grey)
    closed_heic("b.heic", "c.HEIC")
    samples = open_samples(tmp_path)
    assert samples.ids == ["a.jpg"]
    assert [name for name, _ in samples.skipped] == ["b.heic", "c.HEIC"]
    assert {reason for _, reason in samples.skipped} == {NO_HEIF}
    with pytest.raises(InputError, match=r"2 of 3 images .* b.heic, c.HEIC \(reading HEIC needs"):
        open_samples(tmp_path, strict=True)


def test_a_folder_of_heic_names_the_extra_once(closed_heic, tmp_path):
    closed_heic(*(f"{i}.heic" for i in range(5)))
    message = r"5 of 5 images cannot be read: 0.heic, 1.heic, 2.heic and 2 more \(reading HEIC .*\)"
    with pytest.raises(InputError, match=message) as refused:
        open_samples(tmp_path)
    assert str(refused.value).count("pip install 'infomeans[heic]'") == 1


def test_heic_lies_beside_other_images(draw_heic, draw, tmp_path, colour):
    draw("a.png", colour)
    draw_heic("b.heic", colour)
    samples = open_samples(tmp_path)
    assert samples.skipped == []
    assert np.abs(samples.X[0].astype(int) - samples.X[1]).mean() < 15


def disc(height, width):
    """A white disc in the middle of a black picture."""
    rows, columns = np.ogrid[:height, :width]
    centre = (rows - (height - 1) / 2) ** 2 + (columns - (width - 1) / 2) ** 2
    return np.where(centre < (min(height, width) / 6) ** 2, 255, 0).astype(np.uint8)


def spread(image):
    """How far what is bright reaches from the middle, down and to the sides."""
    grids = np.indices(image.shape) - (np.array(image.shape).reshape(2, 1, 1) - 1) / 2
    return np.sqrt((grids**2 * image).sum(axis=(1, 2)) / image.sum())


def roundness(image):
    """The width of what is bright, for its height."""
    down, aside = spread(image)
    return aside / down


@pytest.fixture
def turned(draw, tmp_path):
    """Pictures of a disc, most of them wide and some high; some large, some small."""
    for i in range(10):
        height, width = (30, 60) if i % 5 else (60, 30)
        factor = 10 if i < 2 else 1
        draw(f"{i}.png", disc(height * factor, width * factor))
    return tmp_path


def test_pictures_of_other_proportions_are_not_squashed(turned):
    samples = open_samples(turned)
    assert samples.X.shape == (10, 30, 60)
    assert samples.schema.fit == "crop"
    assert [roundness(image) for image in samples.X] == pytest.approx([1] * 10, abs=0.1)


@pytest.mark.parametrize("image_size", [None, 40])
def test_padded_pictures_are_whole_and_not_squashed(turned, image_size):
    samples = open_samples(turned, fit="pad", image_size=image_size)
    assert samples.schema.fit == "pad"
    assert [roundness(image) for image in samples.X] == pytest.approx([1] * 10, abs=0.1)
    high, wide = samples.X[:2]
    assert spread(high) == pytest.approx(spread(wide) / (1 if image_size else 2), rel=0.15)


def test_stretched_pictures_fill_the_frame(turned):
    samples = open_samples(turned, fit="stretch")
    assert samples.schema.fit == "stretch"
    assert roundness(samples.X[0]) == pytest.approx(4, rel=0.1)


def test_an_unknown_fit_is_refused(turned):
    with pytest.raises(InputError, match="fit='zoom' is unknown; pad, crop, stretch are accepted"):
        open_samples(turned, fit="zoom")


@pytest.mark.parametrize("fit", ["pad", "crop", "stretch"])
def test_a_model_sees_new_pictures_as_it_saw_the_old_ones(turned, fit):
    old = open_samples(turned, fit=fit)
    new = open_samples(turned, like=like(old.schema))
    assert np.abs(new.X.astype(int) - old.X).max() < 5


@pytest.mark.parametrize("image_size", [None, 16])
@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
@pytest.mark.parametrize("factor", [1, 10])
def test_images_of_one_size_are_simply_resized(draw, tmp_path, colour, name, factor, image_size):
    draw(name, np.kron(colour, np.ones((factor, 2 * factor, 1), np.uint8)))
    samples = open_samples(tmp_path, image_size=image_size)
    stretched = open_samples(tmp_path, image_size=image_size, fit="stretch")
    assert samples.schema.fit == "stretch"
    np.testing.assert_array_equal(samples.X, stretched.X)


@pytest.mark.parametrize("factor", [1, 20])
@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "a.bmp"])
def test_grey_saved_as_colour_is_grey(draw, tmp_path, grey, name, factor):
    large = np.kron(grey, np.ones((factor, factor), np.uint8))
    draw("alone/grey.png", large)
    draw(f"saved/{name}", np.dstack([large] * 3))
    X = open_samples(tmp_path / "saved").X
    assert X.shape == (1, *open_samples(tmp_path / "alone").X.shape[1:])
    if name in ("a.png", "a.bmp"):
        np.testing.assert_array_equal(X, open_samples(tmp_path / "alone").X)


def test_one_picture_with_some_colour_keeps_all_in_colour(draw, tmp_path, grey):
    almost = np.dstack([grey, grey + 1, grey + 2])
    draw("a.png", almost)
    assert open_samples(tmp_path).X.shape == (1, 10, 12)
    tinted = almost.copy()
    tinted[3, 4, 2] += 1
    draw("b.png", tinted)
    samples = open_samples(tmp_path)
    assert samples.schema.channels == 3
    np.testing.assert_array_equal(samples.X, [almost, tinted])


def test_a_large_colour_picture_among_grey_ones_counts(draw, tmp_path, grey, colour):
    draw("a.png", np.dstack([grey] * 3))
    draw("b.png", np.kron(colour, np.ones((20, 20, 1), np.uint8)))
    assert open_samples(tmp_path).X.shape[3:] == (3,)


def test_a_bomb_is_an_error_even_if_not_strict(draw, tmp_path, grey, monkeypatch):
    draw("a.png", grey[:5])
    draw("b.png", grey)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(InputError, match=r"b.png claims more pixels .* \(100\)"):
        open_samples(tmp_path)


def test_progress_ends_with_all_and_is_called_now_and_then(draw, tmp_path, grey):
    for i in range(250):
        draw(f"{i}.png", grey)
    draw("large.png", flat(0, 200, 200))
    (tmp_path / "bad.png").touch()
    calls = []
    open_samples(tmp_path, progress=lambda done, total: calls.append((done, total)))
    assert 5 < len(calls) <= 101
    assert calls == sorted(set(calls))
    assert calls[-1] == (252, 252)


def like(recipe):
    return Schema.from_json(recipe.to_json())


def test_new_images_are_fitted_to_the_recipe_of_old_ones(draw, tmp_path, grey, colour):
    draw("old/a.png", flat(0, 20, 30))
    recipe = like(open_samples(tmp_path / "old").schema)
    draw("new/colour.png", np.dstack([flat(200, 9, 9), flat(100, 9, 9), flat(50, 9, 9)]))
    draw("new/deep.png", np.full((200, 200), 200, np.uint16))
    draw("new/grey.png", flat(5, 8, 8))
    samples = open_samples(tmp_path / "new", like=recipe)
    assert samples.schema == recipe
    assert samples.X.shape == (3, 20, 30)
    assert samples.X.dtype == np.uint8
    luminance = round(0.299 * 200 + 0.587 * 100 + 0.114 * 50)
    assert [np.unique(image).tolist() for image in samples.X] == [[luminance], [1], [5]]


def test_grey_images_become_colour_and_deep_for_such_a_model(draw, tmp_path, grey):
    draw("a.png", grey)
    X = open_samples(tmp_path, like=ImageSchema(10, 12, 3, "uint16")).X
    np.testing.assert_array_equal(X[0], np.dstack([grey * np.uint16(257)] * 3))


def test_floats_do_not_fit_a_model_of_eight_bits(draw, tmp_path, grey):
    draw("a.tif", grey.astype(np.float32))
    draw("b.png", grey)
    samples = open_samples(tmp_path, like=ImageSchema(10, 12, 1, "uint8"))
    assert samples.ids == ["b.png"]
    assert samples.skipped == [("a.tif", "32 bits per pixel, but the model was fitted with uint8")]


def test_reading_again_gives_the_same_fingerprint(spoiled):
    assert open_samples(spoiled).fingerprint == open_samples(spoiled).fingerprint
