"""Clusters of unequal sizes."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from infomeans.graph.agglomeration import Agglomeration, clusters_and_graph
from infomeans.graph.branches import Branches
from infomeans.graph.neighbors import inverse_dimensions, nearest_neighbors, neighbor_graph
from infomeans.graph.sizes import free_cut, openness

SKEWED = [900, 450, 60, 30, 15]


def groups(sizes, seed=0):
    """Groups that touch, of these sizes."""
    centers = 5.0 * np.eye(len(sizes), 10)
    return make_blobs(sizes, centers=centers, random_state=seed)


def tree_of(X, k, n_neighbors=12):
    return Agglomeration(X, neighbor_graph(X, n_neighbors), k)


def inverse_of(X):
    return inverse_dimensions(nearest_neighbors(X, 18)[0])


@pytest.mark.parametrize("seed", range(3))
def test_free_sizes_keep_small_groups_and_do_not_part_large_ones(seed):
    X, y = groups(SKEWED, seed)
    tree = tree_of(X, len(SKEWED))
    free = tree.free(inverse_of(X))
    assert adjusted_rand_score(y, free) > 0.95
    assert np.bincount(free).tolist() == sorted(np.bincount(free), reverse=True)


def test_auto_is_free_only_if_equal_sizes_part_groups():
    for sizes, free in (([2000, 200, 100, 80, 60], True), ([300] * 5, False)):
        X, y = groups(sizes)
        found = clusters_and_graph(X, 5, sizes="auto")
        assert found.free is free
        assert adjusted_rand_score(y, found.labels) > 0.95


@pytest.mark.parametrize("dimension", [2, 5, 10])
@pytest.mark.parametrize("n", [400, 2000])
def test_halves_of_a_homogeneous_group_are_open(dimension, n):
    X = np.random.default_rng(0).uniform(size=(n, dimension))
    halves = (X[:, 0] > 0.5).astype(int)
    assert 0.6 < tree_of(X, 2).openness(halves, inverse_of(X)) < 2.5


def test_groups_without_edges_between_them_are_closed():
    X, y = make_blobs(200, centers=[[0] * 4, [100] * 4], random_state=0)
    assert tree_of(X, 2).openness(y, inverse_of(X)) == pytest.approx(0, abs=1e-12)


def test_openness_falls_with_the_size_of_a_part():
    """The same share of edges means less for a small part: its border is large."""
    volumes, inner = np.full(2, 0.5), np.full(2, 0.45)
    small, large = openness(volumes, inner, np.array([50, 5000]), np.full(2, 0.2), 10)
    assert small < large


def test_the_cut_has_the_lowest_sum_of_all():
    """Against all cuts of a small tree."""
    X, _ = groups([40, 20, 12])
    graph = neighbor_graph(X, 8)
    tree = tree_of(X, 3, 8)
    branches = Branches.of_merges(graph, tree.start, tree.merges, most=9)
    inverse = inverse_of(X)
    own = np.sqrt(
        openness(
            branches.volumes,
            branches.inner,
            branches.sizes,
            branches.summed(inverse) / branches.sizes,
            8,
        )
    )

    def cuts(branch, k):
        if k == 1:
            yield (branch,)
        parts = [p for p in branches.children[branch].tolist() if p >= 0 and branches.sizes[p] >= 5]
        if k > 1 and len(parts) == 1:
            yield from cuts(parts[0], k)
        elif k > 1 and parts:
            for first in range(1, k):
                for one in cuts(parts[0], first):
                    yield from (one + other for other in cuts(parts[1], k - first))

    for k in (2, 3):
        best = min(cuts(branches.root, k), key=lambda cut: own[list(cut)].sum())
        labels = free_cut(branches, inverse, k, 8)
        expected = branches.labels(best)
        assert ((labels < 0) == (expected < 0)).all()
        assert adjusted_rand_score(labels, expected) == 1


def test_more_clusters_than_branches_fall_back_to_equal_sizes():
    X, _ = groups([20, 10])
    tree = tree_of(X, 9, 5)
    assert (tree.free(inverse_of(X)) == tree.equal()).all()


def test_copies_do_no_harm():
    X = np.repeat(groups([20, 10, 5])[0], 10, axis=0)
    labels = clusters_and_graph(X, 3, sizes="free").labels
    assert len(np.unique(labels)) == 3
