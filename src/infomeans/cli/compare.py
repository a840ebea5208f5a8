"""infomeans compare."""

from pathlib import Path
from typing import Annotated

import typer

from infomeans.cli.reporting import open_page, say


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("compare.html"),
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> None:
    """Write a page that shows runs on the same samples side by side.

    Example: infomeans compare run-a run-b --out compare.html
    """
    from infomeans.files import write_atomic
    from infomeans.report.compare import comparison
    from infomeans.runs import Run, check_file

    page = comparison([Run(run) for run in runs])
    check_file(out, overwrite=overwrite)
    write_atomic(out, page)
    say(f"Comparison: {out}")
    if show:
        open_page(out)
