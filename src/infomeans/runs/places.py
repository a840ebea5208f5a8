"""Where runs and files may be written, and how a run is replaced by another."""

from __future__ import annotations

import errno
import glob
import os
import re
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from infomeans.errors import InputError, warn_caller
from infomeans.files import read_json

CONFIG, METRICS, HISTORY = "config.json", "metrics.json", "history.jsonl"
LOCK = ".lock"

_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{8}")
"""Names of files that are being written."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def is_run(path: Path) -> bool:
    """Whether a folder holds a run, of any version."""
    try:
        config = read_json(path / CONFIG)
        kinds = {"format": int, "versions": dict, "arguments": dict, "data": dict}
        return all(isinstance(config[name], kind) for name, kind in kinds.items())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def is_complete(path: Path) -> bool:
    """Whether the run in a folder is complete."""
    return (path / METRICS).exists()


def check_free(path: Path, *, overwrite: bool) -> None:
    """Refuse a folder that a new run must not be written to."""
    if is_run(path):
        if not overwrite:
            raise InputError(
                f"{path} already holds a run; name another folder, add --resume to continue it "
                f"or --overwrite to replace it."
            )
        if real_path(path) == Path.cwd():
            raise InputError(f"{path} is the current folder; replace it from another one.")
    elif not path.exists() and is_run(aside_of(path)) and not overwrite:
        raise InputError(
            f"replacing {path} was interrupted, and the old run is in {aside_of(path)}; rename "
            f"that folder to keep it, or add --overwrite to replace it."
        )
    elif path.exists() and not (path.is_dir() and all(p.name[0] == "." for p in path.iterdir())):
        raise InputError(f"{path} already exists and is not a run folder; name another one.")
    ancestor = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not os.access(ancestor, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def lock(folder: Path) -> FileLock | None:
    """Be the only process that writes to a folder; the end of the process ends it too.

    None, with a warning, if the file system has no locks.
    """
    held = FileLock(folder / LOCK)
    try:
        held.acquire(timeout=0)
    except Timeout:
        raise InputError(
            f"another process is writing to {folder}; wait for it, or name another folder."
        ) from None
    except (OSError, NotImplementedError) as error:
        # Some versions of filelock raise NotImplementedError for a system without locks.
        if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
            raise
        warn_caller(
            f"The file system of {folder} has no locks. If another process writes there too, the "
            f"run is lost.",
            RuntimeWarning,
        )
        return None
    return held


def remove_leftovers(path: Path) -> None:
    """Delete what killed processes left in the folder of a run and beside it."""
    for folder in (path, path / "model"):
        for file in folder.iterdir() if folder.is_dir() else ():
            if _UNFINISHED.fullmatch(file.name):
                file.unlink(missing_ok=True)
    real = real_path(path)
    for gone in real.parent.glob(f".{glob.escape(real.name)}.*.deleted"):
        shutil.rmtree(gone, ignore_errors=True)


def real_path(path: Path) -> Path:
    """The path with links and "." resolved."""
    return Path(os.path.realpath(path))


def aside_of(path: Path) -> Path:
    """Where a run is kept while another one replaces it."""
    return real_path(path).with_name(f".{real_path(path).name}.replaced")


def step_aside(path: Path) -> None:
    """Move a run aside for another one; the last complete run is kept."""
    aside = aside_of(path)
    if is_run(aside) and is_complete(aside) and not is_complete(path):
        drop(real_path(path))
    else:
        drop(aside)
        real_path(path).rename(aside)


def replace(path: Path) -> None:
    """Move a run aside that no other process writes."""
    held = lock(path)
    try:
        if held is not None and os.name == "nt":
            # Windows does not move a folder with an open file.
            held.release()
        step_aside(path)
        with suppress(OSError):
            (aside_of(path) / LOCK).unlink()
    finally:
        if held is not None:
            held.release()


def step_back(path: Path, *, keep: bool) -> None:
    """Restore the run that was to be replaced; if there is none, remove what was written.

    Other files in the folder stay, and so does everything if the run is kept.
    """
    if aside_of(path).exists():
        drop(real_path(path))
        aside_of(path).rename(real_path(path))
    elif not keep:
        for name in (CONFIG, HISTORY):
            (path / name).unlink(missing_ok=True)
        with suppress(OSError):
            real_path(path).rmdir()


def drop(folder: Path) -> None:
    """Delete a folder; its name is free at once, even if the deletion is interrupted."""
    if folder.exists():
        gone = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.deleted")
        shutil.rmtree(folder.rename(gone), ignore_errors=True)


def check_table(path: Path, *, overwrite: bool) -> None:
    """Refuse a file that labels cannot be written to."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{path} has an unknown suffix; .csv and .parquet are accepted.")
    check_file(path, overwrite=overwrite)


def check_file(path: Path, *, overwrite: bool) -> None:
    """Refuse a file that exists, or whose folder does not."""
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: the folder {path.parent} does not exist.")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file.")
    if path.exists() and not overwrite:
        raise InputError(f"{path} already exists; name another file or add --overwrite.")


def free_folder(name: str) -> Path:
    """The first of `name`, `name-2`, `name-3` ... that does not exist yet."""
    candidate, number = Path(name), 1
    while candidate.exists():
        number += 1
        candidate = Path(f"{name}-{number}")
    return candidate
