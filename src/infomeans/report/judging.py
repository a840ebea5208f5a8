"""The result beside simpler methods, and against the true classes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from infomeans.data import Dataset
from infomeans.durations import duration
from infomeans.errors import ClusteringWarning
from infomeans.estimators import KMeansBaseline
from infomeans.metrics import (
    Confusion,
    ari,
    confusion,
    labelled,
    scored_on,
    scores_of_labelled,
    scores_of_one,
)
from infomeans.report.findings import Findings

BASELINE_SAMPLES, STARTS = 5_000, 3


def baselines(found: Findings) -> list[dict[str, Any]]:
    """The result beside simpler methods: their agreement, and scores if classes are known."""
    metrics, method = found.run.metrics, found.run.config["arguments"]["method"]
    if "methods" in metrics:
        return [{**row, "own": row["method"] == method} for row in metrics["methods"]]
    rows = [{"method": method, "own": True, "agreement": 1.0, **_scores(metrics)}]
    if "start" in metrics:
        rows.append({"method": "its start", "own": False, **metrics["start"]})
    if found.data is not None and method != "kmeans" and found.k > 1:
        rows.append({"own": False, **_kmeans(found, found.data)})
    return rows


def _kmeans(found: Findings, data: Dataset) -> dict[str, Any]:
    """K-means with the scaling of `--method kmeans`, but few starts, and a subset of many samples.

    It is quick, so its figures may be a little below those of `--method kmeans`.
    """
    some = np.sort(np.random.default_rng(0).permutation(len(data))[:BASELINE_SAMPLES])
    request = found.run.config["arguments"]
    baseline = KMeansBaseline(
        min(found.k, len(some)),
        n_init=STARTS,
        random_state=0,
        embeddings=request.get("embeddings", False),
    )
    with catch_warnings():
        # Duplicate samples may give fewer clusters; that is fine for a baseline.
        simplefilter("ignore", ClusteringWarning)
        labels = baseline.fit(data.subset(some)).labels_
    classes = () if found.classes is None else found.classes[some]
    known = scores_of_labelled(classes, labels) if any(classes) else {}
    few = f", {len(some):,} of them" if len(some) < len(data) else ""
    agreement = ari(found.clusters[some], labels)
    return {"method": f"K-means on the data{few}", "agreement": agreement, **_scores(known)}


def _scores(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {name: figures[name] for name in ("acc", "nmi", "ari") if name in figures}


def against_classes(found: Findings) -> dict[str, Any] | None:
    """The clusters against the true classes, under the best matching."""
    if found.classes is None:
        return None
    known = labelled(found.classes)
    clusters = found.clusters[known]
    names, classes = np.unique(found.classes[known], return_inverse=True)
    table = confusion(classes, clusters)
    table = _counted_order(replace(table, classes=names[table.classes]))
    sizes, totals = table.counts.sum(axis=0), table.counts.sum(axis=1)
    rows = []
    for column, cluster in enumerate(table.clusters.tolist()):
        right = int(table.counts[column, column]) if column < len(table.classes) else 0
        if not right:
            rows.append({"cluster": cluster, "class": None})
            continue
        size, total = int(sizes[column]), int(totals[column])
        rows.append(
            {
                "cluster": cluster,
                "class": str(table.classes[column]),
                "accuracy": right / size,
                "found": right / total,
                **scores_of_one(right, size, total, len(classes)),
            }
        )
    return {
        "counts": table.counts,
        "classes": [str(name) for name in table.classes],
        "clusters": table.clusters.tolist(),
        "rows": rows,
        "scores": scores_of_labelled(classes, clusters),
        "scored_on": scored_on(len(classes), len(found.ids)),
    }


def _counted_order(table: Confusion) -> Confusion:
    """Sort classes in natural order, 2 before 10, with each cluster still matched to its class."""

    def key(at: int) -> list[tuple[int, str]]:
        parts = re.split(r"(\d+)", str(table.classes[at]))
        return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]

    pairs = min(table.counts.shape)
    matched = sorted(range(pairs), key=key)
    rows = [*matched, *sorted(range(pairs, len(table.classes)), key=key)]
    columns = [*matched, *range(pairs, len(table.clusters))]
    return Confusion(table.counts[rows][:, columns], table.classes[rows], table.clusters[columns])


def baseline_table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The table of simpler methods, without empty columns."""
    titles = {
        "agreement": "agreement (ARI)",
        "acc": "accuracy",
        "nmi": "NMI",
        "ari": "ARI",
        "mi": "I(X;K)",
        "seconds": "time",
    }
    columns = [name for name in titles if any(row.get(name) is not None for row in rows)]
    note = "Agreement is the adjusted Rand index between a method's clusters and the run's."
    return {
        "baseline_columns": [titles[name] for name in columns],
        "baselines": [
            {
                "method": row["method"],
                "own": row["own"],
                "cells": [_cell(name, row.get(name)) for name in columns],
            }
            for row in rows
        ],
        "baseline_note": note if "agreement" in columns else "",
    }


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return duration(value) if name == "seconds" else f"{value:.3f}"
