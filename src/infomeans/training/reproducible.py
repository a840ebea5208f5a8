"""Reproducible training, without changes to global random states."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch.backends import cudnn


@contextmanager
def isolated() -> Iterator[None]:
    """Restore the global random states and cuDNN flags afterwards.

    Seeding torch seeds every device, so the state of every device is restored.
    """
    mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None
    with (
        torch.random.fork_rng(devices=range(torch.cuda.device_count())),
        cudnn.flags(
            enabled=cudnn.enabled,
            benchmark=False,
            deterministic=True,
            allow_tf32=cudnn.allow_tf32,
        ),
    ):
        try:
            yield
        finally:
            if mps is not None:
                torch.mps.set_rng_state(mps)


def seed_for(seed: int, *place: int) -> int:
    """A seed for one place in training, such as (phase, epoch).

    Each epoch has its own seed. Its random numbers do not depend on whether training was resumed.
    """
    return int(np.random.SeedSequence([seed, *place]).generate_state(1, np.uint64)[0]) >> 1
