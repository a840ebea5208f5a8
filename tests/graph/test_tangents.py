import numpy as np
import pytest
from scipy import ndimage
from sklearn.datasets import load_digits

from infomeans.graph import (
    agglomerate,
    agglomeration,
    neighbor_graph,
    neighbor_information,
    tangent_graph,
    tangents,
    usual_neighbors,
)
from infomeans.graph.tangents import tangent_distances
from infomeans.metrics import accuracy


def shape(seed=0, side=24):
    """A smooth image of its own, dark towards the border."""
    rng = np.random.default_rng(seed)
    middle = np.zeros((side, side))
    middle[5:-5, 5:-5] = rng.normal(size=(side - 10, side - 10))
    return ndimage.gaussian_filter(middle, 2)


def changed(image, matrix, shift=(0.0, 0.0)):
    centre = (np.array(image.shape) - 1) / 2
    matrix = np.array(matrix)
    return ndimage.affine_transform(image, matrix, centre - matrix @ centre + shift, order=3)


def others(n):
    """The numbers of all others, for each of n."""
    return np.array([[j for j in range(n) if j != i] for i in range(n)])


def plain_distances(images):
    """Squared distances of the others to the first image, in units of the range of all."""
    smooth = ndimage.gaussian_filter(images, (0, 1, 1)) / np.ptp(images)
    return np.square(smooth[1:] - smooth[0]).sum(axis=(1, 2))


SMALL = {
    "shifted": ([[1, 0], [0, 1]], (0.5, -0.4)),
    "turned": ([[np.cos(0.06), -np.sin(0.06)], [np.sin(0.06), np.cos(0.06)]],),
    "scaled": ([[1.05, 0], [0, 1.05]],),
    "sheared": ([[1, 0.06], [0, 1]],),
}


@pytest.mark.parametrize("change", SMALL)
def test_a_small_change_of_an_image_is_near_and_another_image_is_not(change):
    image, other = shape(0), shape(1)
    images = np.stack([image, changed(image, *SMALL[change]), other])
    near, far = tangent_distances(images, others(3))[0] / plain_distances(images)
    assert near < 0.05
    assert far > 0.5


@pytest.mark.parametrize(("scale", "offset"), [(255, 40), (1e25, 0), (1e-25, 0), (1, 1e6)])
def test_neither_scale_nor_brightness_of_all_images_matters(scale, offset):
    images = np.stack([shape(seed) for seed in range(5)])
    distances = tangent_distances(images, others(5))
    np.testing.assert_allclose(
        tangent_distances(scale * images + offset, others(5)), distances, rtol=1e-3
    )


def test_channels_count_together():
    images = np.stack([shape(seed) for seed in range(4)])
    grey, colour = (
        tangent_distances(np.repeat(images[:, None], channels, axis=1), others(4))
        for channels in (1, 3)
    )
    np.testing.assert_allclose(colour, 3 * grey, rtol=1e-3)


def test_it_does_not_matter_how_many_are_looked_at_at_once(monkeypatch):
    images = np.stack([shape(seed) for seed in range(7)])
    at_once = tangent_distances(images, others(7))
    monkeypatch.setattr(tangents, "CHUNK", 2 * 6 * 24 * 24)
    np.testing.assert_allclose(tangent_distances(images, others(7)), at_once, rtol=1e-6)


def test_flat_images_are_as_far_as_they_are():
    images = np.zeros((2, 8, 8))
    images[1] = 1
    np.testing.assert_allclose(tangent_distances(images, others(2)), 64)


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (40, 33), (100, 3)])
def test_images_of_any_size_have_a_graph(size):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (30, *size), dtype=np.uint8)
    graph = tangent_graph(images.reshape(30, -1).astype(float), images, 4)
    np.testing.assert_allclose(graph.sum(axis=1), 1)
    assert (np.diff(graph.indptr) == 4).all()
    assert (graph.diagonal() == 0).all()


