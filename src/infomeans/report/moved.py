"""The samples that lie in other clusters of another run, with pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from infomeans._typing import Array, IntArray

GROUPS, SAMPLES = 12, 18
"""Most groups of samples for each pair of runs, and samples shown of each."""

Cells = list[tuple[int, int, int]]


def flow(a: IntArray, b: IntArray) -> Cells:
    """Number of samples in each pair of clusters of two runs."""
    counts = contingency_matrix(a, b, sparse=True).tocoo()
    rows, columns = np.unique(a)[counts.row], np.unique(b)[counts.col]
    return [
        (int(r), int(c), int(n)) for r, c, n in zip(rows, columns, counts.data, strict=True) if n
    ]


def matching(cells: Cells) -> dict[int, int]:
    """The cluster of the second run that stands for each of the first: most samples stay."""
    firsts, seconds = sorted({cell[0] for cell in cells}), sorted({cell[1] for cell in cells})
    table = np.zeros((len(firsts), len(seconds)))
    for a, b, count in cells:
        table[firsts.index(a), seconds.index(b)] = count
    pairs = zip(*linear_sum_assignment(-table), strict=True)
    return {firsts[a]: seconds[b] for a, b in pairs if table[a, b]}


def moved(
    clusters: Sequence[IntArray], confidences: Sequence[Array], a: int, b: int
) -> dict[str, Any]:
    """How many samples moved between two runs, and the groups of them, the largest first.

    Of each group those samples come first of which both runs are most certain.
    """
    cells = flow(clusters[a], clusters[b])
    partner = matching(cells)
    away = sorted((c for c in cells if partner.get(c[0]) != c[1]), key=lambda cell: -cell[2])
    certain = np.minimum(confidences[a], confidences[b])
    groups = []
    for first, second, count in away[:GROUPS]:
        inside = np.flatnonzero((clusters[a] == first) & (clusters[b] == second))
        best = inside[np.argsort(-certain[inside], kind="stable")][:SAMPLES]
        groups.append({"a": first, "b": second, "count": count, "samples": best.tolist()})
    return {
        "from": a,
        "to": b,
        "cells": cells,
        "partner": partner,
        "count": sum(count for *_, count in away),
        "kinds": len(away),
        "groups": groups,
    }
