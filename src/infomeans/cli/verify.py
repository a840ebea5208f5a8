"""infomeans verify."""

from pathlib import Path
from typing import Annotated

import typer

from infomeans.cli.reporting import errors, fail, loading, say
from infomeans.errors import InputError

USES = {
    "model": "predict, recut and export need the model; train again",
    "labels.csv": "labels.parquet has the same, if it is there; otherwise take the clusters of "
    "posteriors.npy, in the order of the input",
    "labels.parquet": "labels.csv has the same",
    "posteriors.npy": "labels.csv still has the clusters; predict gives the probabilities again",
    "embedding.npy": "the report has no map without it; transform of the model gives it again",
    "tree.npz": "only recut and the tree of the report need it",
    "duplicates.csv": "only a list; nothing else needs it",
    "names.json": "relabel writes it again",
    "history.jsonl": "only the curves of the report need it; a resume does not",
    "checkpoint.safetensors": "only a resume needs it; delete it to train from the beginning",
    "metrics.json": "delete it, and cluster --resume writes it again if the checkpoint is whole",
}
"""What a damaged file is needed for, and what can be done."""


def verify(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run or of a saved model.")
    ],
) -> None:
    """Check that a run or a model is complete and undamaged.

    Hashes, sizes and contents are compared. The exit code is 2 if anything is wrong.

    Example: infomeans verify run
    """
    from infomeans.runs import Run, is_run

    with loading():
        from infomeans.model.folder import ModelFolder
        from infomeans.runs.verifying import findings, problem
        from infomeans.training.checkpoint import check_checkpoint

    if not is_run(folder) and not (folder / "metrics.json").exists():
        model = ModelFolder.find(folder)
        with errors.status("Checking"):
            wrong = problem(model.read)
        if wrong:
            raise InputError(wrong)
        say(f"{folder}: the model is undamaged.")
        return
    made = Run(folder)

    with errors.status("Checking"):
        found = list(findings(made, lambda path: ModelFolder(path).read(), check_checkpoint))
    bad = {finding.file: finding.problem for finding in found if finding.problem}
    for file, wrong in bad.items():
        say(f"{file}: {wrong}" + (f" ({USES[file]})" if file in USES else ""))
    whole = sorted({finding.file for finding in found} - bad.keys())
    say(f"undamaged: {', '.join(whole) or 'nothing'}")
    if made.unfinished:
        say(made.unfinished)
    if bad:
        fail(f"{folder}: {len(bad)} of {len(bad) + len(whole)} files are damaged.", code=2)
    say(f"{folder}: everything is as it was written.")
