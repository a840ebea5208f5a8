"""The identity made visible: MI-ADM and SR-K-means side by side, from one start."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans._typing import IntArray
from infomeans.benchmark import tables
from infomeans.benchmark.grid import Job, Results, commit, load, pretrained
from infomeans.estimators import MIADM, DeepClusterer, SRKMeans
from infomeans.files import write_atomic
from infomeans.graph import agglomerate
from infomeans.methods.base import Embedded, Method
from infomeans.methods.mi_adm import MIADMMethod
from infomeans.methods.sr_kmeans import SRKMeansMethod
from infomeans.metrics import accuracy, ari


class Trace:
    """What a method goes through, from one target step to the next."""

    def __init__(self, lam: float) -> None:
        self.lam = lam
        self.labels: list[IntArray] = []
        self.figures: list[dict[str, float]] = []

    @torch.no_grad()
    def note(self, method: Method, data: Embedded) -> None:
        """Both objectives, the mutual information and the gap, as the method stands."""
        p = method(data.z)
        temperature = self.lam * method.n_clusters
        sums = data.q.sum(dim=0)
        prototypes = IF.weighted_means(sums, data.q.T @ data.z, method.prototypes)
        self.labels.append(p.argmax(dim=1).cpu().numpy())
        self.figures.append(
            {
                "mi": IF.mutual_information(p).item(),
                "mi_adm_objective": IF.mi_adm_objective(data.q, p).item(),
                "soft_kmeans_objective": IF.soft_kmeans_objective(
                    data.z, data.q, prototypes, temperature
                ).item()
                / len(data.z),
                "gap": proposition_2_gap(data.z, prototypes, sums / len(data.z), temperature),
            }
        )


def proposition_2_gap(z: Tensor, prototypes: Tensor, q_hat: Tensor, temperature: float) -> float:
    """What Proposition 2 leaves out for normalised posteriors: (2/N) sum_i log Z_i."""
    weight, bias = IF.logistic_view(prototypes, q_hat, temperature)
    return 2 * torch.logsumexp(z @ weight.T + bias, dim=1).mean().item()


def traced(estimator: type[DeepClusterer], method: type[Method], trace: Trace) -> type[Any]:
    """A clusterer whose method leaves a trace."""

    class Traced(method):  # type: ignore[misc, valid-type]
        def refresh(self, data: Embedded) -> None:
            super().refresh(data)
            trace.note(self, data)

    return type(f"Traced{estimator.__name__}", (estimator,), {"method": Traced})


def follow(
    dataset: str, seed: int, *, lam: float, data_dir: str | Path | None, cache: Path
) -> dict[str, Any]:
    """Both methods on one data set, from the same network and the same initial clusters."""
    samples = load(dataset, data_dir)
    classes = np.asarray(samples.labels)
    n_clusters = len(set(classes))
    encoder = pretrained(Job(dataset, "link", seed), samples, n_clusters, cache)
    start = agglomerate(encoder.transform(samples.X), n_clusters)
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
        ).fit(samples.X)
    return {
        "dataset": dataset,
        "seed": seed,
        "lam": lam,
        "commit": commit(),
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
    """How alike the labels are after each target step; the shorter path waits at its end."""
    for t in range(max(len(one), len(two))):
        pair = one[min(t, len(one) - 1)], two[min(t, len(two) - 1)]
        yield {"acc": accuracy(*pair), "ari": ari(*pair)}


def write_link(results: Results, out: Path) -> str:
    """A table of where the paths end, and the figure; returns the Markdown."""
    rows = results.rows()
    heads = ["data set", "seed", "agree", "ARI", "I(X;K) mi-adm", "I(X;K) sr-kmeans"]
    heads += ["ACC mi-adm", "ACC sr-kmeans", "gap, first", "gap, last"]
    lines = []
    for row in rows:
        ends = [row[name][-1] for name in ("mi-adm", "sr-kmeans")]
        last = row["agreement"][-1]
        cells = [row["dataset"], row["seed"], f"{last['acc']:.4f}", f"{last['ari']:.4f}"]
        cells += [f"{end['mi']:.3f}" for end in ends] + [f"{end['acc']:.4f}" for end in ends]
        cells += [f"{row['sr-kmeans'][i]['gap']:,.0f}" for i in (0, -1)]
        lines.append(cells)
    text = tables.plain(heads, lines)
    write_atomic(out / "link.md", text)
    _plot(rows, out / "link.png")
    return text


def _plot(rows: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    panels = (
        ("agreement of the labels", None),
        ("I(X;K) in nats", "mi"),
        ("MI-ADM's objective", "mi_adm_objective"),
        ("SR-K-means' objective", "soft_kmeans_objective"),
    )
    for axis, (title, name) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        for row in rows:
            if name is None:
                axis.plot([step["acc"] for step in row["agreement"]], color="#009E73", alpha=0.8)
            else:
                for method, colour in (("mi-adm", "#0072B2"), ("sr-kmeans", "#E69F00")):
                    axis.plot([step[name] for step in row[method]], color=colour, label=method)
        axis.set(title=title, xlabel="target steps")
        axis.spines[["top", "right"]].set_visible(False)
        if name == "mi":
            handles = dict(zip(*axis.get_legend_handles_labels()[::-1], strict=True))
            axis.legend(handles.values(), handles.keys(), frameon=False)
    figure.savefig(path, dpi=150)
