"""Map-style torch datasets: a length, and items by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from infomeans.data.dataset import row_numbers
from infomeans.data.decoding import Decoded, Fit, Size, decode_all
from infomeans.data.images import Images
from infomeans.errors import InputError


@runtime_checkable
class TorchDataset(Protocol):
    """The interface of a map-style dataset; torch itself is not needed."""

    def __len__(self) -> int: ...

    def __getitem__(self, position: int, /) -> Any: ...


def holds_images(dataset: TorchDataset) -> bool:
    """Whether the items are Pillow images."""
    return isinstance(_sample(dataset, 0), Image.Image)


def images_of(dataset: TorchDataset, source: str) -> Images:
    """The Pillow images of a dataset."""

    def decode(positions: Sequence[int], size: Size | None, fit: Fit) -> Iterator[list[Decoded]]:
        for position in positions:
            yield decode_all([_sample(dataset, position)], size, fit)

    return Images(source, row_numbers(len(dataset)), decode)


def stack(dataset: TorchDataset) -> NDArray[Any]:
    """The tensors or arrays of a dataset as one array."""
    samples = [np.asarray(_sample(dataset, position)) for position in range(len(dataset))]
    for position, sample in enumerate(samples):
        if sample.shape != samples[0].shape:
            raise InputError(
                f"{type(dataset).__name__}: item {position} has the shape {sample.shape}, but "
                f"item 0 has {samples[0].shape}; all must have the same shape."
            )
    return np.stack(samples)


def _sample(dataset: TorchDataset, position: int) -> Any:
    item = dataset[position]
    return item[0] if isinstance(item, tuple) else item
