"""From images to plain pixels, with Pillow and the standard library alone.

The file is also a program that `workers.py` starts; without numpy it is ready at once.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Sequence
from typing import NamedTuple

from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

Size = tuple[int, int]

# Those that Pillow has to import a plugin for come last. EPS and its kind, which run other
# programs, are not among them.
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "PPM", "WEBP", "TIFF")
SMALL = 128 * 128
TOO_LARGE = "claims more pixels than Pillow takes for safe"


class Decoded(NamedTuple):
    """An upright image in one of the modes L, RGB, I;16 and F, or what is wrong with it.

    A large one comes without pixels as long as nobody knows its final size.
    """

    mode: str = ""
    size: Size = (0, 0)
    pixels: bytes | None = None
    problem: str = ""


def decode_all(images: Sequence[str | Image.Image], size: Size | None) -> list[Decoded]:
    """Decode files or open images.

    Parameters
    ----------
    images : sequence of paths or Pillow images
    size : (width, height) or None
        What to resize them to. None leaves small images as they are, and large ones undecoded.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        return [_decode(image, size) for image in images]


def _decode(image: str | Image.Image, size: Size | None) -> Decoded:
    try:
        if isinstance(image, Image.Image):
            return _plain(image, size)
        with Image.open(image, formats=FORMATS) as file:
            if size is not None:
                # JPEG decodes to a fraction of its size; twice the final one leaves enough.
                file.draft(None, (2 * max(size), 2 * max(size)))
            return _plain(file, size)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return Decoded(problem=TOO_LARGE)
    except UnidentifiedImageError:
        return Decoded(problem="not an image")
    except Exception as error:  # Pillow raises anything on damaged files
        known = error.strerror if isinstance(error, OSError) else None
        return Decoded(problem=known or str(error) or type(error).__name__)


def _plain(image: Image.Image, size: Size | None) -> Decoded:
    mode = _plain_mode(image)
    if size is None and image.width * image.height > SMALL:
        return Decoded(mode, _upright_size(image))
    if image.getexif().get(ExifTags.Base.Orientation, 1) != 1:
        image = ImageOps.exif_transpose(image)
    image = _in_mode(image, mode)
    if size is not None:
        image = resized(image, size)
    return Decoded(mode, image.size, image.tobytes())


def _plain_mode(image: Image.Image) -> str:
    if image.mode in ("1", "L", "LA", "La"):
        return "L"
    # Pillow reads 16-bit PGM as 32-bit integers.
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PPM"):
        return "I;16"
    if image.mode in ("I", "F"):
        return "F"
    palette = image.getpalette() if image.mode in ("P", "PA") else None
    if palette and palette[0::3] == palette[1::3] == palette[2::3]:
        return "L"
    return "RGB"


def _upright_size(image: Image.Image) -> Size:
    # Pillow would decode a whole PNG in search of its EXIF.
    exif = image.getexif() if "exif" in image.info else {}
    turned = exif.get(ExifTags.Base.Orientation, 1) > 4
    return (image.height, image.width) if turned else image.size


def _in_mode(image: Image.Image, mode: str) -> Image.Image:
    if mode == "I;16":
        # Straight from I;16B Pillow would keep the order of the bytes.
        return image if image.mode == mode else image.convert("I").convert(mode)
    if mode != "F" and image.has_transparency_data:
        paper = Image.new("RGBA", image.size, "white")
        paper.alpha_composite(image.convert("RGBA"))
        image = paper
    return image if image.mode == mode else image.convert(mode)


def resized(image: Image.Image, size: Size) -> Image.Image:
    """An image in a plain mode, resized.

    The triangle filter covers all source pixels when it shrinks, and unlike cubic filters and
    Lanczos it never leaves the range of their values.
    """
    if image.size == size:
        return image
    if image.mode == "I;16":
        exact = resized(image.convert("F"), size)
        return exact.point(lambda value: value * 1 + 0.5).convert("I").convert("I;16")
    return image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)


def _serve() -> None:
    """Take a job from standard input and answer it piece by piece."""
    Image.MAX_IMAGE_PIXELS, size, pieces = pickle.load(sys.stdin.buffer)  # noqa: S301
    for number, piece in pieces:
        decoded = [tuple(image) for image in decode_all(piece, size)]
        pickle.dump((number, decoded), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
