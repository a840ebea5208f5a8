"""infomeans show."""

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from infomeans.cli.reporting import console, counted, plain, say, warn
from infomeans.durations import duration
from infomeans.errors import by_reason, few
from infomeans.methods import DEEP
from infomeans.problems import UNSTABLE, run_problems, start_facts, training_problems

if TYPE_CHECKING:
    from infomeans.runs import Run

BAR, WIDE = 12, 100
"""Length of the longest bar, and the width of a terminal that has room for bars."""


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
) -> None:
    """Show the summary of a run.

    Example: infomeans show run
    """
    from infomeans.runs import Run

    summarise(Run(run))


def summarise(run: "Run") -> None:
    """Print the arguments and results of a run."""
    facts = Table.grid(padding=(0, 2))
    for name, value in _facts(run).items():
        facts.add_row(f"[dim]{name}", plain(value))
    console.print(facts)
    if run.complete:
        sizes = _sizes(run)
        console.print(_clusters(run, sizes))
        found = run_problems(run.metrics["sizes"], run.metrics)
        for problem in found + training_problems(run.history):
            warn(problem)
        most = math.log(len(run.metrics["sizes"]))
        unsure = run.metrics["mi"] < most / 2 and run.config["arguments"]["method"] in DEEP
        if unsure and not run.metrics.get("stability", 0) >= UNSTABLE:
            warn(
                f"I(X;K) is {run.metrics['mi']:.2f} of at most {most:.2f} nats: the clusters are "
                f"uncertain or of very different sizes. Compare with --method graph."
            )
    else:
        say(run.unfinished)


def _facts(run: "Run") -> dict[str, str]:
    from infomeans.metrics import scored_on

    request, data, metrics = run.config["arguments"], run.config["data"], run.metrics
    phases = Counter(record["phase"] for record in run.history)
    shape = " x ".join(map(str, data["sample_shape"]))
    facts = {
        "run": str(run.path),
        "data": f"{data['source']}: {data['n_samples']:,} samples of {shape}",
        **({"features": few(data["features"], 8)} if data.get("features") else {}),
        "method": f"{run.method}, k = {_k(run)}, seed {request['seed']}",
        "epochs": ", ".join(f"{phase} {n}" for phase, n in phases.items()) or "none",
    }
    if data["skipped"]:
        facts["left out"] = f"{counted(data['skipped'], 'image')}: {by_reason(data['skipped'])}"
    if metrics:
        facts["time"] = duration(metrics["seconds"])
        facts["I(X;K)"] = f"{metrics['mi']:.3f} nats, H(K) {abs(metrics['h_k']):.3f}"
        facts["confidence"] = f"{metrics['confidence']:.3f} on average"
        facts |= start_facts(metrics)
        if run.tree is not None and (said := run.tree.next_words()):
            facts["tree"] = said
        found = "scores before merging" if run.names.merge else "scores"
        for title, scores in ((found, metrics), ("start's scores", metrics.get("start", {}))):
            if "acc" in scores:
                facts[title] = (
                    f"accuracy {scores['acc']:.4f}, NMI {scores['nmi']:.4f}, "
                    f"ARI {scores['ari']:.4f}"
                )
        if on := scored_on(metrics.get("scored", data["n_samples"]), data["n_samples"]):
            facts["scored"] = on
    return facts


def _k(run: "Run") -> str:
    """The number of clusters, and whether it was found."""
    if run.config["arguments"]["n_clusters"] != "auto":
        return str(run.n_clusters)
    return f"{run.n_clusters} (found)" if run.complete else "auto"


def _sizes(run: "Run") -> dict[int, int]:
    """Number of samples in each cluster; merged clusters count as one."""
    import numpy as np

    into = run.names.merged(len(run.metrics["sizes"]))
    counts = np.bincount(run.labels.clusters, minlength=len(into)).tolist()
    return {cluster: counts[cluster] for cluster in sorted(set(into.tolist()))}


def _clusters(run: "Run", sizes: dict[int, int]) -> Table:
    labels, names = run.labels, run.names
    largest, total = max(sizes.values()), len(labels.ids)
    table = Table()
    table.add_column("cluster", justify="right", no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column("samples", justify="right", min_width=len("samples"))
    table.add_column("share", justify="right", min_width=len("share"))
    bars = console.width >= WIDE
    if bars:
        table.add_column("", min_width=BAR)
    table.add_column("confidence", justify="right", min_width=len("confidence"))
    if labels.stability is not None:
        table.add_column("stability", justify="right", min_width=len("stability"))
    table.add_column("example", overflow="ellipsis")
    for cluster, size in sorted(sizes.items(), key=lambda item: -item[1]):
        members = (labels.clusters == cluster).nonzero()[0]
        best = members[labels.confidences[members].argmax()] if size else None
        table.add_row(
            plain(names.named(cluster)),
            f"{size:,}",
            f"{size / total:.1%}",
            *(["━" * max(round(BAR * size / largest), int(size > 0))] if bars else []),
            *(
                f"{values[members].mean():.3f}" if size else ""
                for values in (labels.confidences, labels.stability)
                if values is not None
            ),
            "" if best is None else plain(labels.ids[best]),
        )
    return table
