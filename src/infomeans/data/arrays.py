"""Axis order of arrays of samples."""

import numpy as np
from numpy.typing import NDArray

CHANNELS = (1, 3)


def channel_axis(shape: tuple[int, ...]) -> int | None:
    """The channel axis of an array of samples; None for vectors and grey images.

    Parameters
    ----------
    shape : (n, d), (n, h, w), (n, h, w, c) or (n, c, h, w)
        Shape of the array; c is 1 or 3.
    """
    if len(shape) in (2, 3):
        return None
    if len(shape) == 4 and shape[1] in CHANNELS:
        return 1
    if len(shape) == 4 and shape[3] in CHANNELS:
        return 3
    raise ValueError(
        f"X has the shape {shape}; vectors (n, d) or images (n, h, w), (n, h, w, c) or "
        f"(n, c, h, w) with 1 or 3 channels c are accepted."
    )


def channels_first(X: NDArray[np.generic]) -> NDArray[np.generic]:
    """Images of any layout as (n, c, h, w); vectors (n, d) unchanged."""
    axis = channel_axis(X.shape)
    if axis is not None:
        return np.moveaxis(X, axis, 1)
    return X[:, None] if X.ndim == 3 else X


def network_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of one sample as networks take it: (d,) or (c, h, w)."""
    return channels_first(np.empty((1, *shape), dtype=bool)).shape[1:]


def channels_last(X: NDArray[np.generic]) -> NDArray[np.generic]:
    """Samples with the channels of images in the last axis; vectors and grey images unchanged.

    Sums over features then have the same order, whatever the layout.
    """
    axis = channel_axis(X.shape)
    return X if axis is None else np.ascontiguousarray(np.moveaxis(X, axis, -1))
