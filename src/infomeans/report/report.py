"""The report of a run."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from infomeans._typing import Array
from infomeans.data import Dataset
from infomeans.data.arrays import channels_first, network_shape
from infomeans.data.files import printable
from infomeans.estimators.base import SampleClusterer
from infomeans.estimators.display import tones
from infomeans.estimators.saving import load_model
from infomeans.files import write_atomic
from infomeans.plots.palette import COLOURS, DARK, look
from infomeans.plots.projection import Kind, draw_map
from infomeans.plots.thumbnails import Chosen, Thumbnails, data_url, make_thumbnails
from infomeans.report import content as said
from infomeans.report.earlier import Earlier, earlier
from infomeans.report.features import features
from infomeans.report.findings import Findings, read_samples
from infomeans.report.judging import against_classes, baseline_table, baselines
from infomeans.report.originals import originals
from infomeans.report.pages import as_json, packed, render
from infomeans.report.selection import select
from infomeans.report.tree import tree
from infomeans.runs import Run

MOST_EXACT = 20_000
MOST_BYTES = 24_000_000
MEANS_AT_ONCE = 10_000
"""Number of images that are averaged at once."""

MOST_CLASSES = 200
"""Confusion matrices with more classes or clusters are not drawn."""

_SCRIPTS = (
    "names.js",
    "sprites.js",
    "data.js",
    "thumbs.js",
    "points.js",
    "map.js",
    "labels.js",
    "pictures.js",
    "filters.js",
    "pointer.js",
    "large.js",
    "cards.js",
    "features.js",
    "members.js",
    "naming.js",
    "tree.js",
    "doubtful.js",
    "search.js",
    "lines.js",
    "classes.js",
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
        The samples of the run; by default they are read again. If they cannot be read, the page
        shows what the run's earlier report shows of them.
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
        data = read_samples(run, notes)
    path = out or run.report
    found = Findings(run, data, estimator)
    write_atomic(path, _Page(found, notes, projection, path).render())
    if tell and notes:
        tell(" ".join(notes))
    return path


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
    path : Path
        Where the page will be.
    """

    def __init__(self, found: Findings, notes: list[str], projection: Kind, path: Path) -> None:
        self.found = found
        self.notes = notes
        self.path = path
        self.cards = said.cards(found)
        self.doubtful = said.doubtful(found)
        self.outliers = said.outliers(found)
        self.tree = tree(found)
        self.images = len(found.run.config["data"]["sample_shape"]) > 1
        self.shown = select(
            found.clusters, self._mentioned(), found.ids, found.run.config["arguments"]["seed"]
        )
        self.map = draw_map(found.embedding[self.shown], found.clusters[self.shown], projection)
        self.place = {int(sample): at for at, sample in enumerate(self.shown)}
        kept = np.zeros(len(found.ids), dtype=bool)
        kept[self.shown] = True
        ranked = np.concatenate(found.ranked)
        self.order = ranked[kept[ranked]]
        """The shown samples by cluster, the most typical first."""

    def render(self) -> str:
        """The page as HTML."""
        found, run = self.found, self.found.run
        content = {
            **self._samples(),
            **self._clusters(),
            "run": run.key,
            "names": run.names.to_json(),
            "palette": {"light": COLOURS, "dark": DARK},
            "history": run.history,
        }
        if found.data is None:
            kept = earlier(run.report, content, replaced=self.path == run.report)
            if kept:
                self.notes.append("What is shown of the samples is from the earlier report.")
        else:
            kept = self._from_samples(found.data, len(as_json(content)))
        kept = kept or Earlier(self._without_samples(), [])
        content |= kept.content
        against = content["against"]
        if against is None and "acc" in run.metrics:
            self.notes.append("The labels that the run was scored with cannot be read any more.")
        return render(
            "report.html",
            css=("base.css", "report.css", "charts.css"),
            js=_SCRIPTS,
            content=content,
            title=f"{said.short_name(run.config['data']['source'])}: {found.k} clusters by "
            f"{run.method}",
            overview=said.overview(found),
            notes=self.notes + self._warnings(against),
            map=self.map,
            drawn=self._drawn(),
            run_name=shlex.quote(printable(run.path.absolute().name)),
            has_pictures=bool(kept.sheets),
            has_features=content["features"] is not None,
            has_doubtful=bool(self.doubtful["samples"] or self.doubtful["pairs"]),
            has_outliers=self.outliers is not None,
            has_tree=self.tree is not None,
            has_history=bool(run.history),
            has_classes=content["classes"] is not None,
            against=against,
            drawable=content["confusion"] is not None,
            sheets=kept.sheets,
            **baseline_table(content["baselines"]),
        )

    def _mentioned(self) -> list[list[int]]:
        """Lists of the samples that the page mentions."""
        lists = [card[kind] for card in self.cards for kind in ("typical", "doubtful")]
        lists += [self.doubtful["samples"], *(pair["samples"] for pair in self.doubtful["pairs"])]
        lists += [self.outliers["samples"]] if self.outliers else []
        for one in self.tree["clusters"].values() if self.tree else ():
            lists += one["parts"]
        return lists

    def _drawn(self) -> str:
        """How many samples the map shows; empty if it shows all."""
        n, shown = len(self.found.ids), len(self.shown)
        return f"{shown:,} of the {n:,} samples are drawn." if shown < n else ""

    def _warnings(self, against: dict[str, Any] | None) -> list[str]:
        n, said_acc = len(self.found.ids), self.found.run.metrics.get("acc")
        notes = []
        if len(self.shown) < n:
            notes.append(
                f"Map, pictures and the search by id have {len(self.shown):,} of the {n:,} "
                f"samples: a random selection with some of each cluster, and all that the page "
                f"mentions. All figures refer to all samples."
            )
        names = self.found.run.names
        if names.merge:
            left = len(set(names.merged(self.found.k).tolist()))
            notes.append(
                f"Clusters have been merged: {left} are left. The facts and the figures against "
                f"labels refer to the {self.found.k} clusters of the model."
            )
        if against and said_acc is not None and said_acc != against["scores"]["acc"]:
            notes.append("The classes have changed since the run; the current ones are shown.")
        return notes

    def _samples(self) -> dict[str, Any]:
        found, shown = self.found, self.shown
        ids = [found.ids[i] for i in shown.tolist()]
        counted = all(name == str(at) for at, name in enumerate(ids))
        return {
            "n": len(found.ids),
            "ids": None if counted else ids,
            "order": packed(np.searchsorted(shown, self.order), "u4"),
            "points": {
                "x": packed(self.map.points[:, 0], "f4"),
                "y": packed(self.map.points[:, 1], "f4"),
                "cluster": packed(found.clusters[shown], "u4"),
                "second": packed(found.seconds[shown], "u4"),
                "confidence": packed(found.confidences[shown], "f4"),
                "runner_up": packed(found.runners_up[shown], "f4"),
            },
        }

    def _clusters(self) -> dict[str, Any]:
        content = {
            "clusters": [self._with_page_positions(card) for card in self.cards],
            "looks": [look(cluster) for cluster in range(self.found.k)],
            "doubtful": {
                "samples": [self.place[i] for i in self.doubtful["samples"]],
                "pairs": [self._with_page_positions(pair) for pair in self.doubtful["pairs"]],
            },
        }
        if self.outliers is not None:
            content["outliers"] = self._with_page_positions(self.outliers)
        if self.tree is not None:
            clusters = {
                cluster: one | {"parts": [[self.place[i] for i in part] for part in one["parts"]]}
                for cluster, one in self.tree["clusters"].items()
            }
            content["tree"] = self.tree | {"clusters": clusters}
        return content

    def _from_samples(self, data: Dataset, others: int) -> Earlier:
        """What the page has only if the samples can be read."""
        content = {
            **self._features(),
            **self._classes(),
            "prototypes": self._prototypes(),
            "baselines": baselines(self.found),
            "originals": self._originals(),
        }
        thumbs = self._thumbnails(data, others + len(as_json(content)))
        content["thumbs"] = thumbs and {
            "width": thumbs.width,
            "height": thumbs.height,
            "columns": thumbs.columns,
        }
        return Earlier(content, thumbs.sheets if thumbs else [])

    def _without_samples(self) -> dict[str, Any]:
        return {
            **self._features(),
            **self._classes(),
            "prototypes": self._prototypes(),
            "baselines": baselines(self.found),
            "originals": None,
            "thumbs": None,
        }

    def _originals(self) -> dict[str, Any] | None:
        ids = [self.found.ids[i] for i in self.shown.tolist()]
        source = self.found.run.config["arguments"].get("source")
        return originals(source, ids, self.path) if self.images else None

    def _features(self) -> dict[str, Any]:
        telling = features(self.found, self.shown)
        if telling is None:
            return {"features": None, "table": None}
        exact = len(self.shown) <= MOST_EXACT
        return {
            "features": telling["clusters"],
            "table": {
                "names": telling["names"],
                "of": telling["of"],
                # Single precision rounds large whole numbers, but takes half the space.
                "values": packed(telling["values"], "f8" if exact else "f4"),
                "exact": exact,
            },
        }

    def _classes(self) -> dict[str, Any]:
        against = against_classes(self.found)
        if against is None:
            return dict.fromkeys(("classes", "matched", "confusion", "against"))
        number = {name: at for at, name in enumerate(against["classes"])}
        # A sample without a label has the number that follows the last class.
        classes = np.array(
            [number.get(str(name), len(number)) for name in self.found.classes[self.shown]]
        )
        table = {name: against[name] for name in ("classes", "clusters")}
        table["counts"] = against["counts"].tolist()
        drawable = max(against["counts"].shape) <= MOST_CLASSES
        return {
            "classes": {"names": against["classes"], "of": packed(classes, "u4")},
            "matched": {
                row["cluster"]: None if row["class"] is None else number[row["class"]]
                for row in against["rows"]
            },
            "confusion": table if drawable else None,
            "against": {name: against[name] for name in ("rows", "scores", "scored_on")},
        }

    def _thumbnails(self, data: Dataset, others: int) -> Thumbnails | None:
        """Thumbnails in the order of the page, as good as its remaining size allows."""
        if not self.images:
            return None
        left = MOST_BYTES - others
        return make_thumbnails(Chosen(data, self.order), most_bytes=max(left, 0) * 3 // 4)

    def _prototypes(self) -> dict[str, Any] | None:
        """The decoded centre of every cluster, or the mean of its images."""
        if not self.images:
            return None
        estimator = self.found.estimator or load_model(self.found.run.model)
        model = estimator.model_
        images = model.decoded_centres(estimator.cluster_centers_)
        title = "decoded from the cluster's centre"
        if images is None:
            if self.found.data is None:
                return None
            images, title = self._means(self.found.data), "the mean of the cluster's images"
        painted = tones(model).paint(np.nan_to_num(images))
        sizes = self.found.sizes
        return {
            "title": title,
            "images": [
                data_url(i) if size else None for i, size in zip(painted, sizes, strict=True)
            ],
        }

    def _means(self, data: Dataset) -> Array:
        images = np.zeros((self.found.k, *network_shape(data.shape)), dtype=np.float32)
        for cluster in np.flatnonzero(self.found.sizes).tolist():
            members = self.found.members(cluster)
            for first in range(0, len(members), MEANS_AT_ONCE):
                some = channels_first(data.batch(members[first : first + MEANS_AT_ONCE]))
                images[cluster] += some.mean(axis=0) * (len(some) / len(members))
        return images

    def _with_page_positions(self, card: dict[str, Any]) -> dict[str, Any]:
        """Replace the samples' positions in the data set by those in the page."""
        lists = {kind: card[kind] for kind in ("typical", "doubtful", "samples") if kind in card}
        return card | {kind: [self.place[i] for i in samples] for kind, samples in lists.items()}
