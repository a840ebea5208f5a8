"""Estimators with the scikit-learn interface."""

from typing import TYPE_CHECKING

from infomeans.estimators import clusterers
from infomeans.estimators.autoencoder import Autoencoder
from infomeans.estimators.automatic import InfoMeans
from infomeans.estimators.baselines import GraphBaseline, KMeansBaseline
from infomeans.estimators.clusterers import make_clusterer
from infomeans.estimators.deep_clusterer import DeepClusterer
from infomeans.estimators.saving import load_model
from infomeans.methods import METHODS

__all__ = [
    "Autoencoder",
    "DeepClusterer",
    "GraphBaseline",
    "InfoMeans",
    "KMeansBaseline",
    *(info.estimator for info in METHODS.values()),
    "load_model",
    "make_clusterer",
]

if TYPE_CHECKING:

    def __getattr__(name: str) -> type[DeepClusterer]: ...

else:
    globals().update(clusterers.CLUSTERERS)
