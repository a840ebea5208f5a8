import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import adjusted_rand_score

from infomeans.graph import agglomerate, agglomeration, neighbor_graph, usual_neighbors
from infomeans.graph.agglomeration import _moved, _parts_moved, clusters_and_graph
from infomeans.graph.tree import Forest
from infomeans.metrics import accuracy


def test_finds_blobs(blobs):
    X, classes = blobs
    assert adjusted_rand_score(classes, agglomerate(X, 4)) == 1


def test_finds_shapes_that_kmeans_cannot():
    X, classes = make_moons(400, noise=0.05, random_state=0)
    assert adjusted_rand_score(classes, agglomerate(X, 2)) == 1


def test_is_good_on_digits():
    X, classes = load_digits(return_X_y=True)
    assert accuracy(classes, agglomerate(X, 10)) > 0.85


@settings(max_examples=60)
@given(
    st.integers(2, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))),
    st.integers(1, 30),
    st.integers(0, 2**31),
    st.sampled_from(["normal", "duplicates", "constant", "far apart"]),
)
def test_always_gives_exactly_the_clusters_asked_for(size, n_neighbors, seed, kind):
    n, k = size
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if kind == "duplicates":
        X = X[rng.integers(0, max(n // 4, 1), n)]
    elif kind == "constant":
        X[:] = 1.5
    elif kind == "far apart":
        X += 1e4 * rng.integers(0, 8, (n, 1))
    labels = agglomerate(X, k, n_neighbors)
    assert labels.shape == (n,)
    assert sorted(set(labels.tolist())) == list(range(k))


def test_a_graph_that_falls_apart_is_joined_by_distance():
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [0, 50], [1000, 0], [1000, 50]])
    X = (centres[:, None] + rng.normal(size=(4, 100, 2))).reshape(-1, 2)
    labels = agglomerate(X, 2, n_neighbors=5)
    assert adjusted_rand_score(np.repeat([0, 1], 200), labels) == 1


def test_outliers_take_no_cluster():
    rng = np.random.default_rng(0)
    groups = np.concatenate([rng.normal(m, 0.3, (150, 2)) for m in (0, 4, 8)])
    outliers = np.array([[40.0, 40], [40.1, 40], [-40, 40], [-40, 40.1]])
    labels = agglomerate(np.concatenate([groups, outliers]), 3)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 150), labels[:450]) == 1


def test_a_smaller_share_lets_small_clusters_live():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (500, 2)), rng.normal(30, 0.1, (8, 2))])
    small = agglomerate(X, 2, n_neighbors=5, min_share=0.01)
    assert sorted(np.bincount(small)) == [8, 500]


@pytest.mark.parametrize(
    ("n", "n_clusters", "neighbors"),
    [(40, 10, 8), (7200, 100, 8), (1797, 10, 13), (70_000, 10, 20)],
)
def test_neighbours_by_default_are_the_root_of_the_mean_size_within_limits(
    n, n_clusters, neighbors
):
    assert usual_neighbors(n, n_clusters) == neighbors


def samples_moved(graph, labels, n_clusters):
    return _moved(graph + graph.T, labels, 2 * graph.max(axis=1).toarray().ravel(), n_clusters)


def test_a_sample_among_strangers_moves_to_them(blobs):
    X, classes = blobs
    mistaken = classes.copy()
    mistaken[:3] = (classes[:3] + 1) % 4
    np.testing.assert_array_equal(samples_moved(neighbor_graph(X, 10), mistaken, 4), classes)


def test_a_part_among_strangers_moves_to_them_as_one(blobs):
    X, classes = blobs
    graph = neighbor_graph(X, 10)
    outermost = np.argsort(X[classes == 0] @ X[classes == 0].mean(axis=0))[-20:]
    part = np.isin(np.arange(len(X)), np.flatnonzero(classes == 0)[outermost])
    mistaken = np.where(part, 1, classes)
    assert (samples_moved(graph, mistaken, 4) == 1)[part].any()  # they hold each other back
    parts = np.where(part, len(X), np.arange(len(X)))
    assert (_parts_moved(graph + graph.T, mistaken, parts, 4) == 0)[part].all()


