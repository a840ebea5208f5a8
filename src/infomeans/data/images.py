"""Read images of any size, mode and depth as one array."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from infomeans.data.dataset import Dataset
from infomeans.data.decoding import TOO_LARGE, Decoded, Fit, Size, fitted
from infomeans.data.framing import SMALLEST_SIDE, best_fit, common_size
from infomeans.data.memory import Memory
from infomeans.data.schema import Depth, ImageSchema
from infomeans.data.storing import Pixels, store
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
    ids : sequence of str
        Ids of the images.
    decode : callable
        Takes positions of images, a size or None, and a fit. Yields the results of `decode_all`
        piece by piece.
    paths : list of str, optional
        The files of the images, if they are files.
    classes : list of str, optional
        Labels that are stored with the images, for scoring only.
    left_out : list of (str, str), optional
        Names that are no samples, and why.
    """

    source: str
    ids: Sequence[str]
    decode: Callable[[Sequence[int], Size | None, Fit], Iterator[list[Decoded]]]
    paths: list[str] | None = None
    classes: list[str] | None = None
    left_out: Sequence[tuple[str, str]] = ()


def read_images(
    images: Images,
    *,
    image_size: int | None = None,
    fit: Fit | None = None,
    like: ImageSchema | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    memory: Memory | None = None,
) -> Dataset:
    """Read images as grey (n, h, w) or colour (n, h, w, 3) samples of one size.

    Small images are decoded at once. For large ones only the header is read until the common size
    is known. Then they are decoded one by one to that size. Pixels that do not fit into memory are
    kept in a file.

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
    memory : Memory, optional
        The limit for the pixels in memory.
    """
    meter, memory = _Meter(progress, len(images.ids)), memory or Memory()
    size = _given_size(image_size, like)
    fit = fit if like is None else like.fit
    with Pixels(len(images.ids), memory) as pixels:
        decoded = _decode(images, range(len(images.ids)), size, fit, meter, pixels)
        _refuse_unreadable(images, decoded)
        sizes = [image.size for image in decoded if not image.problem]
        size = size or common_size(sizes)
        fit = fit or best_fit(sizes, size)
        later = [i for i, image in enumerate(decoded) if not image.problem and i not in pixels]
        found = _decode(images, later, size, fit, meter, pixels)
        for i, image in zip(later, found, strict=True):
            decoded[i] = image
        decoded = [_framed(i, image, size, fit, pixels) for i, image in enumerate(decoded)]
        _refuse_unreadable(images, decoded)
        schema = like or _schema(decoded, size, fit, pixels)
        decoded = [_suiting(image, schema) for image in decoded]
        _refuse_unreadable(images, decoded, strict)
        return _samples(images, decoded, schema, pixels)


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
    images: Images,
    positions: Sequence[int],
    size: Size | None,
    fit: Fit | None,
    meter: _Meter,
    pixels: Pixels,
) -> list[Decoded]:
    """Decode some images; all readable ones have pixels if size and fit are given."""
    decoded: list[Decoded] = []
    for piece in images.decode(positions, size if fit else None, fit or "stretch"):
        kept = 0
        for image in piece:
            position = positions[len(decoded)]
            if image.problem == TOO_LARGE:
                raise InputError(
                    f"{images.source}: {images.ids[position]} {TOO_LARGE} "
                    f"({Image.MAX_IMAGE_PIXELS:,}); remove it."
                )
            # Without a fit, keep the size only: JPEG decodes to a fraction of its size later.
            keep = image.pixels is not None and (size is None or image.size == size)
            if keep and image.pixels is not None:
                pixels[position] = image.pixels
            kept += keep or bool(image.problem)
            decoded.append(image._replace(pixels=None))
        meter.add(kept)
    return decoded


def _framed(position: int, image: Decoded, size: Size, fit: Fit, pixels: Pixels) -> Decoded:
    """Resize an image that was decoded before the common size was known."""
    if position not in pixels or image.size == size:
        return image
    picture = fitted(Image.frombytes(image.mode, image.size, pixels[position]), size, fit)
    pixels[position] = picture.tobytes()
    return Decoded(image.mode, size)


def _schema(decoded: list[Decoded], size: Size, fit: Fit, pixels: Pixels) -> ImageSchema:
    """The channels and depth that all readable images need."""
    good = {i: image.mode for i, image in enumerate(decoded) if not image.problem}
    depths = {DEPTHS[mode] for mode in good.values()}
    depth = next(depth for depth in ("float32", "uint16", "uint8") if depth in depths)
    grey = all(mode != "RGB" or _is_grey(pixels[i]) for i, mode in good.items())
    return ImageSchema(size[1], size[0], 1 if grey else 3, depth, fit)


def _is_grey(pixels: bytes) -> bool:
    """Whether a colour image shows only grey."""
    channels = np.frombuffer(pixels, np.uint8).reshape(-1, 3)
    return bool((channels.max(axis=1) - channels.min(axis=1)).max() <= GREY)


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


def _samples(
    images: Images, decoded: list[Decoded], schema: ImageSchema, pixels: Pixels
) -> Dataset:
    kept = [i for i, image in enumerate(decoded) if not image.problem]
    shape = (len(kept), *schema.sample_shape)
    blocks = (_pixels(decoded[i], pixels[i], schema).reshape(1, *schema.sample_shape) for i in kept)
    found = Dataset(
        rows=store(blocks, shape, schema.depth, pixels.memory),
        ids=[images.ids[i] for i in kept],
        schema=schema,
        source=images.source,
        skipped=[*_left_out(images, decoded), *images.left_out],
        memory=pixels.memory,
    ).check_finite()
    if images.classes is None:
        return found
    return replace(found, labels=np.array([images.classes[i] for i in kept]))


def _pixels(image: Decoded, pixels: bytes, schema: ImageSchema) -> NDArray[Any]:
    """Pixels (h, w, c) in the depth of the schema."""
    mode = image.mode
    if mode == "RGB" and schema.channels == 1:
        mode, pixels = "L", Image.frombytes(mode, image.size, pixels).convert("L").tobytes()
    array = np.frombuffer(pixels, DEPTHS[mode]).reshape(schema.height, schema.width, -1)
    if array.shape[2] < schema.channels:
        array = np.broadcast_to(array, (*array.shape[:2], schema.channels))
    if schema.depth == "uint16" and array.dtype == np.uint8:
        return array * np.uint16(257)
    if schema.depth == "uint8" and array.dtype == np.uint16:
        return np.rint(array / 257)
    return array
