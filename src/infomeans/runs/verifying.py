"""Check whether a run or a model is whole, and what can be saved of a damaged one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from infomeans.errors import InputError
from infomeans.files import file_hash
from infomeans.runs.run import HASHED, Run


class Finding(NamedTuple):
    """A file of a run, and what is wrong with it; None if nothing is."""

    file: str
    problem: str | None


def findings(
    run: Run, load: Callable[[Path], object], check: Callable[[Path], object]
) -> Iterator[Finding]:
    """Check every file of a run: its hash, or else its content.

    Parameters
    ----------
    run : Run
    load : callable
        Reads the model in a folder, or raises an InputError.
    check : callable
        Reads a checkpoint, or raises an InputError.
    """
    wrong = problem(lambda: run.hashes)
    hashes = {} if wrong else run.hashes
    if wrong or (run.complete and run.config["format"] > 1 and not hashes):
        yield Finding("hashes.json", wrong or "missing; contents are checked instead")
    for name in HASHED:
        if name in hashes or (run.path / name).exists():
            yield Finding(name, _against(run.path / name, hashes.get(name)))
    if run.complete:
        yield Finding("metrics.json", problem(lambda: run.metrics))
        yield from _contents(run)
    if run.checkpoint.exists():
        yield Finding(run.checkpoint.name, problem(lambda: check(run.checkpoint)))
    elif not run.complete:
        yield Finding(run.checkpoint.name, "missing, and the run is not complete")
    if run.complete or run.model.exists():
        yield Finding(run.model.name, problem(lambda: load(run.model)))


def _contents(run: Run) -> Iterator[Finding]:
    """Whether files without a hash can be read, and have a row for every sample."""
    n = run.config["data"].get("n_samples")
    for name, read in (
        ("posteriors.npy", lambda: run.posteriors),
        ("embedding.npy", lambda: run.embedding),
        ("labels.csv", lambda: run.labels.ids),
    ):
        wrong = problem(read)
        if wrong is None and n is not None and len(read()) != n:
            wrong = f"has {len(read())} rows instead of {n}"
        if wrong is not None:
            yield Finding(name, wrong)


def _against(path: Path, expected: str | None) -> str | None:
    if not path.exists():
        return "missing"
    if expected is None:
        return None
    return None if file_hash(path) == expected else "changed after it was written"


def problem(read: Callable[[], object]) -> str | None:
    """What is wrong with something that is read; None if it can be."""
    try:
        read()
    except (InputError, OSError, LookupError, TypeError) as error:
        return str(error) or type(error).__name__
    return None
