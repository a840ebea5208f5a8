"""Run every method on every data set over several seeds, with one line of JSON for each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from infomeans.benchmark import tables
from infomeans.benchmark.job import GEOMETRIC, Job, run_job
from infomeans.benchmark.results_file import Results
from infomeans.benchmark.subprocess_call import call_in_process
from infomeans.data.benchmarks import BENCHMARKS, check_benchmark
from infomeans.durations import duration
from infomeans.errors import InputError
from infomeans.files import write_atomic
from infomeans.methods import METHODS
from infomeans.threads import asked
from infomeans.workflows.baselines import NAMES as BASELINES

ORDER = ("usps", "frgc", "cmu-pie", "mnist-test", "ytf", "mnist-full")
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "mi-adm-exact": ("mi-adm", {"targets": "exact"}),
    "depict-printed": ("depict", {"targets": "closed"}),
    "depict-exact": ("depict", {"targets": "exact"}),
    "mi-adm-without-entropy": ("depict", {"targets": "exact", "gamma": 0.5}),
    "idec": ("dec", {"reconstruction": True}),
}
"""Methods with non-default parameters, each under a name of its own."""


def plan(
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    *,
    augment: bool = False,
    preset: Literal["fast", "paper"] = "fast",
    most_epochs: int | None = None,
    data_dir: str | Path | None = None,
) -> list[Job]:
    """List the requested runs, cheapest data sets first.

    By default these are the paper's data sets whose files were found, with all methods and
    baselines. With augmentation, K-means on the raw data is left out: it has no use for it.
    """
    known = [*METHODS, *BASELINES, *VARIANTS]
    chosen = methods or [n for n in [*METHODS, *BASELINES] if not augment or n != "kmeans"]
    for name in chosen:
        if name not in known:
            raise InputError(f"method {name!r} is unknown; choose from {', '.join(known)}.")
    if augment:
        _check_augment(chosen, datasets or ())
    if most_epochs is not None and preset != "paper":
        raise InputError("--most-epochs needs --preset paper; results.jsonl holds full runs only.")
    return [
        replace(
            make_job(dataset, method, seed, augment=augment),
            preset=preset,
            most_epochs=most_epochs,
        )
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
    """The run of a method, baseline or variant, by name."""
    slug, params = VARIANTS.get(method, (method, {}))
    return Job(dataset, method, seed, augment, slug, params)


def _available(data_dir: str | Path | None) -> list[str]:
    """The paper's data sets whose files exist."""
    found, reasons = [], []
    for name in ORDER:
        try:
            check_benchmark(name, data_dir)
            found.append(name)
        except InputError as error:
            reasons.append(error)
    if not found:
        raise InputError(f"None of {', '.join(ORDER)} was found. {reasons[0]}")
    return found


def render(results: Results, out: Path) -> str:
    """Write the tables as Markdown and LaTeX, named after the file; returns the Markdown."""
    text, stem = "", results.path.stem
    for augment in (False, True):
        cells = tables.collect(results.rows(), augment=augment)
        if cells:
            name = f"{stem}-augmented" if augment else stem
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
    """Run what is not done yet, each run in its own process, and write a line for each.

    Parameters
    ----------
    jobs : iterable of Job
    results : Results
    data_dir : path, optional
        The folder of the data sets.
    cache : Path
        Folder for pretrained auto-encoders and the checkpoints of interrupted runs.
    announce : callable
        Called with a line of text before and after each run.

    Returns
    -------
    list of Job
        The runs that failed. A failure does not stop the others.
    """
    jobs, done, failed = list(jobs), results.done(), []
    check_data((job.dataset for job in jobs if job.key not in done), data_dir)
    if known := sum(job.key in done for job in jobs):
        announce(
            f"{known} of {len(jobs)} runs are in {results.path.parent} already and are skipped; "
            f"give another --out to run them again."
        )
    for number in results.cut_short():
        announce(f"{results.path}: line {number} is incomplete and is ignored.")
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
            announce("    interrupted; the same command resumes after the last complete epoch.")
            raise
        else:
            announce(
                f"    ACC {row['acc']:.4f}  NMI {row['nmi']:.4f}  in {duration(row['seconds'])}, "
                f"pretraining {duration(row['pretrain_seconds'])}"
            )
    return failed


def check_data(datasets: Iterable[str], data_dir: str | Path | None) -> None:
    """Refuse missing data sets before hours go into the others."""
    for name in dict.fromkeys(datasets):
        check_benchmark(name.removesuffix(GEOMETRIC), data_dir)
