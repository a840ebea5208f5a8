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
    parts = {
        cluster: [np.isin(whole.leaf, leaves) for leaves in both]
        for cluster, both in whole.parts().items()
    }
    following = next((cluster for cluster, *_ in whole.splits()), None)
    return {
        "merges": [[one, other] for one, other, _ in whole.merges()],
        "parts_next": following,
        "clusters": {
            cluster: {
                "merges_with": partners,
                "sizes": [int(inside.sum()) for inside in parts.get(cluster, [])],
                "parts": [_typical(found, cluster, inside) for inside in parts.get(cluster, [])],
            }
            for cluster, partners in whole.partners().items()
        },
    }


def _typical(found: Findings, cluster: int, inside: Any) -> list[int]:
    """The most typical members of a part."""
    ranked = found.ranked[cluster]
    return ranked[inside[ranked]][:PART_SAMPLES].tolist()
