"""Everything a function of the seed, and nothing global left changed."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def isolated(device: torch.device) -> Iterator[None]:
    """Give back the global random state, and the treatment of denormals, as they were found."""
    devices = [device] if device.type == "cuda" else []
    flushed = _flushes_denormals()
    with (
        torch.random.fork_rng(devices=devices),
        torch.backends.cudnn.flags(deterministic=True, benchmark=False),
    ):
        # Weights that die out towards zero would slow every product on a CPU.
        torch.set_flush_denormal(True)
        try:
            yield
        finally:
            torch.set_flush_denormal(flushed)


def seed_for(seed: int, *place: int) -> int:
    """A seed for one place in training, such as (phase, epoch).

    Seeding every epoch anew makes its random numbers independent of how the process got there.
    """
    return int(np.random.SeedSequence([seed, *place]).generate_state(1, np.uint64)[0] >> 1)


def _flushes_denormals() -> bool:
    return bool(torch.tensor(1e-40) * torch.tensor(0.5) == 0)
