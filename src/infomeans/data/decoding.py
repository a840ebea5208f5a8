"""Decode images to raw pixels, with Pillow and the standard library only.

`workers.py` also starts this file as a program; it starts fast because it does not import numpy.
"""

from __future__ import annotations

import io
import os
import pickle
import stat
import sys
import warnings
from collections.abc import Sequence
from statistics import median_low
from typing import Literal, NamedTuple

from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError, features

Size = tuple[int, int]
Member = tuple[str, int, int, str]
"""A file in an archive: path of the archive, offset, length, and its name."""

Fit = Literal["pad", "crop", "stretch"]

# Formats whose plugin Pillow has to import come last. Formats such as EPS, which run other
# programs, are excluded.
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "PPM", "WEBP", "TIFF")
# Pillow would read the preview in some camera raw files instead of the picture.
NOT_READ = (
    ".3fr", ".arw", ".cr2", ".cr3", ".dng", ".erf", ".nef", ".nrw", ".orf", ".pef", ".raf", ".raw",
    ".rw2", ".srw",
    ".dcm", ".eps", ".exr", ".ico", ".j2k", ".jp2", ".jxl", ".psd", ".svg", ".tga", ".xcf",
)  # fmt: skip
HEIF_BRANDS = (
    b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1",
)  # fmt: skip
AVIF_BRANDS = (b"avif", b"avis")
NO_HEIF = "reading HEIC needs pip install 'infomeans[heic]'"
NO_AVIF = "reading AVIF needs Pillow 11.3 or newer"
SMALL = 128 * 128
TOO_LARGE = "claims more pixels than Pillow considers safe"
TYPES: dict[str, Literal["B", "H", "f"]] = {"L": "B", "RGB": "B", "I;16": "H", "F": "f"}
"""Pixel types of the plain modes, as format characters of `struct`."""


class Decoded(NamedTuple):
    """An upright image in one of the modes L, RGB, I;16 and F, or the reason it cannot be read.

    A large image has no pixels until its final size is known.
    """

    mode: str = ""
    size: Size = (0, 0)
    pixels: bytes | None = None
    problem: str = ""


def decode_all(
    images: Sequence[str | Member | Image.Image], size: Size | None, fit: Fit = "stretch"
) -> list[Decoded]:
    """Decode files or open images.

    Parameters
    ----------
    images : sequence of paths, members of archives or Pillow images
    size : (width, height) or None
        Size to resize to. None leaves small images at their size, and large ones undecoded.
    fit : "pad", "crop" or "stretch"
        As for `fitted`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        return [_decode(image, size, fit) for image in images]


def _decode(image: str | Member | Image.Image, size: Size | None, fit: Fit) -> Decoded:
    try:
        if isinstance(image, Image.Image):
            return _plain(image, size, fit)
        with _open(image) as file:
            if size is not None:
                # JPEG can decode to a fraction of its size; twice the final size is enough.
                file.draft(None, (2 * max(size), 2 * max(size)))
            return _plain(file, size, fit)
    except _NotReadError as error:
        return Decoded(problem=str(error))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return Decoded(problem=TOO_LARGE)
    except UnidentifiedImageError:
        return Decoded(problem="not an image")
    except Exception as error:  # Pillow raises all kinds of exceptions on damaged files
        known = error.strerror if isinstance(error, OSError) else None
        return Decoded(problem=known or str(error) or type(error).__name__)


class _NotReadError(Exception):
    """An image format that is not supported, or needs another package."""


def _open(path: str | Member) -> Image.Image:
    """Open a file by its content; the suffix matters only where Pillow would be mistaken."""
    suffix = os.path.splitext(path if isinstance(path, str) else path[3])[1].lower()
    if suffix in NOT_READ:
        raise _NotReadError(f"cannot read {suffix}, convert it to JPEG or PNG")
    if isinstance(path, str) and not stat.S_ISREG(os.stat(path).st_mode):
        raise _NotReadError("not a regular file")  # a pipe would block
    content = path if isinstance(path, str) else io.BytesIO(_member(path))
    try:
        return Image.open(content, formats=FORMATS)
    except UnidentifiedImageError:
        start = _start(content)
        if start[4:8] != b"ftyp":
            raise
        return Image.open(content, formats=[_container(start)])


def _member(member: Member) -> bytes:
    """The content of a file in an archive."""
    path, offset, length, _ = member
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(length)


def _start(content: str | io.BytesIO) -> bytes:
    """The first bytes of a file."""
    if isinstance(content, str):
        with open(content, "rb") as file:
            return file.read(64)
    return content.getvalue()[:64]


def _container(start: bytes) -> str:
    """Pillow's name of the format of a file with this header; loads its decoder."""
    # An AVIF file may have the brand mif1 first, as HEIC files do, and avif after it.
    if any(brand in start for brand in AVIF_BRANDS):
        if not features.check("avif"):
            raise _NotReadError(NO_AVIF)
        return "AVIF"
    if not any(brand in start for brand in HEIF_BRANDS):
        raise UnidentifiedImageError
    try:
        import pillow_heif
    except ImportError:
        raise _NotReadError(NO_HEIF) from None
    pillow_heif.register_heif_opener()
    return "HEIF"


