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
    same = np.arange(len(data))
    for first in range(0, len(data), ROWS):
        # One before, to compare with.
        part = order[max(first - 1, 0) : first + ROWS]
        again = 1 + np.flatnonzero((hashes[part[1:]] == hashes[part[:-1]]).all(axis=1))
        same[part[again]] = part[again - 1]
    # What equals the sample before equals the first of these.
    for copy in order[same[order] != order]:
        same[copy] = same[same[copy]]
    return same
