"""The auto-encoder as an estimator of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from sklearn.base import _fit_context

from infomeans.data.arrays import network_shape
from infomeans.data.rows import TensorFeed
from infomeans.estimators.base import COUNT, POSITIVE_INT
from infomeans.estimators.deep import DeepEstimator
from infomeans.training import resolve_settings

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from infomeans.data import Dataset


@dataclass(eq=False, repr=False, kw_only=True)
class Autoencoder(DeepEstimator):
    """An auto-encoder without clustering, as a transformer to its embedding.

    Several clusterers can share its `network_`. They then need no pretraining:
    `MIADM(network=autoencoder.network_, pretrain_epochs=0)`.

    The parameters not listed here are those of `DeepClusterer`.

    Parameters
    ----------
    n_features : int
        Length of the embedding, for `network="auto"`. A network factory gets it in place of the
        number of clusters.
    epochs : int, optional
        Number of epochs. By default fewer, the more samples there are.

    Attributes
    ----------
    network_ : nn.Module
        The trained network.
    history_ : list of dict
        One record per epoch; see `infomeans.training.Record`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from infomeans import Autoencoder
    >>> X = load_iris().data
    >>> Autoencoder(n_features=2, epochs=2, random_state=0).fit(X).transform(X).shape
    (150, 2)
    """

    n_features: int = field(default=16, kw_only=False)
    epochs: int | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepEstimator._parameter_constraints,
        "n_features": [POSITIVE_INT],
        "epochs": [COUNT, None],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike | Dataset, y: object = None) -> Self:
        """Train on X; y is ignored."""
        data = self._dataset(X, reset=True)
        settings = resolve_settings(
            self.preset,
            len(data),
            network_shape(data.shape),
            pretrain_epochs=self.epochs,
            batch_size=self.batch_size,
            pretrain_learning_rate=self.learning_rate,
        )
        with self._training(data, settings, self.n_features, self.n_features) as (trainer, x):
            if not trainer.model.network.reconstructs:
                raise ValueError(
                    f"network={self.network!r} has no method decode(z), so it cannot be trained "
                    f"to reconstruct its input."
                )
            trainer.pretrain(x)
            trainer.embed(TensorFeed(x.batch(torch.tensor([0]))))
        self.model_ = trainer.model.cpu().eval()
        self.history_ = [record.as_dict() for record in trainer.history]
        self._fitted_params = self.get_params(deep=False)
        return self
