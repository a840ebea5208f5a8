"""Start processes with torchrun."""

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"


def torchrun(*command, processes=2, timeout=300, **options):
    """Run a script, or `-m` and a module, in processes that work together, one thread each."""
    paths = [str(SOURCE), str(SOURCE.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.run(
        [*launcher, "--nproc-per-node", str(processes), *command],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
        check=False,
        **options,
    )
