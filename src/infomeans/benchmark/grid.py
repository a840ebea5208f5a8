"""Every method on every data set, over several seeds; one line of JSON for each run."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch

import infomeans
from infomeans._typing import IntArray
from infomeans.benchmark import tables
from infomeans.benchmark.machine import measured_by, peak_mb
from infomeans.benchmark.results_file import Results
from infomeans.benchmark.subprocess_call import call_in_process
from infomeans.data import Dataset, benchmark
from infomeans.data.arrays import network_shape
from infomeans.data.benchmarks import BENCHMARKS, check_benchmark
from infomeans.errors import InputError
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
from infomeans.threads import asked, limited
from infomeans.training import Settings, kept, resolve_settings
from infomeans.training.votes import VOTES
from infomeans.workflows.baselines import NAMES as BASELINES
from infomeans.workflows.baselines import ON_DATA as UNTRAINED
from infomeans.workflows.baselines import find_baseline
from infomeans.workflows.cluster import versions

GEOMETRIC, RATIO = "-geometric", 0.8
"""Every class keeps this share of what the one before it keeps."""

ORDER = ("usps", "frgc", "cmu-pie", "mnist-test", "ytf", "mnist-full")
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "mi-adm-exact": ("mi-adm", {"targets": "exact"}),
    "depict-printed": ("depict", {"targets": "closed"}),
    "depict-exact": ("depict", {"targets": "exact"}),
    "mi-adm-without-entropy": ("depict", {"targets": "exact", "gamma": 0.5}),
    "idec": ("dec", {"reconstruction": True}),
}
"""Methods with other than their default parameters, by a name of their own."""


@dataclass(frozen=True)
class Job:
    """One run.

    Attributes
    ----------
    dataset : str
        A benchmark, or one with `GEOMETRIC` behind its name.
    method : str
        Its name in the results.
    seed : int
    augment : bool
    slug : str
        Which method it is; by default the one of its name.
    params : dict
        Parameters of the estimator beyond its defaults.
    """

    dataset: str
    method: str
    seed: int
    augment: bool = False
    slug: str = ""
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, int, bool]:
        """What tells runs apart."""
        return self.dataset, self.method, self.seed, self.augment

    def __str__(self) -> str:
        return f"{self.dataset}  {self.method}  seed {self.seed}" + "  augmented" * self.augment


def plan(
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    *,
    augment: bool = False,
    data_dir: str | Path | None = None,
) -> list[Job]:
    """The runs that are asked for, the cheapest data sets first.

    Without names these are the paper's data sets, as far as their files are there, and all
    methods and baselines; with augmentation all but K-means on the data, to which it means nothing.
    """
    known = [*METHODS, *BASELINES, *VARIANTS]
    chosen = methods or [n for n in [*METHODS, *BASELINES] if not augment or n != "kmeans"]
    for name in chosen:
        if name not in known:
            raise InputError(f"method {name!r} is unknown; choose from {', '.join(known)}.")
    if augment:
        _check_augment(chosen, datasets or ())
    return [
        make_job(dataset, method, seed, augment=augment)
        for dataset in datasets or _available(data_dir)
        for seed in seeds
        for method in chosen
    ]


def _check_augment(methods: Sequence[str], datasets: Sequence[str]) -> None:
    if "kmeans" in methods:
        raise InputError("method 'kmeans' has no use for --augment; leave one of them out.")
    for name in datasets:
        if name in BENCHMARKS and BENCHMARKS[name].vectors:
            raise InputError(f"data set {name!r} holds vectors, but --augment needs images.")


def make_job(dataset: str, method: str, seed: int, *, augment: bool = False) -> Job:
    """The run of a method, a baseline or a variant by its name."""
    slug, params = VARIANTS.get(method, (method, {}))
    return Job(dataset, method, seed, augment, slug, params)


def _available(data_dir: str | Path | None) -> list[str]:
    """The paper's data sets whose files are there."""
    found, reasons = [], []
    for name in ORDER:
        try:
            check_benchmark(name, data_dir)
            found.append(name)
        except InputError as error:
            reasons.append(error)
    if not found:
        raise InputError(f"None of {', '.join(ORDER)} is there. {reasons[0]}")
    return found


def render(results: Results, out: Path) -> str:
    """Write the tables as Markdown and LaTeX; returns the Markdown."""
    text = ""
    for augment in (False, True):
        cells = tables.collect(results.rows(), augment=augment)
        if cells:
            name = "results-augmented" if augment else "results"
            table = tables.markdown(cells, ", augmented" * augment)
            write_atomic(out / f"{name}.md", table)
            write_atomic(out / f"{name}.tex", tables.latex(cells, ", augmented" * augment))
            text += table + "\n"
    return text


