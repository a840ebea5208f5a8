"""The views of the samples: spaces in which neighbours and clusters can be looked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from infomeans._typing import Array

COMPONENTS = 50
"""Number of principal components to keep if a view has more features."""

DIMENSIONS = 4
"""Fewest features with directions as a view: in the plane, they leave only a circle."""

EMBEDDING = "embedding"
"""The view through the network; the others need none."""

Numbers = NDArray[np.float64]


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
    largest = np.abs(flat).max(initial=0.0) or 1.0
    names = ["data"]
    if table and np.ptp(_spread(flat)) > 0:
        names.append("standardised")
    norms = np.linalg.norm(flat / largest, axis=1)
    if flat.shape[1] >= DIMENSIONS and np.ptp(norms) > 1e-5 * norms.max(initial=0.0):
        names.append("directions")
    return names


class View:
    """A map from samples to vectors with at most 50 features, learned from some samples.

    Parameters
    ----------
    name : {"data", "standardised", "directions", "embedding"}
        Features as they are; every feature divided by its standard deviation; every sample divided
        by its length; or the embedding as it is.
    samples : (n, ...) array
        Samples to learn from.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.start.views import View
    >>> X = np.array([[0.0, 1.0], [10.0, 2.0]])
    >>> np.ptp(View("standardised", X)(X), axis=0)
    array([2., 2.])
    """

    def __init__(self, name: str, samples: NDArray[Any]) -> None:
        self.name = name
        flat = _flat(samples)
        # Divided by the largest value, squares are finite.
        self._unit: Any = np.abs(flat).max(initial=0.0) or 1.0
        if name == "standardised":
            spread = _spread(flat)
            constant = spread <= 1e-12 * np.abs(flat).max(axis=0)
            self._unit = np.where(constant, np.inf, spread)
        shown = self._shown(flat)
        self._mean = shown.mean(axis=0)
        self._components: Numbers | None = None
        if min(shown.shape) > COMPONENTS:
            found = PCA(COMPONENTS, svd_solver="randomized", random_state=0).fit(shown)
            self._components = found.components_.T
        self._size = 1.0
        self._size = float(np.sqrt(self(samples).var(axis=0).mean())) or 1.0

    def __call__(self, samples: NDArray[Any]) -> Array:
        """Vectors (n, d), centred, with a variance of about 1 on average."""
        centred = self._shown(_flat(samples)) - self._mean
        kept = centred if self._components is None else centred @ self._components
        return kept / self._size

    def surrogates(self, samples: NDArray[Any], rng: np.random.Generator) -> list[Array]:
        """What the view would show of samples without clusters.

        Either the view is Gaussian, with its own mean and covariance, or the samples are. Samples
        on a circle, for example, are the directions of Gaussian samples.
        """
        flat = _flat(samples)
        made = [_gaussian(self._shown(flat), rng)]
        if self.name == "directions":
            made.append(_directions(_gaussian(flat / self._unit, rng)))
        return [View("data", one)(one) for one in made]

    def _shown(self, flat: Numbers) -> Numbers:
        scaled = flat / self._unit
        return _directions(scaled) if self.name == "directions" else scaled


def _gaussian(flat: Numbers, rng: np.random.Generator) -> Numbers:
    """Gaussian samples like these, in the coordinates of their leading principal components.

    One more coordinate has the length of what is left, so that samples keep their length.
    """
    if (flat == flat[0]).all():
        return flat
    mean = flat.mean(axis=0)
    size = min(COMPONENTS, *flat.shape)
    found = PCA(size, svd_solver="randomized" if size < flat.shape[1] else "full", random_state=0)
    scores = found.fit_transform(flat)
    offset = found.components_ @ mean
    drawn = offset + rng.normal(size=scores.shape) * scores.std(axis=0)
    total = np.square(mean).sum() + flat.var(axis=0).sum()
    left = total - np.square(offset).sum() - scores.var(axis=0).sum()
    return np.column_stack([drawn, np.full(len(flat), np.sqrt(max(left, 0.0)))])


def _flat(samples: NDArray[Any]) -> Numbers:
    """Samples as vectors in double precision."""
    return samples.reshape(len(samples), -1).astype(np.float64)


def _spread(flat: Numbers) -> Numbers:
    """Standard deviation of every feature, computed without overflow."""
    largest = np.abs(flat).max(axis=0)
    scale = np.where(largest > 0, largest, 1)
    return scale * (flat / scale).std(axis=0)


def _directions(flat: Numbers) -> Numbers:
    norms = np.linalg.norm(flat, axis=1, keepdims=True)
    return flat / np.where(norms > 0, norms, 1)
