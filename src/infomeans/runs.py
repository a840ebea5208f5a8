"""The run folder: what is written, in what format."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from infomeans._typing import Array


def free_folder(name: str) -> Path:
    """The first of `name`, `name-2`, `name-3` ... that does not exist yet."""
    candidate, number = Path(name), 1
    while candidate.exists():
        number += 1
        candidate = Path(f"{name}-{number}")
    return candidate


def write_run(
    folder: Path,
    posteriors: Array,
    history: Iterable[Mapping[str, object]],
    metrics: Mapping[str, object],
    config: Mapping[str, object],
) -> None:
    """Write labels.csv, history.jsonl, metrics.json and config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / "labels.csv", _labels_csv(posteriors))
    write_atomic(folder / "history.jsonl", "".join(json.dumps(row) + "\n" for row in history))
    write_atomic(folder / "metrics.json", json.dumps(metrics, indent=2) + "\n")
    write_atomic(folder / "config.json", json.dumps(config, indent=2) + "\n")


def write_atomic(path: Path, text: str) -> None:
    """Write a file so that a crash leaves the old one or the new one, never half of one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _labels_csv(posteriors: Array) -> str:
    logs = np.log(np.where(posteriors > 0, posteriors, 1))
    entropies = -(posteriors * logs).sum(axis=1)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    header: Sequence[str] = ("id", "cluster", "confidence", "entropy")
    rows.writerow(header)
    for i, (p, entropy) in enumerate(zip(posteriors, entropies, strict=True)):
        rows.writerow((i, p.argmax(), f"{p.max():.6f}", f"{max(0.0, entropy):.6f}"))
    return text.getvalue()
