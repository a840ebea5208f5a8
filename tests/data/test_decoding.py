"""Every mode and format that people have, and the pixels that come out."""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image, features

from infomeans.data.decoding import (
    NO_AVIF,
    NO_HEIF,
    SMALL,
    TOO_LARGE,
    Decoded,
    decode_all,
    fitted,
    resized,
)

DTYPES = {"L": np.uint8, "RGB": np.uint8, "I;16": np.uint16, "F": np.float32}


def decode(path, size=None):
    [decoded] = decode_all([str(path)], size)
    return decoded


def pixels(decoded):
    width, height = decoded.size
    array = np.frombuffer(decoded.pixels, DTYPES[decoded.mode])
    return array.reshape((height, width, 3) if decoded.mode == "RGB" else (height, width))


@pytest.mark.parametrize("name", ["x.png", "x.bmp", "x.tif", "x.TIFF", "x.pgm", "x.gif", "x.webp"])
def test_grey_is_exact_in_every_lossless_format(draw, grey, name):
    path = draw(name, grey, **({"lossless": True} if name.endswith("webp") else {}))
    decoded = decode(path)
    if decoded.mode == "RGB":  # WebP has no grey
        np.testing.assert_array_equal(pixels(decoded)[..., 0], grey)
    else:
        np.testing.assert_array_equal(pixels(decoded), grey)


@pytest.mark.parametrize("name", ["x.png", "x.bmp", "x.tif", "x.ppm", "x.webp"])
def test_colour_is_exact_in_every_lossless_format(draw, colour, name):
    path = draw(name, colour, **({"lossless": True} if name.endswith("webp") else {}))
    np.testing.assert_array_equal(pixels(decode(path)), colour)


@pytest.mark.parametrize("name", ["x.jpg", "x.jpeg"])
def test_jpeg_is_close(draw, grey, name):
    assert np.abs(pixels(decode(draw(name, grey, quality=95))).astype(int) - grey).max() < 12


def test_one_bit_is_black_and_white(draw, grey):
    path = draw("x.pbm", Image.fromarray(grey > 100))
    np.testing.assert_array_equal(pixels(decode(path)), np.where(grey > 100, 255, 0))


