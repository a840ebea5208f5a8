"""The commands on a run of a million samples: seconds and peak memory of each.

    python benchmarks/run_scale.py [--samples 1000000] [--pictures 100000] [--folder FOLDER]
        [--commands show,report] [--chromium PATH]

The samples are embeddings of 16 features from a mixture of 20 Gaussians. The run holds the
posteriors of the mixture, and a model that was fitted to 5,000 samples; it is written as `infomeans
cluster` does. `recut` warms up and trains for one epoch each. `sort` makes links of empty files,
for a run on so many pictures. Every command is its own process. On a busy machine,
its time on the processor tells more than the clock. Peak memory counts the pages of
mapped files, which the system can drop. Needs Linux.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import append, machine

from infomeans.data import open as open_input
from infomeans.runs import Run
from infomeans.workflows.cluster import create_run, finish
from infomeans.workflows.request import Request

DIMENSIONS, K, FITTED = 16, 20, 5_000
NEIGHBORS = 5
COMMANDS = ("show", "evaluate", "relabel", "compare", "report", "predict", "recut", "sort")
WATCH = """
import json, sys, time
from pathlib import Path
from infomeans.cli import app
began, code = time.perf_counter(), 0
try:
    app()
except SystemExit as end:
    code = end.code or 0
seconds = time.perf_counter() - began
lines = Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
found = {"code": code, "seconds": seconds, "cpu_seconds": time.process_time()}
print(json.dumps({**found, "peak_mb": peak / 1024}), file=sys.stderr)
"""


def main() -> None:
    import argparse

    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--samples", type=int, default=1_000_000)
    arguments.add_argument("--pictures", type=int, default=100_000)
    arguments.add_argument("--folder", type=Path, help="keep the runs here, and use them again")
    arguments.add_argument("--commands", default=",".join(COMMANDS))
    arguments.add_argument("--chromium", default=shutil.which("chromium"))
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        measure(folder, options)


def measure(folder: Path, options) -> None:
    run, wanted = folder / "run", options.commands.split(",")
    if not run.exists():
        row = {"n": options.samples, "command": "write the run", **write_run(run, options.samples)}
        append("run_scale.jsonl", {**row, "machine": machine()})
        print(row, flush=True)
    if "sort" in wanted and not (folder / "pictures").exists():
        write_picture_run(folder, options.pictures)
    names = folder / "names.json"
    names.write_text(json.dumps({"names": {"0": "first"}, "merge": [[1, 2]]}))
    lines = {
        "show": ["show", run],
        "evaluate": ["evaluate", run, "--labels", folder / "classes.csv"],
        "relabel": ["relabel", run, names],
        "compare": ["compare", run, run, "--out", folder / "compare.html", "--overwrite"],
        "report": ["report", run],
        "predict": ["predict", run, folder / "X.npy", "--out", folder / "p.csv", "--overwrite"],
        "recut": ["recut", run, "--coarser", "--out", folder / "coarser", "--overwrite"],
        "sort": ["sort", folder / "picture-run", "--into", folder / "sorted", "--link"],
    }
    for command in wanted:
        n = options.pictures if command == "sort" else options.samples
        row = {"n": n, "command": command, **measured(lines[command])}
        if command == "report":
            row |= page(run / "report.html", options.chromium)
        append("run_scale.jsonl", {**row, "machine": machine()})
        print(row, flush=True)
        shutil.rmtree(folder / "sorted", ignore_errors=True)
    Run(run).rename(replace(Run(run).names, names={}, merge=()))


def write_run(path: Path, n: int) -> dict[str, float]:
    """Write the samples, their classes and a run; seconds of the last."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((K, DIMENSIONS))
    classes = rng.integers(0, K, n)
    X = (centres[classes] + rng.standard_normal((n, DIMENSIONS))).astype(np.float32)
    np.save(path.parent / "X.npy", X)
    with (path.parent / "classes.csv").open("w") as file:
        file.write("id,class\n")
        file.writelines(f"{i},class {c}\n" for i, c in enumerate(classes.tolist()))
    params = {"epochs": 1, "warmup_epochs": 1, "init": "kmeans"}
    source = str(path.parent / "X.npy")
    request = Request(source, K, "mi-adm", params=params, embeddings=True)
    data = open_input(source)
    model = request.estimator().set_params(n_threads=2).fit(data.subset(np.arange(FITTED)))
    model.fitted_ = replace(
        model.fitted_,
        embedding=X,
        posteriors=(posteriors := mixture_posteriors(X, centres)),
        initial_labels=posteriors.argmax(axis=1),
        outliers=rng.permutation(n) / n,
        neighbors=rng.integers(0, n, (n, NEIGHBORS)),
    )
    model.labels_ = model.fitted_.labels
    vars(model).pop("hierarchy_", None)
    began = time.perf_counter()
    run = create_run(path, request, data, 2)
    finish(run, model, data, {"seconds": 1.0, "threads": 2})
    return {"seconds": time.perf_counter() - began}


def mixture_posteriors(X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The probability of each Gaussian (n, K), in single precision."""
    found = np.empty((len(X), len(centres)), np.float32)
    for at in range(0, len(X), FITTED):
        logits = X[at : at + FITTED] @ centres.T - np.square(centres).sum(axis=1) / 2
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        found[at : at + FITTED] = p / p.sum(axis=1, keepdims=True)
    return found


def write_picture_run(folder: Path, n: int) -> None:
    """A run on empty picture files; only their names matter for sorting."""
    run, pictures = Run(folder / "run"), folder / "pictures"
    pictures.mkdir()
    ids = [f"{i}.png" for i in range(n)]
    for name in ids:
        (pictures / name).touch()
    config = json.loads((run.path / "config.json").read_text())
    config["arguments"]["source"] = str(pictures)
    made = Run.create(folder / "picture-run", config)
    outliers = run.labels.outliers[:n]
    made.write_results(ids, run.posteriors[:n], run.embedding[:n], run.metrics, outliers=outliers)


def measured(command: list[object]) -> dict[str, float]:
    """Seconds and peak memory of a command."""
    line = [sys.executable, "-c", WATCH, *map(str, command)]
    done = subprocess.run(line, capture_output=True, text=True)
    try:
        found = json.loads(done.stderr.splitlines()[-1])
    except (ValueError, IndexError):
        raise SystemExit(done.stderr) from None
    if found.pop("code"):
        raise SystemExit(done.stderr)
    return {name: round(value, 2) for name, value in found.items()}


def page(path: Path, chromium: str | None) -> dict[str, float]:
    """Size of the page, and how it opens if there is a browser."""
    size = {"page_mb": round(path.stat().st_size / 1e6, 2)}
    if chromium is None:
        return size
    from report_page import opened

    return size | opened(path, chromium)


if __name__ == "__main__":
    main()
