"""What all estimators share: samples in, scaled, through the parts of a trained model.

An estimator is a dataclass: its fields are its parameters, and its constructor only stores them.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_array, check_is_fitted, validate_data
from torch import Tensor, nn

from infomeans import functional as IF
from infomeans.data.arrays import channels_first
from infomeans.data.scaling import Scaling
from infomeans.estimators import saving, showing
from infomeans.estimators.assigning import Assignment
from infomeans.networks import Identity, UserNetwork
from infomeans.plots.figures import clusters_figure, history_figure, map_figure
from infomeans.threads import allowed, limited, multiply_adds, step_threads
from infomeans.training import make_fabric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from infomeans._typing import Array, IntArray
    from infomeans.plots.projection import Kind

PREDICT_BATCH = 1024
TYPICAL = 8
"""Samples of each cluster in a figure."""

POSITIVE_INT = Interval(Integral, 1, None, closed="left")
COUNT = Interval(Integral, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


@dataclass(eq=False, repr=False, kw_only=True)
class SampleEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Reads arrays and embeds them with what it has learned."""

    device: str = "auto"
    n_threads: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "device": [str],
        "n_threads": [POSITIVE_INT, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    def transform(self, X: ArrayLike) -> Array:
        """The clean embedding (n, d)."""
        check_is_fitted(self, "network_")
        return _joined(z.flatten(1) for z in self._evaluate(X, self.network_))

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted model to a folder, from which `infomeans.load` reads it back.

        With the parameters that it was fitted with, whatever was set since.

        Parameters
        ----------
        path : path
            A new folder, made if need be.
        overwrite : bool
            Whether to replace a model that lies there.
        """
        check_is_fitted(self, "network_")
        saving.write_model(self, path, overwrite=overwrite)

    def _read(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        """Checked samples: vectors (n, d), or images with their channels first (n, c, h, w)."""
        images = not reset and len(self._sample_shape) > 1
        check = check_array if images else partial(validate_data, self, reset=reset)
        samples: NDArray[Any] = check(X, allow_nd=True)
        if samples.ndim == 2 and getattr(self, "augment", False):
            raise ValueError(
                "augment=True needs images, but X holds vectors; leave it (--augment) out."
            )
        if reset:
            self._sample_shape: tuple[int, ...] = samples.shape[1:]
        elif samples.shape[1:] != self._sample_shape:
            raise ValueError(
                f"X has samples of shape {samples.shape[1:]}, but {type(self).__name__} was fitted "
                f"with samples of shape {self._sample_shape}."
            )
        return channels_first(samples)

    def _scaling(self, X: NDArray[Any]) -> Scaling:
        return Scaling.of_images(X) if X.ndim == 4 else Scaling.of_features(X)

    def _seed(self) -> int:
        if self.random_state is None:
            return int(np.random.SeedSequence().generate_state(1)[0])
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31 - 1))
        return int(self.random_state)

    def _rebuild(self, network: nn.Module, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Put the parts of a saved model in place, from their tensors."""
        network.load_state_dict(tensors["network"])
        # As the trainer leaves it: the layout decides in which order a convolution adds up.
        self.network_ = network.eval().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.scaling_ = Scaling(**tensors["scaling"])

    @staticmethod
    def _scaled(samples: NDArray[Any], scaling: Scaling, device: torch.device) -> Tensor:
        exact = samples.ndim == 4 and np.can_cast(samples.dtype, np.float32)
        x = scaling(_tensor(samples).to(torch.float32 if exact else torch.float64))
        x = x.float().to(device)
        return x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x

    def _evaluate(self, X: ArrayLike, module: nn.Module) -> Iterator[Any]:
        """What a module makes of scaled samples, batch by batch.

        Vectors go through the default network in double precision, so that a sample's result does
        not depend on which others share its batch; all else runs in single precision on the
        chosen device.
        """
        samples = self._read(X, reset=False)
        double = samples.ndim == 2 and not isinstance(self.network_, UserNetwork)
        on_cpu = double or isinstance(self.network_, Identity)
        device = torch.device("cpu") if on_cpu else make_fabric(self.device).device
        dtype = torch.float64 if double else torch.float32
        module = module.eval()
        if double or device.type != "cpu":
            module = copy.deepcopy(module).to(device, dtype)

        def scaled(batch: NDArray[Any]) -> Tensor:
            return self._scaled(batch, self.scaling_, device).to(dtype)

        with limited(self.n_threads):
            work = PREDICT_BATCH * multiply_adds(module, scaled(samples[:1]))
        for batch in np.split(samples, range(PREDICT_BATCH, len(samples), PREDICT_BATCH)):
            with limited(self.n_threads), step_threads(work), torch.inference_mode():
                result = module(scaled(batch))
            yield result


@dataclass(eq=False, repr=False, kw_only=True)
class SampleClusterer(ClusterMixin, SampleEstimator, ABC):
    """Gives samples to clusters, with a probability for each."""

    n_clusters: int = field(default=8, kw_only=False)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SampleEstimator._parameter_constraints,
        "n_clusters": [POSITIVE_INT],
    }

    def predict(self, X: ArrayLike) -> IntArray:
        """The most probable cluster of each sample (n,)."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: ArrayLike) -> Array:
        """The posteriors (n, n_clusters)."""
        check_is_fitted(self, "method_")
        return _joined(p for _, p in self._evaluate(X, self._assignment()))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """The mutual information I(X;K) of `predict_proba(X)`, in nats; y is ignored."""
        return IF.mutual_information(torch.as_tensor(self.predict_proba(X))).item()

    def plot_history(self) -> Figure:
        """The losses, the entropies and the change of the targets over all epochs."""
        check_is_fitted(self, "method_")
        return history_figure(self.history_)

    def plot_map(self, X: ArrayLike | None = None, projection: Kind = "auto") -> Figure:
        """The embedding as a map, a point for each sample.

        Parameters
        ----------
        X : array, optional
            By default the samples seen in fit.
        projection : {"auto", "lda", "pca", "umap"}
            "auto" is UMAP where it is installed, otherwise linear discriminants.
        """
        embedding, clusters, _ = self._seen(X)
        return map_figure(embedding, clusters, projection)

    def plot_clusters(self, X: ArrayLike | None = None) -> Figure:
        """The clusters: how large, how sure and, for images, what they look like.

        Parameters
        ----------
        X : array, optional
            By default the samples seen in fit. The typical images of each cluster are shown only
            if they are given, for a model does not keep them.
        """
        embedding, clusters, confidences = self._seen(X)
        k = len(self.cluster_centers_)
        sizes = np.bincount(clusters, minlength=k)
        means = showing.cluster_means(clusters, confidences, k)
        if len(self._sample_shape) == 1:
            return clusters_figure(sizes, means)
        samples = None
        if X is not None:
            images = channels_first(np.asarray(X))
            chosen = showing.typical(embedding, clusters, confidences, k, TYPICAL)
            samples = [images[members] for members in chosen]
        return clusters_figure(
            sizes, means, showing.prototypes(self), samples, tones=showing.tones(self)
        )

    def check(self, X: ArrayLike) -> None:
        """Raise what `fit` would raise for these samples before it trains; change nothing."""
        self._validate_params()
        samples = clone(self)._read(X, reset=True)
        self._check(samples)

    def planned_threads(self, X: ArrayLike) -> int:
        """How many threads `fit` would compute with."""
        with limited(self.n_threads):
            return allowed()

    # scikit-learn draws a diagram in notebooks, unless set_config(display="text") forbids it.
    @property
    def _repr_html_(self) -> Callable[[], str]:
        diagram = super()._repr_html_
        return lambda: self._cards() + diagram()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._cards() + bundle["text/html"]
        return bundle

    def _cards(self) -> str:
        return showing.cards(self) if hasattr(self, "labels_") else ""

    def _assignment(self) -> Assignment:
        """The trained parts as one."""
        return Assignment(self.network_, self.method_, getattr(self, "views_", ()))

    def _assign(self, X: ArrayLike) -> tuple[Array, IntArray, Array]:
        """The embedding (n, d), the most probable clusters (n,) and how probable they are (n,)."""
        embedding, posteriors = self._embed_and_assign(X)
        return embedding, posteriors.argmax(axis=1), posteriors.max(axis=1)

    def _embed_and_assign(self, X: ArrayLike) -> tuple[Array, Array]:
        """The embedding (n, d) and the posteriors (n, n_clusters), in one go."""
        embeddings, posteriors = zip(*self._evaluate(X, self._assignment()), strict=True)
        return _joined(embeddings), _joined(posteriors)

    def _seen(self, X: ArrayLike | None) -> tuple[Array, IntArray, Array]:
        """The same, by default of the samples seen in fit."""
        check_is_fitted(self, "method_")
        if X is not None:
            return self._assign(X)
        if not hasattr(self, "embedding_"):
            raise ValueError(
                "X=None stands for the samples seen in fit, but a model that was loaded does not "
                "have them; pass samples as X."
            )
        return self.embedding_, self.labels_, self.confidences_

    def _check(self, samples: NDArray[Any]) -> None:
        make_fabric(self.device)
        if len(samples) < self.n_clusters:
            raise ValueError(
                f"n_samples={len(samples)} is less than n_clusters={self.n_clusters}; give at "
                f"least as many samples as clusters."
            )

    def _rebuild(self, network: nn.Module, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        super()._rebuild(network, tensors)
        method = self._empty_method(tensors["method"])
        method.load_state_dict(tensors["method"])
        self.method_ = method.eval()

    @abstractmethod
    def _empty_method(self, tensors: Mapping[str, Tensor]) -> nn.Module:
        """A method of the right size for these tensors."""


def _joined(parts: Iterable[Tensor]) -> Array:
    return torch.cat([part.cpu() for part in parts]).numpy()


def _tensor(samples: NDArray[Any]) -> Tensor:
    # A copy: torch takes neither negative strides nor arrays that must not be written to, and no
    # other numbers than these.
    dtype = np.dtype(np.float64) if samples.dtype == np.longdouble else samples.dtype
    return torch.tensor(np.ascontiguousarray(samples, dtype.newbyteorder("=")))
