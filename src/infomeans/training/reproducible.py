"""Everything a function of the seed, and nothing global left changed."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch.backends import cudnn


@contextmanager
def isolated() -> Iterator[None]:
    """Give back the global random states, and cuDNN's choices, as they were found.

    Seeding torch seeds every device, so that the state of every device is kept.
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

    Seeding every epoch anew makes its random numbers independent of how the process got there.
    """
    return int(np.random.SeedSequence([seed, *place]).generate_state(1, np.uint64)[0]) >> 1
