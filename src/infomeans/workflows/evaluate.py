"""The true classes of a run's samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from infomeans.data import find_labels
from infomeans.data import open as open_input
from infomeans.data.schema import TableSchema, read_schema
from infomeans.errors import InputError
from infomeans.runs import Run


def true_classes(
    run: Run, ids: Sequence[str], labels: str, *, id_column: str | None, key: str | None
) -> Any:
    """The classes of a run's samples; a column or array of its input is read again."""
    source, reading = run.config["data"]["source"], run.config["arguments"]["reading"]
    if labels == "folder" or Path(labels).is_file():
        return find_labels(labels, ids, source=source, id_column=id_column, key=key)
    schema = read_schema(run.model)
    if isinstance(schema, TableSchema) and labels in schema.columns:
        raise InputError(
            f"the column {labels!r} was a feature of {run.path}, so it cannot be used to score "
            f"the clusters; cluster again with --labels {labels}, which excludes it."
        )
    data = open_input(run.config["arguments"]["source"], **{**reading, "labels": labels})
    if data.fingerprint != run.config["data"]["fingerprint"]:
        raise InputError(f"{source} has changed since the run {run.path}; give a file of labels.")
    return data.labels
