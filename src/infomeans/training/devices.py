"""Make a Lightning Fabric from the name of a device, for one process or several."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
from lightning_fabric import Fabric
from lightning_fabric.strategies.ddp import DDPStrategy
from torch.backends import cudnn

from infomeans.errors import InputError
from infomeans.processes import Processes
from infomeans.torchrun import number as number_of
from infomeans.torchrun import on_this_machine, started_by_torchrun

PATIENCE = timedelta(days=7)
"""How long processes wait for each other; torchrun ends them if one of them dies."""

ACCEPTED = "'auto', 'cpu', 'cuda', 'cuda:N' or 'mps'"


def make_fabric(device: str, precision: str = "32-true") -> Fabric:
    """A Fabric on one device; it launches no processes.

    Processes that torchrun has started each take another GPU.
    """
    name, number = checked_device(device)
    if not number and started_by_torchrun() and name in ("auto", "cuda"):
        enough = torch.cuda.device_count() >= on_this_machine()
        name, number = ("cuda", str(number_of("LOCAL_RANK", 0))) if enough else ("cpu", "")
    devices = [int(number)] if number else 1
    with _silent("lightning_fabric.utilities.rank_zero"):
        return Fabric(accelerator=name, devices=devices, precision=precision)  # type: ignore[arg-type]


def join(device: str, precision: str = "32-true") -> tuple[Fabric, Processes]:
    """A Fabric for training, and the processes that train together.

    These are the ones that torchrun has started; without it, this process alone. Data parallel
    training averages the gradients of all.
    """
    if not started_by_torchrun():
        fabric = make_fabric(device, precision)
        return fabric, Processes(fabric.device)
    name, number = checked_device(device)
    count = on_this_machine()
    if number or name == "mps":
        raise InputError(
            f"device={device!r} is one device, but torchrun has started {count} processes on this "
            f"machine; 'auto', 'cpu' and 'cuda' are accepted."
        )
    gpus = torch.cuda.device_count()
    if name == "cuda" and gpus < count:
        raise InputError(
            f"torchrun has started {count} processes on this machine, but it has {gpus} GPUs; "
            f"start at most as many processes, or use device='cpu'."
        )
    # Some methods drop the decoder, whose parameters then have no gradients. Which ones these are
    # does not change within a phase.
    # The others wait while the first process finds the start, however long that takes.
    strategy = DDPStrategy(static_graph=True, timeout=PATIENCE)
    with _silent("lightning_fabric.utilities.rank_zero"):
        fabric = Fabric(
            accelerator=name if gpus >= count or name == "cpu" else "cpu",
            devices=count,
            num_nodes=number_of("GROUP_WORLD_SIZE"),
            strategy=strategy,
            precision=precision,  # type: ignore[arg-type]
        )
        with _silent("lightning_fabric.utilities.distributed"):
            fabric.launch()
    return fabric, Processes(fabric.device, fabric.global_rank, fabric.world_size)


@contextmanager
def deterministic() -> Iterator[None]:
    """Let cuDNN choose algorithms that give the same result every time."""
    with cudnn.flags(
        enabled=cudnn.enabled, benchmark=False, deterministic=True, allow_tf32=cudnn.allow_tf32
    ):
        yield


def checked_device(device: str) -> tuple[str, str]:
    """The name of a device and its number, if it has one; refuse what is not there."""
    name, _, number = device.partition(":")
    numbered = ":" in device
    if name not in ("auto", "cpu", "cuda", "mps") or (
        numbered and not (name == "cuda" and number.isdigit())
    ):
        raise ValueError(f"device={device!r} is unknown; {ACCEPTED} are accepted.")
    available = {
        "cuda": torch.cuda.device_count() > int(number or 0),
        "mps": torch.backends.mps.is_available(),
    }
    if not available.get(name, True):
        raise ValueError(f"device={device!r} is not available on this machine; try 'auto'.")
    return name, number


@contextmanager
def _silent(logger: str) -> Iterator[None]:
    """Silence a logger, which would only repeat the user's choice."""
    found = logging.getLogger(logger)
    level = found.level
    found.setLevel(logging.WARNING)
    try:
        yield
    finally:
        found.setLevel(level)
