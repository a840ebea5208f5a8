"""Figures and notebook cards of a fitted clusterer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from infomeans.data import Dataset
from infomeans.data.arrays import channels_first
from infomeans.plots.cards import cards_html
from infomeans.plots.figures import clusters_figure, history_figure, map_figure
from infomeans.plots.thumbnails import Tones
from infomeans.plots.typical import cluster_means, typical_samples
from infomeans.training import kept

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from infomeans._typing import Array, IntArray
    from infomeans.model import Model
    from infomeans.plots.projection import Kind
    from infomeans.training import Fitted

TYPICAL = 8
"""Number of samples shown for each cluster in a figure."""


class ClusterDisplay(ABC):
    """Figures and notebook cards of a clusterer."""

    model_: Model
    fitted_: Fitted
    labels_: IntArray
    cluster_centers_: Array
    history_: list[dict[str, Any]]

    def plot_history(self) -> Figure:
        """Plot the losses, the entropies and the change of the targets by epoch."""
        check_is_fitted(self, "model_")
        return history_figure(self.history_)

    def plot_map(self, X: ArrayLike | Dataset | None = None, projection: Kind = "auto") -> Figure:
        """Plot a two-dimensional map of the embedding.

        Parameters
        ----------
        X : array or Dataset, optional
            Samples to show; by default those seen in fit.
        projection : {"auto", "lda", "pca", "umap"}
            "auto" is UMAP if it is installed, otherwise linear discriminant analysis.
        """
        embedding, clusters, _ = self._seen(X)
        return map_figure(embedding, clusters, projection)

    def plot_clusters(self, X: ArrayLike | Dataset | None = None) -> Figure:
        """Plot sizes and confidences of the clusters and, for images, what they look like.

        Parameters
        ----------
        X : array or Dataset, optional
            Samples to show; by default those seen in fit. Typical images of each cluster are shown
            only if X is given, because a model does not store the images.
        """
        embedding, clusters, confidences = self._seen(X)
        k = len(self.cluster_centers_)
        sizes, means = np.bincount(clusters, minlength=k), cluster_means(clusters, confidences, k)
        if not self.model_.images:
            return clusters_figure(sizes, means)
        samples = None
        if X is not None:
            data = X if isinstance(X, Dataset) else Dataset.of_array(np.asarray(X))
            chosen = typical_samples(embedding, clusters, confidences, k, TYPICAL)
            samples = [channels_first(data.batch(members)) for members in chosen]
        prototypes = self.model_.decoded_centres(self.cluster_centers_)
        return clusters_figure(sizes, means, prototypes, samples, tones=tones(self.model_))

    # scikit-learn draws a diagram in notebooks, unless set_config(display="text") is set.
    @property
    def _repr_html_(self) -> Callable[[], str]:
        diagram = super()._repr_html_  # type: ignore[misc]
        return lambda: self._cards() + diagram()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._cards() + bundle["text/html"]
        return bundle

    def _cards(self) -> str:
        """The clusters of the samples seen in fit, as HTML; empty before fit."""
        if not hasattr(self, "labels_"):
            return ""
        k = len(self.cluster_centers_)
        fitted = getattr(self, "fitted_", None)
        images = self.model_.decoded_centres(self.cluster_centers_)
        return cards_html(
            type(self).__name__,
            np.bincount(self.labels_, minlength=k),
            None if fitted is None else cluster_means(self.labels_, fitted.confidences, k),
            images,
            mi=kept(self.history_).get("mi"),
            tones=None if images is None else tones(self.model_),
        )

    def _seen(self, X: ArrayLike | Dataset | None) -> tuple[Array, IntArray, Array]:
        """Embedding, clusters and confidences, by default of the samples seen in fit."""
        check_is_fitted(self, "model_")
        if X is not None:
            embedding, posteriors = self._outcome(X)
            return embedding, posteriors.argmax(axis=1), posteriors.max(axis=1)
        if not hasattr(self, "fitted_"):
            raise ValueError(
                "X=None means the samples seen in fit, but a loaded model does not store them; "
                "pass samples as X."
            )
        return self.fitted_.embedding, self.labels_, self.fitted_.confidences

    @abstractmethod
    def _outcome(self, X: ArrayLike | Dataset) -> tuple[Array, Array]:
        """The embedding (n, d) and the posteriors (n, n_clusters)."""


def tones(model: Model) -> Tones:
    """The values to show as black and white: those that the model scales to -1 and 1."""
    return Tones(model.scaling.limits().numpy())
