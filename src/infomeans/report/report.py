"""The report of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from infomeans._typing import IntArray
from infomeans.data import Samples
from infomeans.data import open as open_input
from infomeans.data.arrays import channels_first
from infomeans.errors import InputError
from infomeans.estimators.saving import load_model
from infomeans.estimators.showing import prototypes
from infomeans.files import write_atomic
from infomeans.plots.palette import COLOURS, look
from infomeans.plots.projection import Kind, draw_map
from infomeans.plots.thumbnails import Tones, data_url, make_thumbnails
from infomeans.report import content as said
from infomeans.report.content import Findings
from infomeans.report.pages import packed, render
from infomeans.runs import Run

MOST_POINTS = 100_000
_SCRIPTS = ("names.js", "data.js", "map.js", "cards.js", "charts.js", "main.js")


def write_report(
    run: Run,
    out: Path | None = None,
    *,
    samples: Samples | None = None,
    projection: Kind = "auto",
) -> Path:
    """Write the report of a complete run, and say where.

    Parameters
    ----------
    run : Run
    out : Path, optional
        The file; by default `report.html` in the run's folder.
    samples : Samples, optional
        Those of the run; by default they are read again. A report can do without.
    projection : {"auto", "lda", "pca", "umap"}
        How the map is drawn.
    """
    if not run.complete:
        raise InputError(
            f"{run.path} is not complete; go on with infomeans cluster --resume --out {run.path}"
        )
    notes = []
    if samples is None:
        try:
            samples = _samples(run)
        except (InputError, OSError) as error:
            notes.append(f"The samples cannot be shown, for they cannot be read again: {error}")
    found = Findings(run, samples)
    page = _page(found, notes, projection)
    path = out or run.report
    write_atomic(path, page)
    return path


def _samples(run: Run) -> Samples:
    """The run's samples, read as they were."""
    request = run.config["arguments"]
    samples = open_input(request["source"], **request["reading"])
    if samples.fingerprint != run.config["data"]["fingerprint"]:
        raise InputError(f"{request['source']} has changed since.")
    return samples


def _page(found: Findings, notes: Sequence[str], projection: Kind) -> str:
    cards, doubtful = said.cards(found), said.doubtful(found)
    drawn = draw_map(found.embedding, found.clusters, projection)
    shown = _shown(found, cards, doubtful)
    notes = [*notes, *_few(len(found.ids), len(shown))]
    images = found.samples is not None and found.samples.X.ndim > 2
    thumbs = make_thumbnails(found.samples.X[shown]) if images and found.samples else None
    features, labels = said.features(found), said.against_classes(found)
    for cluster, card in enumerate(cards):
        if features:
            card["features"] = features["clusters"][cluster]
    for card, prototype in zip(cards, _prototypes(found) if images else (), strict=False):
        card["prototype"] = prototype
    place = {int(sample): at for at, sample in enumerate(shown)}
    content = {
        "run": found.run.key,
        "n": len(found.ids),
        "names": found.run.names.to_json(),
        "looks": [look(cluster) for cluster in range(found.k)],
        "palette": COLOURS,
        "ids": _ids(found.ids, shown),
        "points": {
            "x": packed(drawn.points[shown, 0], "f4"),
            "y": packed(drawn.points[shown, 1], "f4"),
            "cluster": packed(found.clusters[shown], "u2"),
            "second": packed(found.seconds[shown], "u2"),
            "confidence": packed(found.confidences[shown], "f4"),
        },
        "clusters": [_placed(card, place) for card in cards],
        "prototypes": "decoded from the cluster's centre",
        "doubtful": {
            "samples": [place[i] for i in doubtful["samples"]],
            "pairs": [_placed(pair, place) for pair in doubtful["pairs"]],
        },
        "history": [_finite(record) for record in found.run.history],
        "thumbs": thumbs
        and {"width": thumbs.width, "height": thumbs.height, "columns": thumbs.columns},
        "table": features
        and {"names": features["names"], "values": packed(features["values"][shown], "f4")},
        "classes": None,
        "confusion": None,
    }
    if labels:
        number = {name: at for at, name in enumerate(labels["classes"])}
        content["classes"] = {
            "names": labels["classes"],
            "of": packed(np.array([number[str(name)] for name in found.classes[shown]]), "u2"),
        }
        content["matched"] = {
            row["cluster"]: None if row["class"] is None else number[row["class"]]
            for row in labels["rows"]
        }
        content["confusion"] = {name: labels[name] for name in ("counts", "classes", "clusters")}
    return render(
        "report.html",
        css=("base.css", "report.css"),
        js=_SCRIPTS,
        content=content,
        title=_title(found),
        overview=said.overview(found),
        notes=notes,
        map=drawn,
        run_path=str(found.run.path),
        has_classes=labels is not None,
        has_history=bool(found.run.history),
        labels=labels,
        sheets=thumbs.sheets if thumbs else [],
        **_baselines(said.baselines(found)),
    )


