"""How the clusters of a run would merge and part."""

from __future__ import annotations

from typing import Any

import numpy as np

from infomeans.report.findings import Findings

PART_SAMPLES = 10
"""Number of typical samples to show of each part."""


def tree(found: Findings) -> dict[str, Any] | None:
    """The merges of the clusters, and the parts of each; None if the run has no tree."""
    whole = found.run.tree
    if whole is None or whole.n_clusters < 2:
        return None
    parts = whole.parts()
    following = next((cluster for cluster, *_ in whole.splits()), None)
    return {
        "merges": [[one, other] for one, other, _ in whole.merges()],
        "parts_next": following,
        "clusters": {
            cluster: {
                "merges_with": partners,
                "sizes": [int(whole.sizes[leaves].sum()) for leaves in parts.get(cluster, [])],
                "parts": [_typical(found, cluster, leaves) for leaves in parts.get(cluster, [])],
            }
            for cluster, partners in whole.partners().items()
        },
    }


def _typical(found: Findings, cluster: int, leaves: list[int]) -> list[int]:
    """The most typical members of a part."""
    assert found.run.tree is not None
    ranked = found.ranked[cluster]
    inside = np.isin(found.run.tree.leaf[ranked], leaves)
    return ranked[inside][:PART_SAMPLES].tolist()
