"""The views of the samples: spaces in which neighbours and clusters can be looked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from infomeans._typing import Array

COMPONENTS = 50
"""Number of principal components to keep if a view has more features."""

EMBEDDING = "embedding"
"""The view through the network; the others need none."""


def view_names(samples: NDArray[Any], *, table: bool) -> list[str]:
    """Names of the views of raw samples that differ from each other.

    Parameters
    ----------
    samples : (n, ...) array
        Raw samples, or some of them.
    table : bool
        Whether the features are columns of a table, which may have different units.
    """
    flat = _flat(samples)
    names = ["data"]
    if table and np.ptp(_spread(flat)) > 0:
        names.append("standardised")
    norms = np.linalg.norm(flat, axis=1)
    if flat.shape[1] > 1 and np.ptp(norms) > 1e-5 * norms.max(initial=0.0):
        names.append("directions")
    return names


def view(samples: NDArray[Any], name: str) -> Array:
    """Raw samples as vectors (n, d) of a view, with at most 50 features.

    - "data": the features as they are;
    - "standardised": every feature divided by its standard deviation;
    - "directions": every sample divided by its length.

    Parameters
    ----------
    samples : (n, ...) array
        Raw samples.
    name : str
        Name of the view.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.start.views import view
    >>> np.ptp(view(np.array([[0.0, 1.0], [10.0, 2.0]]), "standardised"), axis=0)
    array([2., 2.])
    """
    return reduced(_VIEWS[name](_flat(samples)))


def reduced(vectors: Array) -> Array:
    """Vectors (n, d), centred, with a mean variance of 1 and at most 50 principal components."""
    vectors = vectors - vectors.mean(axis=0)
    if min(vectors.shape) > COMPONENTS:
        solver = PCA(COMPONENTS, svd_solver="randomized", random_state=0)
        vectors = solver.fit_transform(vectors)
    size = np.sqrt(vectors.var(axis=0).mean())
    return vectors / size if size > 0 else vectors


def _flat(samples: NDArray[Any]) -> NDArray[np.float64]:
    """Vectors in double precision, divided by the largest value, so that squares are finite."""
    flat = samples.reshape(len(samples), -1).astype(np.float64)
    largest = np.abs(flat).max(initial=0.0)
    return flat / largest if largest > 0 else flat


def _spread(flat: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation of every feature, as a share of its largest value before it is squared."""
    largest = np.abs(flat).max(axis=0)
    scale = np.where(largest > 0, largest, 1)
    return scale * (flat / scale).std(axis=0)


def _standardised(flat: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = _spread(flat)
    constant = spread <= 1e-12 * np.abs(flat).max(axis=0)
    scaled = (flat - flat.mean(axis=0)) / np.where(constant, 1, spread)
    return np.where(constant, 0, scaled)


def _directions(flat: NDArray[np.float64]) -> NDArray[np.float64]:
    norms = np.linalg.norm(flat, axis=1, keepdims=True)
    return flat / np.where(norms > 0, norms, 1)


_VIEWS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "data": lambda flat: flat,
    "standardised": _standardised,
    "directions": _directions,
}
