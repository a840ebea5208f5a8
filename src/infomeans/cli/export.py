"""infomeans export."""

from pathlib import Path
from typing import Annotated

import typer

from infomeans.cli.reporting import errors, loading, say
from infomeans.errors import InputError


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run or a saved model.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    form: Annotated[str, typer.Option("--format", help="File format; 'onnx' only.")] = "onnx",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> None:
    """Export the model as one ONNX graph, from samples to embedding and posteriors.

    Example: infomeans export run --format onnx --out model.onnx
    """
    from infomeans.runs import check_file

    if form != "onnx":
        raise InputError(f"--format {form} is unknown; onnx is accepted.")
    check_file(out, overwrite=overwrite)
    with loading():
        from infomeans.model.export import to_onnx
        from infomeans.workflows.predict import load_clusterer

    with errors.status("Exporting"):
        to_onnx(load_clusterer(run), out)
    say(f"Model: {out}")
