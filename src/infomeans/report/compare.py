"""Comparison of runs on the same samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.metrics.cluster import contingency_matrix

from infomeans._typing import IntArray
from infomeans.data.files import printable
from infomeans.durations import duration
from infomeans.errors import InputError, few
from infomeans.metrics import ari
from infomeans.plots.palette import COLOURS, look
from infomeans.report.pages import render
from infomeans.runs import Labels, Run


def comparison(runs: Sequence[Run]) -> str:
    """A page that compares runs: their figures, and how well their clusters agree.

    Parameters
    ----------
    runs : sequence of Run
        Two or more complete runs on the same samples.
    """
    if len(runs) < 2:
        raise InputError("A comparison needs at least two runs.")
    labels = [run.labels for run in runs]
    clusters = _aligned(runs, labels)
    titles = _titles(runs)
    agreement = [[ari(a, b) for b in clusters] for a in clusters]
    names = [_names(one) for one in labels]
    return render(
        "compare.html",
        css=("base.css",),
        js=("compare.js",),
        content={
            "titles": titles,
            "agreement": agreement,
            "names": names,
            "flows": [
                {"from": a, "to": b, "cells": _flow(clusters[a], clusters[b])}
                for a, b in combinations(range(len(runs)), 2)
            ],
            "looks": [look(cluster)[0] for cluster in range(max(map(_most, clusters)) + 1)],
            "palette": COLOURS,
        },
        title=f"{len(runs)} runs on {len(clusters[0]):,} samples",
        sentence=_sentence(titles, agreement),
        rows=[_row(title, run) for title, run in zip(titles, runs, strict=True)],
        columns=list(_figures(runs[0])),
        matrix=agreement,
        titles=titles,
        notes=_notes(runs, titles),
    )


def _aligned(runs: Sequence[Run], labels: Sequence[Labels]) -> list[IntArray]:
    """The clusters of all runs, in the sample order of the first run."""
    first = labels[0].ids
    aligned = []
    for run, one in zip(runs, labels, strict=True):
        place = {name: at for at, name in enumerate(one.ids)}
        differing = set(first) ^ place.keys()
        if differing:
            raise InputError(
                f"{run.path} and {runs[0].path} have different samples: only one of them has "
                f"{few(sorted(differing))}."
            )
        aligned.append(one.clusters[[place[name] for name in first]])
    return aligned


def _titles(runs: Sequence[Run]) -> list[str]:
    """The shortest ends of the paths that are all different."""
    for parts in range(1, 1 + max(len(run.path.absolute().parts) for run in runs)):
        titles = [printable("/".join(run.path.absolute().parts[-parts:])) for run in runs]
        if len(set(titles)) == len(titles):
            return titles
    twice = [str(path) for path, times in Counter(run.path for run in runs).items() if times > 1]
    raise InputError(f"{few(twice) or runs[0].path} is given twice.")


def _notes(runs: Sequence[Run], titles: Sequence[str]) -> list[str]:
    first = runs[0].config["data"].get("fingerprint")
    others = [
        title
        for run, title in zip(runs, titles, strict=True)
        if run.config["data"].get("fingerprint") != first
    ]
    if not others:
        return []
    return [
        f"The samples of {few(others)} have the same ids as those of {titles[0]}, but different "
        f"contents: compare with care."
    ]


def _names(labels: Labels) -> dict[int, str]:
    if labels.names is None:
        return {}
    pairs = zip(labels.clusters.tolist(), labels.names, strict=True)
    return {cluster: name for cluster, name in pairs if name != str(cluster)}


def _most(clusters: IntArray) -> int:
    return int(clusters.max())


def _flow(a: IntArray, b: IntArray) -> list[tuple[int, int, int]]:
    """Number of samples in each pair of clusters of two runs."""
    counts = contingency_matrix(a, b, sparse=True).tocoo()
    rows, columns = np.unique(a)[counts.row], np.unique(b)[counts.col]
    return [
        (int(r), int(c), int(n)) for r, c, n in zip(rows, columns, counts.data, strict=True) if n
    ]


def _sentence(titles: Sequence[str], agreement: Sequence[Sequence[float]]) -> str:
    pairs = [(agreement[a][b], a, b) for a, b in combinations(range(len(titles)), 2)]
    highest, a, b = max(pairs)
    said = f"{titles[a]} and {titles[b]} agree "
    if len(pairs) == 1:
        return f"{said}with an adjusted Rand index of {highest:.3f}; 1 means identical clusters."
    lowest, c, d = min(pairs)
    return (
        f"{said}most, with an adjusted Rand index of {highest:.3f}; {titles[c]} and {titles[d]} "
        f"least, with {lowest:.3f}. 1 means identical clusters, 0 agreement by chance."
    )


def _row(title: str, run: Run) -> dict[str, Any]:
    return {"title": title, "cells": list(_figures(run).values())}


def _figures(run: Run) -> dict[str, str]:
    request, metrics = run.config["arguments"], run.metrics
    figures = {
        "method": request["method"],
        "clusters": str(run.n_clusters),
        "seed": str(request["seed"]),
        "I(X;K)": f"{metrics['mi']:.3f}",
        "confidence": f"{metrics['confidence']:.3f}",
        "time": duration(metrics["seconds"]),
    }
    for name, title in (("acc", "accuracy"), ("nmi", "NMI"), ("ari", "ARI")):
        figures[title] = f"{metrics[name]:.4f}" if name in metrics else "-"
    return figures
