import numpy as np
import pytest
from safetensors.torch import load_file
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import infomeans
from infomeans import GraphBaseline, KMeansBaseline
from infomeans.metrics import accuracy

BASELINES = [KMeansBaseline, GraphBaseline]


# The baselines share what this checks.
@parametrize_with_checks([GraphBaseline()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", BASELINES)
def test_images_and_vectors_are_clustered(cls, stripes, blobs):
    for (X, classes), k in ((stripes, 3), (blobs, 4)):
        model = cls(k, random_state=0).fit(X)
        assert adjusted_rand_score(classes, model.labels_) > 0.95
        assert np.array_equal(model.labels_, model.predict(X))
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
        assert model.cluster_centers_.shape == (k, X[0].size)
        assert np.array_equal(model.transform(X), model.embedding_)
        assert model.set_output(transform="pandas").transform(X).shape == (len(X), X[0].size)


def test_a_new_sample_joins_its_nearest_neighbour(blobs):
    X, _ = blobs
    model = GraphBaseline(4).fit(X[:150])
    distances = ((X[150:, None] - X[None, :150]) ** 2).sum(axis=2)
    assert np.array_equal(model.predict(X[150:]), model.labels_[distances.argmin(axis=1)])


@pytest.mark.parametrize("cls", BASELINES)
@pytest.mark.parametrize("n", [3, 20])
def test_duplicates_give_no_nan(cls, n):
    model = cls(3, random_state=0).fit(np.repeat([[0.0], [1.0], [2.0]], n // 3 + 1, axis=0))
    assert np.isfinite(model.predict_proba([[0.0], [50.0]])).all()


def test_a_graph_that_knows_images_may_be_moved_finds_more_and_keeps_its_word():
    digits = load_digits()
    plain, moved = (GraphBaseline(10, augment=x).fit(digits.images) for x in (False, True))
    np.testing.assert_array_equal(moved.predict(digits.images), moved.labels_)
    assert accuracy(digits.target, moved.labels_) > accuracy(digits.target, plain.labels_) + 0.03


def test_vectors_cannot_be_moved(blobs):
    with pytest.raises(ValueError, match=r"augment=True .* needs images"):
        GraphBaseline(4, augment=True).fit(blobs[0])


@pytest.mark.parametrize("cls", [GraphBaseline, KMeansBaseline])
def test_of_many_features_a_baseline_keeps_principal_components(cls, tmp_path):
    rng = np.random.default_rng(0)
    classes = np.arange(300) % 3
    images = rng.normal(0, 0.1, (300, 20, 20)) + np.eye(20)[classes * 6][:, None]
    model = cls(3, random_state=0).fit(images)
    assert model._embedding_to_keep().shape == (300, 64)
    assert adjusted_rand_score(classes, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(images), model.labels_)
    model.save(tmp_path / "model")
    weights = load_file(next((tmp_path / "model").glob("*.safetensors")))
    kept = sum(t.nbytes for name, t in weights.items() if not name.startswith("strangeness."))
    assert kept < images.astype(np.float32).nbytes * 0.5
    loaded = infomeans.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(images), model.labels_)
