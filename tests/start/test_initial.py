import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from infomeans.start import find_start, kmeans, soft_kmeans


@pytest.mark.parametrize("init", ["graph", "kmeans", "soft_kmeans"])
def test_every_start_finds_blobs_and_is_a_function_of_the_seed(init, blobs):
    X, classes = blobs
    first, second = (find_start(X, 4, init, seed=0).labels for _ in range(2))
    assert adjusted_rand_score(classes, first) == 1
    np.testing.assert_array_equal(first, second)
    assert first.numpy().dtype == np.int64


def test_soft_kmeans_gets_softer_with_lambda(blobs):
    X = blobs[0] / 10
    q = [soft_kmeans(X, X[:4], lam=lam).max(axis=1).mean() for lam in (1e-4, 1.0)]
    assert q[0] > q[1]


def test_given_labels_are_taken_as_they_are(blobs):
    X, classes = blobs
    np.testing.assert_array_equal(find_start(X, 4, classes, seed=0).labels, classes)


def test_only_a_start_from_a_graph_has_one(blobs):
    X, classes = blobs
    starts = {init: find_start(X, 4, init, seed=0) for init in ("graph", "kmeans")}
    assert starts["graph"].neighbors.ids.shape == (200, 8)
    np.testing.assert_allclose(starts["graph"].neighbors.weights.sum(dim=1), 1, rtol=1e-6)
    assert starts["kmeans"].neighbors is None
    assert find_start(X, 4, classes, seed=0).neighbors is None


def test_copies_of_few_samples_are_no_reason_to_warn(recwarn):
    assert set(kmeans(np.repeat([[0.0], [1.0]], 5, axis=0), 3, seed=0).labels_) == {0, 1}
    assert not recwarn.list


def test_soft_kmeans_starts_with_soft_targets_of_the_lambda_it_is_given(blobs):
    X = blobs[0] / 10
    soft, hard = (find_start(X, 4, "soft_kmeans", seed=0, lam=lam).targets for lam in (1.0, 1e-6))
    np.testing.assert_allclose(soft.sum(dim=1), 1)
    assert soft.max(dim=1).values.mean() < 0.9 < hard.max(dim=1).values.mean()
    assert find_start(X, 4, "kmeans", seed=0).targets is None
