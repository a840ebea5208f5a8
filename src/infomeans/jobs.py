"""The jobs behind the commands: from samples to a run folder, and from a run to predictions."""

from __future__ import annotations

import json
import platform
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
import torch

import infomeans
from infomeans._typing import Array
from infomeans.data import Samples
from infomeans.data.images import Progress
from infomeans.errors import InputError
from infomeans.estimators.base import SampleClusterer
from infomeans.estimators.deep import DeepEstimator
from infomeans.estimators.saving import load_model, write_model
from infomeans.functional import entropy
from infomeans.methods import BASELINES, METHODS
from infomeans.metrics import ari, scores
from infomeans.naming import Names
from infomeans.runs import Labels, Run, is_run
from infomeans.training import Callback, Record, make_fabric

CHUNK = 8192
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


class Recorder(Callback):
    """Writes a run's history as training goes."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.records = {(record["phase"], record["epoch"]): record for record in run.history}

    def on_epoch(self, record: Record) -> None:
        """Write the history; an epoch that is done again takes the place of the first try."""
        self.records[record.phase, record.epoch] = record.as_dict()
        self.run.write_history(self.records.values())


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
        """The method's estimator, with the parameters asked for."""
        known = METHODS | BASELINES
        if self.method not in known:
            raise InputError(
                f"method {self.method!r} is unknown; choose one of {', '.join(known)}."
            )
        made: SampleClusterer = getattr(infomeans, known[self.method].estimator)(self.n_clusters)
        accepted = made.get_params().keys() - TAKEN
        for name in self.params.keys() - accepted:
            raise InputError(
                f"{self.method} has no parameter {name!r} to set; it has "
                f"{', '.join(sorted(accepted))}."
            )
        made.set_params(**self.params, random_state=self.seed, device=device)
        if self.embeddings:
            if self.params.get("pretrain_epochs"):
                raise InputError(
                    "--embeddings have no auto-encoder to pretrain; leave --pretrain-epochs out."
                )
            if self.method in METHODS:
                made.set_params(network="residual")
            else:
                made.set_params(embeddings=True)
        with as_input_error():
            make_fabric(device)
            made._validate_params()
        return made


@contextmanager
def as_input_error() -> Iterator[None]:
    """What an estimator says about its parameters and samples is said to the user."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from error


def cluster(
    request: Request,
    samples: Samples,
    out: Path,
    *,
    device: str = "auto",
    threads: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    verbose: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Cluster samples and write the run folder.

    Parameters
    ----------
    request : Request
    samples : Samples
        Opened as the request says. Their labels, if there are any, serve for scoring alone.
    out : Path
        The folder.
    device : str
    threads : int, optional
        How many compute; by default as many as pay. A run may be resumed with another number.
    resume : bool
        Go on with the run in the folder.
    overwrite : bool
        Replace the run in the folder. One that is complete is lost when the new one is complete,
        and not before.
    verbose : bool
        Show progress bars of the training.
    progress : callable, optional
        Told how many posteriors are done, of how many.
    """
    estimator = request.estimator(device).set_params(verbose=int(verbose), n_threads=threads)
    if request.embeddings and samples.X.ndim != 2:
        raise InputError(
            f"--embeddings takes vectors, but {samples.source} has samples of the shape "
            f"{samples.X.shape[1:]}."
        )
    with as_input_error():
        estimator.check(samples.X)
    run = (
        _resumed(out, request, samples)
        if resume
        else create_run(
            out, request, samples, estimator.planned_threads(samples.X), overwrite=overwrite
        )
    )
    try:
        if isinstance(estimator, DeepEstimator):
            estimator.set_params(callbacks=[Recorder(run)], checkpoint=run.checkpoint)
        seconds = sum(record["seconds"] for record in run.history)
        began = time.perf_counter()
        estimator.fit(samples.X)
        seconds += time.perf_counter() - began
        figures = {"seconds": seconds, "threads": estimator.n_threads_}
        finish(run, estimator, samples, figures, parquet=request.parquet, progress=progress)
    except Exception as error:
        # What was trained before the disk was full, say, can be gone on with.
        hopeless = isinstance(error, InputError) or not run.checkpoint.exists()
        if hopeless and not resume:
            run.give_up()
        raise
    return run


