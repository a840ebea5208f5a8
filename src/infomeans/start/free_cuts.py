"""Cut the graphs of several views without regard to the sizes of clusters."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from infomeans._typing import Array, IntArray
from infomeans.graph.agglomeration import Agglomeration

Names = tuple[str, ...]


class FreeCut(NamedTuple):
    """Clusters of any sizes, and their mean openness."""

    labels: IntArray
    openness: float


def free_cuts(
    trees: Mapping[Names, Agglomeration], inverse_dimensions: Mapping[str, Array]
) -> dict[Names, FreeCut]:
    """The free cuts of the graphs of some views.

    Parameters
    ----------
    trees : mapping of names of views to Agglomeration
        The trees of the graphs.
    inverse_dimensions : mapping of str to (n,) arrays
        One over the intrinsic dimension around each sample, in each view.
    """
    cuts = {}
    for names, tree in trees.items():
        inverse = mean_inverse(inverse_dimensions, names)
        labels = tree.free(inverse)
        cuts[names] = FreeCut(labels, tree.openness(labels, inverse))
    return cuts


def mean_inverse(inverse_dimensions: Mapping[str, Array], names: Names) -> Array:
    """One over the intrinsic dimension, the mean over some views."""
    mean: Array = np.mean([inverse_dimensions[name] for name in names], axis=0)
    return mean
