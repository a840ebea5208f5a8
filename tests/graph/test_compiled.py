"""The compiled merges are those of the plain ones."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from infomeans.graph import agglomerate, neighbor_graph, tree
from infomeans.graph.tree import Forest, connected_merges, first_clusters, reach

compiled = pytest.importorskip("infomeans.graph.compiled")


def both(graph, start, n_clusters):
    found = compiled.merges(start, *reach(graph, start), n_clusters)
    return list(Forest(graph, start).merges(n_clusters)), [tuple(row) for row in found.tolist()]


def samples(kind, rng):
    n = int(rng.integers(3, 300))
    X = rng.normal(size=(n, int(rng.integers(1, 6))))
    if kind == "ties":
        return np.round(X)
    if kind == "copies":
        return X[rng.integers(0, max(n // 4, 1), n)]
    if kind == "far apart":
        return X + 1e4 * rng.integers(0, 8, (n, 1))
    return X


@pytest.mark.parametrize("kind", ["normal", "ties", "copies", "far apart"])
def test_the_tree_of_neighbours_is_the_same(kind):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = samples(kind, rng)
        graph = neighbor_graph(X, int(rng.integers(1, 25)))
        start = first_clusters(graph, 1) if seed % 2 else np.arange(len(X))
        plain, quick = both(graph, start, 1 + seed % 3)
        assert plain == quick


def test_the_tree_of_any_weights_is_the_same():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 200))
        graph = sparse.random_array((n, n), density=0.1, rng=rng, format="csr")
        graph.data = np.round(4 * graph.data) / 4  # ties, and edges of weight zero
        plain, quick = both(graph, np.arange(n), 1)
        assert plain == quick


def test_a_hub_that_all_others_point_to_is_merged_alike():
    n = 500
    graph = neighbor_graph(np.random.default_rng(0).normal(size=(n, 2)), 5).tolil()
    graph[:, 0] = 0.3
    graph[0, :] = 0.001
    plain, quick = both(graph.tocsr(), np.arange(n), 1)
    assert len(plain) == n - 1
    assert plain == quick


def test_no_paths_are_no_merges():
    nothing = sparse.csr_array((4, 4))
    assert both(nothing, np.arange(4), 1) == ([], [])


@pytest.fixture
def plain_calls(monkeypatch):
    """How often merges were plain."""
    calls, plain = [], Forest.merges

    def watched(self, n_clusters):
        calls.append(n_clusters)
        return plain(self, n_clusters)

    monkeypatch.setattr(Forest, "merges", watched)
    return calls


def test_many_samples_are_merged_by_compiled_code(monkeypatch, plain_calls, blobs):
    X, _ = blobs
    plain = agglomerate(X, 4)
    assert plain_calls
    plain_calls.clear()
    monkeypatch.setattr(tree, "WORTH_COMPILING", 2)
    np.testing.assert_array_equal(agglomerate(X, 4), plain)
    assert not plain_calls


def test_without_numba_merges_are_plain(monkeypatch, plain_calls, blobs):
    graph = neighbor_graph(blobs[0], 8)
    start = first_clusters(graph, 4)
    monkeypatch.setattr(tree, "WORTH_COMPILING", 2)
    expected = connected_merges(graph, start, 4)
    monkeypatch.delitem(sys.modules, "infomeans.graph.compiled")
    monkeypatch.setitem(sys.modules, "numba", None)  # as if it were not installed
    tree._compiled.cache_clear()
    try:
        assert connected_merges(graph, start, 4) == expected
    finally:
        tree._compiled.cache_clear()
    assert plain_calls == [4]


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path):
    """Numba refuses to cache if no folder can be written; the code must compile all the same."""
    code = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []
from infomeans.graph import compiled
print(type(compiled._place._cache).__name__)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.strip() == "NullCache", done.stderr
