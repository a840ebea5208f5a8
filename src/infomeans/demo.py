"""The demo: handwritten digits, four baselines and MI-ADM."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from infomeans import data
from infomeans._typing import IntArray
from infomeans.estimators import MIADM, Autoencoder
from infomeans.graph import agglomerate
from infomeans.initial import kmeans
from infomeans.jobs import Request, create_run, finish
from infomeans.metrics import scores
from infomeans.threads import limited

Labelling = NDArray[np.str_]


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
) -> list[Row]:
    """Cluster the 1,797 digits that ship with scikit-learn, and write the run to a folder.

    Parameters
    ----------
    folder : Path
    seed : int
    announce : callable
        Told what is about to happen.
    threads : int, optional
        How many compute; by default as many as pay.
    overwrite : bool
        Whether to replace a run in the folder.
    """
    with limited(threads):
        return _run_demo(folder, seed, announce, overwrite=overwrite)


def _run_demo(
    folder: Path, seed: int, announce: Callable[[str], None], *, overwrite: bool
) -> list[Row]:
    samples = data.benchmark("digits")
    images, classes, k = samples.X, samples.labels, 10
    assert classes is not None
    pixels = images.reshape(len(images), -1)

    announce("K-means and graph agglomeration on the pixels")
    rows = [
        _baseline("kmeans", lambda: kmeans(pixels, k, seed=seed).labels_, classes),
        _baseline("graph", lambda: agglomerate(pixels, k), classes),
    ]
    announce("Auto-encoder")
    began = time.perf_counter()
    autoencoder = Autoencoder(random_state=seed, verbose=1).fit(images)
    pretraining = time.perf_counter() - began
    embedding = autoencoder.transform(images)
    rows.insert(
        1,
        _baseline(
            "autoencoder+kmeans",
            lambda: kmeans(embedding, k, seed=seed).labels_,
            classes,
            pretraining,
        ),
    )
    rows.append(
        _baseline("graph-embedding", lambda: agglomerate(embedding, k), classes, pretraining)
    )
    announce("MI-ADM on that auto-encoder, from the graph on its embedding")
    began = time.perf_counter()
    model = MIADM(
        k, network=autoencoder.network_, pretrain_epochs=0, random_state=seed, verbose=1
    ).fit(images)
    seconds = pretraining + time.perf_counter() - began
    rows.append(
        Row("mi-adm", **scores(classes, model.labels_), mi=model.score(images), seconds=seconds)
    )
    request = Request("digits", k, seed=seed)
    run = create_run(folder, request, samples, model.n_threads_, overwrite=overwrite)
    model.history_ = [*autoencoder.history_, *model.history_]
    finish(run, model, samples, {"seconds": seconds, "methods": [asdict(row) for row in rows]})
    return rows


def _baseline(
    method: str, cluster: Callable[[], IntArray], classes: Labelling, seconds: float = 0.0
) -> Row:
    began = time.perf_counter()
    labels = cluster()
    seconds += time.perf_counter() - began
    return Row(method, **scores(classes, labels), mi=_label_entropy(labels), seconds=seconds)


def _label_entropy(labels: IntArray) -> float:
    """Mutual information of data and hard labels, which is the entropy of the labels."""
    shares = np.bincount(labels) / len(labels)
    return -sum(share * math.log(share) for share in shares if share)