def test_a_grey_palette_is_grey_and_a_coloured_one_is_colour(draw, grey):
    indices = Image.fromarray(grey // 64)
    indices.putpalette([9, 9, 9, 50, 50, 50, 70, 70, 70, 200, 200, 200])
    decoded = decode(draw("grey.png", indices))
    assert decoded.mode == "L"
    np.testing.assert_array_equal(pixels(decoded), np.array([9, 50, 70, 200])[grey // 64])
    indices.putpalette([9, 9, 9, 50, 60, 50, 70, 70, 70, 200, 200, 200])
    decoded = decode(draw("colour.png", indices))
    assert decoded.mode == "RGB"
    np.testing.assert_array_equal(pixels(decoded)[..., 1], np.array([9, 60, 70, 200])[grey // 64])


def test_transparent_pixels_show_white_paper(draw, grey, colour):
    alpha = np.full_like(grey, 255)
    alpha[:5] = 0
    path = draw("rgba.png", np.dstack([colour, alpha]))
    np.testing.assert_array_equal(
        pixels(decode(path)), np.where(alpha[..., None] == 0, 255, colour)
    )
    both = Image.merge("LA", [Image.fromarray(grey), Image.fromarray(alpha)])
    decoded = decode(draw("la.png", both))
    assert decoded.mode == "L"
    np.testing.assert_array_equal(pixels(decoded), np.where(alpha == 0, 255, grey))


def test_half_transparent_is_half_way_to_white(draw):
    path = draw("x.png", Image.new("RGBA", (8, 8), (0, 100, 200, 128)))
    assert pixels(decode(path))[0, 0].tolist() == [127, 177, 227]


def test_transparency_of_a_palette_or_a_single_grey_counts(draw, grey):
    indices = Image.fromarray(grey // 64)
    indices.putpalette([9, 9, 9, 50, 50, 50, 70, 70, 70, 200, 200, 200])
    decoded = decode(draw("palette.png", indices, transparency=2))
    np.testing.assert_array_equal(pixels(decoded), np.array([9, 50, 255, 200])[grey // 64])
    decoded = decode(draw("single.png", Image.fromarray(grey), transparency=100))
    np.testing.assert_array_equal(pixels(decoded), np.where(grey == 100, 255, grey))


def test_cmyk_becomes_rgb(draw):
    path = draw("x.tif", Image.new("CMYK", (8, 8), (255, 0, 0, 0)))
    assert pixels(decode(path))[0, 0].tolist() == [0, 255, 255]


@pytest.mark.parametrize("name", ["x.png", "x.tif", "x.pgm"])
def test_sixteen_bits_are_kept(draw, grey, name):
    deep = grey.astype(np.uint16) * 257 + 3
    image = Image.fromarray(deep)
    decoded = decode(draw(name, image.convert("I") if name == "x.pgm" else image))
    assert decoded.mode == "I;16"
    np.testing.assert_array_equal(pixels(decoded), deep)


def test_sixteen_bits_of_the_other_byte_order_are_kept(draw, grey):
    deep = grey.astype(np.uint16) * 257 + 3
    image = Image.frombytes("I;16B", (12, 10), deep.astype(">u2").tobytes())
    np.testing.assert_array_equal(pixels(decode(draw("x.tif", image))), deep)


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_thirty_two_bits_become_floats(draw, grey, dtype):
    deep = (grey.astype(dtype) - 100) * 1000
    decoded = decode(draw("x.tif", deep))
    assert decoded.mode == "F"
    np.testing.assert_array_equal(pixels(decoded), deep)


def rotated(orientation):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    return exif


@pytest.mark.parametrize("name", ["x.png", "x.jpg", "x.webp", "x.tif"])
@pytest.mark.parametrize(
    ("orientation", "turn"),
    [(1, lambda a: a), (3, lambda a: a[::-1, ::-1]), (6, lambda a: np.rot90(a, -1))],
)
def test_exif_rotation_is_applied(draw, colour, name, orientation, turn):
    path = draw(name, colour, exif=rotated(orientation))
    expected = turn(colour).astype(int)
    assert np.abs(pixels(decode(path)) - expected).mean() < 15
    photo = np.kron(colour, np.ones((30, 20, 1), np.uint8))
    height, width = turn(photo).shape[:2]
    large = draw(name, photo, exif=rotated(orientation))
    assert decode(large) == Decoded("RGB", (width, height))


def test_the_first_frame_counts(draw, grey):
    frames = [Image.fromarray(255 - grey), Image.fromarray(grey // 2)]
    for name in ("x.gif", "x.tif"):
        path = draw(name, grey, save_all=True, append_images=frames)
        np.testing.assert_array_equal(pixels(decode(path)), grey)


def test_a_large_image_is_only_decoded_to_a_given_size(draw):
    half = np.zeros((300, 200), np.uint8)
    half[:, 100:] = 200
    path = draw("x.png", half)
    assert half.size > SMALL
    assert decode(path) == Decoded("L", (200, 300))
    small = pixels(decode(path, (8, 12)))
    assert small.shape == (12, 8)
    assert small[0, [0, 1, 2, 5, 6, 7]].tolist() == [0, 0, 0, 200, 200, 200]


def test_a_jpeg_shrinks_to_what_the_same_png_does(draw):
    rng = np.random.default_rng(0)
    photo = np.kron(rng.integers(0, 256, (30, 20, 3)), np.ones((40, 40, 1))).astype(np.uint8)
    png = pixels(decode(draw("x.png", photo), (24, 36))).astype(int)
    jpeg = pixels(decode(draw("x.jpg", photo, quality=95), (24, 36)))
    assert np.abs(png - jpeg).mean() < 3


@pytest.mark.parametrize("mode", ["L", "RGB", "I;16", "F"])
def test_resizing_averages_and_stays_within_the_range(mode):
    rng = np.random.default_rng(0)
    top = 65535 if mode == "I;16" else 255
    shape = (64, 64, 3) if mode == "RGB" else (64, 64)
    array = (rng.integers(0, 2, shape) * top).astype(DTYPES[mode])
    small = np.asarray(resized(Image.fromarray(array), (8, 8)), dtype=float)
    assert small.shape == (8, 8, *shape[2:])
    assert 0.2 * top < small.min() <= small.max() < 0.8 * top
    assert small.mean() == pytest.approx(array.mean(), rel=0.02)
    constant = np.full_like(array, top)
    assert (np.asarray(resized(Image.fromarray(constant), (9, 11))) == top).all()


def test_sixteen_bits_are_rounded_when_resized():
    row = np.array([[0, 1, 0, 1, 65535, 65534, 65535, 65534]], np.uint16)
    small = np.asarray(resized(Image.fromarray(np.repeat(row, 8, axis=0)), (2, 1)))
    exact = np.asarray(
        Image.fromarray(np.repeat(row, 8, axis=0)).convert("F").resize((2, 1), Image.BILINEAR)
    )
    np.testing.assert_array_equal(small, np.rint(exact))


HALVES = np.zeros((40, 60, 3), np.uint8)
HALVES[:, 30:] = [200, 120, 40]


@pytest.mark.parametrize("name", ["x.heic", "x.HEIF", "x.hif", "x.jpg"])
def test_heic_is_read_whatever_its_name(draw_heic, name):
    decoded = decode(draw_heic(name, HALVES))
    assert decoded.mode == "RGB"
    assert np.abs(pixels(decoded).astype(int) - HALVES).mean() < 5


def test_a_turned_heic_is_upright_and_a_large_one_is_not_decoded(draw_heic):
    photo = np.kron(HALVES, np.ones((5, 5, 1), np.uint8))
    path = draw_heic("x.heic", photo, exif=rotated(6).tobytes())
    assert decode(path) == Decoded("RGB", (200, 300))
    upright = pixels(decode(path, (20, 30))).astype(int)
    assert np.abs(upright[:14]).max() < 8
    assert np.abs(upright[16:] - HALVES[0, -1]).max() < 8


def test_heic_needs_its_extra_and_says_so(closed_heic, tmp_path):
    closed_heic("x.heic")
    assert decode(tmp_path / "x.heic").problem == NO_HEIF
    assert "pip install 'infomeans[heic]'" in NO_HEIF


@pytest.mark.skipif(
    "avif" not in features.modules or not features.check("avif"), reason="Pillow before 11.3"
)
def test_avif_is_read(draw):
    decoded = decode(draw("x.avif", HALVES, quality=95))
    assert np.abs(pixels(decoded).astype(int) - HALVES).mean() < 5


def test_avif_needs_a_pillow_that_reads_it(tmp_path, monkeypatch):
    (tmp_path / "x.avif").write_bytes(b"\0\0\0\x1cftypmif1\0\0\0\0mif1avif" + b"\0" * 99)
    monkeypatch.setattr(features, "check", lambda _: False)
    assert decode(tmp_path / "x.avif").problem == NO_AVIF


@pytest.mark.parametrize("name", ["x.NEF", "x.dng", "x.svg"])
def test_formats_that_are_not_read_say_so(draw, grey, tmp_path, name):
    draw("preview.tif", grey).rename(tmp_path / name)
    suffix = name[1:].lower()
    assert decode(tmp_path / name).problem == f"cannot read {suffix}, convert it to JPEG or PNG"


SQUARE = np.zeros((20, 20), np.uint8)
SQUARE[8:12, 8:12] = 250


@pytest.mark.parametrize("mode", ["L", "RGB", "I;16", "F"])
@pytest.mark.parametrize("wide", [True, False])
def test_padding_keeps_proportions_and_continues_the_border(mode, wide):
    """A square on paper of one colour, in a frame twice as wide or as high."""
    paper = np.where(SQUARE > 0, 250, 90).astype(DTYPES[mode])
    image = Image.fromarray(np.dstack([paper] * 3) if mode == "RGB" else paper)
    padded = np.asarray(fitted(image, (40, 20) if wide else (20, 40), "pad"))
    expected = np.full((20, 40), 90)
    expected[8:12, 18:22] = 250
    expected = expected if wide else expected.T
    np.testing.assert_array_equal(padded[..., 0] if mode == "RGB" else padded, expected)


def test_a_subject_at_the_border_does_not_tint_the_padding():
    white = np.full((30, 20, 3), 255, np.uint8)
    white[20:] = [200, 0, 0]
    padded = np.asarray(fitted(Image.fromarray(white), (30, 30), "pad"))
    assert (padded[:, [0, 4, 25, 29]] == 255).all()
    np.testing.assert_array_equal(padded[:, 5:25], white)


@pytest.mark.parametrize("mode", ["L", "RGB", "I;16", "F"])
def test_a_crop_keeps_the_middle_in_its_proportions(mode):
    wide = np.zeros((20, 80), DTYPES[mode])
    wide[:, 30:50] = SQUARE
    image = Image.fromarray(np.dstack([wide] * 3) if mode == "RGB" else wide)
    for turn in (lambda a: a, np.rot90):
        turned = Image.fromarray(turn(np.asarray(image)).copy())
        cropped = np.asarray(fitted(turned, (20, 20), "crop"))
        np.testing.assert_array_equal(cropped[..., 0] if mode == "RGB" else cropped, turn(SQUARE))


def test_stretching_fills_the_frame_with_all_of_the_image():
    wide = np.zeros((20, 80), np.uint8)
    wide[:, :40] = 200
    stretched = np.asarray(fitted(Image.fromarray(wide), (20, 20), "stretch"))
    assert stretched[:, :9].min() == 200
    assert stretched[:, 11:].max() == 0


@given(
    st.tuples(st.integers(1, 300), st.integers(1, 300)),
    st.tuples(st.integers(8, 64), st.integers(8, 64)),
    st.sampled_from(["L", "RGB", "I;16", "F"]),
    st.sampled_from(["pad", "crop", "stretch"]),
)
def test_every_fit_gives_the_size_and_keeps_a_flat_colour(source, size, mode, fit):
    image = fitted(Image.new(mode, source, (7, 8, 9) if mode == "RGB" else 7), size, fit)
    assert (image.size, image.mode) == (size, mode)
    assert np.unique(np.asarray(image)).tolist() == ([7, 8, 9] if mode == "RGB" else [7])


@pytest.mark.parametrize("fit", ["pad", "crop"])
def test_proportions_that_agree_to_the_pixel_are_resized_alone(fit):
    rng = np.random.default_rng(0)
    image = Image.fromarray(rng.integers(0, 256, (300, 201, 3), dtype=np.uint8))
    exact = fitted(image, (43, 64), "stretch")
    np.testing.assert_array_equal(np.asarray(fitted(image, (43, 64), fit)), np.asarray(exact))


def test_garbage_and_truncated_files_have_a_reason(draw, tmp_path, colour):
    whole = draw("whole.png", np.kron(colour, np.ones((5, 5, 1), np.uint8))).read_bytes()
    contents = {
        "text.png": b"not an image at all",
        "empty.png": b"",
        "half.png": whole[: len(whole) // 2],
        "film.jpg": b"\0\0\0\x18ftypqt  " + b"\0" * 99,
        "program.png": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    problems = {name: decode(tmp_path / name).problem for name in contents}
    assert "truncated" in problems.pop("half.png")
    assert set(problems.values()) == {"not an image"}
    assert decode(tmp_path / "gone.png").problem == "No such file or directory"


def bomb(path, width, height):
    """A tiny PNG whose header claims a huge size."""

    def chunk(kind, data):
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path


@pytest.mark.parametrize(("width", "height"), [(10_000, 10_000), (60_000, 60_000)])
def test_a_bomb_is_recognised_without_a_warning(tmp_path, width, height):
    assert decode(bomb(tmp_path / "bomb.png", width, height)).problem == TOO_LARGE


def test_odd_metadata_raises_no_warning(draw, grey):
    path = draw("x.jpg", grey, exif=b"Exif\0\0II*\0\xff\xff\xff\xff")
    assert decode(path).mode == "L"


def test_an_open_image_of_the_caller_is_left_as_it_was(draw, colour):
    path = draw("x.jpg", np.kron(colour, np.ones((40, 40, 1), np.uint8)))
    with Image.open(path) as image:
        size = image.size
        assert decode_all([image], None) == [Decoded("RGB", size)]
        [small] = decode_all([image], (8, 8))
        assert small.size == (8, 8)
        assert image.size == size
        image.load()
