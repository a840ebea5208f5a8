"""The identity made visible: MI-ADM and SR-K-means side by side, from one start."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans._typing import IntArray
from infomeans.benchmark import tables
from infomeans.benchmark.job import Job, load, pretrained
from infomeans.benchmark.machine import measured_by
from infomeans.benchmark.results_file import Results
from infomeans.estimators import MIADM, DeepClusterer, SRKMeans
from infomeans.files import write_atomic
from infomeans.graph import agglomerate
from infomeans.methods.base import Method
from infomeans.methods.mi_adm import MIADMMethod
from infomeans.methods.sr_kmeans import SRKMeansMethod
from infomeans.methods.state import SampleState
from infomeans.metrics import accuracy, ari
from infomeans.workflows.cluster import versions

METHODS = ("MI-ADM", "SR-K-means")


class Trace:
    """Records labels and objectives of a method after every target step."""

    def __init__(self, lam: float) -> None:
        self.lam = lam
        self.labels: list[IntArray] = []
        self.figures: list[dict[str, float]] = []

    @torch.no_grad()
    def note(self, method: Method, state: SampleState) -> None:
        """Record both objectives, the mutual information and the gap at this step."""
        p = method(state.embedding)
        sums = state.targets.sum(dim=0)
        prototypes = IF.weighted_means(sums, state.targets.T @ state.embedding, method.prototypes)
        self.labels.append(p.argmax(dim=1).cpu().numpy())
        self.figures.append(
            {
                "mi": IF.mutual_information(p).item(),
                "mi_adm_objective": IF.mi_adm_objective(state.targets, p).item(),
                **asdict(proposition_2(state.embedding, state.targets, prototypes, self.lam)),
            }
        )


@dataclass(frozen=True)
class Sides:
    """Both sides of Proposition 2, in nats per sample.

    Attributes
    ----------
    information : float
        The objective of regularised MI-ADM, with posteriors that sum to one.
    kmeans : float
        The objective of SR-K-means, divided by `lambda K`.
    gap : float
        `(2/N) sum_i log Z_i`: the term that normalising the scores adds and the proposition omits.
        For clusters of equal mass `information = kmeans + gap`.
    """

    information: float
    kmeans: float
    gap: float


def proposition_2(z: Tensor, q: Tensor, prototypes: Tensor, lam: float) -> Sides:
    """The proposition at these targets and prototypes.

    Its scores are `theta_k^T z_i + b_k` with `theta_k = theta'_k / (lambda K)` and
    `b_k = (1/2) log qhat_k`.
    """
    z, q, prototypes = z.double(), q.double(), prototypes.double()
    temperature = lam * len(prototypes)
    theta, q_hat = prototypes / temperature, IF.marginal(q)
    scores = z @ theta.T + q_hat.clamp_min(torch.finfo(q.dtype).tiny).log() / 2
    fit = IF.cross_entropy(q, torch.log_softmax(scores, dim=1))
    entropies = IF.label_entropy(q) + IF.conditional_entropy(q)
    kmeans = IF.soft_kmeans_objective(z, q, prototypes, temperature) / (len(z) * temperature)
    return Sides(
        information=(2 * fit - entropies + lam * theta.square().sum()).item(),
        kmeans=kmeans.item(),
        gap=2 * torch.logsumexp(scores, dim=1).mean().item(),
    )


def traced(estimator: type[DeepClusterer], method: type[Method], trace: Trace) -> type[Any]:
    """A clusterer whose method records its steps in a trace."""

    class Traced(method):  # type: ignore[misc, valid-type]
        def refresh(self, state: SampleState) -> None:
            super().refresh(state)
            trace.note(self, state)

    return type(f"Traced{estimator.__name__}", (estimator,), {"method": Traced})


def follow(
    dataset: str, seed: int, *, lam: float, data_dir: str | Path | None, cache: Path
) -> dict[str, Any]:
    """Both methods on one data set, from the same network and the same initial clusters."""
    by = measured_by()
    data = load(dataset, data_dir)
    classes = np.asarray(data.labels)
    n_clusters = len(set(classes))
    encoder, _ = pretrained(Job(dataset, "link", seed), data, n_clusters, cache)
    start = agglomerate(encoder.transform(data), n_clusters)
    traces = {}
    for name, estimator, method in (
        ("mi-adm", MIADM, MIADMMethod),
        ("sr-kmeans", SRKMeans, SRKMeansMethod),
    ):
        traces[name] = trace = Trace(lam)
        traced(estimator, method, trace)(
            n_clusters,
            lam=lam,
            network=encoder.network_,
            init=start,
            pretrain_epochs=0,
            random_state=seed,
        ).fit(data)
    return {
        "dataset": dataset,
        "seed": seed,
        "lam": lam,
        **by,
        "versions": versions(),
        "agreement": list(_agreement(*(trace.labels for trace in traces.values()))),
        **{
            name: [
                {**figures, "acc": accuracy(classes, labels)}
                for figures, labels in zip(trace.figures, trace.labels, strict=True)
            ]
            for name, trace in traces.items()
        },
    }


def _agreement(one: list[IntArray], two: list[IntArray]) -> Iterable[dict[str, float]]:
    """Agreement of the labels after each target step; the shorter path repeats its last step."""
    for t in range(max(len(one), len(two))):
        pair = one[min(t, len(one) - 1)], two[min(t, len(two) - 1)]
        yield {"acc": accuracy(*pair), "ari": ari(*pair)}


def write_link(results: Results, out: Path) -> str:
    """Write the tables of where the paths end, and the figure; return the Markdown."""
    rows = results.rows()
    ends, sides = [], []
    for row in rows:
        name = [row["dataset"], row["seed"], f"{row['lam']:g}"]
        last, paths = row["agreement"][-1], [row["mi-adm"], row["sr-kmeans"]]
        figures = [f"{path[-1][key]:.3f}" for key in ("mi", "acc") for path in paths]
        ends.append([*name, f"{last['acc']:.4f}", f"{last['ari']:.4f}", *figures])
        for when, step in (("first", paths[1][0]), ("last", paths[1][-1])):
            given = [step[key] for key in ("kmeans", "gap", "information")]
            rest = step["information"] - step["kmeans"] - step["gap"]
            sides.append([*name, when, *(f"{x:,.1f}" for x in given), f"{rest:.1f}"])
    name = ["data set", "seed", "lambda"]
    heads = [f"{figure} {method}" for figure in ("I(X;K)", "ACC") for method in METHODS]
    text = "\n".join(
        [
            "Where they end:\n",
            tables.plain([*name, "agree", "ARI", *heads], ends),
            "Proposition 2 at SR-K-means' first and last target step, in nats per sample: the "
            "objective of SR-K-means, divided by lambda K; the gap that normalising the posteriors "
            "adds; the objective of regularised MI-ADM; and its difference from the sum of both.\n",
            tables.plain([*name, "step", "K-means", "gap", "information", "rest"], sides),
        ]
    )
    write_atomic(out / "link.md", text)
    _plot(rows, out / "link.png")
    return text


PANELS = (
    ("agreement of the labels", "share of the samples", None),
    ("I(X;K)", "nats", "mi"),
    ("MI-ADM's objective", "nats", "mi_adm_objective"),
    ("SR-K-means' objective,\ndivided by lambda K", "nats per sample", "kmeans"),
)


def _plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Plot the paths, with a row of panels for every data set and lambda."""
    from matplotlib.figure import Figure

    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(f"{tables.title(row['dataset'])}, lambda {row['lam']:g}", []).append(row)
    figure = Figure(figsize=(12, 3.2 * len(groups)), layout="constrained")
    grid = figure.subplots(len(groups), len(PANELS), squeeze=False)
    for axes, (group, members) in zip(grid, groups.items(), strict=True):
        for axis, (title, unit, name) in zip(axes, PANELS, strict=True):
            for i, row in enumerate(members):
                _draw(axis, row, name, label=i == 0)
            axis.set(title=title, ylabel=unit, xlabel="target steps after the warm-up")
            axis.spines[["top", "right"]].set_visible(False)
        axes[0].set_title(f"{group}\nagreement of the labels")
        axes[1].legend(frameon=False)
    figure.savefig(path, dpi=150)


def _draw(axis: Any, row: dict[str, Any], name: str | None, *, label: bool) -> None:
    if name is None:
        axis.plot([step["acc"] for step in row["agreement"]], color="#009E73", alpha=0.8)
        return
    for method, colour in (("mi-adm", "#0072B2"), ("sr-kmeans", "#E69F00")):
        steps = [step[name] for step in row[method]]
        axis.plot(steps, color=colour, label=method if label else None)
