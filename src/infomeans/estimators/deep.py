"""The estimators that train a network."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from torch import Tensor, nn

from infomeans import __version__
from infomeans.data.arrays import channels_first
from infomeans.data.scaling import Scaling
from infomeans.estimators.base import (
    COUNT,
    POSITIVE,
    POSITIVE_INT,
    SampleClusterer,
    SampleEstimator,
)
from infomeans.estimators.saving import GIVEN, plain_params
from infomeans.initial import check_init, initial_clusters
from infomeans.methods import find_method
from infomeans.methods.base import Neighbors
from infomeans.networks import DenoisingAutoencoder, build_network, takes_embeddings
from infomeans.threads import limited, step_threads
from infomeans.training import (
    Callback,
    Checkpoint,
    ProgressBars,
    Trainer,
    augmentation_settings,
    isolated,
    make_fabric,
    random_affine,
    resolve_settings,
    step_work,
    view_maps,
)
from infomeans.training.augmentation import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    from numpy.typing import ArrayLike, NDArray
    from scipy import sparse

    from infomeans.initial import Init
    from infomeans.methods.base import Method
    from infomeans.networks import NetworkSpec
    from infomeans.training import Settings

# Parameters that leave the result of a training as it is.
HARMLESS = ("verbose",)

_NO_VIEWS = np.empty((0, 2, 3), np.float32)


@dataclass(eq=False, repr=False, kw_only=True)
class DeepEstimator(SampleEstimator):
    """Trains a network on samples."""

    network: NetworkSpec = "auto"
    batch_size: int | None = None
    learning_rate: float | None = None
    preset: Literal["fast", "paper"] = "fast"
    augment: bool = False
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    callbacks: Sequence[Callback] | None = None
    checkpoint: str | PathLike[str] | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SampleEstimator._parameter_constraints,
        "network": "no_validation",
        "batch_size": [POSITIVE_INT, None],
        "learning_rate": [POSITIVE, None],
        "preset": [StrOptions({"fast", "paper"})],
        "augment": ["boolean"],
        "precision": [StrOptions({"32-true", "bf16-mixed", "16-mixed"})],
        "callbacks": [list, tuple, None],
        "checkpoint": [str, PathLike, None],
    }

    def _scaling(self, X: NDArray[Any]) -> Scaling:
        if takes_embeddings(self.network) and X.ndim == 2:
            return Scaling.of_embeddings(X)
        return super()._scaling(X)

    @contextmanager
    def _training(
        self, samples: NDArray[Any], settings: Settings, n_clusters: int, n_features: int
    ) -> Iterator[tuple[Trainer, Tensor]]:
        """A trainer for these samples, and the samples scaled and on its device.

        On the way out the trained network, the scaling, the history and the parameters that led to
        them become attributes.
        """
        fabric, seed = make_fabric(self.device, self.precision), self._seed()
        callbacks = [*(self.callbacks or ()), *([ProgressBars()] if self.verbose else [])]
        try:
            with isolated(), limited(self.n_threads), ExitStack() as threads:
                torch.manual_seed(seed)
                scaling = self._scaling(samples)
                network = build_network(
                    self.network,
                    samples.shape[1:],
                    n_clusters,
                    n_features=n_features,
                    **settings.network,
                ).to(fabric.device)
                work = step_work(network, samples.shape[1:], settings.batch_size)
                self.n_threads_ = threads.enter_context(step_threads(work))
                x = self._scaled(samples, scaling, fabric.device)
                if self.network == "auto" and isinstance(network, DenoisingAutoencoder):
                    network.start(x)
                trainer = Trainer(
                    fabric,
                    network,
                    settings,
                    seed=seed,
                    augment=random_affine if self.augment else None,
                    callbacks=callbacks,
                    checkpoint=self._checkpoint(samples, settings, network, seed),
                )
                yield trainer, x
                self._n_features_out = trainer.embed(x[:1]).shape[1]
        finally:
            for callback in callbacks:
                callback.on_end()
        self.network_ = network.cpu().eval()
        self.scaling_ = scaling
        self.history_ = [record.as_dict() for record in trainer.history]
        self._fitted_params = self.get_params(deep=False)

    def _checkpoint(
        self, samples: NDArray[Any], settings: Settings, network: nn.Module, seed: int
    ) -> Checkpoint | None:
        """Where to keep the training's state, with all that makes it this training."""
        if self.checkpoint is None:
            return None
        params = plain_params(self.get_params(deep=False))
        identity = {
            "infomeans": __version__,
            "estimator": type(self).__name__,
            "data": f"{samples.shape} {samples.dtype} {digest(samples)}",
            **{
                name: digest(value) if isinstance(value, list) else value
                for name, value in params.items()
                if name not in HARMLESS
            },
            "random_state": None if self.random_state is None else seed,
            "settings": asdict(settings),
            "augmentation": self._augmentation() if self.augment else None,
        }
        if params["network"] == GIVEN:
            # What is made anew every time has other weights every time, but for a seed.
            made_anew = self.random_state is None and not isinstance(self.network, nn.Module)
            weights = () if made_anew else (t.cpu() for t in network.state_dict().values())
            layers = [f"{name}: {type(layer).__name__}" for name, layer in network.named_modules()]
            sizes = [f"{name}: {tuple(t.shape)}" for name, t in network.state_dict().items()]
            identity["network"] = digest(np.array(layers + sizes), *weights)
        return Checkpoint(self.checkpoint, identity)

    def _augmentation(self) -> dict[str, float]:
        """What augmentation comes to in this training."""
        return LIMITS