def finish(
    run: Run,
    estimator: SampleClusterer,
    samples: Samples,
    metrics: Mapping[str, Any],
    *,
    parquet: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write what a fitted estimator says of its samples, and itself."""
    embedding, posteriors = _in_chunks(estimator._embed_and_assign, samples.X, progress)
    clusters = posteriors.argmax(axis=1)
    figures = {**_figures(posteriors), "epochs": len(estimator.history_), **metrics}
    start = getattr(estimator, "initial_labels_", None)
    if start is not None:
        figures["start"] = {"agreement": ari(start, clusters)}
    if samples.labels is not None:
        figures |= scores(samples.labels, clusters)
        if start is not None:
            figures["start"] |= scores(samples.labels, start)
    run.write_history(estimator.history_)
    write_model(estimator, run.model, recipe=samples.recipe, overwrite=True)
    run.write_results(samples.ids, posteriors, embedding, figures, parquet=parquet)


def create_run(
    out: Path, request: Request, samples: Samples, threads: int, *, overwrite: bool = False
) -> Run:
    """A new run folder that says what was asked for, of which data."""
    config = {
        "id": secrets.token_hex(8),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "seed": request.seed,
        "threads": threads,
        "arguments": asdict(request),
        "data": describe(samples),
    }
    return Run.create(out, config, overwrite=overwrite)


def _resumed(out: Path, request: Request, samples: Samples) -> Run:
    run = Run(out)
    begun, now = asdict(Request(**run.config["arguments"])), json.loads(json.dumps(asdict(request)))
    for name in begun:
        if begun[name] != now[name]:
            raise InputError(
                f"{out} was begun with {name} {begun[name]!r}, not {now[name]!r}, so it cannot be "
                f"resumed like this."
            )
    if run.config["data"]["fingerprint"] != samples.fingerprint:
        raise InputError(
            f"The data have changed since {out} was begun, so it cannot be resumed; start anew "
            f"in another folder, or with --overwrite."
        )
    return run


def predict_proba(model: SampleClusterer, X: Array, progress: Progress | None = None) -> Array:
    """The posteriors of all samples, chunk by chunk."""
    (posteriors,) = _in_chunks(lambda chunk: (model.predict_proba(chunk),), X, progress)
    return posteriors


def _in_chunks(
    ask: Callable[[Array], tuple[Array, ...]], X: Array, progress: Progress | None
) -> list[Array]:
    """What a function gives for all samples, asked chunk by chunk."""
    answers = []
    for first in range(0, len(X), CHUNK):
        answers.append(ask(X[first : first + CHUNK]))
        if progress:
            progress(min(first + CHUNK, len(X)), len(X))
    return [np.concatenate(parts) for parts in zip(*answers, strict=True)]


def load_clusterer(path: Path) -> SampleClusterer:
    """The model of a run, which must give clusters."""
    if is_run(path):
        Run(path).check_complete()
    model = load_model(path)
    if not isinstance(model, SampleClusterer):
        raise InputError(f"{path} holds {type(model).__name__}, which finds no clusters.")
    return model


def predict(
    model: SampleClusterer,
    samples: Samples,
    progress: Progress | None = None,
    *,
    names: Names | None = None,
) -> Labels:
    """The clusters of new samples, named and merged as those of a run are."""
    return Labels.of(samples.ids, predict_proba(model, samples.X, progress), names)


def versions() -> dict[str, str]:
    """The versions that a run was made with."""
    return {
        "infomeans": infomeans.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }


def describe(samples: Samples) -> dict[str, Any]:
    """What a run's config says of its data."""
    return {
        "source": samples.source,
        "n_samples": len(samples.X),
        "sample_shape": list(samples.X.shape[1:]),
        "features": samples.names,
        "fingerprint": samples.fingerprint,
        "skipped": [list(entry) for entry in samples.skipped],
        "ignored": [list(entry) for entry in samples.ignored],
    }


def _figures(posteriors: Array) -> dict[str, Any]:
    p = torch.as_tensor(posteriors, dtype=torch.float64)
    h_k, h_k_x = entropy(p.mean(dim=0)).item(), entropy(p).mean().item()
    clusters = posteriors.argmax(axis=1)
    return {
        "mi": max(0.0, h_k - h_k_x),
        "h_k": h_k,
        "h_k_x": h_k_x,
        "confidence": float(posteriors.max(axis=1).mean()),
        "sizes": np.bincount(clusters, minlength=posteriors.shape[1]).tolist(),
    }
