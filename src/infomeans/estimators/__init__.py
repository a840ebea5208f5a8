"""The scikit-learn face of the library."""

from infomeans.estimators.autoencoder import Autoencoder
from infomeans.estimators.baselines import GraphBaseline, KMeansBaseline
from infomeans.estimators.clusterers import DCN, DEC, DEPICT, MIADM, MID, SRKMeans
from infomeans.estimators.deep import DeepClusterer
from infomeans.estimators.saving import load_model

__all__ = [
    "DCN",
    "DEC",
    "DEPICT",
    "MIADM",
    "MID",
    "Autoencoder",
    "DeepClusterer",
    "GraphBaseline",
    "KMeansBaseline",
    "SRKMeans",
    "load_model",
]
