"""Damaged run folders: every command answers in plain lines, never with a traceback.

    python benchmarks/damaged_runs.py [--runs 1000] [--seed 0]

A run on pictures and one on a table are damaged by a seeded accident each, and one of the commands
is called. Exit codes 0, 1 and 2 are expected, and no other exception.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from damage import damage_one

from infomeans.cli import app

QUICK = ["--epochs", "1", "--pretrain-epochs", "1", "--set", "warmup_epochs=1", "--threads", "1"]
COMMANDS: dict[str, list[str]] = {
    "show": ["RUN"],
    "verify": ["RUN"],
    "report": ["RUN"],
    "relabel": ["RUN", "names.json"],
    "sort": ["RUN", "--into", "sorted"],
    "compare": ["RUN", "whole", "--out", "compare.html"],
    "predict": ["RUN", "INPUT", "--out", "new.csv"],
    "evaluate": ["RUN", "--labels", "labels.txt"],
    "recut": ["RUN", "-k", "2", "--out", "recut"],
    "cluster": ["--resume", "--out", "RUN"],
}


def main() -> None:
    from common import append, machine

    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--runs", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=0)
    options, before = arguments.parse_args(), machine()
    row = {**vars(options), **campaign(options.runs, options.seed)}
    print(json.dumps(row, indent=2))
    append("damaged_runs.jsonl", {**row, "machine": before})


def campaign(runs: int, seed: int) -> dict[str, Any]:
    """Damage so many runs, and call a command on each."""
    warnings.simplefilter("ignore")
    counts: dict[str, Counter[str]] = {}
    bad: list[list[Any]] = []
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as root:
        os.chdir(root)
        try:
            made = prepared()
            for number in range(runs):
                rng = random.Random(f"{seed} {number}")  # noqa: S311
                source = rng.choice(sorted(made))
                command = sorted(COMMANDS)[number % len(COMMANDS)]
                outcome, why, file = tried(command, source, made[source], rng)
                counts.setdefault(command, Counter())[outcome] += 1
                if outcome == "traceback":
                    bad.append([number, command, source, file, why])
        finally:
            os.chdir(here)
    return {"counts": {name: dict(found) for name, found in counts.items()}, "bad": bad[:50]}


def tried(command: str, source: str, whole: str, rng: random.Random) -> tuple[str, str, str]:
    for name in ("damaged", "sorted", "recut", "whole", "compare.html", "new.csv"):
        path = Path(name)
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    shutil.copytree(whole, "damaged")
    shutil.copytree(whole, "whole")
    if command == "cluster":
        Path("damaged", "metrics.json").unlink()
    file, _ = damage_one(Path("damaged"), rng)
    given = [{"RUN": "damaged", "INPUT": source}.get(one, one) for one in COMMANDS[command]]
    result = CliRunner().invoke(app, [command, *given])
    if result.exception is None or isinstance(result.exception, SystemExit):
        return f"exit {result.exit_code}", "", file.name
    lines = traceback.format_exception(result.exception)
    return "traceback", "".join(lines[-2:])[-600:], str(file)


def prepared() -> dict[str, str]:
    """A folder of pictures and a table, with a run each; by input."""
    rng = np.random.default_rng(0)
    Path("pictures").mkdir()
    for i in range(24):
        pixels = rng.integers(0, 60, (12, 12)).astype(np.uint8)
        pixels[: 4 + 4 * (i % 2)] += 150
        Image.fromarray(pixels).save(f"pictures/{i:02}.png")
    rows = [f"{i % 3 * 9 + rng.normal():.3f},{i % 3 * -9 + rng.normal():.3f}" for i in range(24)]
    Path("table.csv").write_text("\n".join(["a,b", *rows, ""]))
    Path("labels.txt").write_text("".join(f"{i % 2}\n" for i in range(24)))
    Path("names.json").write_text('{"names": {"0": "first"}}')
    made = {"pictures": "run-pictures", "table.csv": "run-table"}
    for source, run in made.items():
        given = ["cluster", source, "-k", "3", "--method", "mi-adm", "--out", run, *QUICK]
        result = CliRunner().invoke(app, given)
        assert result.exit_code == 0, result.output
    return made


if __name__ == "__main__":
    main()
