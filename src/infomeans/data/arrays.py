"""Arrays as samples: which axis is which."""

import numpy as np
from numpy.typing import NDArray

from infomeans.networks.convolutional import SMALLEST_IMAGE

CHANNELS = (1, 3)


def channels_first(X: NDArray[np.generic]) -> NDArray[np.generic]:
    """Vectors (n, d) as they are; images in any of their layouts as (n, c, h, w).

    Parameters
    ----------
    X : (n, d), (n, h, w), (n, h, w, c) or (n, c, h, w) array
        With 1 or 3 channels c.
    """
    if X.ndim == 2:
        return X
    if X.ndim == 3:
        X = X[:, None]
    elif X.ndim == 4 and X.shape[3] in CHANNELS and X.shape[1] not in CHANNELS:
        X = X.transpose(0, 3, 1, 2)
    if X.ndim != 4 or X.shape[1] not in CHANNELS:
        raise ValueError(
            f"X has the shape {X.shape}; vectors (n, d) or images (n, h, w), (n, h, w, c) or "
            f"(n, c, h, w) with 1 or 3 channels c are accepted."
        )
    if min(X.shape[2:]) < SMALLEST_IMAGE:
        raise ValueError(
            f"X holds images of {X.shape[2]} x {X.shape[3]} pixels; at least "
            f"{SMALLEST_IMAGE} x {SMALLEST_IMAGE} are needed. Flatten smaller ones to vectors."
        )
    return X
