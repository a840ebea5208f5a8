"""The paper's smaller experiments: MI-ADM against MI-D, and the choice of lambda."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from infomeans.benchmark import tables
from infomeans.benchmark.grid import GEOMETRIC, Job, Results, load, make_job, pretrained
from infomeans.benchmark.machine import measured_by
from infomeans.estimators import MIADM, MID
from infomeans.files import write_atomic
from infomeans.methods.base import Embedded
from infomeans.methods.mi_adm import MIADMMethod

LAMBDAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
AGAINST = (
    *("mi-adm", "mi-d", "mi-adm-exact", "mi-adm-without-entropy"),
    *("depict", "depict-printed", "depict-exact"),
)
TURNS = 5
SIZES = (
    *((10_000, 10), (20_000, 10), (40_000, 10), (80_000, 10)),
    *((10_000, 40), (10_000, 160), (10_000, 640)),
)


def adm_jobs(datasets: Sequence[str], seeds: Sequence[int], data_dir: Path | None) -> list[Job]:
    """MI-ADM, MI-D and the other targets; on unbalanced data with and without their prior."""
    jobs = [make_job(d, method, seed) for d in datasets for seed in seeds for method in AGAINST]
    unbalanced = f"mnist-test{GEOMETRIC}"
    for seed in seeds if "mnist-test" in datasets else ():
        counts = np.unique(np.asarray(load(unbalanced, data_dir).labels), return_counts=True)[1]
        prior = {"prior": (counts / counts.sum()).tolist()}
        for method in ("mi-adm", "mi-d", "sr-kmeans"):
            jobs.append(make_job(unbalanced, method, seed))
        for method in ("mi-adm", "mi-d"):
            jobs.append(Job(unbalanced, f"{method}-prior", seed, slug=method, params=prior))
    return jobs


def lambda_jobs(datasets: Sequence[str], seeds: Sequence[int]) -> list[Job]:
    """SR-K-means with every lambda."""
    return [
        Job(dataset, f"sr-kmeans-{lam:.0e}", seed, slug="sr-kmeans", params={"lam": lam})
        for dataset in datasets
        for seed in seeds
        for lam in LAMBDAS
    ]


def target_step_seconds() -> list[dict[str, float]]:
    """What the target step takes by itself, for several numbers of samples and clusters."""
    rows = []
    for n, k in SIZES:
        data = Embedded(torch.rand(n, 16), torch.full((n, k), 1 / k))
        method = MIADMMethod(k, 16)
        times = []
        for _ in range(7):
            began = time.perf_counter()
            method.refresh(data)
            times.append(time.perf_counter() - began)
        rows.append({"n": n, "k": k, "milliseconds": 1000 * float(np.median(times))})
    return rows


def epoch_seconds(job: Job, *, data_dir: Path | None, cache: Path) -> dict[str, float]:
    """What an epoch of alternation takes with MI-ADM and with MI-D on the data set of a run.

    They take turns, so that what else the machine does slows both about alike; the first turn of
    each is not counted.
    """
    samples = load(job.dataset, data_dir)
    n_clusters = len(set(np.asarray(samples.labels)))
    encoder = pretrained(job, samples, n_clusters, cache)
    seconds: dict[str, list[float]] = {"mi-adm": [], "mi-d": []}
    for _ in range(1 + TURNS):
        for name, estimator in (("mi-adm", MIADM), ("mi-d", MID)):
            model = estimator(
                n_clusters,
                network=encoder.network_,
                init=np.arange(len(samples.X)) % n_clusters,
                pretrain_epochs=0,
                warmup_epochs=0,
                epochs=1,
                random_state=0,
            ).fit(samples.X)
            seconds[name].append(model.history_[-1]["seconds"])
    return {name: float(np.median(values[1:])) for name, values in seconds.items()}


def times(dataset: str, file: Results, *, data_dir: Path | None, cache: Path) -> dict[str, Any]:
    """The line with both times for a data set and these threads: one in the file, or a new one."""
    key, by = ("dataset", "threads"), measured_by()
    known = [row for row in file.rows() if [row[k] for k in key] == [dataset, by["threads"]]]
    if not known:
        epochs = epoch_seconds(Job(dataset, "mi-adm", 0), data_dir=data_dir, cache=cache)
        row = {"dataset": dataset, "epochs": epochs, "steps": target_step_seconds(), **by}
        file.append(row)
        known = [row]
    return known[-1]


def write_adm(results: Results, measured: dict[str, Any], out: Path) -> str:
    """Table 3, what an epoch and the target step take, and the figure; returns the Markdown.

    Parameters
    ----------
    results : Results
        The runs.
    measured : dict
        From `times`.
    out : Path
    """
    rows = results.rows()
    epochs = [[name, f"{seconds:.2f}"] for name, seconds in measured["epochs"].items()]
    steps = [[r["n"], r["k"], f"{r['milliseconds']:.2f}"] for r in measured["steps"]]
    text = "\n".join(
        [
            tables.markdown(tables.collect(rows)),
            f"Runs of commits {', '.join(sorted({str(row['commit']) for row in rows}))}.\n",
            f"### An epoch of alternation on {measured['dataset']}\n",
            f"Medians of {TURNS} turns each, with {measured['threads']} threads, a load of "
            f"{measured['load1']} before, commit {measured['commit'] or 'unknown'}.\n",
            tables.plain(["method", "seconds"], epochs),
            "### The target step alone\n",
            tables.plain(["samples", "clusters", "milliseconds"], steps),
        ]
    )
    write_atomic(out / "adm.md", text)
    plot_paths(rows, out / "adm.png")
    return text


def write_lambda(results: Results, out: Path) -> str:
    """The table over lambda; returns the Markdown."""
    text = tables.markdown(tables.collect(results.rows()))
    write_atomic(out / "lambda.md", text)
    return text


def plot_paths(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """I(X;K) over the epochs after pretraining, for MI-ADM and MI-D; warm-ups end with a dot."""
    from matplotlib.figure import Figure

    datasets = list(
        dict.fromkeys(r["dataset"] for r in rows if not r["dataset"].endswith(GEOMETRIC))
    )
    figure = Figure(figsize=(4.2 * len(datasets), 3.2), layout="constrained")
    axes = figure.subplots(1, len(datasets), squeeze=False)[0]
    for axis, dataset in zip(axes, datasets, strict=True):
        for method, colour in (("mi-adm", "#0072B2"), ("mi-d", "#D55E00")):
            runs = [r for r in rows if (r["dataset"], r["method"]) == (dataset, method)]
            for i, row in enumerate(runs):
                label = method if i == 0 else None
                values, last = row["mi_path"], row["epochs"].get("warm-up", 0) - 1
                axis.plot(values, color=colour, alpha=0.8, label=label)
                if last >= 0:
                    axis.plot(last, values[last], "o", color=colour, markersize=4)
        axis.set(title=dataset, xlabel="epoch after pretraining", ylabel="I(X;K) in nats")
        axis.legend(frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
