import sys
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from infomeans.errors import InputError
from infomeans.plots import projection
from infomeans.plots.palette import COLOURS, DARK, look
from infomeans.plots.projection import draw_map


@pytest.fixture(autouse=True)
def _without_umap(monkeypatch):
    monkeypatch.setattr(projection, "find_spec", lambda name: None)


def test_clusters_that_are_apart_are_apart_on_the_map(blobs):
    X, classes = blobs
    drawn = draw_map(X, classes)
    assert drawn.name == "linear discriminants"
    assert drawn.points.shape == (len(X), 2)
    assert silhouette_score(drawn.points, classes) > 0.5


def test_the_same_samples_give_the_same_map(blobs):
    X, classes = blobs
    assert np.array_equal(draw_map(X, classes).points, draw_map(X.copy(), classes).points)


def test_turning_the_space_over_does_not_turn_the_map_over(blobs):
    X, classes = blobs
    there, back = draw_map(X, classes, "pca").points, draw_map(-X, classes, "pca").points
    assert np.allclose(there, -back, atol=1e-8) or np.allclose(there, back, atol=1e-8)
    assert (draw_map(X, classes, "pca").points.max(axis=0) > 0).all()


def test_a_cluster_of_one_sample_lies_on_the_map_of_the_others(blobs):
    X, classes = blobs
    alone = np.where(np.arange(len(X)) == 7, classes.max() + 1, classes)
    drawn = draw_map(X, alone)
    assert drawn.name == "linear discriminants"
    assert silhouette_score(drawn.points, classes) > 0.5


@pytest.mark.parametrize("clusters", [np.zeros(30, int), np.arange(30) % 2])
def test_with_fewer_than_three_clusters_it_is_principal_components(clusters):
    X = np.random.default_rng(0).normal(size=(30, 5))
    assert draw_map(X, clusters).name == "principal components"


@pytest.mark.parametrize("shape", [(30, 1), (3, 4), (1, 1), (1, 5)])
@pytest.mark.parametrize("fill", [np.zeros, np.random.default_rng(0).random])
def test_any_embedding_has_a_map(shape, fill):
    clusters = np.arange(shape[0]) % 3
    points = draw_map(fill(shape), clusters).points
    assert points.shape == (shape[0], 2)
    assert np.isfinite(points).all()


def test_unknown_projections_are_refused():
    with pytest.raises(InputError, match="auto, lda, pca, umap"):
        draw_map(np.eye(3), np.arange(3), "tsne")


def test_umap_is_asked_for_by_name(blobs):
    with pytest.raises(InputError, match="pip install umap-learn"):
        draw_map(*blobs, "umap")


def test_umap_is_used_where_it_is_installed(blobs, monkeypatch):
    asked = {}

    class UMAP:
        def __init__(self, **options):
            asked.update(options)

        def fit_transform(self, z):
            return z[:, :2]

    monkeypatch.setattr(projection, "find_spec", lambda name: name == "umap")
    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    assert draw_map(*blobs).name == "UMAP"
    assert asked["random_state"] == 0
    monkeypatch.setattr(projection, "MOST_FOR_UMAP", 100)
    assert draw_map(*blobs).name == "linear discriminants"


def test_many_dimensions_are_reduced_first(blobs):
    X, classes = blobs
    wide = np.hstack([X, np.random.default_rng(0).normal(0, 0.01, (len(X), 3000))])
    drawn = draw_map(wide, classes)
    assert "reduced to their 64" in drawn.meaning
    assert silhouette_score(drawn.points, classes) > 0.5
    assert np.array_equal(drawn.points, draw_map(wide, classes).points)


def lab(linear):
    """CIE L*a*b* of linear RGB."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = (to_xyz @ linear) / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


SIGHT = {
    "all": np.eye(3),
    "no red": np.array(
        [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.052]]
    ),
    "no green": np.array(
        [[0.3673, 0.8606, -0.228], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]
    ),
}
"""What the colour-blind see, after Machado, Oliveira and Fernandes (2009)."""


@pytest.mark.parametrize("colours", [COLOURS, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_colours_are_told_apart_by_everyone(sight, colours):
    seen = []
    for colour in colours:
        rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        seen.append(lab(np.clip(SIGHT[sight] @ linear, 0, 1)))
    pairs = combinations(seen, 2)
    assert min(np.linalg.norm(a - b) for a, b in pairs) > 15


def test_ten_clusters_have_ten_signs():
    assert len({look(cluster)[1] for cluster in range(10)}) == 10


def test_a_hundred_clusters_look_different():
    looks = [look(cluster) for cluster in range(100)]
    assert len(set(looks)) == 100
    assert look(100) == look(0)
