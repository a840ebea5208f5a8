"""Baselines without a network: K-means and graph agglomeration on the scaled data."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.base import _fit_context
from sklearn.decomposition import PCA
from torch import Tensor, nn

from infomeans import functional as IF
from infomeans.data.rows import BLOCK, TensorFeed
from infomeans.estimators.base import POSITIVE_INT, SampleClusterer
from infomeans.graph import agglomerate, usual_neighbors
from infomeans.model import Model, Scaling, Strangeness
from infomeans.networks import Identity
from infomeans.start import kmeans
from infomeans.start.initial import N_INIT
from infomeans.threads import allowed, limited
from infomeans.training import Fitted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import ArrayLike

    from infomeans._typing import Array
    from infomeans.data import Dataset


COMPONENTS = 64
"""Number of principal components to keep if samples have more features."""


@dataclass(eq=False, repr=False, kw_only=True)
class Baseline(SampleClusterer):
    """Base class: clusters the scaled samples, without a network."""

    embeddings: bool = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SampleClusterer._parameter_constraints,
        "embeddings": ["boolean"],
    }

    def _scaling(self, data: Dataset) -> Scaling:
        if len(data.shape) > 1:
            return Scaling.of_images(data)
        return Scaling.of_embeddings(data) if self.embeddings else Scaling.of_table(data)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike | Dataset, y: object = None) -> Self:
        """Find the clusters of X; y is ignored."""
        data, cpu = self._dataset(X, reset=True), torch.device("cpu")
        self._check(data)
        with limited(self.n_threads):
            self.n_threads_ = allowed()
            model = Model(data.shape, self._scaling(data), Identity())
            feed = data.feed(lambda samples: model.prepare(samples, cpu))
            if data.memory.limit is not None and not isinstance(feed, TensorFeed):
                needed = 3.0 * len(data) * data.rows.row_bytes
                raise data.memory.too_small(needed, f"{type(self).__name__}, without a network,")
            x = torch.cat([*feed.blocks()])
            seed, number, n_clusters = self._seed(), None, self.n_clusters
            if n_clusters == "auto":
                number = self._number(x.flatten(1).numpy(), seed)
                n_clusters = number["best"]
            model.method = self._cluster(x.contiguous(), int(n_clusters), seed)
            posteriors = torch.cat([p for _, p in model.outputs(x.split(BLOCK), cpu)])
            model.strangeness, outliers = Strangeness.of(TensorFeed(x))
        scaled = x.contiguous().flatten(1).numpy()
        fitted = Fitted(scaled, posteriors.numpy(), number=number, outliers=outliers)
        one_hot = np.eye(posteriors.shape[1])[fitted.labels]
        sizes = np.maximum(fitted.sizes, 1)
        self.cluster_centers_: Array = (one_hot.T @ scaled) / sizes[:, None]
        self._keep(model.eval(), fitted, data)
        return self

    def _embedding_to_keep(self) -> Array:
        components = _components(self.embedding_)
        return self.embedding_ @ components if components.shape[1] else self.embedding_

    @abstractmethod
    def _cluster(self, x: Tensor, n_clusters: int, seed: int) -> nn.Module:
        """Cluster samples (n, d) or (n, c, h, w); return the module that assigns new ones."""


@dataclass(eq=False, repr=False, kw_only=True)
class KMeansBaseline(Baseline):
    """K-means on the scaled samples, by scikit-learn.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it (`infomeans.graph.number_of_clusters`).
    k_min, k_max : int
        Bounds of the number, if it is found.
    n_init : int
        Number of random starts; the best one is kept.
    embeddings : bool
        Whether the samples are embeddings. Their features are not standardised one by one.
    random_state : int, RandomState or None
        Seed of the starts.

    Attributes
    ----------
    labels_ : (n,) integer array
        Clusters of the samples seen in fit.
    cluster_centers_ : (n_clusters, d) array
        Means of the clusters, in scaled units.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans import KMeansBaseline
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0], [9.1, 9.0]])
    >>> labels = KMeansBaseline(n_clusters=2, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    n_init: int = N_INIT

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Baseline._parameter_constraints,
        "n_init": [POSITIVE_INT],
    }

    def _cluster(self, x: Tensor, n_clusters: int, seed: int) -> nn.Module:
        scaled = x.flatten(1)
        found = kmeans(scaled.numpy(), n_clusters, seed=seed, n_init=self.n_init)
        method = Mixture(n_clusters, scaled.shape[1])
        method.prototypes.copy_(torch.as_tensor(found.cluster_centers_))
        method.variance.fill_(found.inertia_ / scaled.numel())
        return method

    def _build_method(
        self, n_clusters: int, n_features: int, tensors: Mapping[str, Tensor]
    ) -> nn.Module:
        return Mixture(*tensors["prototypes"].shape)


