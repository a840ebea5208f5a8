"""What was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import infomeans
from infomeans.errors import InputError, Problems
from infomeans.estimators.base import SampleClusterer
from infomeans.estimators.parameters import check_parameters
from infomeans.methods import BASELINES, METHODS
from infomeans.training import make_fabric

TAKEN = {
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
"""Parameters that are not set by name: they have arguments of their own, or no plain form."""


@dataclass(frozen=True)
class Request:
    """What was asked for: together with the data it determines the clusters.

    Attributes
    ----------
    source : str
        What `infomeans.data.open` takes.
    reading : dict
        Its other arguments.
    n_clusters : int
    method : str
        Slug of a method or a baseline.
    seed : int
    params : dict
        Parameters of the estimator beyond these.
    embeddings : bool
        Whether the samples are embeddings, which need no auto-encoder.
    parquet : bool
        Whether to write the labels as Parquet as well.
    """

    source: str
    n_clusters: int
    method: str = "mi-adm"
    seed: int = 0
    reading: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    embeddings: bool = False
    parquet: bool = False

    def estimator(self, device: str = "auto") -> SampleClusterer:
        """The method's estimator, with the parameters asked for; all mistakes are reported."""
        problems, known = Problems(), METHODS | BASELINES
        if self.method not in known:
            problems.add(f"method {self.method!r} is unknown; choose one of {', '.join(known)}.")
        with problems.collect(ValueError):
            make_fabric(device)
        models: dict[str, SampleClusterer] = {
            slug: getattr(infomeans, known[slug].estimator)(self.n_clusters)
            for slug in ([self.method] if self.method in known else known)
        }
        with problems.collect():
            check_parameters(models, self.params, TAKEN)
        if self.embeddings and self.params.get("pretrain_epochs"):
            problems.add(
                "--embeddings have no auto-encoder to pretrain; leave --pretrain-epochs out."
            )
        problems.report()
        made = models[self.method]
        made.set_params(**self.params, random_state=self.seed, device=device)
        if self.embeddings and self.method in METHODS:
            made.set_params(network="residual")
        elif self.embeddings:
            made.set_params(embeddings=True)
        with as_input_error():
            made._validate_params()
        return made


@contextmanager
def as_input_error() -> Iterator[None]:
    """What an estimator says about its parameters and samples is said to the user."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from error
