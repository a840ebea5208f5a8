"""The demo: handwritten digits, four baselines and MI-ADM."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from infomeans._typing import IntArray
from infomeans.data import Dataset, benchmark
from infomeans.estimators import MIADM, Autoencoder
from infomeans.estimators.base import SampleClusterer
from infomeans.metrics import scores
from infomeans.runs import Run
from infomeans.runs.labels import entropies
from infomeans.threads import limited
from infomeans.training import kept
from infomeans.workflows.baselines import find_baseline
from infomeans.workflows.cluster import create_run, finish
from infomeans.workflows.request import Request


class Demo(NamedTuple):
    """The table of the demo; the run of MI-ADM, with its samples and its estimator."""

    rows: list[Row]
    run: Run
    data: Dataset
    estimator: SampleClusterer


@dataclass(frozen=True)
class Row:
    """One line of the demo's table."""

    method: str
    acc: float
    nmi: float
    ari: float
    mi: float
    seconds: float


def run_demo(
    folder: Path,
    seed: int,
    announce: Callable[[str], None],
    *,
    threads: int | None = None,
    overwrite: bool = False,
) -> Demo:
    """Cluster the 1,797 digits that ship with scikit-learn, and write the run to a folder.

    Parameters
    ----------
    folder : Path
        The run folder.
    seed : int
        Random seed.
    announce : callable
        Called with a line of text before each step.
    threads : int, optional
        Number of threads; by default chosen by the work per step.
    overwrite : bool
        Whether to replace a run in the folder.
    """
    with limited(threads):
        return _run_demo(folder, seed, announce, overwrite=overwrite)


def _run_demo(folder: Path, seed: int, announce: Callable[[str], None], *, overwrite: bool) -> Demo:
    digits, k = benchmark("digits"), 10
    classes = digits.labels
    assert classes is not None

    def baseline(name: str, encoder: Autoencoder | None = None) -> Row:
        began = time.perf_counter()
        labels = find_baseline(name, digits, k, seed=seed, encoder=encoder)
        seconds = time.perf_counter() - began + (pretraining if encoder else 0.0)
        return Row(name, **scores(classes, labels), mi=_label_entropy(labels), seconds=seconds)

    announce("K-means and graph agglomeration on the pixels")
    pretraining = 0.0
    on_pixels = [baseline("kmeans"), baseline("graph")]
    announce("Auto-encoder")
    began = time.perf_counter()
    encoder = Autoencoder(random_state=seed, verbose=1).fit(digits)
    pretraining = time.perf_counter() - began
    on_embedding = [baseline("autoencoder+kmeans", encoder), baseline("graph-embedding", encoder)]
    announce("MI-ADM on that auto-encoder, from a start that it chooses")
    began = time.perf_counter()
    model = MIADM(k, network=encoder.network_, pretrain_epochs=0, random_state=seed, verbose=1).fit(
        digits
    )
    seconds = pretraining + time.perf_counter() - began
    last = kept(model.history_)["mi"]
    rows = [
        *(row for pair in zip(on_pixels, on_embedding, strict=True) for row in pair),
        Row("mi-adm", **scores(classes, model.labels_), mi=last, seconds=seconds),
    ]
    request = Request("digits", k, "mi-adm", seed=seed)
    run = create_run(folder, request, digits, model.n_threads_, overwrite=overwrite)
    model.history_ = [*encoder.history_, *model.history_]
    finish(run, model, digits, {"seconds": seconds, "methods": [asdict(row) for row in rows]})
    run.leave()
    return Demo(rows, run, digits, model)


def _label_entropy(labels: IntArray) -> float:
    """Mutual information between data and hard labels, which is the entropy of the labels."""
    return float(entropies(np.bincount(labels)[None] / len(labels))[0])
