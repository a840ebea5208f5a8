"""The scikit-learn face of the library.

An estimator is a dataclass: its fields are its parameters, and its constructor only stores them.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, validate_data
from torch import Tensor, nn

from infomeans import functional as IF
from infomeans.data import Scaling, channels_first
from infomeans.initial import check_init, initial_clusters
from infomeans.methods import find_method
from infomeans.networks import DenoisingAutoencoder, UserNetwork, build_network
from infomeans.training import (
    Callback,
    ProgressBars,
    Trainer,
    isolated,
    make_fabric,
    resolve_settings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from infomeans._typing import Array, IntArray
    from infomeans.initial import Init
    from infomeans.methods.base import Method
    from infomeans.networks import NetworkSpec
    from infomeans.training import Settings

PREDICT_BATCH = 1024

_POSITIVE_INT = Interval(Integral, 1, None, closed="left")
_COUNT = Interval(Integral, 0, None, closed="left")
_POSITIVE = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


@dataclass(eq=False, repr=False, kw_only=True)
class _DeepEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Reads arrays, trains a network on them and embeds them."""

    network: NetworkSpec = "auto"
    batch_size: int | None = None
    learning_rate: float | None = None
    preset: Literal["fast", "paper"] = "fast"
    device: str = "auto"
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0
    callbacks: Sequence[Callback] | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "network": "no_validation",
        "batch_size": [_POSITIVE_INT, None],
        "learning_rate": [_POSITIVE, None],
        "preset": [StrOptions({"fast", "paper"})],
        "device": [str],
        "precision": [StrOptions({"32-true", "bf16-mixed", "16-mixed"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "callbacks": [list, tuple, None],
    }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    def _read(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        """Checked samples: vectors (n, d), or images with their channels first (n, c, h, w)."""
        images = not reset and len(self._sample_shape) > 1
        check = check_array if images else partial(validate_data, self, reset=reset)
        samples: NDArray[Any] = check(X, allow_nd=True)
        if reset:
            self._sample_shape: tuple[int, ...] = samples.shape[1:]
        elif samples.shape[1:] != self._sample_shape:
            raise ValueError(
                f"X has samples of shape {samples.shape[1:]}, but {type(self).__name__} was fitted "
                f"with samples of shape {self._sample_shape}."
            )
        return channels_first(samples)

    def _scaling(self, X: NDArray[Any]) -> Scaling:
        if X.ndim == 4:
            return Scaling.of_images(X)
        return Scaling.of_embeddings(X) if self.network is None else Scaling.of_features(X)

    def _seed(self) -> int:
        if self.random_state is None:
            return int(np.random.SeedSequence().generate_state(1)[0])
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31 - 1))
        return int(self.random_state)

    @contextmanager
    def _training(
        self, samples: NDArray[Any], settings: Settings, n_clusters: int, n_features: int
    ) -> Iterator[tuple[Trainer, Tensor]]:
        """A trainer for these samples, and the samples scaled and on its device.

        On the way out the trained network, the scaling and the history become attributes.
        """
        fabric, seed = make_fabric(self.device, self.precision), self._seed()
        callbacks = [*(self.callbacks or ()), *([ProgressBars()] if self.verbose else [])]
        try:
            with isolated():
                torch.manual_seed(seed)
                scaling = self._scaling(samples)
                network = build_network(
                    self.network,
                    samples.shape[1:],
                    n_clusters,
                    n_features=n_features,
                    **settings.network,
                )
                trainer = Trainer(fabric, network, settings, seed=seed, callbacks=callbacks)
                x = self._scaled(samples, scaling, fabric.device)
                if self.network == "auto" and isinstance(network, DenoisingAutoencoder):
                    network.start(x)
                yield trainer, x
                self._n_features_out = trainer.embed(x[:1]).shape[1]
        finally:
            for callback in callbacks:
                callback.on_end()
        self.network_ = network.cpu().eval()
        self.scaling_ = scaling
        self.history_ = [record.as_dict() for record in trainer.history]

    @staticmethod
    def _scaled(samples: NDArray[Any], scaling: Scaling, device: torch.device) -> Tensor:
        if samples.ndim == 2:
            return scaling(_tensor(samples).double()).float().to(device)
        x = scaling(_tensor(samples).float()).to(device)
        return x.contiguous(memory_format=torch.channels_last)

    def _evaluate(self, X: ArrayLike, *modules: nn.Module) -> Array:
        """The modules applied one after the other to scaled samples, batch by batch.

        Vectors go through the default network in double precision, so that a sample's result does
        not depend on which others share its batch; all else runs in single precision on the
        chosen device.
        """
        samples = self._read(X, reset=False)
        double = samples.ndim == 2 and not isinstance(self.network_, UserNetwork)
        device = torch.device("cpu") if double else make_fabric(self.device).device
        dtype = torch.float64 if double else torch.float32
        pipeline = copy.deepcopy(nn.Sequential(*modules)).to(device, dtype).eval()
        batches = np.split(samples, range(PREDICT_BATCH, len(samples), PREDICT_BATCH))
        with torch.inference_mode():
            results = [
                pipeline(self._scaled(batch, self.scaling_, device).to(dtype)).cpu()
                for batch in batches
            ]
        return torch.cat(results).numpy()


@dataclass(eq=False, repr=False, kw_only=True)
class Autoencoder(_DeepEstimator):
    """The auto-encoder alone, as a transformer to its embedding.

    Its `network_` can be handed to several clusterers, which then need no pretraining of their
    own: `MIADM(network=autoencoder.network_, pretrain_epochs=0)`.

    Parameters
    ----------
    n_features : int
        Length of the embedding, for `network="auto"`.
    epochs : int, optional
        By default fewer, the more samples there are.

    The others are those of `DeepClusterer`.

    Attributes
    ----------
    network_ : nn.Module
    history_ : list of dict
    """

    n_features: int = field(default=16, kw_only=False)
    epochs: int | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_DeepEstimator._parameter_constraints,
        "n_features": [_POSITIVE_INT],
        "epochs": [_COUNT, None],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Train on X; y is ignored."""
        samples = self._read(X, reset=True)
        settings = resolve_settings(
            self.preset,
            len(samples),
            pretrain_epochs=self.epochs,
            batch_size=self.batch_size,
            pretrain_learning_rate=self.learning_rate,
        )
        with self._training(samples, settings, self.n_features, self.n_features) as (trainer, x):
            trainer.pretrain(x)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """The clean embedding (n, d)."""
        check_is_fitted(self, "network_")
        return self._evaluate(X, self.network_)


@dataclass(eq=False, repr=False, kw_only=True)
class DeepClusterer(ClusterMixin, _DeepEstimator):
    """What all clusterers share; a method makes it one.

    Parameters
    ----------
    n_clusters : int
    init : {"graph", "kmeans", "soft_kmeans"} or array of n labels
        Where the clusters start, in the pretrained embedding: sparse graph agglomeration,
        K-means, or soft K-means as the paper states it.
    network : "auto", None, nn.Module or callable
        "auto" is the paper's convolutional auto-encoder for images and a dense one for vectors.
        None takes X as embeddings, centred and divided by one number, and learns a head on them.
        A module of your own is copied, not changed; a callable is asked for one with
        `network((d,) or (c, h, w), n_clusters)`.
    pretrain_epochs, warmup_epochs, epochs : int, optional
        The most epochs of each phase. By default the preset's, which are fewer the more samples
        there are.
    batch_size : int, optional
    learning_rate : float, optional
        Of the clustering phases.
    preset : {"fast", "paper"}
        Settings of the optimisation for a CPU with few cores, or the paper's own, which take
        hours.
    device : str
        "auto", "cpu", "cuda", "cuda:N" or "mps".
    precision : str
        Of the training, as Lightning Fabric names it.
    random_state : int, RandomState or None
        The same number gives the same clusters. None draws a new seed from the system, not from
        numpy's global state.
    verbose : int
        Whether to show progress bars.
    callbacks : list of Callback, optional

    Attributes
    ----------
    labels_ : (n,) integer array
        The clusters of the samples seen in fit; equal to `predict` of them.
    cluster_centers_ : (n_clusters, d) array
        The clusters' centres in the embedding.
    history_ : list of dict
        One record an epoch; see `infomeans.training.Record`.
    initial_labels_ : (n,) integer array
        The initial clusters.
    network_, method_, scaling_ : nn.Module
        The parts of the trained model.
    """

    n_clusters: int = field(default=8, kw_only=False)
    init: Init = "graph"
    pretrain_epochs: int | None = None
    warmup_epochs: int | None = None
    epochs: int | None = None

    method: ClassVar[str | type[Method]]
    """The method's slug, or its class."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_DeepEstimator._parameter_constraints,
        "n_clusters": [_POSITIVE_INT],
        "init": "no_validation",
        "pretrain_epochs": [_COUNT, None],
        "warmup_epochs": [_COUNT, None],
        "epochs": [_COUNT, None],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn the embedding and the clusters of X together; y is ignored.

        Parameters
        ----------
        X : (n, d), (n, h, w), (n, h, w, c) or (n, c, h, w) array
            Vectors, or images with 1 or 3 channels.
        y : ignored
        """
        samples = self._read(X, reset=True)
        self._check(samples)
        settings = resolve_settings(
            self.preset,
            len(samples),
            vectors=samples.ndim == 2 and self.network is not None,
            pretrain_epochs=self.pretrain_epochs,
            warmup_epochs=self.warmup_epochs,
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
        )
        n_features = max(self.n_clusters, settings.least_features)
        with self._training(samples, settings, self.n_clusters, n_features) as (trainer, x):
            self._check_bounded(trainer.network)
            trainer.pretrain(x)
            z = trainer.embed(x)
            self.initial_labels_ = initial_clusters(
                z.cpu().numpy(), self.n_clusters, self.init, seed=trainer.seed
            )
            method = self._method_class()(self.n_clusters, z.shape[1], **self._method_params())
            trainer.cluster(x, method, torch.as_tensor(self.initial_labels_, device=z.device))
        self.method_ = method.cpu().eval()
        self.cluster_centers_ = method.prototypes.detach().numpy().copy()
        self.labels_ = self.predict(X)
        return self

    def predict(self, X: ArrayLike) -> IntArray:
        """The most probable cluster of each sample (n,)."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: ArrayLike) -> Array:
        """The posteriors (n, n_clusters)."""
        check_is_fitted(self, "method_")
        return self._evaluate(X, self.network_, self.method_)

    def transform(self, X: ArrayLike) -> Array:
        """The clean embedding (n, d)."""
        check_is_fitted(self, "method_")
        return self._evaluate(X, self.network_)

    def score(self, X: ArrayLike, y: object = None) -> float:
        """The mutual information I(X;K) of the posteriors, in nats; y is ignored."""
        return IF.mutual_information(torch.as_tensor(self.predict_proba(X))).item()

    def _method_class(self) -> type[Method]:
        return find_method(self.method).load() if isinstance(self.method, str) else self.method

    def _method_params(self) -> dict[str, Any]:
        """The parameters that a clusterer has beyond those of all."""
        shared = {*DeepClusterer.__dataclass_fields__}
        return {name: getattr(self, name) for name in self.get_params() if name not in shared}

    def _check(self, samples: NDArray[Any]) -> None:
        if len(samples) < self.n_clusters:
            raise ValueError(
                f"n_samples={len(samples)} is less than n_clusters={self.n_clusters}; give at "
                f"least as many samples as clusters."
            )
        check_init(self.init, len(samples), self.n_clusters)
        prior = self._method_params().get("prior")
        if prior is not None:
            _check_prior(prior, self.n_clusters)

    def _check_bounded(self, network: Any) -> None:
        if self._method_class().needs_bounded and not network.bounded:
            raise ValueError(
                f"network={self.network!r} has an unbounded embedding, on which the loss of "
                f"{type(self).__name__} has no minimum; end the encoder with a tanh or sigmoid, or "
                f"set bounded=True on the module if its embedding is bounded in another way."
            )


@dataclass(eq=False, repr=False, kw_only=True)
class MIADM(DeepClusterer):
    """Mutual information maximised by an alternating direction method.

    Parameters
    ----------
    lam : float
        Regularisation of the head's weights (Eq. RMI).
    targets : {"closed", "exact"}
        The targets in the paper's closed form, or as the exact minimiser.
    prior : sequence of n_clusters positive numbers, optional
        Wanted shares of the clusters, in any order; equal if not given.

    The others are those of `DeepClusterer`.
    """

    lam: float = 0.0
    targets: Literal["closed", "exact"] = "closed"
    prior: Sequence[float] | None = None

    method = "mi-adm"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "lam": [_NOT_NEGATIVE],
        "targets": [StrOptions({"closed", "exact"})],
        "prior": ["array-like", None],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class SRKMeans(DeepClusterer):
    """Soft and regularised K-means, the generative face of MI-ADM.

    Parameters
    ----------
    lam : float
        Regularisation; the softmin's temperature is `lam * n_clusters`.

    The others are those of `DeepClusterer`. A network of your own needs a bounded embedding.
    """

    lam: float = 1e-4

    method = "sr-kmeans"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "lam": [_POSITIVE],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class DEPICT(DeepClusterer):
    """Relative entropy to targets, with balanced clusters.

    Parameters
    ----------
    gamma : float
        Weight of the balance; of no effect on the released targets.
    targets : {"released", "closed", "exact"}
        The formula of the authors' program, which sharpens; the one they printed, which does not;
        or the exact minimiser of their printed objective.
    prior : sequence of n_clusters positive numbers, optional
        Wanted shares of the clusters, in any order; equal if not given.

    The others are those of `DeepClusterer`.
    """

    gamma: float = 1.0
    targets: Literal["released", "closed", "exact"] = "released"
    prior: Sequence[float] | None = None

    method = "depict"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "gamma": [_NOT_NEGATIVE],
        "targets": [StrOptions({"released", "closed", "exact"})],
        "prior": ["array-like", None],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class MID(DeepClusterer):
    """Mutual information maximised directly, by gradient steps.

    Parameters
    ----------
    prior : sequence of n_clusters positive numbers, optional
        Wanted shares of the clusters, in any order; equal if not given.

    The others are those of `DeepClusterer`.
    """

    prior: Sequence[float] | None = None

    method = "mi-d"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "prior": ["array-like", None],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class DEC(DeepClusterer):
    """Student's t posteriors sharpened towards targets of their own.

    Parameters
    ----------
    reconstruction : bool
        Drop the decoder (DEC) or keep it (IDEC).

    The others are those of `DeepClusterer`.
    """

    reconstruction: bool = False

    method = "dec"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "reconstruction": ["boolean"],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class DCN(DeepClusterer):
    """Hard K-means on the embedding, with centroids that follow every batch.

    Parameters
    ----------
    lam : float
        Weight of the distance to the centroids.

    The others are those of `DeepClusterer`.
    """

    lam: float = 1.0

    method = "dcn"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "lam": [_NOT_NEGATIVE],
    }


def _check_prior(prior: Sequence[float], n_clusters: int) -> None:
    shares = np.asarray(prior, dtype=float)
    if shares.shape != (n_clusters,) or not (np.isfinite(shares) & (shares > 0)).all():
        raise ValueError(
            f"prior={prior!r} must hold one positive number for each of the "
            f"n_clusters={n_clusters} clusters."
        )


def _tensor(samples: NDArray[Any]) -> Tensor:
    # A copy: torch takes neither negative strides nor arrays that must not be written to.
    return torch.tensor(np.ascontiguousarray(samples))
