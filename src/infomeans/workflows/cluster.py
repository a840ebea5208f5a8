"""Cluster a data set and write a run folder."""

from __future__ import annotations

import json
import platform
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
import torch

import infomeans
from infomeans.data import Dataset
from infomeans.data.memory import in_parts
from infomeans.errors import InputError, warn_caller
from infomeans.estimators.base import SampleClusterer
from infomeans.estimators.deep import DeepEstimator
from infomeans.estimators.saving import write_model
from infomeans.functional import entropy
from infomeans.metrics import scores_of_labelled
from infomeans.runs import Run
from infomeans.training import Callback, Fitted, Record
from infomeans.workflows.duplicates import find_duplicates
from infomeans.workflows.recut import check_same_data, kept_names
from infomeans.workflows.request import Request, as_input_error


class Recorder(Callback):
    """Writes a run's history during training."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.records = {(record["phase"], record["epoch"]): record for record in begun(run)}

    def on_epoch(self, record: Record) -> None:
        """Write the history; an epoch that is repeated replaces the first attempt."""
        self.records[record.phase, record.epoch] = record.as_dict()
        self.run.write_history(self.records.values())


def cluster(
    request: Request,
    data: Dataset,
    out: Path,
    *,
    device: str = "auto",
    threads: int | None = None,
    resume: bool = False,
    strict: bool = False,
    overwrite: bool = False,
    verbose: bool = False,
    tell: Callable[[str], None] = warn_caller,
) -> tuple[Run, SampleClusterer]:
    """Cluster a data set and write the run folder.

    Parameters
    ----------
    request : Request
        What to do.
    data : Dataset
        The samples, opened as in the request. Labels are used for scoring only.
    out : Path
        The run folder.
    device : str
        Device to train on.
    threads : int, optional
        Number of threads; by default chosen by the work per step. It may change on resume.
    resume : bool
        Whether to resume the run in the folder.
    strict : bool
        Whether to refuse a resume with another number of threads, whose result may differ. By
        default it is a warning.
    overwrite : bool
        Whether to replace the run in the folder. A complete run is kept until the new one is
        complete.
    verbose : bool
        Whether to show progress bars.
    tell : callable
        Takes the warning about threads.

    Returns
    -------
    Run, SampleClusterer
        The run, and the fitted estimator.
    """
    estimator = _estimator(request, data, device, threads).set_params(verbose=int(verbose))
    run = (
        _resumed(out, request, data, estimator.planned_threads(data), None if strict else tell)
        if resume
        else create_run(out, request, data, estimator.planned_threads(data), overwrite=overwrite)
    )
    try:
        if isinstance(estimator, DeepEstimator):
            estimator.set_params(callbacks=[Recorder(run)], checkpoint=run.checkpoint)
        seconds = sum(record["seconds"] for record in begun(run))
        began = time.perf_counter()
        estimator.fit(data)
        seconds += time.perf_counter() - began
        figures = {"seconds": seconds, "threads": estimator.n_threads_}
        finish(run, estimator, data, figures, parquet=request.parquet)
        if request.base is not None and (names := kept_names(Run(request.base), run)):
            run.rename(names)
    except Exception as error:
        # Training that failed because of a full disk, for example, can be resumed.
        hopeless = isinstance(error, InputError) or not run.checkpoint.exists()
        if hopeless and not resume:
            run.give_up()
        raise
    finally:
        run.leave()
    return run, estimator


def begun(run: Run) -> list[dict[str, Any]]:
    """The history of a run that goes on; the checkpoint knows a damaged one too."""
    with suppress(InputError):
        return run.history
    return []


def take_part(
    request: Request, data: Dataset, out: Path, *, device: str = "auto", threads: int | None = None
) -> None:
    """Train along in a process that is not the first; that one writes the run.

    The parameters are those of `cluster`.
    """
    estimator = _estimator(request, data, device, threads)
    if isinstance(estimator, DeepEstimator):
        # The first process reads and writes the file; this one adds what it knows.
        estimator.set_params(checkpoint=out / "checkpoint").fit(data)


def _estimator(
    request: Request, data: Dataset, device: str, threads: int | None
) -> SampleClusterer:
    """The estimator that was asked for; refuse data that it cannot cluster."""
    estimator = request.estimator(device).set_params(n_threads=threads)
    if request.embeddings and len(data.shape) != 1:
        raise InputError(
            f"--embeddings needs vectors, but {data.source} has samples of shape {data.shape}."
        )
    if request.base is not None:
        check_same_data(Path(request.base), data.fingerprint)
    with as_input_error():
        estimator.check(data)
    return estimator


def finish(
    run: Run,
    estimator: SampleClusterer,
    data: Dataset,
    metrics: Mapping[str, Any],
    *,
    parquet: bool = False,
) -> None:
    """Write history, model and results of a fit."""
    fitted: Fitted = estimator.fitted_
    figures = {**_figures(fitted), "epochs": len(estimator.history_), **metrics}
    start = fitted.initial_labels
    if start is not None:
        figures["start"] = {
            "agreement": fitted.agreement,
            "changed": fitted.changed,
            "free": fitted.free,
        }
        if fitted.n_selected is not None:
            figures["start"]["n_selected"] = fitted.n_selected
        if fitted.choice is not None:
            figures["start"] |= {
                "choice": fitted.choice,
                "seconds": fitted.seconds_to_start,
                "undone": fitted.undone,
            }
    found = {
        "score": fitted.score,
        "number": fitted.number,
        "chosen_method": fitted.method,
        "why": fitted.why,
    }
    figures |= {name: value for name, value in found.items() if value is not None}
    if fitted.stability is not None:
        figures["stability"] = float(fitted.stability.mean())
    duplicates = find_duplicates(data, fitted.neighbors)
    if duplicates.groups:
        figures["duplicates"] = duplicates.as_dict()
        run.write_duplicates(duplicates.csv(data.ids))
    if data.labels is not None:
        figures |= scores_of_labelled(data.labels, fitted.labels)
        if start is not None:
            figures["start"] |= scores_of_labelled(data.labels, start)
    run.write_tree(estimator.hierarchy_)
    run.write_history(estimator.history_)
    write_model(estimator, run.model, schema=data.schema, overwrite=True)
    embedding = estimator._embedding_to_keep()
    run.write_results(
        data.ids,
        fitted.posteriors,
        embedding,
        figures,
        stability=fitted.stability,
        outliers=fitted.outliers,
        parquet=parquet,
    )


def create_run(
    out: Path, request: Request, data: Dataset, threads: int, *, overwrite: bool = False
) -> Run:
    """Create a run folder with a config of the arguments and the data."""
    config = {
        "id": secrets.token_hex(8),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "seed": request.seed,
        "threads": threads,
        "memory": data.memory.limit,
        "arguments": asdict(request),
        "data": describe(data),
    }
    return Run.create(out, config, overwrite=overwrite)


def _resumed(
    out: Path, request: Request, data: Dataset, threads: int, tell: Callable[[str], None] | None
) -> Run:
    run = Run(out)
    before = run.config.get("threads", threads)
    if threads != before:
        said = (
            f"{out} was started with {before} threads, not {threads}; rounding may differ, and so "
            f"may the result. --threads {before} gives the same"
        )
        if tell is None:
            raise InputError(f"{said}; --strict accepts nothing else.")
        tell(f"{said}.")
    then, now = asdict(Request(**run.config["arguments"])), json.loads(json.dumps(asdict(request)))
    run.check_resumed(then, now)
    if run.config["data"]["fingerprint"] != data.fingerprint:
        raise InputError(
            f"the data have changed since {out} was started, so it cannot be resumed; use another "
            f"folder, or --overwrite."
        )
    run.take()
    return run


def versions() -> dict[str, str]:
    """Versions of the software, for the record of a run."""
    return {
        "infomeans": infomeans.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }


def describe(data: Dataset) -> dict[str, Any]:
    """Description of the data in a run's config."""
    return {
        "source": data.source,
        "n_samples": len(data),
        "sample_shape": list(data.shape),
        "features": data.names,
        "fingerprint": data.fingerprint,
        "fit": data.schema.to_json().get("fit"),
        "skipped": [list(entry) for entry in data.skipped],
        "ignored": [list(entry) for entry in data.ignored],
    }


def _figures(fitted: Fitted) -> dict[str, Any]:
    mean, h_k_x = torch.zeros(fitted.posteriors.shape[1], dtype=torch.float64), 0.0
    for block in in_parts(fitted.posteriors):
        p, share = torch.as_tensor(block, dtype=torch.float64), len(block) / len(fitted.posteriors)
        mean += p.mean(dim=0) * share
        h_k_x += entropy(p).mean().item() * share
    h_k = entropy(mean).item()
    return {
        "mi": max(0.0, h_k - h_k_x),
        "h_k": h_k,
        "h_k_x": h_k_x,
        "confidence": float(fitted.confidences.mean()),
        "sizes": fitted.sizes.tolist(),
    }
