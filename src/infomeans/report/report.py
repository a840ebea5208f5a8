"""The report of a run."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from infomeans._typing import Array, IntArray
from infomeans.data import Dataset
from infomeans.data import open as open_input
from infomeans.data.arrays import channels_first, network_shape
from infomeans.data.files import printable
from infomeans.durations import duration
from infomeans.errors import InputError
from infomeans.estimators.base import SampleClusterer
from infomeans.estimators.display import tones
from infomeans.estimators.saving import load_model
from infomeans.files import write_atomic
from infomeans.plots.palette import COLOURS, look
from infomeans.plots.projection import Kind, draw_map
from infomeans.plots.thumbnails import Thumbnails, data_url, make_thumbnails
from infomeans.report import content as said
from infomeans.report.findings import Findings
from infomeans.report.pages import as_json, packed, plotly, render
from infomeans.runs import Run

MOST_POINTS, MOST_EXACT = 100_000, 20_000
MOST_BYTES = 24_000_000
MOST_CLASSES = 200
"""Confusion matrices with more classes or clusters are not drawn."""

_SCRIPTS = (
    "names.js",
    "data.js",
    "points.js",
    "map.js",
    "labels.js",
    "filters.js",
    "pointer.js",
    "cards.js",
    "charts.js",
    "main.js",
)


def write_report(
    run: Run,
    out: Path | None = None,
    *,
    data: Dataset | None = None,
    estimator: SampleClusterer | None = None,
    projection: Kind = "auto",
    tell: Callable[[str], None] | None = None,
) -> Path:
    """Write the report of a complete run, and return its path.

    Parameters
    ----------
    run : Run
        A complete run.
    out : Path, optional
        File to write; by default `report.html` in the run's folder.
    data : Dataset, optional
        The samples of the run; by default they are read again. If they cannot be read, the report
        is written without them.
    estimator : SampleClusterer, optional
        The fitted estimator; by default it is loaded from the run.
    projection : {"auto", "lda", "pca", "umap"}
        Projection of the map.
    tell : callable, optional
        Called with a message if the page lacks something.

    Returns
    -------
    Path
    """
    run.check_complete()
    notes: list[str] = []
    if data is None:
        data = _samples(run, notes)
        if tell and notes:
            tell(notes[0])
    path = out or run.report
    write_atomic(path, _Page(Findings(run, data, estimator), notes, projection).render())
    return path


def _samples(run: Run, notes: list[str]) -> Dataset | None:
    """Read the run's samples again; without labels if those fail; None and a note if all fails."""
    request = run.config["arguments"]
    reading = request["reading"]
    tries = [reading, {k: v for k, v in reading.items() if k != "labels"}]
    for options in tries if "labels" in reading else tries[:1]:
        try:
            data = open_input(request["source"], **options)
        except (InputError, OSError) as error:
            notes[:] = [printable(f"The input cannot be read again: {error}")]
            continue
        if data.fingerprint != run.config["data"]["fingerprint"]:
            notes.append("The input has changed since the run, so its samples are not shown.")
            return None
        return data
    return None


