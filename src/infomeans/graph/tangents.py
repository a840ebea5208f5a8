"""The graph of images that small affine maps leave what they are.

Simard, Le Cun and Denker (NIPS 1992) measure how far an image lies from all that small changes
make of another one. To first order these form a plane, spanned by the derivatives of the image with
respect to every kind of change; so the distance that no change can undo is that to the plane.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse
from sklearn.neighbors import NearestNeighbors

from infomeans._typing import Array, IntArray
from infomeans.graph.neighbors import weighted_graph

CANDIDATES = 5
"""How many times as many neighbours are looked at as are kept."""

BLUR = 1.0
"""Standard deviation in pixels, which makes images smooth enough to have derivatives."""

SMALLEST_SIDE = 16
"""Smaller images are blurred less, in proportion."""

LONGEST_SIDE = 32
"""Larger images are shrunk: they would need a wider blur, and many more pixels tell no more."""

CHUNK = 2**23
"""Numbers to work on at once."""


def tangent_graph(X: Array, images: NDArray[Any], n_neighbors: int) -> sparse.csr_array:
    """Nearest-neighbour graph by tangent distances, among the nearest in X.

    Weights are those of `neighbor_graph`, from the squared distance of a neighbour's image to the
    plane of all affine maps of the sample's own: turns, scalings, shears and shifts.

    Parameters
    ----------
    X : (n, d) array
    images : (n, h, w) or (n, c, h, w) array
        Their scale does not matter.
    n_neighbors : int
        Neighbours of each sample, itself not counted; clipped to `n - 1`.

    Returns
    -------
    (n, n) sparse array
        Row `i` holds the weights of the neighbours of sample `i`, nearest first.
    """
    k, count = (min(wanted, len(X) - 1) for wanted in (n_neighbors, CANDIDATES * n_neighbors))
    search = NearestNeighbors(n_neighbors=count, n_jobs=-1).fit(X)
    candidates = search.kneighbors(return_distance=False)
    squared = tangent_distances(images, candidates)
    nearest = squared.argsort(axis=1, kind="stable")[:, :k]
    return weighted_graph(
        np.take_along_axis(squared, nearest, axis=1),
        np.take_along_axis(candidates, nearest, axis=1),
    )


def tangent_distances(images: NDArray[Any], others: IntArray) -> Array:
    """Squared distances of other images to the plane of all small affine maps of each image.

    Parameters
    ----------
    images : (n, h, w) or (n, c, h, w) array
    others : (n, m) integer array
        The numbers of the images whose distance is asked for.

    Returns
    -------
    (n, m) array
    """
    small = _shrunk(
        np.asarray(images, dtype=np.float32).reshape(len(images), -1, *images.shape[-2:])
    )
    smooth = _gaussian(small).reshape(len(images), -1)
    squared = np.empty(others.shape)
    size = max(CHUNK // (others.shape[1] * smooth.shape[1]), 1)
    for first in range(0, len(images), size):
        chunk = slice(first, first + size)
        apart = smooth[others[chunk]] - smooth[chunk, None]
        tangents = _tangents(small[chunk])
        along = (apart @ tangents.transpose(0, 2, 1)).astype(np.float64)
        # What is a little more than the metric of the plane lets flat images have no plane.
        metric = (tangents @ tangents.transpose(0, 2, 1)).astype(np.float64)
        slack = 1e-6 * np.trace(metric, axis1=1, axis2=2) + np.finfo(float).tiny
        metric += slack[:, None, None] * np.eye(metric.shape[1])
        undone = along * np.linalg.solve(metric, along.transpose(0, 2, 1)).transpose(0, 2, 1)
        whole = np.einsum("ijk,ijk->ij", apart, apart, dtype=np.float64)
        squared[chunk] = np.maximum(whole - undone.sum(axis=2), 0)
    return squared


def _shrunk(images: Array) -> Array:
    """Means over square blocks, as small as keep the longest side within its limit."""
    block = -(-max(images.shape[2:]) // LONGEST_SIDE)
    if block == 1:
        return images
    n, channels, *sides = images.shape
    filled = [(0, -side % block) for side in sides]
    even = np.pad(images, ((0, 0), (0, 0), *filled), mode="edge")
    height, width = (side // block for side in even.shape[2:])
    return even.reshape(n, channels, height, block, width, block).mean(axis=(3, 5))


def _gaussian(images: Array, down: int = 0, right: int = 0) -> Array:
    """Blurred images, or derivatives of them."""
    blur = BLUR * min(1, min(images.shape[2:]) / SMALLEST_SIDE)
    return ndimage.gaussian_filter(images, blur, order=(down, right), mode="nearest", axes=(2, 3))


def _tangents(images: Array) -> Array:
    """What images change by under every kind of small affine map (n, 6, pixels)."""
    height, width = images.shape[2:]
    y = np.arange(height, dtype=np.float32)[:, None] - (height - 1) / 2
    x = np.arange(width, dtype=np.float32) - (width - 1) / 2
    slopes = _gaussian(images, down=1), _gaussian(images, right=1)
    maps = [slope * place for slope in slopes for place in (np.float32(1), y, x)]
    return np.stack(maps, axis=1, dtype=np.float32).reshape(len(images), len(maps), -1)
