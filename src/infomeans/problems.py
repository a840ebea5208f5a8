"""What can be wrong with clusters, in plain words."""

import math
from collections.abc import Sequence

from infomeans.errors import few

COLLAPSED = 0.95
"""If one cluster holds more than this share of the samples, the clusters have collapsed."""

LOST = 0.5
"""Below this adjusted Rand index to the initial clusters, training has lost them."""


def cluster_problems(sizes: Sequence[int]) -> list[str]:
    """Messages about clusters of these sizes (K,): a collapse, or empty clusters."""
    k, empty = len(sizes), [cluster for cluster, size in enumerate(sizes) if not size]
    largest = max(sizes) / max(sum(sizes), 1)
    if k > 1 and (largest > COLLAPSED or 2 * len(empty) >= k):
        return [
            f"The clusters have collapsed: {k - len(empty)} of {k} are in use, and the largest "
            f"holds {math.floor(100 * largest)}% of the samples. Try another seed, fewer clusters "
            f"or longer pretraining."
        ]
    if empty:
        which = f"Cluster {empty[0]} is" if len(empty) == 1 else f"Clusters {few(empty, 10)} are"
        return [f"{which} empty: fewer clusters may fit these data."]
    return []


def start_problems(agreement: float | None) -> list[str]:
    """Whether training lost its start, by the adjusted Rand index between both."""
    if agreement is None or agreement >= LOST:
        return []
    return [
        f"Training lost the initial clusters: the adjusted Rand index between these and the result "
        f"is {agreement:.2f}. Try a lower learning_rate, or compare with GraphBaseline "
        f"(--method graph)."
    ]
