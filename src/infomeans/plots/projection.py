"""Projection of an embedding to two dimensions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Literal, cast

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from infomeans._typing import Array, IntArray
from infomeans.errors import InputError

Kind = Literal["auto", "lda", "pca", "umap"]
KINDS = ("auto", "lda", "pca", "umap")

FEWEST_FOR_UMAP, MOST_FOR_UMAP = 50, 20_000
MOST_DIMENSIONS, KEPT_DIMENSIONS, MOST_TO_FIT = 256, 64, 5_000


@dataclass(frozen=True)
class Map:
    """Projected points, and how they were made.

    Attributes
    ----------
    points : (n, 2) array
        A point for each sample.
    name : str
        Name of the projection.
    meaning : str
        A sentence on what distances mean on the map.
    """

    points: Array
    name: str
    meaning: str


def draw_map(embedding: Array, clusters: IntArray, kind: Kind = "auto") -> Map:
    """Project the embedding to two dimensions; the result is deterministic.

    Parameters
    ----------
    embedding : (n, d) array
        Embedding of the samples.
    clusters : (n,) integer array
        Cluster of each sample.
    kind : {"auto", "lda", "pca", "umap"}
        "auto" is UMAP if it is installed, for 50 to 20,000 samples; otherwise linear discriminant
        analysis if there are three clusters or more, otherwise principal components.
    """
    check_kind(kind)
    finite = np.nan_to_num(np.asarray(embedding, dtype=np.float64))
    z, reduced = _reduced(finite.reshape(len(embedding), -1))
    if kind == "auto":
        suits = FEWEST_FOR_UMAP <= len(z) <= MOST_FOR_UMAP
        kind = "umap" if suits and find_spec("umap") else "lda"
    if kind == "lda" and (len(np.unique(clusters)) < 3 or z.shape[1] < 2):
        kind = "pca"
    drawn = _DRAW[kind](z, clusters)
    if not reduced:
        return drawn
    return replace(drawn, meaning=f"{drawn.meaning} First, {reduced}.")


def check_kind(kind: str) -> Kind:
    """Refuse an unknown projection."""
    if kind not in KINDS:
        raise InputError(f"projection {kind!r} is unknown; choose one of {', '.join(KINDS)}.")
    return cast(Kind, kind)


def _reduced(z: Array) -> tuple[Array, str]:
    """Reduce very many dimensions, which would take hours otherwise."""
    if z.shape[1] <= MOST_DIMENSIONS:
        return z, ""
    some = z[np.random.default_rng(0).permutation(len(z))[:MOST_TO_FIT]]
    parts = min(KEPT_DIMENSIONS, len(some))
    pca = PCA(parts, svd_solver="randomized", random_state=0).fit(some)
    told = f"the {z.shape[1]:,} dimensions were reduced to their {parts} principal components"
    return pca.transform(z), told


def _pca(z: Array, clusters: IntArray) -> Map:
    parts = min(2, *z.shape)
    points = np.zeros((len(z), 2))
    if z.var(axis=0).any():
        points[:, :parts] = PCA(parts, svd_solver="full").fit_transform(z)
    return Map(
        _upright(points),
        "principal components",
        "The two directions of the learned space in which the samples vary most. Distances along "
        "all other directions are not shown.",
    )


def _lda(z: Array, clusters: IntArray) -> Map:
    # Shrinkage, for features that are nearly constant or correlated.
    lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.01, n_components=2)
    shared = np.bincount(clusters)[clusters] > 1  # a single sample has no spread
    try:
        points = lda.fit(z[shared], clusters[shared]).transform(z)
    except (np.linalg.LinAlgError, ValueError):
        return _pca(z, clusters)
    return Map(
        _upright(points),
        "linear discriminants",
        "The two directions of the learned space that separate the clusters best. The clusters "
        "look as clear as possible; what overlaps here may be far apart along other directions.",
    )


def _umap(z: Array, clusters: IntArray) -> Map:
    if not find_spec("umap"):
        raise InputError("projection 'umap' needs the package umap-learn: pip install umap-learn")
    import umap

    reducer = umap.UMAP(n_neighbors=min(15, len(z) - 1), random_state=0, n_jobs=1)
    return Map(
        reducer.fit_transform(z),
        "UMAP",
        "Neighbours in the learned space are neighbours here; distances between far groups mean "
        "little.",
    )


def _upright(points: Array) -> Array:
    """Fix the arbitrary sign of each direction: the farther end is on the positive side."""
    signs = np.where(points.max(axis=0) >= -points.min(axis=0), 1.0, -1.0)
    return points * signs


_DRAW: dict[str, Callable[[Array, IntArray], Map]] = {"pca": _pca, "lda": _lda, "umap": _umap}
