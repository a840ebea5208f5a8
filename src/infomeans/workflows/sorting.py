"""Put the pictures of a run into one folder per cluster."""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from infomeans._typing import IntArray
from infomeans.data.images import Images
from infomeans.data.sources import locate
from infomeans.errors import InputError, few
from infomeans.plots.typical import typical_samples
from infomeans.problems import DISPUTED, STRANGE
from infomeans.runs import Run
from infomeans.runs.places import drop, real_path

DOUBTFUL, APART = "doubtful", "strange"
LONGEST = 80
"""Number of bytes of a name that a folder or file keeps."""

Place = Callable[[str, Path], object]


class Sorted(NamedTuple):
    """The number of pictures, doubtful and strange ones, folders, and the ids of missing files."""

    pictures: int
    doubtful: int
    strange: int
    folders: int
    missing: list[str]


def sort_pictures(run: Run, into: Path, *, link: bool = False) -> Sorted:
    """Copy or link the pictures of a run into one folder per cluster.

    File names begin with a number, the most typical picture first. Doubtful and strange ones are in
    folders of their own within the cluster's. The originals are not touched.

    Parameters
    ----------
    run : Run
        A complete run on image files.
    into : Path
        The folder to create; it may exist if it is empty.
    link : bool
        Whether to make symbolic links instead of copies.
    """
    run.check_complete()
    paths, into = _paths(run), real_path(into)
    _check_target(into, run)
    # What is half done has another name, so that it is never taken for the whole.
    made = into.with_name(f".{into.name}.unfinished")
    drop(made)
    made.mkdir(parents=True)
    missing: list[str] = []
    place: Place = _link if link else shutil.copy2
    try:
        placed = [_placed(made / name, i, run, paths, place, missing) for name, i in _places(run)]
        if not any(placed):
            raise InputError(
                f"none of the {len(placed):,} pictures of {run.path} is where it was, such as "
                f"{missing[0]!r}; nothing was sorted."
            )
        if into.exists():
            into.rmdir()
        made.rename(into)
    except BaseException:
        drop(made)
        raise
    doubtful, strange = (len([*into.glob(f"*/{name}/*")]) for name in (DOUBTFUL, APART))
    folders = sum(one.is_dir() for one in into.iterdir())
    return Sorted(sum(placed), doubtful, strange, folders, missing)


def _check_target(into: Path, run: Run) -> None:
    """Refuse a folder that holds something, and one where copies would be read as samples."""
    if into.exists() and not into.is_dir():
        raise InputError(f"{into} is a file; name a folder.")
    if into.is_dir() and any(into.iterdir()):
        raise InputError(f"{into} is not empty; name another folder.")
    if into == Path.cwd():
        raise InputError("the present folder cannot be replaced; name another one.")
    for folder in (Path(run.config["arguments"]["source"]), run.path):
        if folder.is_dir() and real_path(folder) in (into, *into.parents):
            raise InputError(f"{into} is inside {folder}; name a folder elsewhere.")


def _paths(run: Run) -> dict[str, str]:
    """The file of every id."""
    source = run.config["arguments"]["source"]
    there = os.path.exists(source) or glob.has_magic(source)
    found = locate(source) if there else None
    if not isinstance(found, Images) or found.paths is None:
        why = "holds no image files that could be sorted" if there else "is no longer there"
        raise InputError(f"{source} {why}.")
    return dict(zip(found.ids, found.paths, strict=True))


def _places(run: Run) -> Iterator[tuple[Path, int]]:
    """Where every picture goes, without its own name."""
    labels = run.labels
    certain = labels.confidences if labels.stability is None else labels.stability
    inside = np.where(certain < DISPUTED, DOUBTFUL, "")
    if labels.outliers is not None:
        inside = np.where(labels.outliers >= STRANGE, APART, inside)
    k = int(labels.clusters.max()) + 1
    order = typical_samples(
        run.embedding, labels.clusters, labels.confidences, k, most=len(certain)
    )
    folders = _folders(run, labels.clusters)
    for cluster, members in enumerate(order):
        for within in ("", DOUBTFUL, APART):
            part = members[inside[members] == within]
            digits = len(str(len(part)))
            for rank, i in enumerate(part.tolist(), start=1):
                yield Path(folders[cluster], within, f"{rank:0{digits}}"), i


def _folders(run: Run, clusters: IntArray) -> dict[int, str]:
    """A folder name for every cluster; no two differ in case alone."""
    folders: dict[int, str] = {}
    width, taken = len(str(int(clusters.max()))), set()
    for cluster in np.unique(clusters).tolist():
        number, title = f"{cluster:0{width}}", run.names.titles.get(cluster, "")
        plain = re.sub(r'[\x00-\x1f\x7f<>:"/\\|?*]+', "_", title)
        name = _short(plain).strip(" .") or f"cluster-{number}"
        while name.lower() in taken:
            name = f"{name}-{number}"
        folders[cluster] = name
        taken.add(name.lower())
    return folders


def _placed(
    target: Path, i: int, run: Run, paths: dict[str, str], place: Place, missing: list[str]
) -> bool:
    """Put a picture at its place; notes and skips one that is no longer there."""
    name = run.labels.ids[i]
    source = paths.get(name)
    if source is None or not os.path.isfile(source):
        missing.append(name)
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    stem, suffix = os.path.splitext(os.path.basename(source))
    place(source, target.with_name(f"{target.name}-{_short(stem, 2 * LONGEST)}{suffix}"))
    return True


def _short(name: str, most: int = LONGEST) -> str:
    """The beginning of a name: file systems limit its bytes."""
    return os.fsencode(name)[:most].decode(errors="ignore")


def _link(source: str, target: Path) -> None:
    target.symlink_to(os.path.abspath(source))


def missing_text(missing: list[str]) -> str:
    """The message about pictures that are no longer there."""
    which = "picture is" if len(missing) == 1 else "pictures are"
    return f"{len(missing):,} {which} no longer there: {few(missing)}."
