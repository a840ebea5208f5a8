"""What a deep method has to beat: K-means and graph agglomeration on the data themselves."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.base import _fit_context
from torch import Tensor, nn

from infomeans import functional as IF
from infomeans.data.scaling import Scaling
from infomeans.estimators.base import POSITIVE_INT, SampleClusterer
from infomeans.graph import agglomerate, usual_neighbors
from infomeans.initial import kmeans
from infomeans.networks import Identity
from infomeans.threads import allowed, limited

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from infomeans._typing import Array


@dataclass(eq=False, repr=False, kw_only=True)
class Baseline(SampleClusterer):
    """Clusters of the scaled samples, with no network."""

    embeddings: bool = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SampleClusterer._parameter_constraints,
        "embeddings": ["boolean"],
    }

    def _scaling(self, X: NDArray[Any]) -> Scaling:
        return Scaling.of_embeddings(X) if self.embeddings and X.ndim == 2 else super()._scaling(X)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the clusters of X; y is ignored."""
        samples = self._read(X, reset=True)
        self._check(samples)
        self.scaling_ = self._scaling(samples)
        self.network_ = Identity()
        self.history_: list[dict[str, Any]] = []
        self._fitted_params = self.get_params(deep=False)
        with limited(self.n_threads):
            self.n_threads_ = allowed()
            x = self._scaled(samples, self.scaling_, torch.device("cpu")).contiguous()
            scaled = x.flatten(1)
            self._n_features_out = scaled.shape[1]
            self.method_ = self._cluster(x).eval()
        self.embedding_, self.labels_, self.confidences_ = self._assign(X)
        one_hot = np.eye(self.n_clusters)[self.labels_]
        sizes = np.maximum(one_hot.sum(axis=0), 1)
        self.cluster_centers_: Array = (one_hot.T @ scaled.numpy()) / sizes[:, None]
        return self

    @abstractmethod
    def _cluster(self, x: Tensor) -> nn.Module:
        """What gives flat samples to the clusters of these, (n, d) or (n, c, h, w)."""


@dataclass(eq=False, repr=False, kw_only=True)
class KMeansBaseline(Baseline):
    """K-means on the scaled samples, by scikit-learn.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Starts, of which the best counts.
    embeddings : bool
        Whether the samples are embeddings, whose features are not standardised one by one.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_, cluster_centers_ : arrays
    """

    n_init: int = 10

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Baseline._parameter_constraints,
        "n_init": [POSITIVE_INT],
    }

    def _cluster(self, x: Tensor) -> nn.Module:
        scaled = x.flatten(1)
        found = kmeans(scaled.numpy(), self.n_clusters, seed=self._seed(), n_init=self.n_init)
        method = Mixture(self.n_clusters, scaled.shape[1])
        method.prototypes.copy_(torch.as_tensor(found.cluster_centers_))
        method.variance.fill_(found.inertia_ / scaled.numel())
        return method

    def _empty_method(self, tensors: Mapping[str, Tensor]) -> nn.Module:
        return Mixture(*tensors["prototypes"].shape)


@dataclass(eq=False, repr=False, kw_only=True)
class GraphBaseline(Baseline):
    """Graph agglomeration on the scaled samples.

    A new sample belongs to the cluster of its nearest neighbour among those seen in fit, by plain
    distance, and the model therefore keeps them.

    Parameters
    ----------
    n_clusters : int
    n_neighbors : int, optional
        By default the square root of the mean size of a cluster, from 8 to 20.
    augment : bool
        Whether to measure distances that turns, scalings, shears and shifts cannot undo, if that
        makes clearer clusters (`infomeans.graph.tangent_graph`). It assumes that such changes
        leave an image what it is.
    embeddings : bool
        Whether the samples are embeddings, whose features are not standardised one by one.

    Attributes
    ----------
    labels_, cluster_centers_ : arrays
    """

    n_neighbors: int | None = None
    augment: bool = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Baseline._parameter_constraints,
        "n_neighbors": [POSITIVE_INT, None],
        "augment": ["boolean"],
    }

    def _cluster(self, x: Tensor) -> nn.Module:
        scaled = x.flatten(1)
        labels = agglomerate(
            scaled.numpy(),
            self.n_clusters,
            n_neighbors=self.n_neighbors,
            images=x.numpy() if self.augment else None,
        )
        method = self._votes(*scaled.shape)
        method.samples.copy_(scaled)
        method.labels.copy_(torch.as_tensor(labels))
        return method

    def _empty_method(self, tensors: Mapping[str, Tensor]) -> nn.Module:
        return self._votes(*tensors["samples"].shape)

    def _votes(self, n_samples: int, n_features: int) -> Votes:
        n_neighbors = self.n_neighbors or usual_neighbors(n_samples, self.n_clusters)
        return Votes(self.n_clusters, n_samples, n_features, n_neighbors=n_neighbors)


class Mixture(nn.Module):
    """Posteriors of the mixture of Gaussians with one variance that K-means stands for."""

    prototypes: Tensor
    variance: Tensor

    def __init__(self, n_clusters: int, n_features: int) -> None:
        super().__init__()
        self.register_buffer("prototypes", torch.zeros(n_clusters, n_features))
        self.register_buffer("variance", torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        """The posteriors (n, K)."""
        temperature = (2 * self.variance).clamp_min(1e-12)
        return IF.log_softmin(x.flatten(1), self.prototypes, temperature).exp()


class Votes(nn.Module):
    """Shares of the clusters among the nearest samples; the nearest has half of the votes."""

    samples: Tensor
    labels: Tensor

    def __init__(
        self, n_clusters: int, n_samples: int, n_features: int, *, n_neighbors: int
    ) -> None:
        super().__init__()
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.register_buffer("samples", torch.zeros(n_samples, n_features))
        self.register_buffer("labels", torch.zeros(n_samples, dtype=torch.long))

    def forward(self, x: Tensor) -> Tensor:
        """The shares (n, K)."""
        x = x.flatten(1)
        count = min(self.n_neighbors, len(self.samples))
        # In double precision, for inner products are too coarse to tell a sample from a near copy.
        x, samples = x.double(), self.samples.double()
        distances = samples.square().sum(dim=1) - 2 * x @ samples.T
        near = distances.topk(count, largest=False).indices
        votes = F.one_hot(self.labels[near], self.n_clusters).to(self.samples)
        return (votes[:, 0] + votes.mean(dim=1)) / 2
