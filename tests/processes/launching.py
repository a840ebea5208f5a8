"""Start processes with torchrun."""

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"


def torchrun(*command, timeout=300):
    """Run a script, or `-m` and a module, in two processes that work together."""
    with launch(*command) as running:
        out, errors = running.communicate(timeout=timeout)
    return subprocess.CompletedProcess(command, running.returncode, out, errors)


def launch(*command):
    """Start two processes that work together, with one thread each."""
    paths = [str(SOURCE), str(SOURCE.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.Popen(
        [*launcher, "--nproc-per-node", "2", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
