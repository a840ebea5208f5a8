"""The methods by name. Nothing here imports torch until a method is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infomeans.methods.base import Method

_PAPER = (
    "Jabi, Pedersoli, Mitiche, Ben Ayed: Deep clustering: on the link between discriminative "
    "models and K-means. IEEE TPAMI 43(6), 2021"
)


@dataclass(frozen=True)
class MethodInfo:
    """Names, summary and citation of a method."""

    slug: str
    estimator: str
    path: str
    summary: str
    citation: str

    def load(self) -> type[Method]:
        """The class that implements the method."""
        module, name = self.path.split(":")
        return getattr(import_module(f"infomeans.methods.{module}"), name)


METHODS = {
    info.slug: info
    for info in (
        MethodInfo(
            "mi-adm",
            "MIADM",
            "mi_adm:MIADMMethod",
            "mutual information, maximised by an alternating direction method",
            _PAPER,
        ),
        MethodInfo(
            "sr-kmeans",
            "SRKMeans",
            "sr_kmeans:SRKMeansMethod",
            "soft and regularised K-means on the embedding",
            _PAPER,
        ),
        MethodInfo(
            "mi-pairs",
            "MIPairs",
            "mi_pairs:MIPairsMethod",
            "mutual information between the clusters of neighbours",
            "Ji, Henriques, Vedaldi: Invariant information clustering for unsupervised image "
            "classification and segmentation. ICCV 2019",
        ),
        MethodInfo(
            "depict",
            "DEPICT",
            "depict:DEPICTMethod",
            "relative entropy to targets, with balanced clusters",
            "Ghasedi Dizaji, Herandi, Deng, Cai, Huang: Deep clustering via joint convolutional "
            "autoencoder embedding and relative entropy minimization. ICCV 2017",
        ),
        MethodInfo(
            "mi-d",
            "MID",
            "mi_direct:MIDirectMethod",
            "mutual information, maximised directly by gradient steps",
            "Krause, Perona, Gomes: Discriminative clustering by regularized information "
            "maximization. NIPS 2010",
        ),
        MethodInfo(
            "dec",
            "DEC",
            "dec:DECMethod",
            "Student's t posteriors, sharpened towards their own targets; IDEC with a decoder",
            "Xie, Girshick, Farhadi: Unsupervised deep embedding for clustering analysis. "
            "ICML 2016",
        ),
        MethodInfo(
            "dcn",
            "DCN",
            "dcn:DCNMethod",
            "hard K-means on the embedding, with centroids updated after every batch",
            "Yang, Fu, Sidiropoulos, Hong: Towards K-means-friendly spaces: simultaneous deep "
            "learning and clustering. ICML 2017",
        ),
    )
}


AUTO = MethodInfo(
    "auto",
    "InfoMeans",
    "",
    "chooses the start, and mi-adm or mi-pairs, without labels",
    _PAPER,
)


BASELINES = {
    info.slug: info
    for info in (
        MethodInfo(
            "kmeans",
            "KMeansBaseline",
            "",
            "baseline: K-means on the scaled data, with no network",
            "Lloyd: Least squares quantization in PCM. IEEE Transactions on Information Theory "
            "28(2), 1982",
        ),
        MethodInfo(
            "graph",
            "GraphBaseline",
            "",
            "baseline: agglomeration on the graph of nearest neighbours, with no network",
            "Zhang, Zhao, Wang: Agglomerative clustering via maximum incremental path integral. "
            "Pattern Recognition 46(11), 2013",
        ),
    )
}


DEEP = {AUTO.slug: AUTO} | METHODS
"""All that train a network."""

ESTIMATORS = (*(info.estimator for info in (DEEP | BASELINES).values()), "Autoencoder")
"""Names of all estimators."""


def find_method(slug: str) -> MethodInfo:
    """The method of this name."""
    if slug not in METHODS:
        raise ValueError(f"method={slug!r} is unknown; choose one of {', '.join(METHODS)}.")
    return METHODS[slug]