def test_a_change_of_a_large_image_may_be_as_large():
    image, other = (ndimage.zoom(shape(seed), 6, order=1) for seed in (0, 1))
    images = np.stack([image, changed(image, np.eye(2), (4.0, 4.0)), other])
    near, far = tangent_distances(images, others(3))[0]
    plain_near, plain_far = plain_distances(images)
    assert near / far < 0.1 * plain_near / plain_far


def test_a_long_image_can_be_shifted_along():
    image = np.concatenate([np.zeros(8), np.random.default_rng(0).normal(size=16), np.zeros(8)])
    image = ndimage.gaussian_filter(image, 2)[None]
    images = np.stack([image, ndimage.shift(image, (0, 0.5))])
    smooth = ndimage.gaussian_filter(images, (0, 0, 1)) / np.ptp(images)
    near = tangent_distances(images, others(2))[0, 0]
    assert near < 0.1 * np.square(smooth[1] - smooth[0]).sum()


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((20, 8, 8, 3)), "1 or 3 channels must come first"),
        (np.zeros((20, 64)), "is accepted"),
        (np.zeros((20, 1, 1, 8, 8)), "is accepted"),
        (np.zeros((19, 8, 8)), "19 images, but X has 20"),
        (np.zeros((21, 8, 8)), "21 images, but X has 20"),
        (np.full((20, 8, 8), np.nan), "NaN or infinity"),
        (np.full((20, 8, 8), "a"), "real numbers"),
        ([[[0.0]]] * 20, "real numbers, not list"),
    ],
)
@pytest.mark.parametrize("n_clusters", [1, 3])
def test_what_are_no_images_of_the_samples_is_refused(images, message, n_clusters):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises((TypeError, ValueError), match=message):
        agglomerate(X, n_clusters, images=images)


def test_a_single_image_has_a_graph_without_edges():
    assert tangent_graph(np.zeros((1, 2)), np.zeros((1, 8, 8)), 3).nnz == 0


def test_digits_are_clustered_better_for_it():
    digits = load_digits()
    plain, with_images = (
        accuracy(digits.target, agglomerate(digits.data, 10, images=images))
        for images in (None, digits.images)
    )
    assert with_images > plain + 0.03


def test_images_that_make_no_clusters_change_nothing():
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(3), 20, axis=0) + rng.normal(0, 0.1, (60, 3))
    noise = rng.normal(size=(60, 8, 8))
    misled = agglomeration.clusters_of_graph(X, tangent_graph(X, noise, 8), 3, 0.2)
    assert accuracy(np.repeat([0, 1, 2], 20), misled) < 0.9
    np.testing.assert_array_equal(agglomerate(X, 3, images=noise), agglomerate(X, 3))


def test_information_of_neighbours_is_the_logarithm_of_equal_clusters_that_none_leaves():
    X = np.repeat(1000.0 * np.arange(4), 30)[:, None] + np.tile(np.arange(30.0), 4)[:, None]
    graph = neighbor_graph(X, usual_neighbors(len(X), 4))
    groups = np.repeat(np.arange(4), 30)
    assert neighbor_information(graph, groups) == pytest.approx(np.log(4))
    assert neighbor_information(graph, np.random.default_rng(0).permutation(groups)) < 0.2
    assert neighbor_information(graph, np.zeros(120, dtype=int)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32])
def test_information_of_neighbours_does_not_depend_on_the_type_of_the_labels(kind):
    X = np.random.default_rng(0).normal(size=(200, 3))
    graph, labels = neighbor_graph(X, 8), np.arange(200) % 20
    expected = neighbor_information(graph, labels)
    assert neighbor_information(graph, labels.astype(kind)) == expected


def test_samples_without_a_label_tell_neighbours_nothing():
    graph = neighbor_graph(np.array([[0.0], [0.1], [5.0], [5.1], [99.0]]), 1)
    labels = np.array([0, 0, 1, 1, -1])
    assert neighbor_information(graph, labels) == pytest.approx(np.log(2))