def _plain(image: Image.Image, size: Size | None, fit: Fit) -> Decoded:
    mode = _plain_mode(image)
    if size is None and image.width * image.height > SMALL:
        return Decoded(mode, _upright_size(image))
    if image.getexif().get(ExifTags.Base.Orientation, 1) != 1:
        image = ImageOps.exif_transpose(image)
    image = _in_mode(image, mode)
    if size is not None:
        image = fitted(image, size, fit)
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
        # Converting directly from I;16B, Pillow would keep the byte order.
        return image if image.mode == mode else image.convert("I").convert(mode)
    if mode != "F" and image.has_transparency_data:
        paper = Image.new("RGBA", image.size, "white")
        paper.alpha_composite(image.convert("RGBA"))
        image = paper
    return image if image.mode == mode else image.convert(mode)


def fitted(image: Image.Image, size: Size, fit: Fit) -> Image.Image:
    """Resize an image in a plain mode.

    Parameters
    ----------
    image : Image
    size : (width, height)
    fit : "pad", "crop" or "stretch"
        How to treat images of other proportions. "pad" keeps the whole image and fills the rest
        with the colour of its border, "crop" keeps its centre, "stretch" distorts it. Images whose
        proportions agree to the pixel are only resized.
    """
    horizontal, vertical = size[0] / image.width, size[1] / image.height
    scale = min(horizontal, vertical) if fit == "pad" else max(horizontal, vertical)
    scaled = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    if fit == "stretch" or scaled == size:
        return resized(image, size)
    if fit == "pad":
        return _padded(resized(image, scaled), size)
    left = max(0.0, (image.width - size[0] / scale) / 2)
    top = max(0.0, (image.height - size[1] / scale) / 2)
    return resized(image, size, (left, top, image.width - left, image.height - top))


def _padded(image: Image.Image, size: Size) -> Image.Image:
    """Centre the image in a frame, coloured like the two sides of the image that touch it."""
    width, height = image.size
    if width < size[0]:
        sides = [(0, 0, 1, height), (width - 1, 0, width, height)]
    else:
        sides = [(0, 0, width, 1), (0, height - 1, width, height)]
    framed = Image.new(image.mode, size, _colour([image.crop(side) for side in sides]))
    framed.paste(image, ((size[0] - width) // 2, (size[1] - height) // 2))
    return framed


def _colour(parts: list[Image.Image]) -> float | tuple[float, ...]:
    """The median colour; a subject that touches the border would tint the mean."""
    mode, bands = parts[0].mode, len(parts[0].getbands())
    values = memoryview(b"".join(part.tobytes() for part in parts)).cast(TYPES[mode])
    colour = tuple(median_low(values[band::bands]) for band in range(bands))
    return colour if bands > 1 else colour[0]


def resized(
    image: Image.Image, size: Size, box: tuple[float, float, float, float] | None = None
) -> Image.Image:
    """Resize an image in a plain mode, or the part of it in a box.

    When shrinking, the triangle filter covers all source pixels. Unlike cubic filters and Lanczos,
    it never leaves the range of their values.
    """
    if image.size == size and box is None:
        return image
    if image.mode == "I;16":
        exact = resized(image.convert("F"), size, box)
        return exact.point(lambda value: value * 1 + 0.5).convert("I").convert("I;16")
    return image.resize(size, Image.Resampling.BILINEAR, box, reducing_gap=2.0)


def _serve() -> None:
    """Read a job from standard input and write its results piece by piece."""
    Image.MAX_IMAGE_PIXELS, size, fit, pieces = pickle.load(sys.stdin.buffer)  # noqa: S301
    for number, piece in pieces:
        decoded = [tuple(image) for image in decode_all(piece, size, fit)]
        pickle.dump((number, decoded), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