@dataclass(eq=False, repr=False, kw_only=True)
class DeepClusterer(SampleClusterer, DeepEstimator):
    """What all clusterers share; a method makes it one.

    Parameters
    ----------
    n_clusters : int
    init : {"graph", "kmeans", "soft_kmeans"} or array of n labels
        Where the clusters start, in the pretrained embedding: sparse graph agglomeration,
        K-means, or soft K-means as the paper states it.
    network : "auto", "residual", None, nn.Module or callable
        "auto" is the paper's convolutional auto-encoder for images and a dense one for vectors.
        "residual" and None take X as embeddings that another model has made, centred and divided by
        one number, their mean spread: the one starts as the identity and moves them, by 3 at most
        in any feature; the other leaves them as they are and learns a head on them.
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
    augment : bool
        Whether the noisy pass sees images that are turned, scaled, sheared and shifted a little,
        at random, instead of dropping pixels, and the graph measures distances that such changes
        cannot undo, if that makes clearer clusters. The neighbours in the graph that the start
        comes from then have a say in the targets, and predictions look at nine views of an image.
        It assumes that such changes leave an image what it is.
    device : str
        "auto", "cpu", "cuda", "cuda:N" or "mps".
    n_threads : int, optional
        How many threads compute on the CPU in fit, predict and transform. By default as many as
        pay: one for small networks on vectors, more for convolutions, never more than CPUs are
        available. Another number adds numbers up in another order, so the clusters may differ a
        little.
    precision : str
        Of the training, as Lightning Fabric names it.
    random_state : int, RandomState or None
        The same number gives the same clusters. None draws a new seed from the system, not from
        numpy's global state.
    verbose : int
        Whether to show progress bars.
    callbacks : list of Callback, optional
    checkpoint : path, optional
        A file that keeps the state of the training after every epoch. If it exists already, fit
        goes on from there, and ends as it would have without the break.

    Attributes
    ----------
    labels_ : (n,) integer array
        The clusters of the samples seen in fit; equal to `predict` of them.
    embedding_, confidences_ : (n, d) and (n,) arrays
        The embedding of those samples, and the probability of each one's cluster. Not saved.
    cluster_centers_ : (n_clusters, d) array
        The clusters' centres in the embedding.
    history_ : list of dict
        One record an epoch; see `infomeans.training.Record`.
    initial_labels_ : (n,) integer array
        The initial clusters.
    views_ : (8, 2, 3) array
        With `augment`, the affine maps that make the views of an image, over which `predict_proba`
        takes the mean; otherwise there are none. The embedding and the history come from the image
        as it is.
    n_threads_ : int
        How many threads computed in fit. Not saved.
    network_, method_, scaling_ : nn.Module
        The parts of the trained model.
    """

    init: Init = "graph"
    pretrain_epochs: int | None = None
    warmup_epochs: int | None = None
    epochs: int | None = None

    method: ClassVar[str | type[Method]]
    """The method's slug, or its class."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepEstimator._parameter_constraints,
        **SampleClusterer._parameter_constraints,
        "init": "no_validation",
        "pretrain_epochs": [COUNT, None],
        "warmup_epochs": [COUNT, None],
        "epochs": [COUNT, None],
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
        settings, n_features = self._settings(samples)
        with self._training(samples, settings, self.n_clusters, n_features) as (trainer, x):
            self._check_bounded(trainer.network)
            trainer.pretrain(x)
            n_features = trainer.embed(x[:1]).shape[1]
            method = self._method_class()(self.n_clusters, n_features, **self._method_params())
            initial = trainer.cluster(x, method, partial(self._start, samples, seed=trainer.seed))
        self.initial_labels_ = initial.cpu().numpy()
        self.method_ = method.cpu().eval()
        self.views_ = view_maps(*samples.shape[2:]).numpy() if self.augment else _NO_VIEWS
        self.cluster_centers_ = method.prototypes.detach().numpy().copy()
        self.embedding_, self.labels_, self.confidences_ = self._assign(X)
        return self

    def check(self, X: ArrayLike) -> None:
        """Raise what `fit` would raise for these samples before it trains; change nothing."""
        super().check(X)
        shape = channels_first(np.asarray(X)[:1]).shape[1:]
        with isolated():
            self._check_bounded(build_network(self.network, shape, self.n_clusters))

    def planned_threads(self, X: ArrayLike) -> int:
        """How many threads `fit` would compute with."""
        samples = channels_first(np.asarray(X))
        settings, n_features = self._settings(samples)
        shape, options = samples.shape[1:], settings.network
        with isolated(), limited(self.n_threads):
            network = build_network(
                self.network, shape, self.n_clusters, n_features=n_features, **options
            )
            with step_threads(step_work(network, shape, settings.batch_size)) as planned:
                return planned

    def _settings(self, samples: NDArray[Any]) -> tuple[Settings, int]:
        """Those of the training, and the length of the default network's embedding."""
        settings = resolve_settings(
            self.preset,
            len(samples),
            () if self.network is None else samples.shape[1:],
            augment=self.augment,
            embedded=takes_embeddings(self.network),
            pretrain_epochs=self.pretrain_epochs,
            warmup_epochs=self.warmup_epochs,
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
        )
        return settings, max(self.n_clusters, settings.least_features)

    def _augmentation(self) -> dict[str, float]:
        return augmentation_settings()

    def _method_class(self) -> type[Method]:
        return find_method(self.method).load() if isinstance(self.method, str) else self.method

    def _method_params(self) -> dict[str, Any]:
        """The parameters that a clusterer has beyond those of all."""
        shared = {*DeepClusterer.__dataclass_fields__}
        return {name: getattr(self, name) for name in self.get_params() if name not in shared}

    def _start(
        self, samples: NDArray[Any], z: Tensor, *, seed: int
    ) -> tuple[Tensor, Neighbors | None]:
        """The start of samples, for their embedding by the pretrained network.

        Neighbours vote where images are augmented, for what such changes bring near to an image is
        nearly a view of it, and where the start comes from a graph.
        """
        embedding, images = z.cpu().numpy(), samples if self.augment else None
        start = initial_clusters(embedding, self.n_clusters, self.init, seed=seed, images=images)
        neighbors = None if start.graph is None or not self.augment else _neighbors(start.graph)
        return torch.as_tensor(start.labels), neighbors

    def _empty_method(self, tensors: Mapping[str, Tensor]) -> nn.Module:
        n_features = tensors["prototypes"].shape[1]
        return self._method_class()(self.n_clusters, n_features, **self._method_params())

    def _check(self, samples: NDArray[Any]) -> None:
        super()._check(samples)
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


def _neighbors(graph: sparse.csr_array) -> Neighbors:
    """A graph in which every sample has equally many neighbours, row by row."""
    rows = (graph.indices.astype(np.int32), graph.data.astype(np.float32))
    return Neighbors(*(torch.as_tensor(row.reshape(graph.shape[0], -1)) for row in rows))


def _check_prior(prior: Sequence[float], n_clusters: int) -> None:
    shares = np.asarray(prior, dtype=float)
    if shares.shape != (n_clusters,) or not (np.isfinite(shares) & (shares > 0)).all():
        raise ValueError(
            f"prior={prior!r} must hold one positive number for each of the "
            f"n_clusters={n_clusters} clusters."
        )


def digest(*values: Any) -> str:
    """A short text that other arrays do not have."""
    hashed = hashlib.sha256()
    for value in values:
        hashed.update(np.ascontiguousarray(value).data)
    return hashed.hexdigest()[:16]
