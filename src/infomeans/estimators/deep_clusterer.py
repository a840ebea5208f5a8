"""The base class of the deep clusterers."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from torch import nn

from infomeans import functional as IF
from infomeans.data import Dataset
from infomeans.data.arrays import channels_first, channels_last, network_shape
from infomeans.errors import few
from infomeans.estimators.base import COUNT, SampleClusterer
from infomeans.estimators.deep import DeepEstimator
from infomeans.functional.affine import LIMITS
from infomeans.graph.number import finest_number
from infomeans.methods import find_method
from infomeans.methods.parameters import parameters_of
from infomeans.model import Strangeness
from infomeans.networks import build_network, takes_embeddings
from infomeans.randomness import Draws
from infomeans.start import check_init, choose_start, find_start
from infomeans.start.initial import LAM, start_samples
from infomeans.start.views import View
from infomeans.threads import limited, step_threads
from infomeans.training import join, resolve_settings
from infomeans.training.step import step_work
from infomeans.training.votes import VOTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from numpy.typing import ArrayLike
    from torch import Tensor

    from infomeans._typing import Array
    from infomeans.graph.agglomeration import Sizes
    from infomeans.methods.base import Method
    from infomeans.start import Init, Start
    from infomeans.training import Settings, Trainer

LOOKED_AT = 6_000
"""Number of images that tell how long the embedding should be."""

SIZES = "sizes"
"""The parameter of the methods that can have other than equal shares."""


@dataclass(eq=False, repr=False, kw_only=True)
class DeepClusterer(SampleClusterer, DeepEstimator):
    """Base class of the deep clusterers; each subclass sets a method.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it in the pretrained embedding
        (`infomeans.graph.number_of_clusters`).
    k_min, k_max : int
        Bounds of the number, if it is found.
    init : {"auto", "graph", "kmeans", "soft_kmeans"} or array of n labels
        How to find the initial clusters. "auto" chooses among graph agglomeration and K-means on
        the data and on the embedding, by the mutual information between the clusters of neighbours;
        with `augment` it is the graph, and with `preset="paper"` soft K-means. The others work on
        the pretrained embedding.
    sizes : {"auto", "equal", "free"} or sequence of K positive numbers
        Whether clusters are to have equal sizes, as in the paper. "free" cuts the graph where few
        edges are, whatever the sizes, and the methods learn the shares. "auto" cuts it so if equal
        sizes would part groups, and learns the shares if the initial ones are uneven; with
        `preset="paper"` it is "equal". Numbers are the desired shares, up to their order. Shares
        matter to MI-ADM, MI-D, MI-Pairs and DEPICT; to DEC, DCN and SR-K-means only the start does.
    network : "auto", "residual", None, nn.Module or callable
        "auto" is the paper's convolutional auto-encoder for images and a dense one for vectors.
        "residual" and None treat X as embeddings of another model. These are centred and divided
        by one number, their mean spread. "residual" starts as the identity, or as the projection to
        64 principal components if there are more features, and fine-tunes the
        embeddings, moving each feature by at most 3. None keeps them fixed and learns only a head.
        A module of your own is copied, not changed. A callable is called as
        `network((d,) or (c, h, w), n_clusters)` and returns a module.
    pretrain_epochs, warmup_epochs, epochs : int, optional
        Maximum number of epochs of each phase. By default those of the preset, which are fewer the
        more samples there are.
    batch_size : int, optional
        Number of samples per batch; by default that of the preset.
    learning_rate : float, optional
        Learning rate of the clustering phases; by default that of the preset.
    preset : {"fast", "paper"}
        Settings of the optimisation: "fast" for a CPU with few cores, or those of the paper, which
        take hours.
    augment : bool
        Whether to train on images that are randomly rotated, scaled, sheared and shifted by small
        amounts, instead of dropping pixels. The graph then uses distances that ignore such changes,
        if that gives clearer clusters. The neighbours in that graph contribute to the targets, and
        predictions are averaged over nine views of an image. It assumes that such changes do not
        alter what an image shows.
    device : str
        "auto", "cpu", "cuda", "cuda:N" or "mps".
    n_threads : int, optional
        Number of CPU threads in fit, predict and transform. By default chosen by the work per
        step: one for small networks on vectors, more for convolutions, never more than there are
        CPUs. Another number changes the order of summation, so the clusters may differ slightly.
    precision : str
        Numerical precision of the training, in the terms of Lightning Fabric.
    random_state : int, RandomState or None
        The same seed gives the same clusters. None draws a new seed from the system, not from
        numpy's global state.
    verbose : int
        Whether to show progress bars.
    callbacks : list of Callback, optional
        Called during training; see `infomeans.training.Callback`.
    checkpoint : path, optional
        File that keeps the state of the training after every epoch; a second one beside it keeps
        what was found once. If it exists, fit resumes from it, and the result is the same as
        without the interruption.

    Attributes
    ----------
    labels_ : (n,) integer array
        Clusters of the samples seen in fit; equal to `predict` of them.
    n_clusters_ : int
        Number of clusters, given or found.
    embedding_, confidences_ : (n, d) and (n,) arrays
        Embedding of those samples, and the probability of the cluster of each. Not saved.
    outlier_scores_ : (n,) array
        Share of those samples that are less strange than each; `outlier_score` of them. Not saved.
    cluster_centers_ : (n_clusters, d) array
        Centres of the clusters in the embedding.
    history_ : list of dict
        One record per epoch; see `infomeans.training.Record`.
    initial_labels_ : (n,) integer array
        The initial clusters.
    views_ : (8, 2, 3) array
        With `augment`, the affine maps of the views that `predict_proba` averages over; empty
        otherwise. The embedding and the history come from the unchanged image.
    tree_ : (m - 1, 4) array
        The merges of small groups to clusters and of clusters to one, as a linkage matrix for
        `scipy.cluster.hierarchy`. Computed when it is asked for. Not saved with the model.
    n_threads_ : int
        Number of threads used in fit. Not saved.
    network_, method_, scaling_ : nn.Module
        The parts of the trained model.

    Examples
    --------
    A subclass only names its method; `make_clusterer` also adds the method's own parameters.

    >>> from sklearn.datasets import make_blobs
    >>> from infomeans.estimators import DeepClusterer
    >>> class Clusterer(DeepClusterer):
    ...     method = "mi-adm"
    >>> X, _ = make_blobs(n_samples=90, centers=3, random_state=0)
    >>> model = Clusterer(n_clusters=3, pretrain_epochs=2, epochs=2, random_state=0)
    >>> model.fit_predict(X).shape
    (90,)
    """

    init: Init = "auto"
    sizes: Sizes | Sequence[float] = "auto"
    pretrain_epochs: int | None = None
    warmup_epochs: int | None = None
    epochs: int | None = None

    method: ClassVar[str | type[Method]]
    """The method's slug, or its class."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepEstimator._parameter_constraints,
        **SampleClusterer._parameter_constraints,
        "init": "no_validation",
        "sizes": [StrOptions({"auto", "equal", "free"}), "array-like"],
        "pretrain_epochs": [COUNT, None],
        "warmup_epochs": [COUNT, None],
        "epochs": [COUNT, None],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike | Dataset, y: object = None) -> Self:
        """Learn the embedding and the clusters of X jointly; y is ignored.

        Parameters
        ----------
        X : (n, d), (n, h, w), (n, h, w, c) or (n, c, h, w) array, or Dataset
            Vectors, or images with 1 or 3 channels.
        y : ignored
        """
        data = self._dataset(X, reset=True)
        self._check(data)
        settings = self._settings(data)
        n_clusters = self._planned_clusters()
        n_features = self._embedding_length(data, settings)
        with self._training(data, settings, n_clusters, n_features) as (trainer, x):
            processes = trainer.processes
            model = trainer.model
            with Draws(trainer.seed):
                model.method = self._build_method(n_clusters, model.n_features)
            if self.augment:
                model.views = IF.view_maps(*network_shape(data.shape)[1:])
            trainer.pretrain(x)
            z = trainer.embed(x)
            start = self._start(trainer, data, z) if trainer.method.wants_start else None
            slug = self._method_for(start)
            number = start.number if start else None
            n_clusters = number["best"] if number else n_clusters
            free = self._learns_sizes(start, slug, n_clusters)
            if slug is not None or number is not None or free:
                with Draws(trainer.seed):
                    model.method = self._build_method(
                        n_clusters, model.n_features, slug=slug, free=free
                    )
            state = trainer.cluster(x, z, start)
            fitted = trainer.fitted(x, state)
            model.strangeness, outliers = Strangeness.of(x, processes)
            fitted = replace(fitted, method=slug, free=free, outliers=outliers)
        self.initial_labels_ = fitted.initial_labels
        self.cluster_centers_ = trainer.method.prototypes.detach().cpu().numpy().copy()
        self._keep(model.cpu().eval(), fitted, data)
        return self

    @property
    def views_(self) -> Array:
        """The affine maps of the views of an image; empty without augmentation."""
        return self.model_.views.numpy()

    def check(self, X: ArrayLike | Dataset) -> None:
        """Raise the errors that `fit` would raise before training; change nothing."""
        super().check(X)
        shape = X.shape if isinstance(X, Dataset) else np.asarray(X).shape[1:]
        with Draws(0):
            build_network(self.network, network_shape(shape), self._planned_clusters())

    def _settings(self, data: Dataset) -> Settings:
        shape = network_shape(data.shape)
        most = self._most_looked_at(data, self._planned_clusters())
        return resolve_settings(
            self.preset,
            len(data),
            () if self.network is None else shape,
            augment=self.augment,
            embedded=takes_embeddings(self.network),
            n_selected=None if most is None else min(most, len(data)),
            pretrain_epochs=self.pretrain_epochs,
            warmup_epochs=self.warmup_epochs,
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
        )

    def _start(self, trainer: Trainer, data: Dataset, z: Tensor) -> Start:
        """The initial clusters, from the checkpoint of an interrupted training if it has them."""
        saved = trainer.saved_start()
        if saved is not None:
            return saved
        trainer.course.announce("start")
        began = time.perf_counter()
        embedding = trainer.processes.gathered(z).cpu().numpy()

        def found() -> Start:
            number = self._number(embedding, trainer.seed) if self.n_clusters == "auto" else None
            n_clusters = number["best"] if number else self._planned_clusters()
            most = self._most_looked_at(data, n_clusters)
            if most is not None and len(data) > most:
                rng = np.random.default_rng(trainer.seed)
                some = np.sort(rng.choice(len(data), most, replace=False))
                part = self._find_start(trainer, data.subset(some), embedding[some], n_clusters)
                start = part.of_selected(some, embedding)
            else:
                start = self._find_start(trainer, data, embedding, n_clusters)
            return replace(start, seconds=time.perf_counter() - began, number=number)

        return trainer.processes.made_once(found)

    def _most_looked_at(self, data: Dataset, n_clusters: int) -> int | None:
        """The most samples that the start may look at; None if it needs all."""
        if self.augment or not isinstance(self.init, str):
            return None
        return start_samples(data.memory, n_clusters)

    def _find_start(self, trainer: Trainer, data: Dataset, z: Array, n_clusters: int) -> Start:
        init, sizes, scaling = self.init, self._start_sizes(), trainer.model.scaling
        if isinstance(init, str) and init == "auto":
            init = "graph" if self.augment else trainer.settings.start
        if isinstance(init, str) and init == "auto" and len(data) > 2 * n_clusters > 2:
            embedded = takes_embeddings(self.network)
            return choose_start(
                lambda index: channels_last(scaling.clipped(data.batch(index))),
                z,
                n_clusters,
                seed=trainer.seed,
                table=len(data.shape) == 1 and not embedded,
                embedded=embedded,
                sizes=sizes,
            )
        lam = trainer.method.start_lam
        return find_start(
            z,
            n_clusters,
            init,
            seed=trainer.seed,
            lam=LAM if lam is None else lam,
            images=channels_first(scaling.clipped(data.X)) if self.augment else None,
            sizes=sizes,
        )

    def planned_threads(self, X: ArrayLike | Dataset) -> int:
        """Number of threads that `fit` would use."""
        data = X if isinstance(X, Dataset) else Dataset.of_array(np.asarray(X))
        settings, shape = self._settings(data), network_shape(data.shape)
        n_clusters = self._planned_clusters()
        n_features = max(n_clusters, settings.least_features)
        with Draws(0), limited(self.n_threads):
            network = build_network(
                self.network, shape, n_clusters, n_features=n_features, **settings.network
            )
            with step_threads(step_work(network, shape, settings.batch_size)) as planned:
                return planned

    def _augmentation(self) -> dict[str, float]:
        return {**LIMITS, **VOTES}

    def _method_class(
        self, slug: str | None = None, tensors: Mapping[str, Tensor] | None = None
    ) -> type[Method]:
        """The class of the method: of the saved tensors, of this slug, or of the estimator."""
        return find_method(self.method).load() if isinstance(self.method, str) else self.method

    def _method_params(self, method: type[Method], *, free: bool) -> dict[str, Any]:
        """The parameters of the method, without those that all clusterers share."""
        shared = {*DeepClusterer.__dataclass_fields__}
        params = {name: getattr(self, name) for name in self.get_params() if name not in shared}
        if SIZES in {one.name for one in parameters_of(method)}:
            params[SIZES] = ("free" if free else "equal") if self._by_name else self.sizes
        elif not self._by_name:
            raise ValueError(
                f"{type(self).__name__} cannot aim at given sizes; 'auto', 'equal' and 'free' are "
                f"accepted."
            )
        return params

    def _start_sizes(self) -> Sizes:
        """Whether the initial clusters are to have similar sizes."""
        sizes = self.sizes if isinstance(self.sizes, str) else "auto"
        return "equal" if sizes == "auto" and self.preset == "paper" else sizes

    def _learns_sizes(self, start: Start | None, slug: str | None, n_clusters: int) -> bool:
        """Whether the method is to learn the sizes of the clusters."""
        sizes = self._start_sizes()
        if start is None or n_clusters < 2 or not self._by_name or sizes == "equal":
            return False
        accepted = {one.name for one in parameters_of(self._method_class(slug))}
        return SIZES in accepted and (sizes == "free" or start.free or start.uneven(n_clusters))

    @property
    def _by_name(self) -> bool:
        """Whether sizes are given by name, not as shares."""
        return isinstance(self.sizes, str)

    def _method_for(self, start: Start | None) -> str | None:
        """The method to train with after this start, if it depends on it."""
        return None

    def _build_method(
        self,
        n_clusters: int,
        n_features: int,
        tensors: Mapping[str, Tensor] | None = None,
        slug: str | None = None,
        *,
        free: bool = False,
    ) -> Method:
        method = self._method_class(slug, tensors)
        return method(n_clusters, n_features, **self._method_params(method, free=free))

    def _planned_clusters(self) -> int:
        """The number of clusters, as far as it is known before training."""
        return self.k_min if self.n_clusters == "auto" else int(self.n_clusters)

    def _embedding_length(self, data: Dataset, settings: Settings) -> int:
        """Number of features of the embedding: as many as clusters, or a few more.

        If the number of clusters is to be found, the images have to say how many there may be.
        """
        least = max(self._planned_clusters(), settings.least_features)
        if self.n_clusters != "auto" or self.network != "auto" or len(data.shape) == 1:
            return least

        def looked_up() -> int:
            chosen = np.random.default_rng(0).permutation(len(data))[:LOOKED_AT]
            some = channels_last(data.batch(np.sort(chosen)))
            with limited(self.n_threads):
                return max(least, finest_number(View("data", some)(some), k_max=self.k_max))

        _, processes = join(self.device, self.precision)
        return processes.made_once(looked_up)

    def _check(self, data: Dataset) -> None:
        super()._check(data)
        n_clusters = self._planned_clusters()
        if self.n_clusters == "auto":
            self._check_automatic()
        check_init(self.init, len(data), n_clusters)
        method = self._build_method(n_clusters, n_features=1)
        if self.n_clusters == "auto" and not (method.wants_start and method.pretraining != "own"):
            raise ValueError(
                "n_clusters='auto' needs a method that starts from initial clusters and has no "
                "pretraining of its own; give a number."
            )

    def _check_automatic(self) -> None:
        """Refuse what needs a given number of clusters."""
        needs = [
            name
            for name, given in (
                ("init as labels", not isinstance(self.init, str)),
                ("sizes as shares", not self._by_name),
                (
                    "a callable network",
                    callable(self.network) and not isinstance(self.network, nn.Module),
                ),
            )
            if given
        ]
        if needs:
            raise ValueError(f"n_clusters='auto' cannot be used with {few(needs)}; give a number.")
