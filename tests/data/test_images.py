import numpy as np
import pytest
from PIL import Image

from infomeans.data import open as open_samples
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
    message = r"3 of 5 images cannot be read: b.png \(not an image\), c.png \(.*truncated"
    with pytest.raises(InputError, match=message):
        open_samples(spoiled, strict=True, image_size=12)


def test_a_message_stays_on_one_line_whatever_the_names(tmp_path):
    (tmp_path / "a\nb.png").write_text("text")
    with pytest.raises(InputError, match=r"a b.png \(not an image\)"):
        open_samples(tmp_path)


def test_nothing_readable_is_an_error(tmp_path):
    for i in range(5):
        (tmp_path / f"{i}.png").write_text("text")
    with pytest.raises(InputError, match=r"5 of 5 .* 0.png \(not an image\), .* and 2 more"):
        open_samples(tmp_path)


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
    assert samples.skipped == [("a.tif", "32 bits a pixel, but the model was fitted with uint8")]


def test_reading_again_gives_the_same_fingerprint(spoiled):
    assert open_samples(spoiled).fingerprint == open_samples(spoiled).fingerprint
