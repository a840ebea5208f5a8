"""infomeans export."""

from pathlib import Path
from typing import Annotated

import typer

from infomeans.cli.reporting import console, errors, loading
from infomeans.errors import InputError


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run or a saved model.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    form: Annotated[str, typer.Option("--format", help="'onnx' is known.")] = "onnx",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> None:
    """Write the model as one graph: from an array of samples to embedding and posteriors.

    Example: infomeans export run --format onnx --out model.onnx
    """
    if form != "onnx":
        raise InputError(f"--format {form} is unknown; onnx is accepted.")
    if out.exists() and not overwrite:
        raise InputError(f"{out} exists already; name another file or add --overwrite.")
    with loading():
        from infomeans.estimators import load_model
        from infomeans.export import to_onnx

    with errors.status("Exporting"):
        to_onnx(load_model(run), out)
    console.print(f"Model: {out}", highlight=False)
