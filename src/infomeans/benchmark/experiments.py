"""The paper's smaller experiments: MI-ADM against MI-D, and the choice of lambda."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from infomeans.benchmark import tables
from infomeans.benchmark.grid import ORDER, make_job
from infomeans.benchmark.job import GEOMETRIC, Job, load, pretrained
from infomeans.benchmark.machine import measured_by
from infomeans.benchmark.results_file import Results
from infomeans.data.benchmarks import BENCHMARKS
from infomeans.estimators import MIADM, MID
from infomeans.files import write_atomic
from infomeans.methods.mi_adm import MIADMMethod
from infomeans.methods.state import SampleState

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
    """Runs of MI-ADM, MI-D and the other targets; on unbalanced data also with the true shares."""
    jobs = [make_job(d, method, seed) for d in datasets for seed in seeds for method in AGAINST]
    if "mnist-test" not in datasets:
        return jobs
    unbalanced = f"mnist-test{GEOMETRIC}"
    counts = np.unique(np.asarray(load(unbalanced, data_dir).labels), return_counts=True)[1]
    shares = {"sizes": (counts / counts.sum()).tolist()}
    for seed in seeds:
        for method in ("mi-adm", "mi-d", "sr-kmeans"):
            jobs.append(replace(make_job(unbalanced, method, seed), params={"sizes": "equal"}))
        for method in ("mi-adm", "mi-d"):
            jobs.append(Job(unbalanced, f"{method}-prior", seed, slug=method, params=shares))
    return jobs


def adm_lines(out: Path, datasets: Sequence[str] = ()) -> Results:
    """The results of `adm`. Runs that are in results.jsonl already are read from there.

    Parameters
    ----------
    out : Path
        Folder that holds both files.
    datasets : sequence of str
        Data sets to include besides those of the paper.
    """
    shown = {*ORDER, *datasets}
    shared = [
        row
        for row in Results(out / "results.jsonl").rows()
        if row["method"] in AGAINST and row["dataset"] in shown and not row["augment"]
    ]
    return Results(out / "adm.jsonl", shared)


def lambda_jobs(datasets: Sequence[str], seeds: Sequence[int]) -> list[Job]:
    """Runs of SR-K-means with every lambda."""
    return [
        Job(dataset, f"sr-kmeans-{lam:.0e}", seed, slug="sr-kmeans", params={"lam": lam})
        for dataset in datasets
        for seed in seeds
        for lam in LAMBDAS
    ]


def target_step_seconds() -> list[dict[str, float]]:
    """Time of the target step by itself, for several numbers of samples and clusters."""
    rows = []
    for n, k in SIZES:
        state = SampleState(torch.rand(n, 16), torch.full((n, k), 1 / k))
        method = MIADMMethod(k, 16)
        times = []
        for _ in range(7):
            began = time.perf_counter()
            method.refresh(state)
            times.append(time.perf_counter() - began)
        rows.append({"n": n, "k": k, "milliseconds": 1000 * float(np.median(times))})
    return rows


def epoch_seconds(job: Job, *, data_dir: Path | None, cache: Path) -> dict[str, float]:
    """Time of one epoch of the alternation, with MI-ADM and with MI-D, on a run's data set.

    The methods take turns: other load on the machine then slows both about equally. The first
    turn of each is not counted.
    """
    data = load(job.dataset, data_dir)
    n_clusters = len(set(np.asarray(data.labels)))
    encoder, _ = pretrained(job, data, n_clusters, cache)
    seconds: dict[str, list[float]] = {"mi-adm": [], "mi-d": []}
    for _ in range(1 + TURNS):
        for name, estimator in (("mi-adm", MIADM), ("mi-d", MID)):
            model = estimator(
                n_clusters,
                network=encoder.network_,
                init=np.arange(len(data)) % n_clusters,
                pretrain_epochs=0,
                warmup_epochs=0,
                epochs=1,
                random_state=0,
            ).fit(data)
            seconds[name].append(model.history_[-1]["seconds"])
    return {name: float(np.median(values[1:])) for name, values in seconds.items()}


def times(dataset: str, *, data_dir: Path | None, cache: Path) -> dict[str, Any]:
    """Both times as one row. Call it on an idle machine."""
    by = measured_by()
    epochs = epoch_seconds(Job(dataset, "mi-adm", 0), data_dir=data_dir, cache=cache)
    return {"dataset": dataset, "epochs": epochs, "steps": target_step_seconds(), **by}


def write_adm(results: Results, measured: Results, out: Path) -> str:
    """Write Table 3, the times of an epoch and a target step, and the figure.

    Parameters
    ----------
    results : Results
        The runs.
    measured : Results
        Rows of `times`. If a data set and number of threads has several, the last one counts.
    out : Path
        Folder to write to.

    Returns
    -------
    str
        The Markdown.
    """
    rows = results.rows()
    commits = sorted({str(row["commit"]) for row in rows})
    parts = [
        tables.markdown(tables.collect(rows)),
        f"Runs of {'commit' if len(commits) == 1 else 'commits'} {', '.join(commits)}.\n",
    ]
    for line in {(row["dataset"], row["threads"]): row for row in measured.rows()}.values():
        parts += [
            f"### An epoch of alternation on {tables.title(line['dataset'])}\n",
            f"Medians of {TURNS} turns each, with {line['threads']} threads, a load of "
            f"{line['load1']} before, commit {line['commit'] or 'unknown'}.\n",
            tables.plain(
                ["method", "seconds"], [[name, f"{s:.2f}"] for name, s in line["epochs"].items()]
            ),
            "### The target step by itself, measured at the same time\n",
            tables.plain(
                ["samples", "clusters", "milliseconds"],
                [[r["n"], r["k"], f"{r['milliseconds']:.2f}"] for r in line["steps"]],
            ),
        ]
    text = "\n".join(parts)
    write_atomic(out / "adm.md", text)
    if rows:
        plot_paths(rows, out / "adm.png")
    return text


def write_lambda(results: Results, out: Path) -> str:
    """Write the table over lambda and return its Markdown."""
    text = tables.markdown(tables.collect(results.rows()))
    write_atomic(out / "lambda.md", text)
    return text


def plot_paths(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Plot I(X;K) by epoch after pretraining, for MI-ADM and MI-D; a mark ends the warm-up."""
    from matplotlib.figure import Figure

    datasets = list(
        dict.fromkeys(r["dataset"] for r in rows if not r["dataset"].endswith(GEOMETRIC))
    )
    columns, lines = min(2, len(datasets)), -(-len(datasets) // 2)
    figure = Figure(figsize=(4.6 * columns, 3.2 * lines), layout="constrained")
    for place, dataset in enumerate(sorted(datasets, key=list(BENCHMARKS).index), start=1):
        axis = figure.add_subplot(lines, columns, place)
        for method, colour, marker in (("mi-adm", "#0072B2", "o"), ("mi-d", "#D55E00", "s")):
            runs = [r for r in rows if (r["dataset"], r["method"]) == (dataset, method)]
            for i, row in enumerate(runs):
                label = method if i == 0 else None
                values, warm = row["mi_path"], row["epochs"].get("warm-up", 0)
                epochs = range(1, 1 + len(values))
                axis.plot(epochs, values, color=colour, alpha=0.8, label=label)
                if warm:
                    axis.plot(warm, values[warm - 1], marker, color=colour, fillstyle="none")
        axis.set(
            title=tables.title(dataset), xlabel="epoch after pretraining", ylabel="I(X;K) in nats"
        )
        axis.legend(frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
