"""Comparison of runs on the same samples."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import compute

from infomeans._typing import IntArray
from infomeans.data.files import printable
from infomeans.durations import duration
from infomeans.errors import InputError, few
from infomeans.metrics import ari
from infomeans.plots.palette import COLOURS, DARK
from infomeans.plots.thumbnails import Thumbnails, make_thumbnails
from infomeans.report.findings import read_samples
from infomeans.report.moved import moved
from infomeans.report.pages import render
from infomeans.runs import Labels, Run
from infomeans.runs.labels import Texts


def comparison(runs: Sequence[Run]) -> str:
    """A page that compares runs: their figures, their agreement, and the samples that moved.

    Parameters
    ----------
    runs : sequence of Run
        Two or more complete runs on the same samples; a run may be given twice.
    """
    if len(runs) < 2:
        raise InputError("A comparison needs at least two runs.")
    labels = [run.labels for run in runs]
    places = _places(runs, labels)
    clusters = [one.clusters[place] for one, place in zip(labels, places, strict=True)]
    confidences = [one.confidences[place] for one, place in zip(labels, places, strict=True)]
    titles = _titles(runs)
    agreement = [[ari(a, b) for b in clusters] for a in clusters]
    flows = [
        moved(clusters, confidences, a, b)
        for a, b in combinations_with_replacement(range(len(runs)), 2)
    ]
    used = sorted({i for one in flows for group in one["groups"] for i in group["samples"]})
    at = {sample: place for place, sample in enumerate(used)}
    for group in (group for one in flows for group in one["groups"]):
        group["samples"] = [at[i] for i in group["samples"]]
    notes = _notes(runs, titles)
    thumbs = _thumbnails(runs[0], used, notes)
    return render(
        "compare.html",
        css=("base.css", "report.css", "compare.css"),
        js=("sprites.js", "flow.js", "compare.js"),
        content={
            "titles": titles,
            "names": [_names(one) for one in labels],
            "flows": flows,
            "n": len(clusters[0]),
            "ids": [labels[0].ids[i] for i in used],
            "palette": {"light": COLOURS, "dark": DARK},
            "thumbs": thumbs
            and {"width": thumbs.width, "height": thumbs.height, "columns": thumbs.columns},
        },
        title=f"{len(runs)} runs on {len(clusters[0]):,} samples",
        sentence=_sentence(titles, agreement),
        rows=[_row(title, run) for title, run in zip(titles, runs, strict=True)],
        columns=list(_figures(runs[0])),
        matrix=agreement,
        titles=titles,
        notes=notes,
        sheets=thumbs.sheets if thumbs else [],
    )


def _thumbnails(run: Run, used: list[int], notes: list[str]) -> Thumbnails | None:
    """Pictures of some samples, if they are images that can still be read."""
    if not used or len(run.config["data"]["sample_shape"]) < 2:
        return None
    data = read_samples(run, notes)
    return None if data is None else make_thumbnails(data.batch(np.array(used)))


def _places(runs: Sequence[Run], labels: Sequence[Labels]) -> list[IntArray]:
    """Where each run has the samples of the first run."""
    first = _column(labels[0])
    places: list[IntArray] = []
    for run, one in zip(runs, labels, strict=True):
        own = _column(one)
        if own.equals(first):
            places.append(np.arange(len(own)))
            continue
        place = compute.index_in(first, value_set=own)
        differing = compute.filter(first, compute.is_null(place)).to_pylist()
        differing += compute.filter(own, compute.invert(compute.is_in(own, first))).to_pylist()
        if differing:
            raise InputError(
                f"{run.path} and {runs[0].path} have different samples: only one of them has "
                f"{few(sorted(differing))}."
            )
        places.append(place.to_numpy())
    return places


def _column(labels: Labels) -> pyarrow.ChunkedArray:
    """The ids as an Arrow column."""
    ids = labels.ids
    return ids.column if isinstance(ids, Texts) else pyarrow.chunked_array([list(ids)], "string")


def _titles(runs: Sequence[Run]) -> list[str]:
    """The shortest ends of the paths that are all different; a run given twice is numbered."""
    paths = [Path(os.path.abspath(run.path)) for run in runs]
    most = max(len(path.parts) for path in paths)
    for parts in range(1, 1 + most):
        titles = [printable("/".join(path.parts[-parts:])) for path in paths]
        if len(set(titles)) == len(set(paths)):
            break
    taken = set(titles)
    for at, title in enumerate(titles):
        if title in titles[:at]:
            numbered = (f"{title} ({number})" for number in count(2))
            titles[at] = next(one for one in numbered if one not in taken)
            taken.add(titles[at])
    return titles


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
    clusters, first = np.unique(labels.clusters, return_index=True)
    pairs = zip(clusters.tolist(), (labels.names[i] for i in first), strict=True)
    return {cluster: name for cluster, name in pairs if name != str(cluster)}


def _sentence(titles: Sequence[str], agreement: Sequence[Sequence[float]]) -> str:
    pairs = [(agreement[a][b], a, b) for a, b in combinations(range(len(titles)), 2)]
    highest, a, b = max(pairs)
    said = f"{titles[a]} and {titles[b]} agree "
    if len(pairs) == 1:
        return f"{said}with an adjusted Rand index of {highest:.3f}; 1 means identical clusters."
    lowest, c, d = min(pairs)
    if lowest == highest:
        return (
            f"All agree with an adjusted Rand index of {highest:.3f}; 1 means identical clusters."
        )
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
