"""The arguments of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import infomeans
from infomeans.errors import InputError, Problems
from infomeans.estimators.base import SampleClusterer
from infomeans.estimators.parameters import check_parameters
from infomeans.estimators.saving import load_model
from infomeans.graph.number import Automatic
from infomeans.methods import BASELINES, DEEP
from infomeans.runs import Run
from infomeans.runs.places import is_complete
from infomeans.training import make_fabric

AIMING = ("mi-adm", "mi-d", "depict")
"""Methods that can aim at given sizes, and hold on to their start."""

RESERVED = {
    "n_clusters",
    "random_state",
    "device",
    "n_threads",
    "verbose",
    "callbacks",
    "checkpoint",
    "network",
    "embeddings",
}
"""Parameters that `--set` cannot set: they have their own option, or cannot be written as text."""


@dataclass(frozen=True)
class Request:
    """The arguments of a run. Together with the data they determine the clusters.

    Attributes
    ----------
    source : str
        Input for `infomeans.data.open`.
    reading : dict
        Its other arguments.
    n_clusters : int or "auto"
        Number of clusters.
    method : str
        Slug of a method or a baseline.
    seed : int
        Random seed.
    params : dict
        Further parameters of the estimator.
    embeddings : bool
        Whether the samples are embeddings, which need no auto-encoder.
    parquet : bool
        Whether to write the labels as Parquet too.
    base : str, optional
        The run whose network and tree to start from.
    """

    source: str
    n_clusters: int | Automatic
    method: str = "auto"
    seed: int = 0
    reading: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    embeddings: bool = False
    parquet: bool = False
    base: str | None = None

    def estimator(self, device: str = "auto") -> SampleClusterer:
        """The estimator of the method, with its parameters; reports all invalid ones at once."""
        problems, known = Problems(), DEEP | BASELINES
        if self.method not in known:
            problems.add(f"method {self.method!r} is unknown; choose one of {', '.join(known)}.")
        with problems.collect(ValueError):
            make_fabric(device)
        models: dict[str, SampleClusterer] = {
            slug: getattr(infomeans, known[slug].estimator)(self.n_clusters)
            for slug in ([self.method] if self.method in known else known)
        }
        with problems.collect():
            check_parameters(models, self.params, RESERVED)
        if self.embeddings and self.params.get("pretrain_epochs"):
            problems.add(
                "--embeddings uses no auto-encoder to pretrain; leave --pretrain-epochs out."
            )
        problems.report()
        made = models[self.method]
        made.set_params(**self.params, random_state=self.seed, device=device)
        if self.embeddings and self.method in DEEP:
            made.set_params(network="residual")
        elif self.embeddings:
            made.set_params(embeddings=True)
        if self.base is not None:
            made.set_params(**self._begun(self.base))
        with as_input_error():
            made._validate_params()
        return made

    def _begun(self, path: str) -> dict[str, Any]:
        """The network of a run, and initial clusters cut from its tree."""
        if not is_complete(Path(path)) or (tree := Run(path).tree) is None:
            raise InputError(
                f"the network and the tree of {path} are needed to go on, and they are not there "
                f"any more."
            )
        assert self.n_clusters != "auto"
        labels = tree.cut(self.n_clusters)[tree.leaf]
        begun = {
            "network": load_model(Run(path).model).network_,
            "pretrain_epochs": 0,
            "init": labels,
        }
        if self.method in AIMING:
            # Equal sizes would undo the cut, and learned ones may.
            begun["sizes"] = np.bincount(labels, minlength=self.n_clusters).tolist()
        return begun


@contextmanager
def as_input_error() -> Iterator[None]:
    """Turn an estimator's errors about parameters and samples into an InputError."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from error
