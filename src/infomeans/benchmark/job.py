"""One run of the grid: a method on a data set with a seed, and what came out."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

import infomeans
from infomeans._typing import IntArray
from infomeans.benchmark.machine import measured_by, peak_mb
from infomeans.benchmark.results_file import Results
from infomeans.data import Dataset, benchmark
from infomeans.data.arrays import network_shape
from infomeans.estimators import Autoencoder, load_model
from infomeans.estimators.base import SampleEstimator
from infomeans.estimators.deep import NO_EFFECT
from infomeans.estimators.saving import digest, plain_params
from infomeans.files import write_atomic
from infomeans.functional.affine import LIMITS, SIGNS
from infomeans.graph import usual_neighbors
from infomeans.methods import METHODS
from infomeans.metrics import scores
from infomeans.start.initial import N_INIT
from infomeans.threads import limited
from infomeans.training import Settings, kept, resolve_settings
from infomeans.training.checkpoint import remove_checkpoint
from infomeans.training.votes import VOTES
from infomeans.workflows.baselines import NAMES as BASELINES
from infomeans.workflows.baselines import ON_DATA as UNTRAINED
from infomeans.workflows.baselines import find_baseline
from infomeans.workflows.cluster import versions

GEOMETRIC, RATIO = "-geometric", 0.8
"""Unbalanced variants of a data set: each class keeps this share of what the one before keeps."""


@dataclass(frozen=True)
class Job:
    """One run.

    Attributes
    ----------
    dataset : str
        Name of a benchmark, optionally followed by `GEOMETRIC`.
    method : str
        Its name in the results.
    seed : int
    augment : bool
    slug : str
        The method in the registry; by default the one called `method`.
    params : dict
        Parameters of the estimator beyond its defaults.
    preset : {"fast", "paper"}
    most_epochs : int, optional
        A cap on the epochs of each phase.
    """

    dataset: str
    method: str
    seed: int
    augment: bool = False
    slug: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    preset: Literal["fast", "paper"] = "fast"
    most_epochs: int | None = None

    @property
    def key(self) -> tuple[str, str, int, bool]:
        """What identifies a run."""
        return self.dataset, self.method, self.seed, self.augment

    def __str__(self) -> str:
        return f"{self.dataset}  {self.method}  seed {self.seed}" + "  augmented" * self.augment


def run_job(
    job: Job,
    data_dir: str | Path | None,
    cache: Path,
    threads: int | None,
    results: Results | None = None,
) -> dict[str, Any]:
    """One run: its scores, its cost, and what is needed to repeat it.

    Its line is written before its checkpoint is removed, so that an interruption loses nothing.
    """
    torch.set_flush_denormal(True)
    with limited(threads):
        return _run_job(job, data_dir, cache, results)


def _run_job(
    job: Job, data_dir: str | Path | None, cache: Path, results: Results | None
) -> dict[str, Any]:
    by = measured_by()
    data = load(job.dataset, data_dir)
    classes = data.labels
    assert classes is not None
    n_clusters = len(set(classes))
    trains = job.method not in UNTRAINED
    encoder, pretrained_by = pretrained(job, data, n_clusters, cache) if trains else (None, None)
    began = time.perf_counter()
    found = _clusters(job, data, n_clusters, encoder, cache)
    # The history of a resumed run includes the time before the interruption.
    seconds = max(time.perf_counter() - began, sum(r["seconds"] for r in found.history))
    row: dict[str, Any] = {
        "dataset": job.dataset,
        "method": job.method,
        "seed": job.seed,
        "augment": job.augment,
        **scores(classes, found.labels),
        **found.more(classes),
        "seconds": seconds,
        "pretrain_seconds": sum(r["seconds"] for r in encoder.history_) if encoder else 0.0,
        "peak_mb": peak_mb(),
        **by,
        "threads": found.threads or by["threads"],
        "pretrained_by": pretrained_by,
        "settings": {
            "pretraining": _plain(encoder) if encoder else None,
            "estimator": found.params,
            "training": asdict(_settings(data, job)) if encoder else None,
            "augmentation": _augmentation() if job.augment and encoder else None,
        },
        "versions": versions(),
    }
    # Another process may have finished the same run in the meantime.
    if results is not None and job.key not in results.done():
        results.append(row)
    if found.state is not None:
        remove_checkpoint(found.state)
    return row


def load(dataset: str, data_dir: str | Path | None) -> Dataset:
    """A benchmark, made unbalanced if its name ends with `GEOMETRIC`."""
    data = benchmark(dataset.removesuffix(GEOMETRIC), data_dir)
    if not dataset.endswith(GEOMETRIC):
        return data
    classes = np.asarray(data.labels)
    kept = [
        np.flatnonzero(classes == name)[: round(RATIO**rank * (classes == name).sum())]
        for rank, name in enumerate(np.unique(classes))
    ]
    return replace(data.subset(np.sort(np.concatenate(kept))), source=dataset)


def pretrained(
    job: Job, data: Dataset, n_clusters: int, cache: Path
) -> tuple[Autoencoder, dict[str, Any] | None]:
    """The auto-encoder that all methods share on this data set with this seed.

    It is the one that a clusterer with this seed would train itself. It is cached by training
    settings, data and version.

    Returns
    -------
    Autoencoder, dict
        The dictionary has the machine, the commit and the versions it was trained with.
    """
    settings = _settings(data, replace(job, augment=False))
    n_features = max(n_clusters, settings.least_features)
    fingerprint = _fingerprint(job, settings, n_features, digest(data.X))
    folder = cache / f"{job.dataset}-{job.seed}{'-augment' * job.augment}-{fingerprint}"
    origin = folder.with_name(f"{folder.name}.json")
    if not (folder / "model.json").exists():
        trained_by = json.dumps({**measured_by(), "versions": versions()})
        cache.mkdir(parents=True, exist_ok=True)
        state = cache / f"{folder.name}.safetensors"
        encoder = Autoencoder(
            n_features,
            preset=job.preset,
            epochs=job.most_epochs,
            augment=job.augment,
            random_state=job.seed,
            checkpoint=state,
        ).fit(data)
        # Another process may have trained the same one in the meantime.
        write_atomic(origin, trained_by)
        encoder.save(folder, overwrite=True)
        remove_checkpoint(state)
    return load_model(folder), json.loads(origin.read_text()) if origin.exists() else None


def _fingerprint(job: Job, *parts: object) -> str:
    """A short hash of these parts and of the version of the program.

    The commit does not enter it; each line of the results has the commit separately.
    """
    parts += (infomeans.__version__, *((LIMITS,) if job.augment else ()))
    return sha256(" ".join(map(str, parts)).encode()).hexdigest()[:8]


def _augmentation() -> dict[str, float]:
    return {**LIMITS, **VOTES, "views": 1 + len(SIGNS)}


def _settings(data: Dataset, job: Job) -> Settings:
    return resolve_settings(
        job.preset,
        len(data),
        network_shape(data.shape),
        augment=job.augment,
        pretrain_epochs=job.most_epochs,
        warmup_epochs=job.most_epochs,
        epochs=job.most_epochs,
    )


def _caps(job: Job) -> dict[str, int]:
    """The epochs of the clustering phases, if they are capped."""
    if job.most_epochs is None:
        return {}
    return {"warmup_epochs": job.most_epochs, "epochs": job.most_epochs}


@dataclass
class _Found:
    """What a method found."""

    labels: IntArray
    params: dict[str, Any] = field(default_factory=dict)
    start: IntArray | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    state: Path | None = None
    threads: int | None = None

    def more(self, classes: Any) -> dict[str, Any]:
        if self.start is None:
            return {}
        phases = Counter(record["phase"] for record in self.history)
        last, end = kept(self.history), self.history[-1]
        back_to = end.get("back_to")
        return {
            "start": scores(classes, self.start),
            "mi": last.get("mi"),
            "went_back": 0 if back_to is None else end["epoch"] - back_to,
            "epochs": dict(phases),
            **{
                f"{name}_path": [round(r[name], 5) for r in self.history if r.get(name) is not None]
                for name in ("mi", "empty", "vote_weight")
            },
        }


def _clusters(
    job: Job, data: Dataset, n_clusters: int, encoder: Autoencoder | None, cache: Path
) -> _Found:
    if job.method in BASELINES:
        labels = find_baseline(
            job.method, data, n_clusters, seed=job.seed, encoder=encoder, augment=job.augment
        )
        on_kmeans = job.method.endswith("kmeans")
        neighbors = usual_neighbors(len(data), n_clusters)
        return _Found(labels, {"n_init": N_INIT} if on_kmeans else {"n_neighbors": neighbors})
    assert encoder is not None
    settings = _settings(data, job)
    seen = digest(data.X, *encoder.network_.state_dict().values())
    votes = VOTES if job.augment else None
    fingerprint = _fingerprint(job, settings, job.params, seen, votes)
    state = cache / f"{'-'.join(map(str, job.key))}-{fingerprint}.safetensors"
    # All methods are compared from one start; in the paper's preset it is soft K-means.
    start = {"init": "graph"} if job.preset == "fast" else {}
    model = getattr(infomeans, METHODS[job.slug or job.method].estimator)(
        n_clusters,
        network=encoder.network_,
        preset=job.preset,
        pretrain_epochs=0,
        augment=job.augment,
        random_state=job.seed,
        checkpoint=state,
        **_caps(job),
        **{**start, **job.params},
    ).fit(data)
    return _Found(
        model.labels_,
        _plain(model),
        model.initial_labels_,
        model.history_,
        state,
        model.n_threads_,
    )


def _plain(estimator: SampleEstimator) -> dict[str, Any]:
    """The parameters that affect the result."""
    params = plain_params(estimator.get_params(deep=False))
    return {name: value for name, value in params.items() if name not in NO_EFFECT}
