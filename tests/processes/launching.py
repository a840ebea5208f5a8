"""Start processes that work together."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist

from tests import forking

SOURCE = Path(__file__).parents[2] / "src"


def torchrun(*command, timeout=300):
    """Run a script, or `-m` and a module, in two processes that work together."""
    paths = [str(SOURCE), str(SOURCE.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.run(
        [*launcher, "--nproc-per-node", "2", *command],
        capture_output=True,
        text=True,
        env=environment,
        timeout=timeout,
    )


class Pair:
    """Two forked processes that call the same function, told of each other as torchrun does."""

    def __init__(self, function, *given, output):
        self.store = dist.TCPStore(
            "127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=60)
        )
        told = {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(self.store.port),
            "TORCHELASTIC_RUN_ID": "pair",
            "TORCHELASTIC_USE_AGENT_STORE": "True",
            "TORCHELASTIC_RESTART_COUNT": "0",
            "WORLD_SIZE": "2",
            "LOCAL_WORLD_SIZE": "2",
            "GROUP_RANK": "0",
            "GROUP_WORLD_SIZE": "1",
        }
        self.processes = [
            forking.start(function, *given, output=output, **told, RANK=rank, LOCAL_RANK=rank)
            for rank in ("0", "1")
        ]

    def ended(self):
        """The exit codes of both."""
        return [forking.ended(process) for process in self.processes]
