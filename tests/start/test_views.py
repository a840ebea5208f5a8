"""The views of the samples."""

import numpy as np
import pytest

from infomeans.start.views import COMPONENTS, View, view_names


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_only_views_that_differ_are_named(rng):
    table = rng.normal(size=(40, 4)) * [1, 10, 100, 1000]
    assert view_names(table, table=True) == ["data", "standardised", "directions"]
    assert view_names(table, table=False) == ["data", "directions"]
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    assert view_names(unit, table=False) == ["data"]
    assert view_names(table[:, :1], table=True) == ["data"]
    assert view_names(table[:, :2], table=False) == ["data"]
    assert view_names(np.ones((5, 4)), table=True) == ["data"]


def test_standardised_columns_weigh_the_same_and_constant_ones_nothing(rng):
    X = np.column_stack([rng.normal(size=200), 1e6 * rng.normal(size=200), np.full(200, 7.0)])
    spread = View("standardised", X)(X).std(axis=0)
    np.testing.assert_allclose(spread[:2], spread[0])
    assert spread[2] == 0


def test_directions_ignore_the_length_of_a_sample(rng):
    X = rng.normal(size=(60, 5)) + 1
    longer = X * rng.uniform(0.1, 10, size=(60, 1))
    np.testing.assert_allclose(View("directions", X)(X), View("directions", longer)(longer))


def test_images_have_at_most_fifty_features_and_blocks_do_not_change_them(rng):
    X = rng.integers(0, 255, size=(120, 9, 9)).astype(np.uint8)
    view = View("data", X)
    assert view(X).shape == (120, COMPONENTS)
    parts = np.concatenate([view(part) for part in np.array_split(X, 7)])
    np.testing.assert_allclose(parts, view(X), atol=1e-10)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_large_and_very_small_numbers_are_no_problem(rng, scale):
    X = rng.normal(size=(50, 4))
    for name in view_names(X, table=True):
        np.testing.assert_allclose(View(name, scale * X)(scale * X), View(name, X)(X), atol=1e-9)


def test_surrogates_have_the_covariance_of_the_view_and_no_clusters(rng):
    X = rng.normal(size=(4000, 2)) + np.repeat([[-4, 0], [4, 0]], 2000, axis=0)
    view = View("data", X)
    (surrogate,) = view.surrogates(X, rng)
    found = np.sort(np.linalg.eigvalsh(np.cov(surrogate.T)))[-2:]
    expected = np.linalg.eigvalsh(np.cov(view(X).T))
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), atol=0.02)
    first = surrogate[:, 0] / surrogate[:, 0].std()
    # Two groups would leave the middle empty.
    assert (np.abs(first) < 0.5).mean() > 0.3


def test_directions_are_compared_with_those_of_gaussian_samples_too(rng):
    X = rng.normal(size=(500, 2))
    own, of_gaussian = View("directions", X).surrogates(X, rng)
    lengths = np.linalg.norm(of_gaussian - of_gaussian.mean(axis=0), axis=1)
    assert lengths.std() < 0.1 * lengths.mean() < np.linalg.norm(own, axis=1).std()
