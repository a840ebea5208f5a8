"""Approximate neighbours against exact ones."""

import sys

import numpy as np
import pytest

from infomeans.graph import approximate, neighbors
from infomeans.graph.neighbors import nearest_neighbors
from infomeans.threads import limited

pytest.importorskip("faiss", exc_type=ImportError)


@pytest.fixture(scope="module", name="X")
def _samples():
    rng = np.random.default_rng(0)
    centres = 3 * rng.normal(size=(12, 8))
    return centres[rng.integers(12, size=6000)] + rng.normal(size=(6000, 8))


@pytest.fixture
def small(monkeypatch):
    """Neighbours are approximate from 1,000 samples on."""
    monkeypatch.setattr(neighbors, "EXACT_SAMPLES", 1000)


def test_nearly_all_neighbours_are_met(X, monkeypatch):
    exact, near = nearest_neighbors(X, 20)
    monkeypatch.setattr(neighbors, "EXACT_SAMPLES", 1000)
    squared, found = nearest_neighbors(X, 20)
    met = [len(np.intersect1d(*rows)) / 20 for rows in zip(near, found, strict=True)]
    assert 0.97 <= np.mean(met) < 1
    assert (squared >= exact * (1 - 1e-4)).all()
    assert (np.diff(squared, axis=1) >= 0).all()


def test_distances_are_those_of_the_samples(X, small):
    squared, found = nearest_neighbors(1e6 + 1e-3 * X, 5)
    expected = 1e-6 * ((X[:, None] - X[found]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, expected, rtol=1e-3)


def test_threads_do_not_matter(X, small):
    results = []
    for threads in (1, 2, 2):
        with limited(threads):
            results.append(nearest_neighbors(X, 10))
    for squared, found in results[1:]:
        np.testing.assert_array_equal(found, results[0][1])
        np.testing.assert_array_equal(squared, results[0][0])


def test_no_sample_is_its_own_neighbour_even_among_copies(X, small):
    copies = np.repeat(X[:100], 30, axis=0)
    squared, found = nearest_neighbors(copies, 20)
    assert (found != np.arange(3000)[:, None]).all()
    assert (found >= 0).all()
    assert all(len(set(row)) == 20 for row in found.tolist())
    assert squared.max() == 0


def test_a_far_group_that_is_smaller_than_asked_for_finds_others(X, small):
    far = np.concatenate([X[:2000], X[:7] + 1e4])
    _, found = nearest_neighbors(far, 20)
    assert (found >= 0).all()
    assert (found[-7:] >= 2000).sum() == 7 * 6


def test_without_faiss_neighbours_are_exact(X, small, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)  # as if it were not installed
    approximate.faiss.cache_clear()
    try:
        found = nearest_neighbors(X[:2000], 5)
    finally:
        approximate.faiss.cache_clear()
    monkeypatch.setattr(neighbors, "EXACT_SAMPLES", 10_000)
    for one, other in zip(found, nearest_neighbors(X[:2000], 5), strict=True):
        np.testing.assert_array_equal(one, other)
