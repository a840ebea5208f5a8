"""Make a Lightning Fabric from the name of a device."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from lightning_fabric import Fabric

ACCEPTED = "'auto', 'cpu', 'cuda', 'cuda:N' or 'mps'"


def make_fabric(device: str, precision: str = "32-true") -> Fabric:
    """A Fabric on one device; it launches no processes."""
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
    devices = [int(number)] if numbered else 1
    with _silent("lightning_fabric.utilities.rank_zero"):
        return Fabric(accelerator=name, devices=devices, precision=precision)  # type: ignore[arg-type]


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
