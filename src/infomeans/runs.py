"""The run folder: what is written, in what format, how it is read back.

config.json             what was asked for, of which data, with which versions
history.jsonl           one line an epoch, written as training goes
checkpoint.safetensors  the state after the last epoch
model/                  all that predicting needs
embedding.npy           the embedding of every sample
posteriors.npy          the probability of every cluster for every sample
labels.csv              id, cluster, confidence and entropy of every sample
names.json              how people name and merge the clusters, once they do
report.html             all of it to look at
metrics.json            the figures; written last, so that a run that has it is complete
"""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import os
import secrets
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from infomeans._typing import Array, IntArray
from infomeans.errors import InputError
from infomeans.files import write_atomic
from infomeans.naming import Names

FORMAT = 1
COLUMNS = ("id", "cluster", "confidence", "entropy")
NAME = "name"
_CONFIG, _HISTORY, _METRICS = "config.json", "history.jsonl", "metrics.json"
_LABELS, _PARQUET, _EMBEDDING = "labels.csv", "labels.parquet", "embedding.npy"
_CHECKPOINT, _MODEL = "checkpoint.safetensors", "model"
_POSTERIORS, _NAMES, _REPORT = "posteriors.npy", "names.json", "report.html"


@dataclass(frozen=True)
class Labels:
    """What came out for every sample.

    Attributes
    ----------
    ids : list of str
    clusters : (n,) integer array
    confidences : (n,) array
        Probability of the cluster.
    entropies : (n,) array
        Of the posteriors, in nats.
    names : list of str, optional
        What people call the clusters of the samples, once they have named any.
    """

    ids: list[str]
    clusters: IntArray
    confidences: Array
    entropies: Array
    names: list[str] | None = None

    @classmethod
    def of(cls, ids: list[str], posteriors: Array, names: Names | None = None) -> Labels:
        """From the posteriors (n, K).

        Where clusters are merged, every sample goes where its cluster goes, with what is probable
        of all that go there.
        """
        clusters = posteriors.argmax(axis=1)
        if names:
            into = names.merged(posteriors.shape[1])
            clusters = into[clusters]
            posteriors = posteriors @ np.eye(len(into))[into]
        return cls(
            ids,
            clusters,
            np.take_along_axis(posteriors, clusters[:, None], axis=1)[:, 0],
            entropies(posteriors),
            [names.of(cluster) for cluster in clusters.tolist()] if names else None,
        )

    def write(self, path: Path) -> None:
        """Write a table, as CSV or Parquet by the suffix."""
        parquet = path.suffix.lower() == ".parquet"
        write_atomic(path, self._parquet() if parquet else self.csv())

    def csv(self) -> str:
        """The table as CSV."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        columns = self._columns()
        for column in ("confidence", "entropy"):
            columns[column] = [f"{value:.6f}" for value in columns[column].tolist()]
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()

    def _columns(self) -> dict[str, Any]:
        values = (self.ids, self.clusters, self.confidences, self.entropies)
        columns: dict[str, Any] = dict(zip(COLUMNS, values, strict=True))
        return columns if self.names is None else {**columns, NAME: self.names}

    def _parquet(self) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = io.BytesIO()
        pq.write_table(pa.table(self._columns()), content)
        return content.getvalue()


def entropies(posteriors: Array) -> Array:
    """The entropy of every row (n,), in nats."""
    logs = np.log(np.where(posteriors > 0, posteriors, 1))
    return np.maximum(-(posteriors * logs).sum(axis=1), 0)


class Run:
    """A run folder that exists.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not is_run(self.path):
            why = "holds no config.json of a run" if self.path.exists() else "does not exist"
            raise InputError(f"{self.path} is not a run folder: it {why}.")
        self.config: dict[str, Any] = self._json(_CONFIG)
        found = self.config["format"]
        if found > FORMAT:
            raise InputError(
                f"{self.path} was written in format {found} by infomeans "
                f"{self.config['versions'].get('infomeans')}; this version reads formats up to "
                f"{FORMAT}. Install a newer one."
            )

    @classmethod
    def create(cls, path: Path, config: Mapping[str, Any], *, overwrite: bool = False) -> Run:
        """Make the folder and write its config.

        A run that may be overwritten steps aside, until the new one is complete.
        """
        check_free(path, overwrite=overwrite)
        if is_run(path):
            _step_aside(path)
        try:
            _real(path).mkdir(parents=True, exist_ok=True)
            write_atomic(path / _CONFIG, _dumps({"format": FORMAT, **config}))
        except OSError:
            _step_back(path)
            raise
        return cls(path)

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""
        return (self.path / _METRICS).exists()

    @property
    def unfinished(self) -> str:
        """What is said of a run that did not come to its end; nothing of one that did."""
        if self.complete:
            return ""
        aside = _aside(self.path)
        waits = f", and the run that it is to replace waits in {aside}" if is_run(aside) else ""
        again = f"infomeans cluster --resume --out {shlex.quote(str(self.path))}"
        return f"{self.path} is not complete{waits}; go on with  {again}"

    def check_complete(self) -> None:
        """Refuse a run that did not come to its end."""
        if self.unfinished:
            raise InputError(self.unfinished)

    @property
    def method(self) -> str:
        """The method, and what it was told about the data."""
        request = self.config["arguments"]
        embedded = " on embeddings" if request.get("embeddings") else ""
        augmented = ", augmented" if request.get("params", {}).get("augment") else ""
        return f"{request['method']}{embedded}{augmented}"

    @property
    def model(self) -> Path:
        """The model's folder."""
        return self.path / _MODEL

    @property
    def checkpoint(self) -> Path:
        """The file with the training's state."""
        return self.path / _CHECKPOINT

    @property
    def metrics(self) -> dict[str, Any]:
        """The figures; none before the run is complete."""
        return self._json(_METRICS) if self.complete else {}

    @property
    def history(self) -> list[dict[str, Any]]:
        """The records of all epochs so far."""
        path = self.path / _HISTORY
        return [json.loads(line) for line in _lines(path)] if path.exists() else []

    @property
    def labels(self) -> Labels:
        """The clusters of all samples."""
        self.check_complete()
        with (self.path / _LABELS).open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        columns = dict(zip(header, zip(*rows, strict=True), strict=True))
        return Labels(
            list(columns["id"]),
            np.array(columns["cluster"], dtype=np.int64),
            np.array(columns["confidence"], dtype=float),
            np.array(columns["entropy"], dtype=float),
            list(columns[NAME]) if NAME in columns else None,
        )

    @property
    def embedding(self) -> Array:
        """The embedding of all samples (n, d)."""
        return np.load(self.path / _EMBEDDING, allow_pickle=False)

    @property
    def posteriors(self) -> Array:
        """The posteriors of all samples (n, K)."""
        path = self.path / _POSTERIORS
        if not path.exists():
            why = "of an earlier version that kept none" if self.complete else "not complete"
            raise InputError(f"{self.path} has no {_POSTERIORS}: it is {why}.")
        return np.load(path, allow_pickle=False)

    @property
    def names(self) -> Names:
        """How its clusters are named and merged; nothing of both at first."""
        path = self.path / _NAMES
        return self.read_names(path) if path.exists() else Names(run=self.key)

    @property
    def key(self) -> str:
        """What tells this run from others."""
        return hashlib.sha256(json.dumps(self.config).encode()).hexdigest()[:16]

    @property
    def report(self) -> Path:
        """The page to look at."""
        return self.path / _REPORT

    def read_names(self, path: Path) -> Names:
        """Names and merges from a file, for the clusters of this run."""
        return Names.read(path, run=self.key, n_clusters=self.config["arguments"]["n_clusters"])

    def rename(self, names: Names) -> Labels:
        """Write the labels anew, with the clusters named and merged like this."""
        labels = Labels.of(self.labels.ids, self.posteriors, names)
        for file in (_LABELS, _PARQUET):
            if (self.path / file).exists():
                labels.write(self.path / file)
        if names:
            write_atomic(self.path / _NAMES, _dumps(names.to_json()))
        else:
            (self.path / _NAMES).unlink(missing_ok=True)
        return labels

    def write_history(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Replace the history."""
        write_atomic(self.path / _HISTORY, "".join(json.dumps(record) + "\n" for record in records))

    def write_results(
        self,
        ids: list[str],
        posteriors: Array,
        embedding: Array,
        metrics: Mapping[str, Any],
        *,
        parquet: bool = False,
    ) -> None:
        """Write what came out; the metrics last."""
        labels = Labels.of(ids, posteriors)
        for file, array in ((_EMBEDDING, embedding), (_POSTERIORS, posteriors)):
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            write_atomic(self.path / file, content.getvalue())
        for name in (_LABELS, _PARQUET) if parquet else (_LABELS,):
            labels.write(self.path / name)
        write_atomic(self.path / _METRICS, _dumps(metrics))
        with suppress(OSError):
            _drop(_aside(self.path))

    def give_up(self) -> None:
        """Put the run that this one was to replace, if there was one, back in its place."""
        _step_back(self.path)

    def _json(self, name: str) -> dict[str, Any]:
        try:
            content = json.loads((self.path / name).read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{self.path / name} is damaged: {error}") from error
        if not isinstance(content, dict):
            raise InputError(f"{self.path / name} is damaged: it holds no table of values.")
        return content


def is_run(path: Path) -> bool:
    """Whether a folder holds a run, of any version."""
    try:
        config = json.loads((path / _CONFIG).read_text(encoding="utf-8"))
        kinds = {"format": int, "versions": dict, "arguments": dict, "data": dict}
        return all(isinstance(config[name], kind) for name, kind in kinds.items())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def check_free(path: Path, *, overwrite: bool) -> None:
    """Refuse a folder in which a new run must not be written."""
    if is_run(path):
        if not overwrite:
            raise InputError(
                f"{path} holds a run already; name another folder, add --resume to go on with it "
                f"or --overwrite to replace it."
            )
        if _real(path) == Path.cwd():
            raise InputError(f"{path} is the folder you are in; replace it from another one.")
    elif not path.exists() and is_run(_aside(path)) and not overwrite:
        raise InputError(
            f"{path} was about to be replaced when that was broken off, and waits in "
            f"{_aside(path)}; rename it, or add --overwrite to replace it."
        )
    elif path.exists() and not (path.is_dir() and all(p.name[0] == "." for p in path.iterdir())):
        raise InputError(f"{path} exists already and is not a run folder; name another one.")
    ancestor = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not os.access(ancestor, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _real(path: Path) -> Path:
    """The folder itself, where a path is a link to it, or "."."""
    return Path(os.path.realpath(path))


def _aside(path: Path) -> Path:
    """Where a run waits while another takes its place."""
    return _real(path).with_name(f".{_real(path).name}.replaced")


def _step_aside(path: Path) -> None:
    """Make place for another run; the last complete one is kept."""
    aside = _aside(path)
    if is_run(aside) and Run(aside).complete and not Run(path).complete:
        _drop(_real(path))
    else:
        _drop(aside)
        _real(path).rename(aside)


def _step_back(path: Path) -> None:
    if _aside(path).exists():
        _drop(_real(path))
        _aside(path).rename(_real(path))


def _drop(folder: Path) -> None:
    """Delete a folder, which is gone at once, even if deleting it is broken off."""
    if folder.exists():
        gone = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.deleted")
        shutil.rmtree(folder.rename(gone), ignore_errors=True)


def check_table(path: Path, *, overwrite: bool) -> None:
    """Refuse a file to which labels cannot be written."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{path} has no known suffix; .csv and .parquet are accepted.")
    check_file(path, overwrite=overwrite)


def check_file(path: Path, *, overwrite: bool) -> None:
    """Refuse a file that exists, or whose folder does not."""
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}.")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file.")
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists already; name another file or add --overwrite.")


def free_folder(name: str) -> Path:
    """The first of `name`, `name-2`, `name-3` ... that does not exist yet."""
    candidate, number = Path(name), 1
    while candidate.exists():
        number += 1
        candidate = Path(f"{name}-{number}")
    return candidate


def _dumps(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2) + "\n"


def _lines(path: Path) -> Sequence[str]:
    return path.read_text(encoding="utf-8").splitlines()
