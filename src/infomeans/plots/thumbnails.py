"""Thumbnails of all samples, packed into sheets."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from infomeans._typing import IntArray
from infomeans.data import Dataset
from infomeans.data.arrays import channels_first

LARGEST = 96
SMALLEST = 16
COLUMNS = 24
PIXELS = 60_000_000
"""Total pixels of all thumbnails: 28 by 28 for 70,000 samples."""

BYTES = 11_500_000
"""Maximum size of all sheets, before base64 adds a third."""

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Thumbnails:
    """Sheets of thumbnails, `columns` in a row and as many rows.

    Attributes
    ----------
    width, height : int
        Size of a thumbnail.
    columns : int
        Number of thumbnails in a row.
    sheets : list of str
        WebP images in base64.
    """

    width: int
    height: int
    columns: int
    sheets: list[str]

    @property
    def bytes(self) -> int:
        """Length of all sheets as text."""
        return sum(map(len, self.sheets))


class Chosen:
    """Some samples of a data set, read when they are needed.

    Parameters
    ----------
    data : Dataset
        Images.
    index : (n,) integer array
        Positions of the chosen ones.
    """

    def __init__(self, data: Dataset, index: IntArray) -> None:
        self.data, self.index = data, index

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, some: slice) -> NDArray[np.generic]:
        return self.data.batch(self.index[some])


Images = NDArray[np.generic] | Chosen


class Tones:
    """The values to show as black and white: the extremes of all samples, or 0 and 255 for bytes.

    Parameters
    ----------
    X : images in any layout
    """

    def __init__(self, X: Images) -> None:
        self.low, self.high = 0.0, 255.0
        if X[:1].dtype != np.uint8:
            sheets = (X[first : first + COLUMNS**2] for first in range(0, len(X), COLUMNS**2))
            lowest, highest = zip(*((sheet.min(), sheet.max()) for sheet in sheets), strict=True)
            self.low, self.high = float(min(lowest)), float(max(highest))

    def paint(self, images: NDArray[np.generic]) -> Pixels:
        """Images (n, c, h, w) as bytes (n, h, w, c)."""
        span = (self.high - self.low) or 1.0
        share = (images.astype(np.float32) - self.low) / span
        painted = (share.clip(0, 1) * 255).round().astype(np.uint8)
        return np.moveaxis(painted, 1, -1)


def make_thumbnails(X: Images, *, pixels: int = PIXELS, most_bytes: int = BYTES) -> Thumbnails:
    """Thumbnails of images in any layout, as large as the size limits allow."""
    height, width = channels_first(X[:1]).shape[2:]
    tones = Tones(X)
    side = min(max(math.isqrt(pixels // len(X)), SMALLEST), LARGEST, max(height, width))
    quality = 80
    while True:
        scale = min(1.0, side / max(height, width))
        size = max(1, round(width * scale)), max(1, round(height * scale))
        sheets = [_encoded(sheet, quality) for sheet in _packed(X, tones, *size)]
        made = Thumbnails(*size, COLUMNS, sheets)
        if made.bytes * 3 // 4 <= most_bytes or (side <= SMALLEST and quality <= 20):
            return made
        side, quality = max(SMALLEST, int(side * 0.8)), max(20, quality - 20)


def data_url(image: Pixels, *, largest: int = LARGEST) -> str:
    """One image (h, w, c) as a data URL."""
    height, width = image.shape[:2]
    scale = min(1.0, largest / max(height, width))
    small = _resized(image, max(1, round(width * scale)), max(1, round(height * scale)))
    return "data:image/webp;base64," + _encoded(small, 90)


def _packed(X: Images, tones: Tones, width: int, height: int) -> Iterator[Pixels]:
    for first in range(0, len(X), COLUMNS**2):
        images = tones.paint(channels_first(X[first : first + COLUMNS**2]))
        rows = -(-len(images) // COLUMNS)
        sheet = np.zeros((rows * height, COLUMNS * width, images.shape[-1]), np.uint8)
        for place, image in enumerate(images):
            top, left = place // COLUMNS * height, place % COLUMNS * width
            sheet[top : top + height, left : left + width] = _resized(image, width, height)
        yield sheet


def _resized(image: Pixels, width: int, height: int) -> Pixels:
    if image.shape[:2] == (height, width):
        return image
    picture = _picture(image).resize((width, height), Image.Resampling.BOX)
    return np.asarray(picture).reshape(height, width, image.shape[-1])


def _encoded(image: Pixels, quality: int) -> str:
    content = io.BytesIO()
    _picture(image).save(content, "WEBP", quality=quality)
    return base64.b64encode(content.getvalue()).decode()


def _picture(image: Pixels) -> Image.Image:
    return Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image)
