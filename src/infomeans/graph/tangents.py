"""Nearest-neighbour graph of images by tangent distance, which ignores small affine maps.

Simard, Le Cun and Denker (NIPS 1992) measure the distance of an image from all small
transformations of another one. To first order these form a plane, spanned by the derivatives of
the image with respect to each kind of transformation. The tangent distance is that to the plane.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse

from infomeans._typing import Array, IntArray
from infomeans.graph.neighbors import nearest_neighbors, weighted_graph

CANDIDATES = 5
"""Number of candidates per neighbour that is kept."""

BLUR = 1.0
"""Standard deviation in pixels of the blur that makes images differentiable."""

SMALLEST_SIDE = 16
"""Along a shorter side, images are blurred proportionally less."""

LONGEST_SIDE = 32
"""Larger images are shrunk: they would need a wider blur, and more pixels do not help."""

CHUNK = 2**23
"""Number of values to process at once."""


def tangent_graph(X: Array, images: NDArray[Any], n_neighbors: int) -> sparse.csr_array:
    """Nearest-neighbour graph by tangent distance, among the nearest samples in X.

    Weights are those of `neighbor_graph`. The squared distance is that from a neighbour's image to
    the plane of all small affine maps of the sample's own image: rotations, scalings, shears and
    shifts.

    Parameters
    ----------
    X : (n, d) array
        Samples, such as an embedding; candidates are the nearest neighbours in X.
    images : (n, h, w) or (n, c, h, w) array
        Their images, with values of any range.
    n_neighbors : int
        Number of nearest neighbours, without the sample itself; clipped to `n - 1`. Five times as
        many candidates are compared.

    Returns
    -------
    (n, n) sparse array
        Row `i` holds the weights of the neighbours of sample `i`, nearest first.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.graph import tangent_graph
    >>> images = np.random.default_rng(0).random((6, 8, 8))
    >>> graph = tangent_graph(images.reshape(6, -1), images, n_neighbors=2)
    >>> graph.shape, graph.nnz
    ((6, 6), 12)
    """
    check_images(images, len(X))
    _, candidates = nearest_neighbors(X, CANDIDATES * n_neighbors)
    return nearest_images(images, candidates, n_neighbors)


def nearest_images(
    images: NDArray[Any], candidates: IntArray, n_neighbors: int
) -> sparse.csr_array:
    """The graph of the nearest by tangent distance among candidates (n, m)."""
    squared = tangent_distances(images, candidates)
    nearest = squared.argsort(axis=1, kind="stable")[:, :n_neighbors]
    return weighted_graph(
        np.take_along_axis(squared, nearest, axis=1),
        np.take_along_axis(candidates, nearest, axis=1),
    )


def check_images(images: NDArray[Any], n_samples: int) -> None:
    """Refuse anything but one finite image per sample."""
    if not isinstance(images, np.ndarray) or images.dtype.kind not in "biuf":
        raise TypeError(f"images must be an array of real numbers, not {_named(images)}.")
    if images.ndim not in (3, 4) or 0 in images.shape:
        raise ValueError(
            f"images has the shape {images.shape}; (n, h, w) or (n, c, h, w) is accepted."
        )
    if images.ndim == 4 and images.shape[1] not in (1, 3):
        raise ValueError(
            f"images has the shape {images.shape}; 1 or 3 channels must come first, (n, c, h, w)."
        )
    if len(images) != n_samples:
        raise ValueError(f"images has {len(images)} images, but X has {n_samples} samples.")
    if not np.isfinite([images.min(), images.max()]).all():
        raise ValueError("images contains NaN or infinity.")


def _named(value: object) -> str:
    return f"one of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__


def tangent_distances(images: NDArray[Any], others: IntArray) -> Array:
    """Squared distances of other images to the plane of all small affine maps of each image.

    The unit is the range of values of all images.

    Parameters
    ----------
    images : (n, h, w) or (n, c, h, w) array
    others : (n, m) integer array
        For each image, the indices of the images to measure.

    Returns
    -------
    (n, m) array
    """
    small = _shrunk(images)
    smooth = _gaussian(small).reshape(len(small), -1)
    squared = np.empty(others.shape)
    size = max(CHUNK // max(others.shape[1] * smooth.shape[1], 1), 1)
    for first in range(0, len(small), size):
        chunk = slice(first, first + size)
        difference = smooth[others[chunk]] - smooth[chunk, None]
        tangents = _tangents(small[chunk])
        along = (difference @ tangents.transpose(0, 2, 1)).astype(np.float64)
        metric = (tangents @ tangents.transpose(0, 2, 1)).astype(np.float64)
        # A ridge, because a constant image spans no plane.
        ridge = 1e-6 * np.trace(metric, axis1=1, axis2=2) + np.finfo(np.float32).tiny
        metric += ridge[:, None, None] * np.eye(metric.shape[1])
        undone = along * np.linalg.solve(metric, along.transpose(0, 2, 1)).transpose(0, 2, 1)
        whole = np.einsum("ijk,ijk->ij", difference, difference, dtype=np.float64)
        squared[chunk] = np.maximum(whole - undone.sum(axis=2), 0)
    return squared


def _shrunk(images: NDArray[Any]) -> Array:
    """Images (n, c, h, w) scaled to range 1, averaged over square blocks if a side is too long."""
    height, width = images.shape[-2:]
    images = images.reshape(len(images), -1, height, width)
    least, most = float(images.min()), float(images.max())
    block = -(-max(height, width) // LONGEST_SIDE)
    sides = -(-height // block), -(-width // block)
    filled = [(0, block * count - side) for count, side in zip(sides, (height, width), strict=True)]
    small = np.empty((*images.shape[:2], *sides), dtype=np.float32)
    size = max(CHUNK // images[0].size, 1)
    for first in range(0, len(images), size):
        chunk = (images[first : first + size].astype(np.float64) - least) / ((most - least) or 1)
        even = np.pad(chunk, ((0, 0), (0, 0), *filled), mode="edge")
        blocks = even.reshape(*even.shape[:2], sides[0], block, sides[1], block)
        small[first : first + size] = blocks.mean(axis=(3, 5))
    return small


def _gaussian(images: Array, down: int = 0, right: int = 0) -> Array:
    """Blurred images, or derivatives of them."""
    blur = [BLUR * min(1, side / SMALLEST_SIDE) for side in images.shape[2:]]
    return ndimage.gaussian_filter(images, blur, order=(down, right), mode="nearest", axes=(2, 3))


def _tangents(images: Array) -> Array:
    """Derivatives of images with respect to each kind of affine map (n, 6, pixels)."""
    height, width = images.shape[2:]
    y = np.arange(height, dtype=np.float32)[:, None] - (height - 1) / 2
    x = np.arange(width, dtype=np.float32) - (width - 1) / 2
    slopes = _gaussian(images, down=1), _gaussian(images, right=1)
    maps = [slope * place for slope in slopes for place in (np.float32(1), y, x)]
    return np.stack(maps, axis=1, dtype=np.float32).reshape(len(images), len(maps), -1)
