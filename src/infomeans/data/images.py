"""Read images of any size, mode and depth as one array."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from infomeans.data.dataset import Dataset
from infomeans.data.decoding import TOO_LARGE, Decoded, Fit, Size, fitted
from infomeans.data.framing import SMALLEST_SIDE, best_fit, common_size
from infomeans.data.rows import ArrayRows
from infomeans.data.schema import Depth, ImageSchema
from infomeans.errors import InputError, by_reason

DEPTHS: dict[str, Depth] = {"L": "uint8", "RGB": "uint8", "I;16": "uint16", "F": "float32"}
GREY = 2
"""Largest difference between the channels of a grey pixel; lossy formats round each channel."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Images:
    """Images that can be decoded, from files or from memory.

    Parameters
    ----------
    source : str
        Where the images came from.
    ids : list of str
        Ids of the images.
    decode : callable
        Takes positions of images, a size or None, and a fit. Yields the results of `decode_all`
        piece by piece.
    paths : list of str, optional
        The files of the images, if they are files.
    """

    source: str
    ids: list[str]
    decode: Callable[[Sequence[int], Size | None, Fit], Iterator[list[Decoded]]]
    paths: list[str] | None = None


def read_images(
    images: Images,
    *,
    image_size: int | None = None,
    fit: Fit | None = None,
    like: ImageSchema | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Dataset:
    """Read images as grey (n, h, w) or colour (n, h, w, 3) samples of one size.

    Small images are decoded at once. For large ones only the header is read until the common size
    is known. Then they are decoded one by one to that size.

    Parameters
    ----------
    images : Images
        The images to read.
    image_size : int, optional
        Side length in pixels. By default the median height and width, shrunk to at most 64.
    fit : "pad", "crop" or "stretch", optional
        As for `fitted`. By default chosen by `best_fit`.
    like : ImageSchema, optional
        Size, fit, channels and depth to use.
    strict : bool
        Whether an image that cannot be read is an error.
    progress : callable, optional
        Called with the number of images done and their total.
    """
    meter = _Meter(progress, len(images.ids))
    size = _given_size(image_size, like)
    fit = fit if like is None else like.fit
    decoded = _decode(images, range(len(images.ids)), size, fit, meter)
    _refuse_unreadable(images, decoded)
    sizes = [image.size for image in decoded if not image.problem]
    size = size or common_size(sizes)
    fit = fit or best_fit(sizes, size)
    later = [i for i, image in enumerate(decoded) if not image.problem and image.pixels is None]
    for i, image in zip(later, _decode(images, later, size, fit, meter), strict=True):
        decoded[i] = image
    decoded = [_framed(image, size, fit) for image in decoded]
    _refuse_unreadable(images, decoded)
    schema = like or _schema(decoded, size, fit)
    decoded = [_suiting(image, schema) for image in decoded]
    _refuse_unreadable(images, decoded, strict)
    return _samples(images, decoded, schema)


class _Meter:
    """Reports progress at most a hundred times."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total = progress, total
        self.done = self.shown = 0

    def add(self, count: int) -> None:
        self.done += count
        due = self.done == self.total or 100 * (self.done - self.shown) >= self.total
        if self.progress and count and due:
            self.shown = self.done
            self.progress(self.done, self.total)


def _given_size(image_size: int | None, like: ImageSchema | None) -> Size | None:
    if like is not None:
        return like.width, like.height
    if image_size is None:
        return None
    if image_size < SMALLEST_SIDE:
        raise InputError(
            f"image_size={image_size} is too small; at least {SMALLEST_SIDE} is accepted."
        )
    return image_size, image_size


def _decode(
    images: Images, positions: Sequence[int], size: Size | None, fit: Fit | None, meter: _Meter
) -> list[Decoded]:
    """Decode some images; all readable ones have pixels if size and fit are given."""
    decoded: list[Decoded] = []
    for piece in images.decode(positions, size if fit else None, fit or "stretch"):
        for image in piece:
            if image.problem == TOO_LARGE:
                name = images.ids[positions[len(decoded)]]
                raise InputError(
                    f"{images.source}: {name} {TOO_LARGE} ({Image.MAX_IMAGE_PIXELS:,}); remove it."
                )
            # Without a fit, keep the size only: JPEG decodes to a fraction of its size later.
            keep = size is None or image.size == size
            decoded.append(image if keep else image._replace(pixels=None))
        done = decoded[-len(piece) :] if piece else []
        meter.add(sum(bool(image.problem) or image.pixels is not None for image in done))
    return decoded


def _framed(image: Decoded, size: Size, fit: Fit) -> Decoded:
    """Resize an image that was decoded before the common size was known."""
    if image.pixels is None or image.size == size:
        return image
    picture = fitted(Image.frombytes(image.mode, image.size, image.pixels), size, fit)
    return Decoded(image.mode, size, picture.tobytes())


def _schema(decoded: list[Decoded], size: Size, fit: Fit) -> ImageSchema:
    """The channels and depth that all readable images need."""
    good = [image for image in decoded if not image.problem]
    depths = {DEPTHS[image.mode] for image in good}
    depth = next(depth for depth in ("float32", "uint16", "uint8") if depth in depths)
    channels = 1 if all(_is_grey(image) for image in good) else 3
    return ImageSchema(size[1], size[0], channels, depth, fit)


def _is_grey(image: Decoded) -> bool:
    """Whether an image is grey, whatever mode it was saved in."""
    if image.mode != "RGB":
        return True
    assert image.pixels is not None
    pixels = np.frombuffer(image.pixels, np.uint8).reshape(-1, 3)
    return bool((pixels.max(axis=1) - pixels.min(axis=1)).max() <= GREY)


def _suiting(image: Decoded, schema: ImageSchema) -> Decoded:
    """The image, or a problem if it is too deep for a model of 8-bit or 16-bit images."""
    if not image.problem and DEPTHS[image.mode] == "float32" != schema.depth:
        return Decoded(problem=f"32 bits per pixel, but the model was fitted with {schema.depth}")
    return image


def _refuse_unreadable(images: Images, decoded: list[Decoded], strict: bool = False) -> None:
    problems = _left_out(images, decoded)
    if len(problems) == len(decoded) or (strict and problems):
        raise InputError(
            f"{images.source}: {len(problems)} of {len(decoded)} images cannot be read: "
            f"{by_reason(problems)}."
        )


def _left_out(images: Images, decoded: list[Decoded]) -> list[tuple[str, str]]:
    named = zip(images.ids, decoded, strict=True)
    return [(name, image.problem) for name, image in named if image.problem]


def _samples(images: Images, decoded: list[Decoded], schema: ImageSchema) -> Dataset:
    named = zip(images.ids, decoded, strict=True)
    kept = [(name, image) for name, image in named if not image.problem]
    X = np.empty((len(kept), schema.height, schema.width, schema.channels), schema.depth)
    for row, (_, image) in zip(X, kept, strict=True):
        row[:] = _pixels(image, schema)
    return Dataset(
        rows=ArrayRows(X.reshape(-1, *schema.sample_shape)),
        ids=[name for name, _ in kept],
        schema=schema,
        source=images.source,
        skipped=_left_out(images, decoded),
    ).check_finite()


def _pixels(image: Decoded, schema: ImageSchema) -> NDArray[Any]:
    """Pixels (h, w, c), or (h, w, 1) of a grey image, in the depth of the schema."""
    mode, pixels = image.mode, image.pixels
    assert pixels is not None
    if mode == "RGB" and schema.channels == 1:
        mode, pixels = "L", Image.frombytes(mode, image.size, pixels).convert("L").tobytes()
    array = np.frombuffer(pixels, DEPTHS[mode]).reshape(schema.height, schema.width, -1)
    if schema.depth == "uint16" and array.dtype == np.uint8:
        return array * np.uint16(257)
    if schema.depth == "uint8" and array.dtype == np.uint16:
        return np.rint(array / 257)
    return array
