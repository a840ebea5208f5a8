"""What torchrun says of this process, by the environment."""

from __future__ import annotations

import os


def started_by_torchrun() -> bool:
    """Whether torchrun has started this process and others with it."""
    return "TORCHELASTIC_RUN_ID" in os.environ and number("WORLD_SIZE") > 1


def is_first() -> bool:
    """Whether this process writes files and talks to the user."""
    return not started_by_torchrun() or number("RANK", 0) == 0


def on_this_machine() -> int:
    """Number of processes on this machine that work together."""
    return number("LOCAL_WORLD_SIZE") if started_by_torchrun() else 1


def speaks_first() -> bool:
    """Whether this process is the first to report an error; the others keep silent.

    The processes ask the store of torchrun. If it cannot be reached, every process speaks.
    """
    if not started_by_torchrun():
        return True
    import torch.distributed as dist

    try:
        address = os.environ["MASTER_ADDR"], number("MASTER_PORT")
        store = dist.TCPStore(*address)  # type: ignore[attr-defined]
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        return bool(store.add(f"infomeans/error/{attempt}", 1) == 1)
    except (KeyError, RuntimeError):
        return True


def number(name: str, default: int = 1) -> int:
    """A whole number in the environment."""
    return int(os.environ.get(name, default))
