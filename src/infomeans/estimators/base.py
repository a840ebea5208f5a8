"""Base classes of the estimators: parameters, checks, and predictions of a trained model.

An estimator is a dataclass: its fields are its parameters, and its constructor only stores them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
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
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from infomeans import functional as IF
from infomeans.data import Dataset
from infomeans.data.arrays import channel_axis
from infomeans.data.copies import first_copies
from infomeans.data.rows import BLOCK
from infomeans.data.shelf import IN_MEMORY
from infomeans.errors import InputError, few, warn_caller
from infomeans.estimators import saving
from infomeans.estimators.display import ClusterDisplay
from infomeans.graph import Hierarchy, cluster_tree, number_of_clusters
from infomeans.graph.number import MOST_SAMPLES, check_copies, check_number
from infomeans.model import Scaling
from infomeans.start.views import EMBEDDING, View
from infomeans.threads import allowed, limited, step_threads
from infomeans.training import make_fabric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags
    from torch import Tensor, nn

    from infomeans._typing import Array, IntArray
    from infomeans.graph.number import Automatic
    from infomeans.model import Model
    from infomeans.networks import AnyNetwork
    from infomeans.training import Fitted

LOOKED_AT = 1_000
"""Number of samples among which groups are counted, if clusters are empty."""

POSITIVE_INT = Interval(Integral, 1, None, closed="left")
COUNT = Interval(Integral, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")


@dataclass(eq=False, repr=False, kw_only=True)
class SampleEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learns a model of samples and embeds new samples with it."""

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

    model_: Model = field(init=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    @property
    def network_(self) -> AnyNetwork:
        """The trained network."""
        return self.model_.network

    @property
    def scaling_(self) -> Scaling:
        """The scaling learned in fit."""
        return self.model_.scaling

    def transform(self, X: ArrayLike | Dataset) -> Array:
        """The clean embedding (n, d)."""
        check_is_fitted(self, "model_")
        data = self._dataset(X, reset=False)
        return _joined(self._outputs(data, posteriors=False), len(data))[0]

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Save the fitted model to a folder; `infomeans.load` reads it back.

        It is saved with the parameters it was fitted with, even if they were changed since.

        Parameters
        ----------
        path : path
            Folder to write to; created if it does not exist.
        overwrite : bool
            Whether to replace an existing model.
        """
        check_is_fitted(self, "model_")
        saving.write_model(self, path, overwrite=overwrite)

    @property
    def _n_features_out(self) -> int:
        return self.model_.n_features

    def _dataset(self, X: ArrayLike | Dataset, *, reset: bool) -> Dataset:
        """Check samples and return them as a data set."""
        data = X if isinstance(X, Dataset) else Dataset.of_array(self._validated(X, reset))
        if data.rows.dtype.kind not in "biuf":
            raise InputError(
                f"{data.source} has values of type {data.rows.dtype}; integers, floats and "
                f"booleans are accepted."
            )
        channel_axis((len(data), *data.shape))
        if len(data.shape) == 1 and getattr(self, "augment", False):
            raise ValueError(
                "augment=True (--augment) needs images, but X holds vectors; leave it out."
            )
        if reset:
            if len(data.shape) == 1:
                self.n_features_in_ = data.shape[0]
        elif data.shape != self.model_.shape:
            raise ValueError(
                f"X has samples of shape {data.shape}, but {type(self).__name__} was fitted "
                f"with samples of shape {self.model_.shape}."
            )
        return data

    def _validated(self, X: ArrayLike, reset: bool) -> NDArray[Any]:
        images = not reset and self.model_.images
        check = check_array if images else partial(validate_data, self, reset=reset)
        samples: NDArray[Any] = check(X, allow_nd=True)
        return samples

    def _scaling(self, data: Dataset) -> Scaling:
        return Scaling.of_features(data) if len(data.shape) == 1 else Scaling.of_images(data)

    def _seed(self) -> int:
        if self.random_state is None:
            return int(np.random.SeedSequence().generate_state(1)[0])
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31 - 1))
        return int(self.random_state)

    def _outputs(
        self, X: ArrayLike | Dataset, *, posteriors: bool = True, outliers: bool = False
    ) -> Iterator[tuple[Tensor, ...]]:
        """The model's outputs for these samples, block by block."""
        data, device = self._dataset(X, reset=False), make_fabric(self.device).device
        model = self.model_
        prepared = (model.prepare(block, device) for block in data.blocks())
        outputs = model.outputs(prepared, device, posteriors=posteriors, outliers=outliers)
        done = 0
        while True:
            # Restore the caller's number of threads between two blocks.
            with limited(self.n_threads), step_threads(BLOCK * model.work):
                block = next(outputs, None)
            if block is None:
                return
            _check_outputs(block, data, done)
            done += len(block[0])
            yield block

    def _build_method(
        self, n_clusters: int, n_features: int, tensors: Mapping[str, Tensor]
    ) -> nn.Module | None:
        """A method of the right size to load a saved model into; None for an auto-encoder."""
        return None


@dataclass(eq=False, repr=False, kw_only=True)
class SampleClusterer(ClusterDisplay, ClusterMixin, SampleEstimator, ABC):
    """Assigns samples to clusters, with a probability for each cluster."""

    n_clusters: int | Automatic = field(default=8, kw_only=False)
    k_min: int = 2
    k_max: int | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SampleEstimator._parameter_constraints,
        "n_clusters": [POSITIVE_INT, StrOptions({"auto"})],
        "k_min": [POSITIVE_INT],
        "k_max": [POSITIVE_INT, None],
    }

    labels_: IntArray = field(init=False)
    n_clusters_: int = field(init=False)
    fitted_: Fitted = field(init=False)

    @property
    def method_(self) -> nn.Module:
        """The trained method."""
        if self.model_.method is None:
            raise AttributeError("method_")
        return self.model_.method

    @property
    def embedding_(self) -> Array:
        """The embedding of the samples seen in fit."""
        self._check_seen("embedding_")
        return self.fitted_.embedding

    @property
    def confidences_(self) -> Array:
        """The probability of the cluster of each sample seen in fit."""
        self._check_seen("confidences_")
        return self.fitted_.confidences

    @cached_property
    def hierarchy_(self) -> Hierarchy:
        """The tree of merges of the samples seen in fit, through the clusters."""
        self._check_seen("the tree")
        return cluster_tree(self._embedding_to_keep(), self.labels_)

    @property
    def tree_(self) -> Array:
        """The merges as a linkage matrix in SciPy's form; see `infomeans.graph.Hierarchy`."""
        return self.hierarchy_.linkage

    @property
    def outlier_scores_(self) -> Array:
        """The outlier score of each sample seen in fit."""
        self._check_seen("outlier_scores_")
        if self.fitted_.outliers is None:
            raise AttributeError("outlier_scores_")
        return self.fitted_.outliers

    def predict(self, X: ArrayLike | Dataset) -> IntArray:
        """The most probable cluster of each sample (n,)."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: ArrayLike | Dataset) -> Array:
        """The posteriors (n, n_clusters)."""
        check_is_fitted(self, "model_")
        data = self._dataset(X, reset=False)
        return _joined(((p,) for _, p in self._outputs(data)), len(data))[0]

    def outlier_score(self, X: ArrayLike | Dataset) -> Array:
        """How strange each sample is (n,): the share of the fitted samples that are less strange.

        The samples are compared with those seen in fit, whatever their clusters
        (`infomeans.model.Strangeness`).
        """
        check_is_fitted(self, "model_")
        strangeness = self.model_.strangeness
        if strangeness is None:
            raise InputError(
                "the model was saved by an earlier version, without what outlier scores need; fit "
                "it again."
            )
        data, cpu, model = self._dataset(X, reset=False), torch.device("cpu"), self.model_

        def scores() -> Iterator[tuple[Tensor]]:
            done = 0
            for block in data.blocks():
                x = model.prepare(block, cpu)
                _check_outputs((x,), data, done)
                done += len(x)
                yield (strangeness(x),)

        with limited(self.n_threads), torch.inference_mode():
            return _joined(scores(), len(data))[0]

    def score(self, X: ArrayLike | Dataset, y: object = None) -> float:
        """The mutual information I(X;K) of `predict_proba(X)`, in nats; y is ignored.

        It grows with the number of clusters, so it cannot choose that number.
        """
        return IF.mutual_information(torch.as_tensor(self.predict_proba(X))).item()

    def check(self, X: ArrayLike | Dataset) -> None:
        """Raise the errors that `fit` would raise before training; change nothing."""
        self._validate_params()
        self._check(clone(self)._dataset(X, reset=True))

    def planned_threads(self, X: ArrayLike | Dataset) -> int:
        """Number of threads that `fit` would use."""
        with limited(self.n_threads):
            return allowed()

    def _outcome(self, X: ArrayLike | Dataset) -> tuple[Array, Array]:
        """The embedding (n, d) and the posteriors (n, n_clusters)."""
        data = self._dataset(X, reset=False)
        embedding, posteriors = _joined(self._outputs(data), len(data))
        return embedding, posteriors

    def _check_seen(self, what: str) -> None:
        """Refuse what only a model that has just been fitted knows."""
        check_is_fitted(self, "model_")
        if not hasattr(self, "fitted_"):
            raise AttributeError(
                f"{what} belongs to the samples seen in fit and is not saved with the model; a "
                f"run keeps it."
            )

    def _embedding_to_keep(self) -> Array:
        """The embedding of the samples seen in fit, as stored in a run."""
        return self.embedding_

    def _keep(self, model: Model, fitted: Fitted, data: Dataset) -> None:
        """Set the fitted attributes, and warn about doubtful clusters."""
        if (fitted.sizes == 0).any():
            # A guess at the reason must not cost a training.
            with suppress(Exception):
                fitted = replace(fitted, why=self._why_empty(model, fitted, data))
        self.model_ = model
        self.fitted_ = fitted
        self.__dict__.pop("hierarchy_", None)
        self.labels_ = fitted.labels
        self.n_clusters_ = fitted.posteriors.shape[1]
        self.history_ = [dict(record) for record in fitted.history]
        self._fitted_params = self.get_params(deep=False)
        for problem in fitted.problems():
            warn_caller(problem)

    def _why_empty(self, model: Model, fitted: Fitted, data: Dataset) -> dict[str, int]:
        """Why clusters may be empty: the number of distinct samples, and of groups."""
        distinct = len(np.unique(first_copies(data)))
        why = {"distinct": distinct}
        if distinct >= len(fitted.sizes) and fitted.number is None:
            some = np.random.default_rng(0).permutation(len(data))[:LOOKED_AT]
            x = model.prepare(data.batch(np.sort(some)), torch.device("cpu")).flatten(1).numpy()
            if (x == x[0]).all():
                # Mere rounding errors are scaled to zero.
                return {"distinct": 1}
            # Too few samples have no number.
            with suppress(InputError):
                why["groups"] = number_of_clusters(View("data", x)(x)).best
        return why

    def _number(self, z: Array, seed: int) -> Mapping[str, Any]:
        """The number of clusters of an embedding; see `NumberOfClusters.as_dict`."""
        if len(z) > MOST_SAMPLES:
            rng = np.random.default_rng(seed)
            z = z[np.sort(rng.choice(len(z), MOST_SAMPLES, replace=False))]
        return number_of_clusters(
            View(EMBEDDING, z)(z), k_min=self.k_min, k_max=self.k_max, seed=seed
        ).as_dict()

    def _check(self, data: Dataset) -> None:
        make_fabric(self.device)
        if self.n_clusters == "auto":
            check_number(len(data), self.k_min, self.k_max)
            first = data.batch(np.arange(1))
            check_copies((block == first).all() for block in data.blocks())
        elif len(data) < self.n_clusters:
            raise ValueError(
                f"n_samples={len(data)} is less than n_clusters={self.n_clusters}; at least as "
                f"many samples as clusters are needed."
            )

    @abstractmethod
    def _build_method(
        self, n_clusters: int, n_features: int, tensors: Mapping[str, Tensor]
    ) -> nn.Module: ...


def _check_outputs(block: tuple[Tensor, ...], data: Dataset, first: int) -> None:
    """Raise an error that names the samples for which the model gives NaN or infinity."""
    finite = [part.reshape(len(part), -1).isfinite().all(dim=1) for part in block if len(part)]
    if all(bool(part.all()) for part in finite):
        return
    bad = (~torch.stack([part.cpu() for part in finite]).all(dim=0)).nonzero().flatten() + first
    raise InputError(
        f"the model gives NaN or infinity for the samples "
        f"{few([data.ids[i] for i in bad.tolist()])}; look at their values, and at the network."
    )


def _joined(blocks: Iterable[tuple[Tensor, ...]], n: int) -> list[Array]:
    """Outputs of n samples, from those of blocks."""
    parts = (tuple(part.cpu() for part in block) for block in blocks)
    return [column.numpy() for column in IN_MEMORY.columns(parts, n)]
