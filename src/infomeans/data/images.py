"""Images of all sizes, modes and depths as one array."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from infomeans.data.dataset import Dataset
from infomeans.data.decoding import TOO_LARGE, Decoded, Size, resized
from infomeans.data.rows import ArrayRows
from infomeans.data.schema import Depth, ImageSchema
from infomeans.errors import InputError, few

SMALLEST_SIDE = 8
LARGEST_SIDE = 64
DEPTHS: dict[str, Depth] = {"L": "uint8", "RGB": "uint8", "I;16": "uint16", "F": "float32"}

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Images:
    """Images that can be decoded, wherever they are.

    Parameters
    ----------
    source : str
    ids : list of str
    decode : callable
        Takes the positions of some images and a size or None, and gives what `decode_all` does,
        piece by piece.
    """

    source: str
    ids: list[str]
    decode: Callable[[Sequence[int], Size | None], Iterator[list[Decoded]]]


def read_images(
    images: Images,
    *,
    image_size: int | None = None,
    like: ImageSchema | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Dataset:
    """Images as grey (n, h, w) or colour (n, h, w, 3) samples of one size.

    Small images are decoded at once. Of large ones only the header is read, until it is known
    what size they all get; then they are decoded one by one to that size.

    Parameters
    ----------
    images : Images
    image_size : int, optional
        Pixels a side. By default the median height and width, shrunk to at most 64.
    like : ImageSchema, optional
        The size, channels and depth that they must get.
    strict : bool
        Whether an image that cannot be read is an error.
    progress : callable, optional
        Told how many are done, of how many.
    """
    meter = _Meter(progress, len(images.ids))
    size = _given_size(image_size, like)
    decoded = _decode(images, range(len(images.ids)), size, meter)
    _refuse_unreadable(images, decoded, strict)
    schema = like or _schema(decoded, size)
    large = [i for i, image in enumerate(decoded) if not image.problem and image.pixels is None]
    final = _decode(images, large, (schema.width, schema.height), meter)
    for i, image in zip(large, final, strict=True):
        decoded[i] = image
    decoded = [_suiting(image, schema) for image in decoded]
    _refuse_unreadable(images, decoded, strict)
    return _samples(images, decoded, schema)


class _Meter:
    """Calls back at most a hundred times."""

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
    images: Images, positions: Sequence[int], size: Size | None, meter: _Meter
) -> list[Decoded]:
    decoded: list[Decoded] = []
    for piece in images.decode(positions, size):
        for image in piece:
            if image.problem == TOO_LARGE:
                name = images.ids[positions[len(decoded)]]
                raise InputError(
                    f"{images.source}: {name} {TOO_LARGE} ({Image.MAX_IMAGE_PIXELS:,}); remove it."
                )
            decoded.append(image)
        meter.add(sum(bool(image.problem) or image.pixels is not None for image in piece))
    return decoded


def _schema(decoded: list[Decoded], size: Size | None) -> ImageSchema:
    """The size, channels and depth that suit all images which can be read."""
    good = [image for image in decoded if not image.problem]
    width, height = size or _common_size([image.size for image in good])
    modes = {image.mode for image in good}
    depths = {DEPTHS[mode] for mode in modes}
    depth = next(depth for depth in ("float32", "uint16", "uint8") if depth in depths)
    return ImageSchema(height, width, 3 if "RGB" in modes else 1, depth)


def _common_size(sizes: list[Size]) -> Size:
    width, height = (median(sides) for sides in zip(*sizes, strict=True))
    factor = min(1, LARGEST_SIDE / max(width, height))
    return max(SMALLEST_SIDE, round(width * factor)), max(SMALLEST_SIDE, round(height * factor))


def _suiting(image: Decoded, schema: ImageSchema) -> Decoded:
    """The image, or that it is too deep for a model of 8-bit or 16-bit images."""
    if not image.problem and DEPTHS[image.mode] == "float32" != schema.depth:
        return Decoded(problem=f"32 bits a pixel, but the model was fitted with {schema.depth}")
    return image


def _refuse_unreadable(images: Images, decoded: list[Decoded], strict: bool) -> None:
    problems = [
        f"{name} ({image.problem})"
        for name, image in zip(images.ids, decoded, strict=True)
        if image.problem
    ]
    if len(problems) == len(decoded) or (strict and problems):
        raise InputError(
            f"{images.source}: {len(problems)} of {len(decoded)} images cannot be read: "
            f"{few(problems)}."
        )


def _samples(images: Images, decoded: list[Decoded], schema: ImageSchema) -> Dataset:
    named = list(zip(images.ids, decoded, strict=True))
    kept = [(name, image) for name, image in named if not image.problem]
    X = np.empty((len(kept), schema.height, schema.width, schema.channels), schema.depth)
    for row, (_, image) in zip(X, kept, strict=True):
        row[:] = _pixels(image, schema)
    return Dataset(
        rows=ArrayRows(X.reshape(-1, *schema.sample_shape)),
        ids=[name for name, _ in kept],
        schema=schema,
        source=images.source,
        skipped=[(name, image.problem) for name, image in named if image.problem],
    ).check_finite()


def _pixels(image: Decoded, schema: ImageSchema) -> NDArray[Any]:
    """The pixels (h, w, c), or (h, w, 1) of a grey image, in the depth of the schema."""
    assert image.pixels is not None
    mode, pixels, size = image.mode, image.pixels, (schema.width, schema.height)
    to_grey = mode == "RGB" and schema.channels == 1
    if to_grey or image.size != size:
        picture = resized(Image.frombytes(mode, image.size, pixels), size)
        picture = picture.convert("L") if to_grey else picture
        mode, pixels = picture.mode, picture.tobytes()
    array = np.frombuffer(pixels, DEPTHS[mode]).reshape(schema.height, schema.width, -1)
    if schema.depth == "uint16" and array.dtype == np.uint8:
        return array * np.uint16(257)
    if schema.depth == "uint8" and array.dtype == np.uint16:
        return np.rint(array / 257)
    return array
