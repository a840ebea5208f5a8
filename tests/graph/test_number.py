"""The number of clusters."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

from infomeans.errors import InputError
from infomeans.graph import number, number_of_clusters
from infomeans.graph.neighbors import neighbor_graph


@pytest.mark.parametrize("k", [2, 3, 7, 15, 40])
def test_separate_groups_are_counted(k):
    X, _ = make_blobs(30 * k + 100, centers=k, n_features=20, random_state=k)
    found = number_of_clusters(X)
    assert found.best == k
    assert found.sure == 1


def test_small_groups_get_few_neighbours():
    rng = np.random.default_rng(0)
    small, large = (
        rng.normal(size=(n, 10)) + 12 * np.eye(10)[np.arange(n) % 10] for n in (150, 1000)
    )
    assert number_of_clusters(small).n_neighbors < number_of_clusters(large).n_neighbors == 18
    assert number_of_clusters(small).best == number_of_clusters(large).best == 10


def test_small_groups_are_not_overlooked():
    sizes = [400, 200, 100, 50, 25]
    X, _ = make_blobs(sizes, n_features=8, cluster_std=0.5, random_state=0)
    assert 5 <= number_of_clusters(X).best <= 6


def test_handwritten_digits():
    found = number_of_clusters(load_digits().data)
    assert 9 <= found.best <= 14
    assert found.finest >= found.best


def test_bounds():
    X, _ = make_blobs(300, centers=6, n_features=8, cluster_std=0.5, random_state=0)
    assert number_of_clusters(X, k_max=4).best <= 4
    assert number_of_clusters(X, k_min=9).best >= 9
    assert number_of_clusters(X, k_min=6, k_max=6).best == 6


def test_bounds_that_cannot_be_kept():
    X = np.random.default_rng(0).normal(size=(300, 5))
    with pytest.raises(InputError, match="k_min=200 is too many"):
        number_of_clusters(X, k_min=200)
    with pytest.raises(InputError, match="k_min=9 is more than k_max=4"):
        number_of_clusters(X, k_min=9, k_max=4)


def test_groups_within_groups_are_the_finest():
    rng = np.random.default_rng(0)
    coarse, fine = np.repeat(np.arange(4), 300), np.arange(1200) % 3
    X = 30 * np.eye(7)[coarse] + 5 * np.eye(7)[4 + fine] + rng.normal(size=(1200, 7))
    found = number_of_clusters(X)
    assert {4, 12} >= {found.best}
    assert found.finest == 12


def test_the_modularity_is_that_of_the_cut():
    X, y = make_blobs(200, centers=4, n_features=6, cluster_std=0.3, random_state=0)
    graph = neighbor_graph(X, 8)
    ties = (graph + graph.T).toarray()
    inside = sum(ties[np.ix_(y == c, y == c)].sum() for c in range(4)) / ties.sum()
    expected = inside - sum((ties[y == c].sum() / ties.sum()) ** 2 for c in range(4))
    assert number._cuts(X, graph, 10).modularity[3] == pytest.approx(expected)


def test_many_samples_are_counted_by_a_selection(monkeypatch):
    monkeypatch.setattr(number, "MOST_SAMPLES", 400)
    X, _ = make_blobs(2000, centers=5, n_features=8, random_state=0)
    found = number_of_clusters(X)
    assert (found.best, found.n_samples) == (5, 400)


def test_the_same_seed_gives_the_same_answer():
    X = np.random.default_rng(0).normal(size=(300, 5))
    one, other = number_of_clusters(X, seed=4), number_of_clusters(X, seed=4)
    assert one.as_dict() == other.as_dict()


@pytest.mark.parametrize(
    ("X", "words"), [(np.ones((50, 3)), "the same"), (np.zeros((19, 2)), "n_samples=19 is too few")]
)
def test_what_cannot_be_counted(X, words):
    with pytest.raises(InputError, match=words):
        number_of_clusters(X)


@pytest.mark.parametrize(("k", "seed"), [(3, 42), (5, 4)])
def test_round_groups_in_the_plane(k, seed):
    X, _ = make_blobs(100 * k, centers=k, cluster_std=0.6, random_state=seed)
    assert number_of_clusters(X).best == k


def test_the_intrinsic_dimension():
    rng = np.random.default_rng(0)
    for d in (1, 2, 5):
        flat = rng.normal(size=(800, d)) @ rng.normal(size=(d, 12))
        squared = number.nearest_neighbors(np.repeat(flat, 2, axis=0), 18)[0]
        assert number._dimension(squared) == pytest.approx(d, rel=0.25)
    assert number._dimension(np.zeros((10, 5))) == 1