def test_a_part_that_is_most_of_its_cluster_stays():
    labels, parts = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 2])
    ties = np.zeros((6, 6))
    ties[0, 2] = ties[2, 0] = 1.0  # nothing else holds anything
    assert _parts_moved(sparse.csr_array(ties), labels, parts, 2).tolist() == [0, 0, 1, 1, 1, 1]
    parts[2:5] = [1, 3, 4]  # less than half of the cluster
    assert _parts_moved(sparse.csr_array(ties), labels, parts, 2).tolist() == [0, 0, 0, 1, 1, 1]


def test_larger_branches_move_before_those_the_tree_began_with(blobs, monkeypatch):
    X, classes = blobs
    seen = []

    def watched(ties, labels, parts, n_clusters):
        seen.append(len(np.unique(parts)))
        return labels

    monkeypatch.setattr(agglomeration, "_parts_moved", watched)
    monkeypatch.setattr(agglomeration, "PARTS", 3)
    assert accuracy(classes, agglomerate(X, 4)) == 1
    assert seen[0] == 12 < seen[1] < len(X)


def test_a_cluster_that_all_would_leave_keeps_them():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [5.0], [5.1]])
    lost = np.array([0, 0, 1, 0, 0, 2, 2])
    np.testing.assert_array_equal(samples_moved(neighbor_graph(X, 3), lost, 3), lost)


def test_largest_cluster_comes_first(blobs):
    X, classes = blobs
    sizes = np.bincount(agglomerate(X[classes != 0][:130], 3))
    assert (np.diff(sizes) <= 0).all()


def test_a_count_of_clusters_may_be_numpys(blobs):
    X, classes = blobs
    assert len(set(agglomerate(X, np.int64(classes.max() + 1)).tolist())) == 4


def test_is_deterministic(blobs):
    X, _ = blobs
    np.testing.assert_array_equal(agglomerate(X, 5), agglomerate(X, 5))


def test_a_far_sample_keeps_its_neighbours():
    X = np.concatenate([np.random.default_rng(0).normal(size=(50, 2)), [[1e6, 1e6]]])
    graph = neighbor_graph(X, 5)
    np.testing.assert_allclose(graph.sum(axis=1), 1)
    assert graph.nnz == 51 * 5


def test_gains_kept_up_by_merges_equal_gains_counted_anew():
    X = np.random.default_rng(5).normal(size=(80, 3))
    graph = neighbor_graph(X, 6)
    forest = Forest(graph, np.arange(80))
    for _ in zip(range(60), forest.merges(2), strict=False):
        pass
    W, owner = graph.toarray(), np.array(forest.owner)
    for a in set(owner.tolist()):
        out, into = W[owner == a].sum(0), W[:, owner == a].sum(1)
        for b in set(owner.tolist()) - {a}:
            expected = (out * into)[owner == b].sum()
            assert forest.gain[a].get(b, 0.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 must be between 1"),
        ({"n_clusters": 6}, "n_samples=5"),
        ({"n_clusters": 2, "n_neighbors": 0}, "n_neighbors=0"),
        ({"n_clusters": 2, "min_share": 2}, "min_share=2"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        agglomerate(np.eye(5), **arguments)


@pytest.mark.parametrize("arguments", [{"n_clusters": 2.5}, {"n_clusters": 2, "n_neighbors": 1.5}])
def test_numbers_must_be_whole(arguments):
    with pytest.raises(TypeError, match="must be a whole number"):
        agglomerate(np.eye(5), **arguments)


def test_many_copies_of_few_samples_are_quickly_divided():
    X = np.repeat(np.random.default_rng(0).normal(size=(8, 3)), 500, axis=0)
    assert len(set(agglomerate(X, 10).tolist())) == 10


def test_nan_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        agglomerate(np.array([[0.0], [np.nan], [1.0]]), 2)


def test_the_graph_of_the_clusters_is_the_one_of_the_neighbours(blobs):
    X, _ = blobs
    labels, graph, _ = clusters_and_graph(X, 4)
    np.testing.assert_array_equal(labels, agglomerate(X, 4))
    expected = neighbor_graph(X, usual_neighbors(len(X), 4))
    np.testing.assert_array_equal(graph.indices, expected.indices)  # nearest first, still
    np.testing.assert_array_equal(graph.data, expected.data)
    assert clusters_and_graph(X, 1)[1] is None
