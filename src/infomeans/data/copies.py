"""Samples that are exactly the same."""

from __future__ import annotations

import hashlib

import numpy as np

from infomeans._typing import IntArray
from infomeans.data.dataset import Dataset
from infomeans.data.memory import ROWS

DIGEST = 16
"""Number of bytes that stand for a sample."""


def first_copies(data: Dataset) -> IntArray:
    """The first sample (n,) that is the same as each, by a hash of 128 bits.

    Parameters
    ----------
    data : Dataset
        The samples.

    Examples
    --------
    >>> import numpy as np
    >>> from infomeans.data import Dataset
    >>> from infomeans.data.copies import first_copies
    >>> first_copies(Dataset.of_array(np.array([[0.0], [1.0], [0.0]])))
    array([0, 1, 0])
    """
    hashes = np.empty((len(data), 2), dtype=np.uint64)
    at = 0
    for block in data.blocks():
        flat = np.ascontiguousarray(block.reshape(len(block), -1))
        digests = [hashlib.blake2b(row, digest_size=DIGEST).digest() for row in flat]
        hashes[at : at + len(block)] = np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2)
        at += len(block)
    # The sort is stable, so the first of equal samples comes first.
    order = np.lexsort(hashes.T)
    same, last = np.empty(len(data), dtype=np.int64), 0
    for at in range(0, len(data), ROWS):
        part, before = order[at : at + ROWS], order[np.arange(at - 1, at + ROWS - 1) % len(data)]
        new = (hashes[part] != hashes[before[: len(part)]]).any(axis=1)
        places = np.where(new, np.arange(at, at + len(part)), last)
        np.maximum.accumulate(places, out=places)
        same[part], last = order[places], int(places[-1])
    return same
