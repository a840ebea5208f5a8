"""Time until the command line responds.

python benchmarks/startup.py [--repeats 7]
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from common import append, machine

COMMANDS = (["--help"], ["methods"], ["cluster", "--help"])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repeats", type=int, default=7)
    repeats, before = arguments.parse_args().repeats, machine()
    row = {
        " ".join(command): median(seconds(command) for _ in range(repeats)) for command in COMMANDS
    }
    append("startup.jsonl", {"seconds": row, "repeats": repeats, "machine": before})
    print({name: round(value, 3) for name, value in row.items()})


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    program = Path(sys.executable).with_name("infomeans")
    subprocess.run([program, *command], check=True, capture_output=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
