"""Measured runs on disk: append-only files of JSON lines."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from infomeans.errors import InputError


class Results:
    """A file with one line of JSON for each run.

    Parameters
    ----------
    path : Path
        The file.
    elsewhere : sequence of dict
        Rows of other files. They count as if they came first in this one.
    """

    def __init__(self, path: Path, elsewhere: Sequence[dict[str, Any]] = ()) -> None:
        self.path = path
        self.elsewhere = elsewhere

    def rows(self) -> list[dict[str, Any]]:
        """All runs so far."""
        own = self._read()[0]
        if not self.elsewhere:
            return own
        known = {_key(row) for row in self.elsewhere}
        return [*self.elsewhere, *(row for row in own if _key(row) not in known)]

    def cut_short(self) -> list[int]:
        """Numbers of incomplete lines, which do not count as runs."""
        return self._read()[1]

    def _read(self) -> tuple[list[dict[str, Any]], list[int]]:
        rows, cut_short = [], []
        lines = self.path.read_text(encoding="utf-8").split("\n") if self.path.exists() else []
        for number, line in enumerate(lines, start=1):
            try:
                rows += [json.loads(line)] if line else []
            except ValueError as error:
                if not line.startswith("{"):
                    raise InputError(f"{self.path}, line {number}, is not JSON: {error}") from None
                cut_short.append(number)
        return rows, cut_short

    def done(self) -> set[tuple[str, str, int, bool]]:
        """Which runs are done."""
        return {_key(row) for row in self.rows()}

    def append(self, row: Mapping[str, Any]) -> None:
        """Append a run in a single write, so that several processes can append to one file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(row).encode() + b"\n"
        with self.path.open("a+b", buffering=0) as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else b"\n" + line
            written = file.write(line)
            os.fsync(file.fileno())
        if written != len(line):
            raise OSError(errno.ENOSPC, "a line was written only in part", str(self.path))


def _key(row: Mapping[str, Any]) -> tuple[str, str, int, bool]:
    """The `Job.key` of the run in a row."""
    return row["dataset"], row["method"], row["seed"], row["augment"]
