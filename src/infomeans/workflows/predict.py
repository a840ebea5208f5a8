"""Assign new samples to the clusters of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
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
    outliers: Array | None = None

    def posteriors() -> Iterator[Array]:
        nonlocal outliers
        done = 0
        for _, block, *strange in model._outputs(data, outliers=True):
            for scores in (
                one.cpu().numpy() for one in strange
            ):  # models of earlier versions have none
                outliers = np.empty(len(data), scores.dtype) if outliers is None else outliers
                outliers[done : done + len(block)] = scores
            yield block.cpu().numpy()
            done += len(block)
            if progress:
                progress(done, len(data))

    labels = Labels.of(data.ids, posteriors(), names)
    return replace(labels, outliers=outliers)
