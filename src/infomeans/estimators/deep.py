"""The estimators that train a network."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from torch import nn

from infomeans import __version__
from infomeans import functional as IF
from infomeans.data import Dataset
from infomeans.data.arrays import channels_first, network_shape
from infomeans.estimators.base import (
    COUNT,
    POSITIVE,
    POSITIVE_INT,
    SampleClusterer,
    SampleEstimator,
)
from infomeans.estimators.saving import GIVEN, digest, plain_params
from infomeans.functional.affine import LIMITS
from infomeans.methods import find_method
from infomeans.model import Model, Scaling
from infomeans.networks import DenoisingAutoencoder, build_network, takes_embeddings
from infomeans.start import check_init, find_start
from infomeans.threads import limited, step_threads
from infomeans.training import (
    Callback,
    Checkpoint,
    ProgressBars,
    Trainer,
    isolated,
    make_fabric,
    resolve_settings,
)
from infomeans.training.step import step_work
from infomeans.training.votes import VOTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    from numpy.typing import ArrayLike
    from torch import Tensor

    from infomeans._typing import Array
    from infomeans.data.rows import Feed
    from infomeans.methods.base import Method
    from infomeans.networks import NetworkSpec
    from infomeans.start import Init, Start
    from infomeans.training import Settings

NO_EFFECT = ("verbose",)
"""Parameters that do not change the result of a training."""


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

    def _scaling(self, data: Dataset) -> Scaling:
        if takes_embeddings(self.network) and len(data.shape) == 1:
            return Scaling.of_embeddings(data)
        return super()._scaling(data)

    @contextmanager
    def _training(
        self, data: Dataset, settings: Settings, n_clusters: int, n_features: int
    ) -> Iterator[tuple[Trainer, Feed]]:
        """A trainer for a model of these samples, and the samples as it takes them.

        Whatever happens inside, random states and callbacks are left as they should be.
        """
        fabric, seed = make_fabric(self.device, self.precision), self._seed()
        callbacks = [*(self.callbacks or ()), *([ProgressBars()] if self.verbose else [])]
        try:
            with isolated(), limited(self.n_threads), ExitStack() as threads:
                torch.manual_seed(seed)
                scaling = self._scaling(data)
                network = build_network(
                    self.network,
                    network_shape(data.shape),
                    n_clusters,
                    n_features=n_features,
                    **settings.network,
                ).to(fabric.device)
                model = Model(data.shape, scaling, network)
                work = step_work(network, network_shape(data.shape), settings.batch_size)
                self.n_threads_ = threads.enter_context(step_threads(work))
                x = data.feed(lambda samples: model.prepare(samples, fabric.device))
                if self.network == "auto" and isinstance(network, DenoisingAutoencoder):
                    network.start(x.mean())
                trainer = Trainer(
                    fabric,
                    model,
                    settings,
                    seed=seed,
                    augment=IF.random_affine if self.augment else None,
                    callbacks=callbacks,
                    checkpoint=self._checkpoint(data, settings, network, seed),
                )
                yield trainer, x
        finally:
            for callback in callbacks:
                callback.on_end()

    def _checkpoint(
        self, data: Dataset, settings: Settings, network: nn.Module, seed: int
    ) -> Checkpoint | None:
        """Where to keep the training's state, with all that makes it this training."""
        if self.checkpoint is None:
            return None
        params = plain_params(self.get_params(deep=False))
        identity = {
            "infomeans": __version__,
            "estimator": type(self).__name__,
            "data": data.fingerprint,
            **{
                name: digest(value) if isinstance(value, list) else value
                for name, value in params.items()
                if name not in NO_EFFECT
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
    init : {"auto", "graph", "kmeans", "soft_kmeans"} or array of n labels
        Where the clusters start, in the pretrained embedding: sparse graph agglomeration,
        K-means, or soft K-means as the paper states it. "auto" is the graph, and with
        `preset="paper"` soft K-means.
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

    init: Init = "auto"
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
    def fit(self, X: ArrayLike | Dataset, y: object = None) -> Self:
        """Learn the embedding and the clusters of X together; y is ignored.

        Parameters
        ----------
        X : (n, d), (n, h, w), (n, h, w, c) or (n, c, h, w) array, or Dataset
            Vectors, or images with 1 or 3 channels.
        y : ignored
        """
        data = self._dataset(X, reset=True)
        self._check(data)
        settings = self._settings(data)
        n_features = max(self.n_clusters, settings.least_features)
        with self._training(data, settings, self.n_clusters, n_features) as (trainer, x):
            model = trainer.model
            self._check_bounded(model.network)
            method = model.method = self._build_method(model.n_features)
            if self.augment:
                model.views = IF.view_maps(*network_shape(data.shape)[1:])
            trainer.pretrain(x)
            z = trainer.embed(x)
            start = self._start(trainer, data, z) if method.wants_start else None
            state = trainer.cluster(x, z, start)
            fitted = trainer.fitted(x, state)
        self.initial_labels_ = fitted.initial_labels
        self.cluster_centers_ = method.prototypes.detach().cpu().numpy().copy()
        self._keep(model.cpu().eval(), fitted)
        return self

    @property
    def views_(self) -> Array:
        """The affine maps that make the views of an image; none without augmentation."""
        return self.model_.views.numpy()

    def check(self, X: ArrayLike | Dataset) -> None:
        """Raise what `fit` would raise for these samples before it trains; change nothing."""
        super().check(X)
        shape = X.shape if isinstance(X, Dataset) else np.asarray(X).shape[1:]
        with isolated():
            network = build_network(self.network, network_shape(shape), self.n_clusters)
        self._check_bounded(network)

    def _settings(self, data: Dataset) -> Settings:
        shape = network_shape(data.shape)
        return resolve_settings(
            self.preset,
            len(data),
            () if self.network is None else shape,
            augment=self.augment,
            embedded=takes_embeddings(self.network),
            pretrain_epochs=self.pretrain_epochs,
            warmup_epochs=self.warmup_epochs,
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
        )

    def _start(self, trainer: Trainer, data: Dataset, z: Tensor) -> Start:
        """The initial clusters, unless an interrupted training has found them already."""
        saved = trainer.saved_start()
        if saved is not None:
            return saved
        trainer.announce("start")
        lam = self._method_params().get("lam") or None
        automatic = isinstance(self.init, str) and self.init == "auto"
        return find_start(
            z.cpu().numpy(),
            self.n_clusters,
            trainer.settings.start if automatic else self.init,
            seed=trainer.seed,
            images=channels_first(data.X) if self.augment else None,
            **({} if lam is None else {"lam": lam}),
        )

    def planned_threads(self, X: ArrayLike | Dataset) -> int:
        """How many threads `fit` would compute with."""
        data = X if isinstance(X, Dataset) else Dataset.of_array(np.asarray(X))
        settings, shape = self._settings(data), network_shape(data.shape)
        n_features = max(self.n_clusters, settings.least_features)
        with isolated(), limited(self.n_threads):
            network = build_network(
                self.network, shape, self.n_clusters, n_features=n_features, **settings.network
            )
            with step_threads(step_work(network, shape, settings.batch_size)) as planned:
                return planned

    def _augmentation(self) -> dict[str, float]:
        return {**LIMITS, **VOTES}

    def _method_class(self) -> type[Method]:
        return find_method(self.method).load() if isinstance(self.method, str) else self.method

    def _method_params(self) -> dict[str, Any]:
        """The parameters that a clusterer has beyond those of all."""
        shared = {*DeepClusterer.__dataclass_fields__}
        return {name: getattr(self, name) for name in self.get_params() if name not in shared}

    def _build_method(self, n_features: int, tensors: Mapping[str, Tensor] | None = None) -> Method:
        return self._method_class()(self.n_clusters, n_features, **self._method_params())

    def _check(self, data: Dataset) -> None:
        super()._check(data)
        check_init(self.init, len(data), self.n_clusters)
        self._build_method(n_features=1)

    def _check_bounded(self, network: Any) -> None:
        if self._method_class().needs_bounded and not network.bounded:
            raise ValueError(
                f"network={self.network!r} has an unbounded embedding, on which the loss of "
                f"{type(self).__name__} has no minimum; end the encoder with a tanh or sigmoid, or "
                f"set bounded=True on the module if its embedding is bounded in another way."
            )
