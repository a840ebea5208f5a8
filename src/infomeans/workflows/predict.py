"""Assign new samples to the clusters of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from infomeans._typing import Array
from infomeans.data import Dataset
from infomeans.errors import InputError
from infomeans.estimators.base import SampleClusterer
from infomeans.estimators.saving import load_model
from infomeans.naming import Names
from infomeans.runs import Labels, Run, is_run

Progress = Callable[[int, int], None]


def load_clusterer(path: Path) -> SampleClusterer:
    """Load the model of a run, which must be a clusterer."""
    if is_run(path):
        Run(path).check_complete()
    model = load_model(path)
    if not isinstance(model, SampleClusterer):
        raise InputError(f"{path} holds {type(model).__name__}, which is not a clusterer.")
    return model


def predict(
    model: SampleClusterer,
    data: Dataset,
    progress: Progress | None = None,
    *,
    names: Names | None = None,
) -> Labels:
    """The clusters of new samples, named and merged like those of the run.

    Parameters
    ----------
    model : SampleClusterer
        The fitted model.
    data : Dataset
        The new samples.
    progress : callable, optional
        Called with the number of samples done and their total.
    names : Names, optional
        Names and merges of the run's clusters.
    """
    parts: list[list[Array]] = []
    done = 0
    for _, *found in model._outputs(data, outliers=True):
        parts.append([part.cpu().numpy() for part in found])
        done += len(found[0])
        if progress:
            progress(done, len(data))
    # Models of earlier versions have no outlier scores.
    posteriors, *outliers = map(np.concatenate, zip(*parts, strict=True))
    return Labels.of(data.ids, posteriors, names, outliers=outliers[0] if outliers else None)
