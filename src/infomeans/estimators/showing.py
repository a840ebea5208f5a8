"""What a fitted clusterer has to show: its prototypes, and the samples typical of its clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from infomeans.data.arrays import channels_first
from infomeans.networks import Identity
from infomeans.plots.cards import cards_html
from infomeans.plots.thumbnails import Tones
from infomeans.training import kept

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from infomeans._typing import Array, IntArray
    from infomeans.estimators.base import SampleClusterer


def prototypes(model: SampleClusterer) -> Array | None:
    """What the decoder makes of the clusters' centres: images (K, c, h, w) in the data's own units.

    None for vectors, and for a network that cannot decode.
    """
    shape = channels_first(np.empty((1, *model._sample_shape))).shape[1:]
    centres = torch.as_tensor(model.cluster_centers_, dtype=torch.float32)
    if len(shape) == 1:
        return None
    if isinstance(model.network_, Identity):
        decoded = centres.reshape(-1, *shape)
    elif model.network_.reconstructs:
        with torch.inference_mode():
            decoded = model.network_.decode(centres)
    else:
        return None
    scale = model.scaling_.scale
    return (decoded.double() / torch.where(scale == 0, 1, scale) + model.scaling_.shift).numpy()


def tones(model: SampleClusterer) -> Tones:
    """What numbers to paint black and white: those that the model scales to -1 and 1."""
    scale, shift = model.scaling_.scale.double(), model.scaling_.shift.double()
    half = torch.where(scale == 0, 0, 1 / scale)
    return Tones(torch.stack([shift - half, shift + half]).numpy())


def cluster_means(clusters: IntArray, values: Array, k: int) -> Array:
    """The mean of the values over each cluster (k,); NaN for a cluster without a sample."""
    sizes = np.bincount(clusters, minlength=k)
    sums = np.bincount(clusters, weights=values, minlength=k)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)


def typical(
    embedding: Array, clusters: IntArray, confidences: Array, k: int, most: int
) -> list[IntArray]:
    """The samples most typical of each cluster, the most typical first.

    Many samples are equally sure: of the surer half, those nearest to the cluster's middle.
    """
    return [
        _typical(embedding, confidences, np.flatnonzero(clusters == cluster))[:most]
        for cluster in range(k)
    ]


def _typical(embedding: Array, confidences: Array, members: IntArray) -> IntArray:
    if not len(members):
        return members
    sure, z = confidences[members], embedding[members]
    far = np.linalg.norm(z - z.mean(axis=0), axis=1)
    return members[np.lexsort((far, sure < np.median(sure)))]


def cards(model: SampleClusterer) -> str:
    """The clusters of the samples seen in fit, as HTML."""
    k = len(model.cluster_centers_)
    confidences = getattr(model, "confidences_", None)
    images: NDArray[Any] | None = prototypes(model)
    return cards_html(
        type(model).__name__,
        np.bincount(model.labels_, minlength=k),
        None if confidences is None else cluster_means(model.labels_, confidences, k),
        images,
        mi=kept(model.history_).get("mi"),
        tones=None if images is None else tones(model),
    )
