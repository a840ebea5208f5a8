"""Choose the initial clusters among several candidates, without labels.

The sign is the mutual information between the clusters of neighbours (`neighbor_information`). It
is measured in every view of the samples, for every candidate, and summed with a weight per view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from infomeans._typing import Array, IntArray
from infomeans.graph import mixed_graph, neighbor_information, usual_neighbors
from infomeans.graph.agglomeration import Agglomeration, Sizes
from infomeans.graph.neighbors import (
    DIMENSION_NEIGHBORS,
    inverse_dimensions,
    nearest_neighbors,
    strongest,
    weighted_graph,
)
from infomeans.methods.state import Neighbors
from infomeans.start.candidates import Candidate, Choice, Way
from infomeans.start.initial import Start, kmeans
from infomeans.start.score import Score
from infomeans.start.views import EMBEDDING, View, view_names

MOST_SAMPLES, PER_CLUSTER = 6_000, 60
"""The choice looks at no more samples, in all or per cluster; the chosen way clusters all."""

RUNS = 20
"""Number of runs of K-means for a candidate; the one with the highest score is kept."""

NEAREST = 4
"""Number of neighbours on which graphs are compared with each other."""

CLEAR_LEAD = 0.02
"""Lead that a graph needs over K-means, as a share of log K: it has seen half of the edges."""

DIGITS = 9
"""Scores are compared to so many digits: rounding must not decide among equal candidates."""

Views = Mapping[str, Array]
Clusterings = dict[tuple[Way, tuple[str, ...]], IntArray]


def choose(
    views: Views,
    unclustered: Mapping[str, Sequence[Array]],
    n_clusters: int,
    *,
    seed: int,
    sizes: Sizes = "equal",
) -> Choice:
    """Cluster the views in several ways and order the results by their neighbour information.

    Candidates are the graph and K-means on every view, and the graph on every pair of views. Of
    several runs of K-means the one with the highest information in its view is a candidate.

    The information is measured on twice as many neighbours as a graph has, so that half of the
    edges are new to it. K-means is chosen unless a graph leads clearly. Of the graphs that are not
    clearly behind, the one with the most information on the four nearest neighbours is chosen:
    these belong together most often. A mixed graph must lead a little, and so must clusters that
    are more open.

    All are compared with clusters of similar sizes, which the information favours. If these part
    groups, all graphs are cut once more, without regard to sizes, and the most closed clusters are
    chosen.

    A view is weighted by the square of its gap: the highest information in it, minus that of
    K-means on samples without clusters. In few dimensions neighbours nearly always share a cluster,
    which means nothing.

    Parameters
    ----------
    views : mapping of str to (n, d) arrays
        The same samples in several spaces.
    unclustered : mapping of str to lists of (n, d) arrays
        What each view would show of samples without clusters; the most information counts.
    n_clusters : int
        Number of clusters, at least 2.
    seed : int
        Seed of K-means.
    sizes : {"auto", "equal", "free"}
        Whether clusters have similar sizes; see `Agglomeration.parts_groups`.
    """
    n = len(next(iter(views.values())))
    count = min(usual_neighbors(n, n_clusters), n - 1)
    found = {name: nearest_neighbors(z, 2 * count) for name, z in views.items()}
    graphs, wider, nearest = (
        {name: _first(near, width) for name, near in found.items()}
        for width in (count, 2 * count, NEAREST)
    )
    trees = {
        names: Agglomeration(
            views[names[0]], mixed_graph([graphs[name] for name in names]), n_clusters
        )
        for names in (*((name,) for name in views), *combinations(views, 2))
    }
    clusters: Clusterings = {("graph", names): tree.equal() for names, tree in trees.items()}
    for name, z in views.items():
        clusters["kmeans", (name,)] = _kmeans(z, wider[name], n_clusters, seed)
    information = [
        {name: neighbor_information(graph, labels) for name, graph in wider.items()}
        for labels in clusters.values()
    ]
    weights = _weights(
        {
            name: max(one[name] for one in information)
            - max(_by_chance(z, n_clusters, 2 * count, seed) for z in spaces)
            for name, spaces in unclustered.items()
        }
    )

    inverse = {name: inverse_dimensions(squared) for name, (squared, _) in found.items()}
    means = {names: np.mean([inverse[name] for name in names], axis=0) for names in trees}

    def scored(clusters: Clusterings) -> list[Candidate]:
        return [
            Candidate(
                way,
                names,
                labels,
                score=round(_mean(wider, labels, weights), DIGITS),
                near=round(_mean(nearest, labels, weights), DIGITS),
                openness=(
                    round(trees[names].openness(labels, means[names]), DIGITS)
                    if way == "graph"
                    else 0.0
                ),
            )
            for (way, names), labels in clusters.items()
        ]

    ordered = _ordered(scored(clusters), float(np.log(n_clusters)))
    is_free = sizes == "free"
    if sizes == "auto":
        # K-means is compared with the best graph. Twice as many neighbours must confirm it.
        own = next(one for one in ordered if one.way == "graph").views
        wide = Agglomeration(views[own[0]], mixed_graph([wider[name] for name in own]), n_clusters)
        given = ordered[0].labels if ordered[0].way == "kmeans" else None
        is_free = trees[own].parts_groups(means[own], given) and wide.parts_groups(
            means[own], given, confirms=True
        )
    if is_free:
        clusters |= {("graph", names): tree.free(means[names]) for names, tree in trees.items()}
        again = scored(clusters)
        closed = min((one for one in again if one.way == "graph"), key=lambda one: one.openness)
        ordered = sorted(again, key=lambda one: (one is not closed, -one.score))
    graph = mixed_graph([graphs[name] for name in ordered[0].views])
    neighbors = {name: Neighbors.of_graph(own) for name, own in wider.items()}
    return Choice(ordered, weights, graph, neighbors, is_free)


def _ordered(candidates: list[Candidate], most: float) -> list[Candidate]:
    """The chosen candidate, then the others by their score.

    Leads are shares of the most information there can be.
    """
    clear_lead = CLEAR_LEAD * most
    graphs = [one for one in candidates if one.way == "graph"]
    highest = max(one.score for one in graphs)
    plain = max((one for one in candidates if one.way == "kmeans"), key=lambda one: one.score)
    level = (one for one in graphs if one.score >= highest - clear_lead)
    chosen = plain
    if plain.score < highest - clear_lead:
        chosen = max(level, key=lambda one: one.near - most * one.cost)
    return sorted(candidates, key=lambda one: (one is not chosen, -one.score))


def _first(near: tuple[Array, IntArray], count: int) -> sparse.csr_array:
    """The graph of the first neighbours."""
    return weighted_graph(near[0][:, :count], near[1][:, :count])


def choose_start(
    samples: Callable[[IntArray], NDArray[Any]],
    z: Array,
    n_clusters: int,
    *,
    seed: int,
    table: bool = False,
    embedded: bool = False,
    sizes: Sizes = "equal",
) -> Start:
    """Choose the initial clusters in the raw samples and their embedding.

    Parameters
    ----------
    samples : callable
        Returns the raw samples (m, ...) at some positions.
    z : (n, d) array
        The embedding of all samples.
    n_clusters : int
        Number of clusters.
    seed : int
        Seed of K-means, and of the samples to look at if there are very many.
    table : bool
        Whether features are columns of a table.
    embedded : bool
        Whether the embedding is the raw samples, scaled. It is then no view of its own.
    sizes : {"auto", "equal", "free"}
        Whether clusters have similar sizes; see `choose`.
    """
    some, everything = _some(len(z), n_clusters, seed), np.arange(len(z))
    raw, rng = samples(some), np.random.default_rng(seed)
    seen = dict.fromkeys(view_names(raw, table=table), raw)
    if not embedded:
        seen[EMBEDDING] = z[some]
    views = {name: View(name, part) for name, part in seen.items()}
    choice = choose(
        {name: view(seen[name]) for name, view in views.items()},
        {name: view.surrogates(seen[name], rng) for name, view in views.items()},
        n_clusters,
        seed=seed,
        sizes=sizes,
    )
    labels, graph, stability = choice.best.labels, choice.graph, choice.stability()
    if len(some) < len(z):

        def whole(name: str) -> Array:
            parts = np.array_split(everything, -(-len(z) // MOST_SAMPLES))
            take = z.__getitem__ if name == EMBEDDING else samples
            return np.concatenate([views[name](take(part)) for part in parts])

        spaces = [whole(name) for name in choice.best.views]
        labels, graph = _all_clusters(choice, spaces, some, n_clusters)
        nearest = NearestNeighbors(n_neighbors=1).fit(z[some])
        stability = stability[nearest.kneighbors(z, return_distance=False)[:, 0]]
    count = int(np.diff(graph.indptr).min())
    return Start(
        torch.as_tensor(labels),
        neighbors=Neighbors.of_graph(strongest(graph, count)),
        choice=choice.as_dict(),
        stability=torch.as_tensor(stability.astype(np.float32)),
        score=Score(choice.neighbors, choice.weights, torch.as_tensor(some)),
        free=choice.free,
    )


def _some(n: int, n_clusters: int, seed: int) -> IntArray:
    """Positions of the samples to look at: all, or a random selection."""
    most = max(MOST_SAMPLES, PER_CLUSTER * n_clusters)
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def _all_clusters(
    choice: Choice, spaces: Sequence[Array], some: IntArray, n_clusters: int
) -> tuple[IntArray, sparse.csr_array]:
    """Clusters of all samples, found in the chosen way, and the graph of the chosen views."""
    best, count = choice.best, usual_neighbors(len(spaces[0]), n_clusters)
    found = [nearest_neighbors(z, max(count, DIMENSION_NEIGHBORS)) for z in spaces]
    graph = mixed_graph([_first(near, count) for near in found])
    if best.way == "graph":
        tree = Agglomeration(spaces[0], graph, n_clusters)
        inverse = [inverse_dimensions(squared) for squared, _ in found]
        return tree.free(np.mean(inverse, axis=0)) if choice.free else tree.equal(), graph
    # Copies leave clusters empty; these start where all samples are.
    members = (best.labels == k for k in range(n_clusters))
    seen = spaces[0][some]
    means = np.stack([seen[own if own.any() else slice(None)].mean(axis=0) for own in members])
    return kmeans(spaces[0], n_clusters, seed=0, init=means).labels_.astype(np.int64), graph


def _kmeans(z: Array, graph: sparse.csr_array, n_clusters: int, seed: int) -> IntArray:
    """The run of K-means whose clusters have the most information between neighbours."""
    seeds = np.random.default_rng(seed).integers(2**31, size=RUNS)
    runs = (kmeans(z, n_clusters, seed=one, n_init=1).labels_.astype(np.int64) for one in seeds)
    return max(runs, key=lambda labels: round(neighbor_information(graph, labels), DIGITS))


def _by_chance(z: Array, n_clusters: int, n_neighbors: int, seed: int) -> float:
    """The information of K-means on samples without clusters."""
    labels = kmeans(z, n_clusters, seed=seed, n_init=1).labels_
    return neighbor_information(weighted_graph(*nearest_neighbors(z, n_neighbors)), labels)


def _mean(
    graphs: Mapping[str, sparse.csr_array], labels: IntArray, weights: Mapping[str, float]
) -> float:
    """The information between neighbours, a weighted mean over the views."""
    return sum(weights[name] * neighbor_information(own, labels) for name, own in graphs.items())


def _weights(gaps: Mapping[str, float]) -> dict[str, float]:
    squares = {name: max(gap, 0.0) ** 2 for name, gap in gaps.items()}
    total = sum(squares.values())
    return {
        name: square / total if total > 0 else 1 / len(gaps) for name, square in squares.items()
    }
