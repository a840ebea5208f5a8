"""The tree through the clusters."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from infomeans.errors import InputError
from infomeans.graph import Hierarchy, cluster_tree


@pytest.fixture(scope="module")
def nested():
    """Three groups of two, and a tree through the three."""
    centers = np.array([[0, 0], [3, 0], [20, 0], [23, 0], [0, 20], [4, 20]], dtype=float)
    X, fine = make_blobs(600, centers=centers, cluster_std=0.5, random_state=0)
    return X, fine, cluster_tree(X, fine // 2)


def test_scipy_reads_it(nested):
    X, fine, tree = nested
    assert is_valid_linkage(tree.linkage)
    assert tree.sizes[-1] == len(X)
    assert tree.sizes[: tree.n_leaves].tolist() == np.bincount(tree.leaf).tolist()
    assert (np.diff(tree.linkage[:, 2]) > 0).all()
    cut = fcluster(tree.linkage, 3, criterion="maxclust")
    assert adjusted_rand_score(fine // 2, cut[tree.leaf]) == 1
    assert dendrogram(tree.linkage, no_plot=True)["leaves"]


def test_it_passes_through_the_given_clusters(nested):
    X, fine, tree = nested
    assert (tree.cluster[tree.leaf] == fine // 2).all()
    wrong = np.arange(len(X)) % 4
    tree = cluster_tree(X, wrong)
    assert (tree.cluster[tree.leaf] == wrong).all()
    assert (tree.cut(4)[tree.leaf] == wrong).all()


def test_finer_clusters_are_the_groups_within(nested):
    _, fine, tree = nested
    labels = tree.cut(6)[tree.leaf]
    assert adjusted_rand_score(fine, labels) > 0.98
    assert {cluster for cluster, *_ in list(tree.splits())[:3]} == {0, 1, 2}


def test_coarser_clusters_are_the_groups_of_groups():
    centers = np.array([[0, 0], [3, 0], [20, 0], [40, 0]], dtype=float)
    X, y = make_blobs(400, centers=centers, cluster_std=0.5, random_state=0)
    tree = cluster_tree(X, y)
    assert tree.merges()[0][:2] == (0, 1)
    np.testing.assert_array_equal(tree.cut(3)[tree.leaf], np.array([0, 0, 2, 1])[y])


def test_clusters_that_do_not_change_keep_their_numbers(nested):
    _, fine, tree = nested
    before = (fine // 2)[:]
    (parted, *_), *_ = tree.splits()
    after = tree.cut(4)[tree.leaf]
    assert set(after) == {0, 1, 2, 3}
    for cluster in {0, 1, 2} - {parted}:
        assert ((after == cluster) == (before == cluster)).all()
    assert set(after[before == parted]) == {parted, 3}
    kept, new = (np.sum(after == k) for k in (parted, 3))
    assert kept >= new


def test_very_many_samples_are_looked_at_by_a_selection(monkeypatch):
    monkeypatch.setattr("infomeans.graph.hierarchy.MOST_SAMPLES", 200)
    X, y = make_blobs(2000, centers=4, cluster_std=0.5, random_state=0)
    tree = cluster_tree(X, y)
    assert tree.leaf.shape == (2000,)
    assert (tree.cluster[tree.leaf] == y).all()
    assert tree.sizes[-1] == 2000


def test_arrays_hold_it(nested):
    *_, tree = nested
    again = Hierarchy.restored(tree.state_dict())
    assert (again.cut(5) == tree.cut(5)).all()


@pytest.mark.parametrize("n_clusters", [0, 601])
def test_numbers_out_of_reach_are_refused(nested, n_clusters):
    with pytest.raises(InputError, match="out of reach"):
        nested[2].cut(n_clusters)


def test_groups_of_too_few_samples_are_no_clusters(nested):
    with pytest.raises(InputError, match="groups have enough samples"):
        nested[2].cut(nested[2].n_leaves)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_samples_and_copies(n):
    tree = cluster_tree(np.zeros((n, 2)), np.arange(n) % 2)
    assert tree.leaf.shape == (n,)
    assert (tree.cluster[tree.leaf] == np.arange(n) % 2).all()


def test_parts_add_up_to_their_cluster():
    """Small branches on the way to a split stay with the larger part."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (90, 3)), rng.normal(6, 1, (40, 3)), [[30, 0, 0]] * 3])
    tree = cluster_tree(X, np.zeros(len(X), dtype=int))
    (_, larger, smaller), *_ = tree.splits()
    assert larger + smaller == len(X)
    assert sorted(np.bincount(tree.cut(2)[tree.leaf])) == [smaller, larger]
    both = tree.parts()[0]
    assert sorted([*both[0], *both[1]]) == list(range(tree.n_leaves))