def run_grid(
    jobs: Iterable[Job],
    results: Results,
    *,
    data_dir: str | Path | None,
    cache: Path,
    announce: Callable[[str], None],
) -> list[Job]:
    """Run what is not done yet, one process for each run, and write a line for each.

    Parameters
    ----------
    jobs : iterable of Job
    results : Results
    data_dir : path, optional
        The folder of the data sets.
    cache : Path
        Keeps the pretrained auto-encoders, and the state of a run that is broken off.
    announce : callable
        Told what is about to happen, and what came out.

    Returns
    -------
    list of Job
        The runs that failed; they do not hold up the others.
    """
    jobs, done, failed = list(jobs), results.done(), []
    check_data((job.dataset for job in jobs if job.key not in done), data_dir)
    if known := sum(job.key in done for job in jobs):
        announce(
            f"{known} of {len(jobs)} runs have a line in {results.path.parent} already, and are "
            f"not run again; another --out has none."
        )
    for number in results.cut_short():
        announce(f"{results.path}: line {number} was cut short, and does not count.")
    for job in jobs:
        if job.key in results.done():
            continue
        announce(str(job))
        try:
            row = call_in_process(run_job, job, data_dir, cache, asked(), results)
        except Exception as error:  # whatever it is, the others can run
            announce(f"    failed: {error}")
            failed.append(job)
        except KeyboardInterrupt:
            announce("    interrupted; the same command goes on after the last complete epoch.")
            raise
        else:
            announce(
                f"    ACC {row['acc']:.4f}  NMI {row['nmi']:.4f}  in {row['seconds']:.0f} s, "
                f"pretraining {row['pretrain_seconds']:.0f} s"
            )
    return failed


def check_data(datasets: Iterable[str], data_dir: str | Path | None) -> None:
    """Refuse data sets that are not there before hours go into the others."""
    for name in dict.fromkeys(datasets):
        check_benchmark(name.removesuffix(GEOMETRIC), data_dir)


def run_job(
    job: Job,
    data_dir: str | Path | None,
    cache: Path,
    threads: int | None,
    results: Results | None = None,
) -> dict[str, Any]:
    """One run: its scores, its cost, and what it takes to do it again.

    Its line is written before its state is removed, so that nothing is lost in between.
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
    # The history of a run that was broken off knows of the time before.
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
            "training": asdict(_settings(data, augment=job.augment)) if encoder else None,
            "augmentation": _augmentation() if job.augment and encoder else None,
        },
        "versions": versions(),
    }
    # Another process may have done the same in the meantime.
    if results is not None and job.key not in results.done():
        results.append(row)
    if found.state is not None:
        found.state.unlink(missing_ok=True)
    return row


def load(dataset: str, data_dir: str | Path | None) -> Dataset:
    """A benchmark, thinned out class by class if its name says so."""
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

    It is the one that a clusterer with this seed would train by itself. Other settings of the
    training, other data or another version make it another one.

    Returns
    -------
    Autoencoder, dict
        With the machine, the commit and the versions it was trained by.
    """
    settings = _settings(data)
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
            augment=job.augment,
            random_state=job.seed,
            checkpoint=state,
        ).fit(data)
        # Another process may have trained the same one in the meantime.
        write_atomic(origin, trained_by)
        encoder.save(folder, overwrite=True)
        state.unlink(missing_ok=True)
    return load_model(folder), json.loads(origin.read_text()) if origin.exists() else None


def _fingerprint(job: Job, *parts: object) -> str:
    """A short text that is another one as soon as any of these, or this program, is.

    Only versions tell programs apart; a line has the commits besides.
    """
    parts += (infomeans.__version__, *((LIMITS,) if job.augment else ()))
    return sha256(" ".join(map(str, parts)).encode()).hexdigest()[:8]


def _augmentation() -> dict[str, float]:
    return {**LIMITS, **VOTES, "views": 1 + len(SIGNS)}


def _settings(data: Dataset, *, augment: bool = False) -> Settings:
    return resolve_settings("fast", len(data), network_shape(data.shape), augment=augment)


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
        last = kept(self.history)
        return {
            "start": scores(classes, self.start),
            "mi": last["mi"],
            "went_back": self.history[-1]["epoch"] - last["epoch"],
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
    settings = _settings(data, augment=job.augment)
    seen = digest(data.X, *encoder.network_.state_dict().values())
    votes = VOTES if job.augment else None
    fingerprint = _fingerprint(job, settings, job.params, seen, votes)
    state = cache / f"{'-'.join(map(str, job.key))}-{fingerprint}.safetensors"
    model = getattr(infomeans, METHODS[job.slug or job.method].estimator)(
        n_clusters,
        network=encoder.network_,
        pretrain_epochs=0,
        augment=job.augment,
        random_state=job.seed,
        checkpoint=state,
        **job.params,
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
    """The parameters that have to do with the result."""
    params = plain_params(estimator.get_params(deep=False))
    return {name: value for name, value in params.items() if name not in NO_EFFECT}
