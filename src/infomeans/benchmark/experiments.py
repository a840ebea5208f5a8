"""The paper's smaller experiments: MI-ADM against MI-D, and the choice of lambda."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from infomeans.benchmark import tables
from infomeans.benchmark.grid import GEOMETRIC, Job, Results, load, make_job
from infomeans.files import write_atomic
from infomeans.methods.base import Embedded
from infomeans.methods.mi_adm import MIADMMethod

LAMBDAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
AGAINST = ("mi-adm", "mi-d", "mi-adm-exact", "depict", "depict-printed", "depict-exact")
SIZES = ((10_000, 10), (20_000, 10), (40_000, 10), (10_000, 20), (10_000, 40))


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


def write_adm(results: Results, out: Path) -> str:
    """Table 3, the cost of the target step, and the figure; returns the Markdown."""
    rows = results.rows()
    parts = ["## MI-ADM and MI-D\n", tables.markdown(tables.collect(rows)), "## Seconds an epoch\n"]
    parts.append(_seconds_an_epoch(rows))
    parts.append("## The target step alone\n")
    parts.append(
        _table(
            ["samples", "clusters", "milliseconds"],
            [[r["n"], r["k"], f"{r['milliseconds']:.2f}"] for r in target_step_seconds()],
        )
    )
    text = "\n".join(parts)
    write_atomic(out / "adm.md", text)
    plot_paths(rows, out / "adm.png")
    return text


def write_lambda(results: Results, out: Path) -> str:
    """The table over lambda; returns the Markdown."""
    text = tables.markdown(tables.collect(results.rows()))
    write_atomic(out / "lambda.md", text)
    return text


def plot_paths(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """I(X;K) over the epochs after pretraining, for MI-ADM and MI-D."""
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
                axis.plot(row["mi_path"], color=colour, alpha=0.8, label=label)
        axis.set(title=dataset, xlabel="epoch after pretraining", ylabel="I(X;K) in nats")
        axis.legend(frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def _seconds_an_epoch(rows: Sequence[dict[str, Any]]) -> str:
    """Medians over the seeds; warm-up and alternation together."""
    groups: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        epochs = sum(row["epochs"].values())
        groups.setdefault((row["dataset"], row["method"]), []).append(row["seconds"] / epochs)
    return _table(
        ["data set", "method", "seconds an epoch"],
        [[d, m, f"{np.median(values):.2f}"] for (d, m), values in groups.items()],
    )


def _table(heads: list[str], rows: list[list[Any]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"
