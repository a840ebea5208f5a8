"""infomeans report."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from infomeans.cli.reporting import errors, loading, say


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write; by default RUN/report.html.")
    ] = None,
    projection: Annotated[
        str, typer.Option(help="How the map is drawn: auto, lda, pca or umap.")
    ] = "auto",
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file in --out.")
    ] = False,
) -> None:
    """Write a page on which to explore a run: one file that opens anywhere.

    Example: infomeans report run --open
    """
    from infomeans.runs import Run, check_file

    made = Run(run)
    if out is not None:
        check_file(out, overwrite=overwrite)
    with loading():
        from infomeans.report import write_report

    with errors.status("Writing the report"):
        path = write_report(made, out, projection=projection)  # type: ignore[arg-type]
    say(f"Report: {path}")
    if show:
        webbrowser.open(path.absolute().as_uri())