def _title(found: Findings) -> str:
    source = str(found.run.config["data"]["source"])
    return f"{Path(source).name or source}: {found.k} clusters by {_method(found)}"


def _method(found: Findings) -> str:
    return str(found.run.config["arguments"]["method"])


def _shown(found: Findings, cards: list[dict[str, Any]], doubtful: dict[str, Any]) -> IntArray:
    """The samples that the page carries: all, or what it speaks of and others at even steps."""
    n = len(found.ids)
    if n <= MOST_POINTS:
        return np.arange(n)
    lists = [card[kind] for card in cards for kind in ("typical", "doubtful")]
    lists += [doubtful["samples"], *(pair["samples"] for pair in doubtful["pairs"])]
    spoken_of = np.unique(np.concatenate([np.asarray(one, dtype=np.int64) for one in lists]))
    spread = np.linspace(0, n - 1, MOST_POINTS - len(spoken_of)).astype(np.int64)
    return np.union1d(spoken_of, spread)


def _few(n: int, shown: int) -> list[str]:
    if shown == n:
        return []
    return [f"Map and pictures show {shown:,} of the {n:,} samples; all figures are of all."]


def _ids(ids: list[str], shown: IntArray) -> list[str] | None:
    """The ids, unless they just count the samples."""
    kept = [ids[i] for i in shown]
    return None if all(name == str(at) for at, name in enumerate(kept)) else kept


def _placed(card: dict[str, Any], place: dict[int, int]) -> dict[str, Any]:
    """With samples by their place in the page instead of their number."""
    lists = {kind: card[kind] for kind in ("typical", "doubtful", "samples") if kind in card}
    return {**card, **{kind: [place[i] for i in samples] for kind, samples in lists.items()}}


def _prototypes(found: Findings) -> list[str | None]:
    """What the decoder makes of every cluster's centre, or the mean of its images."""
    assert found.samples is not None
    X, model = found.samples.X, load_model(found.run.model)
    tones = Tones(X)
    images = prototypes(model)
    if images is None:
        shape = channels_first(X[:1]).shape[1:]
        images = np.zeros((found.k, *shape), dtype=np.float32)
        for cluster in np.flatnonzero(found.sizes).tolist():
            images[cluster] = channels_first(X[found.members(cluster)]).mean(axis=0)
    painted = tones.paint(images)
    return [
        data_url(image) if size else None for image, size in zip(painted, found.sizes, strict=True)
    ]


def _baselines(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The table of simpler methods, with the columns that it has anything for."""
    titles = {
        "agreement": "agreement (ARI)",
        "acc": "accuracy",
        "nmi": "NMI",
        "ari": "ARI",
        "mi": "I(X;K)",
        "seconds": "seconds",
    }
    columns = [name for name in titles if any(row.get(name) is not None for row in rows)]
    own = rows[-1]["method"] if "seconds" in columns else rows[0]["method"]
    note = "Agreement is the adjusted Rand index between a method's clusters and the run's."
    return {
        "baseline_columns": [titles[name] for name in columns],
        "baselines": [
            {
                "method": row["method"],
                "own": row["method"] == own,
                "cells": ["-" if row.get(c) is None else f"{row[c]:.3f}" for c in columns],
            }
            for row in rows
        ],
        "baseline_note": note if "agreement" in columns else "",
    }


def _finite(record: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no infinity; a chart leaves a gap there."""
    return {
        k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in record.items()
    }
