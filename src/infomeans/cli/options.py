"""Options that several commands share, and how they read their input."""

from __future__ import annotations

import glob
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infomeans.cli.reporting import counted, note, progress, warn
from infomeans.errors import by_reason

if TYPE_CHECKING:
    from infomeans.data import Dataset

INPUT, RUN = "Input", "Run folder"

Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Feature columns of a table; repeat the option or separate names by commas.",
        rich_help_panel=INPUT,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(help="Column of a table that holds the ids.", rich_help_panel=INPUT),
]
Key = Annotated[
    str | None,
    typer.Option(help="Name of the array in an .npz or HDF5 file.", rich_help_panel=INPUT),
]
Impute = Annotated[
    str | None,
    typer.Option(
        help="How to fill missing values of a table; 'median' only.", rich_help_panel=INPUT
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        envvar="INFOMEANS_DATA", help="Folder of the benchmark sets.", rich_help_panel=INPUT
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Fail on unreadable images instead of skipping.", rich_help_panel=INPUT
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Most memory for samples, such as 500MB or 2GiB; by default half of what is free.",
        rich_help_panel=INPUT,
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="Number of CPU threads; by default chosen by the work per step."),
]
LAST_SEED = 2**32 - 1
"""The largest seed that scikit-learn accepts."""

Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=LAST_SEED,
        help="Random seed; the same seed and number of threads give the same clusters.",
    ),
]

SHOWN = 5
FITTED = {"crop": "cropped to their centre", "pad": "padded with the colour of their borders"}


def check_memory(memory: str | int | None) -> None:
    """Refuse what is not an amount of memory."""
    from infomeans.data.memory import Memory

    Memory.of(memory)


def read(
    source: str,
    *,
    memory: str | int | None = None,
    beside: Path | None = None,
    **options: Any,
) -> Dataset:
    """Open the input with a progress bar, and warn about skipped images and columns.

    Decoded samples that exceed the memory are stored beside a file or folder that will be written.
    """
    from infomeans import data
    from infomeans.data.memory import Memory

    parents = () if beside is None else beside.absolute().parents
    limit = Memory.of(memory, next((folder for folder in parents if folder.is_dir()), None))
    with progress("reading") as bar:
        samples = data.open(source, progress=bar, memory=limit, **options)
    if samples.skipped:
        left_out = by_reason(samples.skipped, SHOWN)
        warn(f"{counted(samples.skipped, 'image')} left out: {left_out}.")
    if samples.ignored:
        ignored = by_reason(samples.ignored, SHOWN)
        warn(f"{counted(samples.ignored, 'column')} ignored: {ignored}.")
    chosen = None if options.get("like") or options.get("fit") else samples.schema.to_json()
    if chosen and chosen.get("fit") in FITTED:
        note(f"The images differ in proportions, so they are {FITTED[chosen['fit']]}; see --fit.")
    for name in [] if options.get("like") else samples.likely_ids():
        warn(
            f"{name!r} is used as a feature but looks like ids; --id-column {shlex.quote(name)} "
            f"uses it as ids."
        )
    return samples


def is_path(given: str) -> bool:
    """Whether this names files rather than a benchmark or a column."""
    return bool(given.strip()) and (Path(given).exists() or glob.has_magic(given))


def names(columns: list[str] | None) -> list[str] | None:
    """Split names that are separated by commas."""
    return [name.strip() for part in columns for name in part.split(",")] if columns else None
