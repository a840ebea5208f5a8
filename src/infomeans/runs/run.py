"""A run folder and its files.

config.json             arguments, data and versions
history.jsonl           one line per epoch, written during training
checkpoint.safetensors  the state after the last epoch; what was found once is in
                        checkpoint-start.safetensors
model/                  everything needed for prediction
embedding.npy           the embedding of every sample
posteriors.npy          the probability of every cluster for every sample
tree.npz                how the clusters merge and part
labels.csv              id, cluster, confidence, entropy and outlier score of every sample
names.json              names and merges of the clusters, if the user gave any
report.html             an interactive page
hashes.json             the SHA-256 of the files above, for `infomeans verify`
metrics.json            the figures; written last, so a run that has it is complete
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from filelock import FileLock

from infomeans._typing import Array
from infomeans.data.files import reading
from infomeans.data.memory import in_parts
from infomeans.errors import InputError, Problems
from infomeans.files import (
    check_seal,
    file_hash,
    read_json,
    regular,
    sealed,
    write_atomic,
    writing,
)
from infomeans.graph import Hierarchy
from infomeans.naming import Names
from infomeans.runs import places
from infomeans.runs.labels import Labels
from infomeans.runs.places import CONFIG, HISTORY, METRICS, is_complete, is_run

FORMAT = 2
"""The format that this version writes: the second has hashes in config and metrics."""

_CHECKPOINT, _MODEL = "checkpoint.safetensors", "model"
_LABELS, _PARQUET, _EMBEDDING = "labels.csv", "labels.parquet", "embedding.npy"
_POSTERIORS, _NAMES, _REPORT = "posteriors.npy", "names.json", "report.html"
_DUPLICATES, _TREE, _HASHES = "duplicates.csv", "tree.npz", "hashes.json"
LOOKED_AT = 1000
"""Number of samples by which a table of labels is recognised."""


HASHED = (
    CONFIG, HISTORY, _EMBEDDING, _POSTERIORS, _TREE, _DUPLICATES, _LABELS, _PARQUET, _NAMES,
)  # fmt: skip
"""Files whose hashes are kept. Model and checkpoint have their own; reports are written again."""


class Run:
    """An existing run folder.

    Parameters
    ----------
    path : path
        The folder.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from infomeans.runs import Run
    >>> config = {"versions": {}, "arguments": {"method": "mi-adm"}, "data": {}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = Run.create(Path(folder, "run"), config)
    ...     run.leave()
    ...     run.method, run.complete
    ('mi-adm', False)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not is_run(self.path):
            why = "holds no config.json of a run" if self.path.exists() else "does not exist"
            raise InputError(f"{self.path} is not a run folder: it {why}.")
        config = read_json(self.path / CONFIG)
        self._lock: FileLock | None = None
        found = config["format"]
        if found > FORMAT:
            raise InputError(
                f"{self.path} was written in format {found} by infomeans "
                f"{config['versions'].get('infomeans')}; this version reads formats up to "
                f"{FORMAT}. Install a newer one."
            )
        self.config: dict[str, Any] = check_seal(self.path / CONFIG, config, needed=found > 1)

    @classmethod
    def create(cls, path: Path, config: Mapping[str, Any], *, overwrite: bool = False) -> Run:
        """Create the folder, write its config, and `take` it.

        A run that is overwritten is kept aside until the new one is complete.
        """
        places.check_free(path, overwrite=overwrite)
        if is_run(path):
            places.replace(path)
        held = None
        try:
            places.real_path(path).mkdir(parents=True, exist_ok=True)
            held = places.lock(path)
            # Another process may have been faster.
            places.check_free(path, overwrite=False)
            write_atomic(path / CONFIG, _dumps(sealed({"format": FORMAT, **config})))
        except BaseException as error:
            if held is not None:
                held.release()
            if isinstance(error, OSError):
                places.step_back(path, keep=False)
            raise
        run = cls(path)
        run._lock = held
        return run

    def take(self) -> None:
        """Refuse a run that another process is writing, and let no other process write it."""
        self._lock = places.lock(self.path)
        places.remove_leftovers(self.path)

    def leave(self) -> None:
        """Let other processes write the run."""
        held, self._lock = self._lock, None
        if held is not None:
            with suppress(OSError):
                Path(held.lock_file).unlink()
            held.release()

    @property
    def complete(self) -> bool:
        """Whether the run is complete."""
        return is_complete(self.path)

    @property
    def unfinished(self) -> str:
        """Message about an incomplete run; empty for a complete one."""
        if self.complete:
            return ""
        aside = places.aside_of(self.path)
        kept = f", and the run that it replaces is kept in {aside}" if is_run(aside) else ""
        again = f"infomeans cluster --resume --out {shlex.quote(str(self.path))}"
        return f"{self.path} is not complete{kept}; resume with  {again}"

    def check_complete(self) -> None:
        """Refuse an incomplete run."""
        if self.unfinished:
            raise InputError(self.unfinished)

    def check_resumed(self, begun: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Refuse arguments other than those the run was started with; report all of them."""
        problems = Problems()
        for name in sorted(now):
            if now[name] != begun.get(name):
                problems.add(
                    f"{self.path} was started with {name} {begun.get(name)!r}, not {now[name]!r}; "
                    f"--resume cannot change it."
                )
        problems.report()

    @property
    def method(self) -> str:
        """The method, the one that "auto" chose, "on embeddings" and "augmented" if they apply."""
        request = self.config["arguments"]
        chosen = self.metrics.get("chosen_method")
        method = f"{request['method']} ({chosen})" if chosen else request["method"]
        embedded = " on embeddings" if request.get("embeddings") else ""
        augmented = ", augmented" if request.get("params", {}).get("augment") else ""
        return f"{method}{embedded}{augmented}"

    @property
    def model(self) -> Path:
        """The model's folder."""
        return self.path / _MODEL

    @property
    def checkpoint(self) -> Path:
        """The checkpoint file of the training."""
        return self.path / _CHECKPOINT

    @property
    def metrics(self) -> dict[str, Any]:
        """The figures; empty before the run is complete."""
        if not self.complete:
            return {}
        path = self.path / METRICS
        return check_seal(path, read_json(path), needed=self.config["format"] > 1)

    @property
    def history(self) -> list[dict[str, Any]]:
        """The records of all epochs."""
        path = self.path / HISTORY
        if not path.exists():
            return []
        try:
            records = [
                json.loads(line) for line in regular(path).read_text(encoding="utf-8").splitlines()
            ]
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path} is damaged: {error}") from error
        if not all(isinstance(record, dict) for record in records):
            raise InputError(f"{path} is damaged: a line is not a JSON object.")
        return records

    @cached_property
    def labels(self) -> Labels:
        """The clusters of all samples."""
        self.check_complete()
        labels = Labels.read(self.path / _LABELS)
        self._check(labels)
        return labels

    def _check(self, labels: Labels) -> None:
        """Refuse a table that lacks samples of the run, or has other clusters."""
        n = self.config["data"].get("n_samples", len(labels.ids))
        if len(labels.ids) != n:
            rows = f"{self.path / _LABELS} has {len(labels.ids):,} rows"
            raise InputError(f"{rows}, but the run has {n:,} samples.")
        k = len(self.metrics.get("sizes", ()))
        if k and (wrong := np.flatnonzero(labels.clusters >= k)).size:
            raise InputError(
                f"{self.path / _LABELS}: the column 'cluster' has {labels.clusters[wrong[0]]} in "
                f"row {wrong[0] + 1}; the run has clusters 0 to {k - 1}."
            )
        if (self.path / _POSTERIORS).exists():
            self._check_order(labels)

    def _check_order(self, labels: Labels) -> None:
        """Refuse a table whose rows were sorted: what is read beside it has its own order."""
        if self.posteriors.ndim != 2 or len(self.posteriors) != len(labels.ids):
            raise InputError(
                f"{self.path / _POSTERIORS} has the shape {self.posteriors.shape}, but the run has "
                f"{len(labels.ids)} samples."
            )
        rows = np.linspace(0, len(labels.ids) - 1, min(len(labels.ids), LOOKED_AT)).astype(int)
        likely = self.posteriors[rows].argmax(axis=1)
        # A merged cluster is that of several.
        pairs = {*zip(likely.tolist(), labels.clusters[rows].tolist(), strict=True)}
        if len(pairs) > len({*likely.tolist()}):
            raise InputError(
                f"{self.path / _LABELS} has other clusters than {_POSTERIORS}, as if its rows had "
                f"been sorted; put them back into their order."
            )

    @cached_property
    def embedding(self) -> Array:
        """The embedding of all samples (n, d), mapped from its file."""
        return _mapped(self.path / _EMBEDDING)

    @cached_property
    def posteriors(self) -> Array:
        """The posteriors of all samples (n, K), mapped from their file."""
        path = self.path / _POSTERIORS
        if not path.exists():
            why = "from an earlier version that wrote none" if self.complete else "not complete"
            raise InputError(f"{self.path} has no {_POSTERIORS}: it is {why}.")
        return _mapped(path)

    @cached_property
    def tree(self) -> Hierarchy | None:
        """How the clusters merge and part; None in runs of earlier versions."""
        path = self.path / _TREE
        if not path.exists():
            return None
        # A damaged file would stay open if NumPy opened it.
        with reading(path), path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return Hierarchy.restored(arrays)

    @property
    def names(self) -> Names:
        """Names and merges of the clusters; empty at first."""
        path = self.path / _NAMES
        return self.read_names(regular(path)) if path.exists() else Names(run=self.key)

    @property
    def key(self) -> str:
        """A hash that identifies the run."""
        return hashlib.sha256(json.dumps(self.config).encode()).hexdigest()[:16]

    @property
    def report(self) -> Path:
        """The HTML report."""
        return self.path / _REPORT

    @property
    def n_clusters(self) -> int:
        """Number of clusters of a complete run, including empty ones."""
        given = self.config["arguments"]["n_clusters"]
        return len(self.metrics["sizes"]) if given == "auto" else given

    def read_names(self, path: Path) -> Names:
        """Read names and merges for the clusters of this run."""
        return Names.read(path, run=self.key, n_clusters=self.n_clusters)

    def rename(self, names: Names) -> Labels:
        """Rewrite the labels with these names and merges."""
        before = self.labels
        labels = self.labels = Labels.of(
            before.ids, self.posteriors, names, before.stability, before.outliers
        )
        for file in (_LABELS, _PARQUET):
            if (self.path / file).exists():
                labels.write(self.path / file)
        if names:
            write_atomic(self.path / _NAMES, _dumps(names.to_json()))
        else:
            (self.path / _NAMES).unlink(missing_ok=True)
        self._write_hashes(_LABELS, _PARQUET, _NAMES)
        return labels

    def write_history(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Replace the history."""
        write_atomic(self.path / HISTORY, "".join(json.dumps(record) + "\n" for record in records))

    def write_duplicates(self, table: str) -> None:
        """Write the table of samples that are there twice."""
        write_atomic(self.path / _DUPLICATES, table)

    def write_tree(self, tree: Hierarchy) -> None:
        """Write how the clusters merge and part."""
        with writing(self.path / _TREE) as file:
            np.savez_compressed(file, **tree.state_dict())
        self.tree = tree

    def write_results(
        self,
        ids: Sequence[str],
        posteriors: Array,
        embedding: Array,
        metrics: Mapping[str, Any],
        *,
        stability: Array | None = None,
        outliers: Array | None = None,
        parquet: bool = False,
    ) -> None:
        """Write the results, the metrics last.

        They are also kept in memory, so reading them next needs no parsing.
        """
        self.embedding, self.posteriors = embedding, posteriors
        labels = self.labels = Labels.of(ids, posteriors, stability=stability, outliers=outliers)
        for file, array in ((_EMBEDDING, embedding), (_POSTERIORS, posteriors)):
            with writing(self.path / file) as opened:
                _save(opened, array)
        for name in (_LABELS, _PARQUET) if parquet else (_LABELS,):
            labels.write(self.path / name)
        self._write_hashes(*HASHED)
        write_atomic(self.path / METRICS, _dumps(sealed(metrics)))
        with suppress(OSError):
            places.drop(places.aside_of(self.path))

    @property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of the files, by name; empty in runs of earlier versions."""
        path = self.path / _HASHES
        if not path.exists():
            return {}
        hashes = check_seal(path, read_json(path), needed=True).get("files")
        if not isinstance(hashes, dict):
            raise InputError(f"{path} is damaged: it holds no hashes.")
        return {name: str(value) for name, value in hashes.items() if name in HASHED}

    def _write_hashes(self, *names: str) -> None:
        """Hash these files again; what is said of the others stays."""
        there = [name for name in names if (self.path / name).exists()]
        kept = {} if names == HASHED else self.hashes
        hashes = {name: value for name, value in kept.items() if name not in names}
        hashes |= {name: file_hash(self.path / name) for name in there}
        write_atomic(self.path / _HASHES, _dumps(sealed({"files": hashes})))

    def give_up(self) -> None:
        """Restore the run that this one was to replace; otherwise leave what was trained."""
        self.leave()
        places.step_back(self.path, keep=self.checkpoint.exists())


def _save(file: BinaryIO, array: Array) -> None:
    """Write an array as .npy, part by part: it may be mapped from a file that exceeds memory."""
    kind = np.lib.format.dtype_to_descr(array.dtype)
    header = {"descr": kind, "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(file, header)
    for part in in_parts(array):
        file.write(np.ascontiguousarray(part).data)


def _mapped(path: Path) -> Array:
    """An array in a file, of which only the parts that are used are read."""
    with reading(path):
        return np.asarray(np.load(regular(path), mmap_mode="r", allow_pickle=False))


def _dumps(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2) + "\n"
