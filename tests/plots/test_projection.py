import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from infomeans.errors import InputError
from infomeans.plots import projection
from infomeans.plots.palette import look
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


def test_a_hundred_clusters_look_different():
    looks = [look(cluster) for cluster in range(100)]
    assert len(set(looks)) == 100
    assert look(100) == look(0)