@dataclass(eq=False, repr=False, kw_only=True)
class GraphBaseline(Baseline):
    """Graph agglomeration on the scaled samples.

    A new sample gets the cluster of its nearest neighbour among the samples seen in fit. The model
    therefore stores those samples. If they have more than 64 features, it stores 64 principal
    components and measures distances in them.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it (`infomeans.graph.number_of_clusters`).
    k_min, k_max : int
        Bounds of the number, if it is found.
    n_neighbors : int, optional
        Number of nearest neighbours in the graph. By default the square root of the mean cluster
        size, between 8 and 20.
    augment : bool
        Whether to use distances that ignore small rotations, scalings, shears and shifts
        (`infomeans.graph.tangent_graph`), if that gives clearer clusters. It assumes that such
        changes do not alter what an image shows.
    embeddings : bool
        Whether the samples are embeddings. Their features are not standardised one by one.

    Attributes
    ----------
    labels_ : (n,) integer array
        Clusters of the samples seen in fit.
    cluster_centers_ : (n_clusters, d) array
        Means of the clusters, in scaled units.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans import GraphBaseline
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> GraphBaseline(n_clusters=2).fit_predict(X)
    array([0, 0, 0, 1, 1])
    """

    n_neighbors: int | None = None
    augment: bool = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Baseline._parameter_constraints,
        "n_neighbors": [POSITIVE_INT, None],
        "augment": ["boolean"],
    }

    def _cluster(self, x: Tensor, n_clusters: int, seed: int) -> nn.Module:
        scaled = x.flatten(1)
        labels = agglomerate(
            scaled.numpy(),
            n_clusters,
            n_neighbors=self.n_neighbors,
            images=x.numpy() if self.augment else None,
        )
        components = _components(scaled.numpy())
        method = self._votes(n_clusters, len(scaled), components.shape)
        method.components.copy_(torch.as_tensor(components))
        method.samples.copy_(method.projected(scaled))
        method.labels.copy_(torch.as_tensor(labels))
        return method

    def _build_method(
        self, n_clusters: int, n_features: int, tensors: Mapping[str, Tensor]
    ) -> nn.Module:
        n_samples, n_kept = tensors["samples"].shape
        kept_all = torch.empty(n_kept, 0)
        return self._votes(n_clusters, n_samples, tensors.get("components", kept_all).shape)

    def _votes(self, n_clusters: int, n_samples: int, shape: tuple[int, ...]) -> Votes:
        n_neighbors = self.n_neighbors or usual_neighbors(n_samples, n_clusters)
        return Votes(n_clusters, n_samples, shape, n_neighbors=n_neighbors)


class Mixture(nn.Module):
    """Posteriors of the Gaussian mixture with one shared variance that K-means implies."""

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
    """Votes of the nearest samples for their clusters; the nearest one has half of the votes."""

    gained = ("components",)
    components: Tensor
    samples: Tensor
    labels: Tensor

    def __init__(
        self, n_clusters: int, n_samples: int, shape: tuple[int, ...], *, n_neighbors: int
    ) -> None:
        super().__init__()
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        n_features, n_kept = shape
        self.register_buffer("components", torch.zeros(shape))
        self.register_buffer("samples", torch.zeros(n_samples, n_kept or n_features))
        self.register_buffer("labels", torch.zeros(n_samples, dtype=torch.long))

    def forward(self, x: Tensor) -> Tensor:
        """The shares of the votes (n, K)."""
        x = self.projected(x.flatten(1))
        count = min(self.n_neighbors, len(self.samples))
        # Double precision: float32 inner products cannot tell a sample from a near copy.
        x, samples = x.double(), self.samples.double()
        distances = samples.square().sum(dim=1) - 2 * x @ samples.T
        near = distances.topk(count, largest=False).indices
        votes = F.one_hot(self.labels[near], self.n_clusters).to(self.samples)
        return (votes[:, 0] + votes.mean(dim=1)) / 2

    def projected(self, x: Tensor) -> Tensor:
        """Flat samples projected to the principal components; unchanged if there are none."""
        return x @ self.components.to(x) if self.components.shape[1] else x


def _components(scaled: Array) -> Array:
    """The leading principal components (d, 64) of flat samples; (d, 0) if they are not needed."""
    if min(scaled.shape) <= COMPONENTS:
        return np.empty((scaled.shape[1], 0), np.float32)
    found = PCA(COMPONENTS, svd_solver="randomized", random_state=0).fit(scaled)
    return np.ascontiguousarray(found.components_.T, dtype=np.float32)
