"""The clusterer that chooses start and method by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infomeans.estimators.deep_clusterer import DeepClusterer
from infomeans.methods import find_method
from infomeans.problems import UNSTABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from infomeans.graph.number import Automatic
    from infomeans.methods.base import Method
    from infomeans.start import Start

HOLDING, MOVING = "mi-adm", "mi-pairs"


@dataclass(eq=False, repr=False, kw_only=True)
class InfoMeans(DeepClusterer):
    """Choose the start and the method without labels, then train.

    The start is chosen by the mutual information between the clusters of neighbours. If other
    starts agree with it, MI-ADM trains the network and holds on to it. If they do not, MI-Pairs
    trains it: it maximises the same information and may move far from the start. If the clusters
    get clearly worse by that information, training goes back.

    The parameters not listed here are those of `DeepClusterer`.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; by default it is found.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from infomeans import InfoMeans
    >>> X, _ = make_blobs(n_samples=90, centers=3, random_state=0)
    >>> model = InfoMeans(n_clusters=3, pretrain_epochs=2, epochs=2, random_state=0).fit(X)
    >>> model.fitted_.method
    'mi-adm'
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    """

    n_clusters: int | Automatic = field(default="auto", kw_only=False)

    method = HOLDING

    def _method_for(self, start: Start | None) -> str:
        stability = None if start is None else start.stability
        unstable = stability is not None and float(stability.mean()) < UNSTABLE
        return MOVING if unstable else HOLDING

    def _method_class(
        self, slug: str | None = None, tensors: Mapping[str, Tensor] | None = None
    ) -> type[Method]:
        if tensors is not None:
            # Only MI-Pairs keeps the joint distribution of neighbours.
            slug = MOVING if "joint" in tensors else HOLDING
        return find_method(slug or HOLDING).load()
