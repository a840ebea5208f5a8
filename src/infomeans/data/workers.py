"""Decode many image files in several processes.

For a small image, Python takes longer than the decoder, and threads would wait for each other. The
processes run only `decoding.py`; those of `multiprocessing` would run the user's script and its
imports again.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress

from PIL import Image

from infomeans.data import decoding
from infomeans.data.decoding import Decoded, Fit, Member, Size, decode_all
from infomeans.threads import available_cpus

# Starting a process takes as long as looking at about 600 small images.
LOOKS_PER_WORKER = 1000
RESIZES_PER_WORKER = 64
LARGEST_PIECE = 250

Worker = subprocess.Popen[bytes]


def decode_files(
    paths: Sequence[str | Member], size: Size | None, fit: Fit = "stretch"
) -> Iterator[list[Decoded]]:
    """`decode_all` piece by piece, in several processes if there are enough images and cores."""
    length = min(LARGEST_PIECE, max(1, len(paths) // 50))
    pieces = list(enumerate(paths[i : i + length] for i in range(0, len(paths), length)))
    least = LOOKS_PER_WORKER if size is None else RESIZES_PER_WORKER
    count = min(_cores(), len(paths) // least)
    if count < 2:
        yield from (decode_all(piece, size, fit) for _, piece in pieces)
        return
    with ExitStack() as stack:
        workers = [stack.enter_context(_start()) for _ in range(count)]
        for i, worker in enumerate(workers):
            _send(worker, (Image.MAX_IMAGE_PIXELS, size, fit, pieces[i::count]))
        for number, piece in pieces:
            yield _receive(workers[number % count], number) or decode_all(piece, size, fit)


def _cores() -> int:
    if getattr(sys, "frozen", False) or not sys.executable:
        return 1  # there is no Python to start
    return available_cpus()


def _start() -> Worker:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", decoding.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _send(worker: Worker, job: object) -> None:
    assert worker.stdin is not None
    with suppress(OSError), worker.stdin:
        pickle.dump(job, worker.stdin)


def _receive(worker: Worker, number: int) -> list[Decoded] | None:
    """The next piece; None if the worker has died or its output is corrupted."""
    assert worker.stdout is not None
    try:
        received, decoded = pickle.load(worker.stdout)  # noqa: S301
    except Exception:
        return None
    return [Decoded(*image) for image in decoded] if received == number else None