class _Page:
    """Builds the page of a report.

    Parameters
    ----------
    found : Findings
        The results of the run.
    notes : list of str
        Notes for the reader.
    projection : str
        Projection of the map.
    """

    def __init__(self, found: Findings, notes: list[str], projection: Kind) -> None:
        self.found = found
        self.notes = notes
        self.map = draw_map(found.embedding, found.clusters, projection)
        self.cards = said.cards(found)
        self.doubtful = said.doubtful(found)
        self.features = said.features(found)
        self.labels = said.against_classes(found)
        self.images = len(found.run.config["data"]["sample_shape"]) > 1
        self.shown = self._shown()
        self.exact = len(self.shown) <= MOST_EXACT
        self.place = {int(sample): at for at, sample in enumerate(self.shown)}

    def render(self) -> str:
        """The page as HTML."""
        found, run = self.found, self.found.run
        content = {
            **self._samples(),
            **self._clusters(),
            **self._classes(),
            "run": run.key,
            "names": run.names.to_json(),
            "palette": COLOURS,
            "history": run.history,
        }
        thumbs = self._thumbnails(len(as_json(content)))
        content["thumbs"] = thumbs and {
            "width": thumbs.width,
            "height": thumbs.height,
            "columns": thumbs.columns,
        }
        return render(
            "report.html",
            css=("base.css", "report.css"),
            js=_SCRIPTS,
            content=content,
            title=f"{said.short_name(run.config['data']['source'])}: {found.k} clusters by "
            f"{run.config['arguments']['method']}",
            overview=said.overview(found),
            notes=self.notes + self._warnings(),
            map=self.map,
            run_name=shlex.quote(printable(run.path.absolute().name)),
            has_classes=self.labels is not None,
            had_classes="acc" in run.metrics,
            has_history=bool(run.history),
            labels=self.labels,
            drawable=self._drawable(),
            sheets=thumbs.sheets if thumbs else [],
            **_baselines(said.baselines(found)),
        )

    def _shown(self) -> IntArray:
        """The samples in the page: all, or those it mentions and an even selection of others."""
        n = len(self.found.ids)
        if n <= MOST_POINTS:
            return np.arange(n)
        lists = [card[kind] for card in self.cards for kind in ("typical", "doubtful")]
        lists += [self.doubtful["samples"], *(pair["samples"] for pair in self.doubtful["pairs"])]
        mentioned = np.unique(np.concatenate([np.asarray(one, dtype=np.int64) for one in lists]))
        others = max(MOST_POINTS - len(mentioned), 0)
        return np.union1d(mentioned, np.linspace(0, n - 1, others).astype(np.int64))

    def _warnings(self) -> list[str]:
        n, said_acc = len(self.found.ids), self.found.run.metrics.get("acc")
        notes = []
        if len(self.shown) < n:
            notes.append(
                f"Map and pictures show {len(self.shown):,} of the {n:,} samples; all figures "
                f"refer to all of them."
            )
        names = self.found.run.names
        if names.merge:
            left = len(set(names.merged(self.found.k).tolist()))
            notes.append(
                f"Clusters have been merged: {left} are left. The figures in the overview and "
                f"against labels refer to the {self.found.k} clusters of the model."
            )
        if self.labels and said_acc is not None and said_acc != self.labels["scores"]["acc"]:
            notes.append("The classes have changed since the run; the current ones are shown.")
        return notes

    def _samples(self) -> dict[str, Any]:
        found, shown, features = self.found, self.shown, self.features
        ids = [found.ids[i] for i in shown]
        counted = all(name == str(at) for at, name in enumerate(ids))
        return {
            "n": len(found.ids),
            "ids": None if counted else ids,
            "points": {
                "x": packed(self.map.points[shown, 0], "f4"),
                "y": packed(self.map.points[shown, 1], "f4"),
                "cluster": packed(found.clusters[shown], "u4"),
                "second": packed(found.seconds[shown], "u4"),
                "confidence": packed(found.confidences[shown], "f4"),
                "runner_up": packed(found.runners_up[shown], "f4"),
            },
            "table": features
            and {
                "names": features["names"],
                "of": features["of"],
                # Single precision rounds large whole numbers, but takes half the space.
                "values": packed(features["values"][shown], "f8" if self.exact else "f4"),
                "exact": self.exact,
            },
        }

    def _clusters(self) -> dict[str, Any]:
        prototypes, title = self._prototypes()
        cards = [
            {
                **self._with_page_positions(card),
                "features": self.features["clusters"][cluster] if self.features else [],
                "prototype": prototypes[cluster] if prototypes else None,
            }
            for cluster, card in enumerate(self.cards)
        ]
        return {
            "clusters": cards,
            "looks": [look(cluster) for cluster in range(self.found.k)],
            "prototypes": title,
            "doubtful": {
                "samples": [self.place[i] for i in self.doubtful["samples"]],
                "pairs": [self._with_page_positions(pair) for pair in self.doubtful["pairs"]],
            },
        }

    def _classes(self) -> dict[str, Any]:
        if self.labels is None:
            return {"classes": None, "confusion": None}
        number = {name: at for at, name in enumerate(self.labels["classes"])}
        # A sample without a label has the number that follows the last class.
        classes = np.array(
            [number.get(str(name), len(number)) for name in self.found.classes[self.shown]]
        )
        table = {name: self.labels[name] for name in ("classes", "clusters")}
        table["counts"] = self.labels["counts"].tolist()
        return {
            "classes": {"names": self.labels["classes"], "of": packed(classes, "u4")},
            "matched": {
                row["cluster"]: None if row["class"] is None else number[row["class"]]
                for row in self.labels["rows"]
            },
            "confusion": table if self._drawable() else None,
        }

    def _drawable(self) -> bool:
        return self.labels is not None and max(self.labels["counts"].shape) <= MOST_CLASSES

    def _thumbnails(self, others: int) -> Thumbnails | None:
        """Thumbnails of the samples, as good as the remaining size of the page allows."""
        data = self.found.data
        if data is None or not self.images:
            return None
        left = MOST_BYTES - len(plotly()) - others
        images = data.X if len(self.shown) == len(data) else data.batch(self.shown)
        return make_thumbnails(images, most_bytes=max(left, 0) * 3 // 4)

    def _prototypes(self) -> tuple[list[str | None] | None, str]:
        """The decoded centre of every cluster, or the mean of its images."""
        if not self.images:
            return None, ""
        estimator = self.found.estimator or load_model(self.found.run.model)
        model = estimator.model_
        images = model.decoded_centres(estimator.cluster_centers_)
        title = "decoded from the cluster's centre"
        if images is None:
            if self.found.data is None:
                return None, ""
            images, title = self._means(self.found.data), "the mean of the cluster's images"
        sizes = self.found.sizes
        painted = tones(model).paint(np.nan_to_num(images))
        return [
            data_url(i) if size else None for i, size in zip(painted, sizes, strict=True)
        ], title

    def _means(self, data: Dataset) -> Array:
        images = np.zeros((self.found.k, *network_shape(data.shape)), dtype=np.float32)
        for cluster in np.flatnonzero(self.found.sizes).tolist():
            images[cluster] = channels_first(data.batch(self.found.members(cluster))).mean(axis=0)
        return images

    def _with_page_positions(self, card: dict[str, Any]) -> dict[str, Any]:
        """Replace the samples' positions in the data set by those in the page."""
        lists = {kind: card[kind] for kind in ("typical", "doubtful", "samples") if kind in card}
        return card | {kind: [self.place[i] for i in samples] for kind, samples in lists.items()}


def _baselines(rows: list[dict[str, Any]]) -> dict[str, Any]:
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
