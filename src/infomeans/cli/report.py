"""infomeans report."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infomeans.cli.reporting import errors, loading, open_page, say, warn

if TYPE_CHECKING:
    from infomeans.data import Dataset
    from infomeans.estimators.base import SampleClusterer
    from infomeans.runs import Run


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
    """Write an interactive page about a run: one file that opens in any browser.

    Example: infomeans report run --open
    """
    from infomeans.runs import Run, check_file

    made = Run(run)
    if out is not None:
        check_file(out, overwrite=overwrite)
    with loading():
        from infomeans.plots.projection import check_kind
        from infomeans.report import write_report

    kind = check_kind(projection)
    with errors.status("Writing the report"):
        path = write_report(made, out, projection=kind, tell=warn)
    say(f"Report: {path}")
    if show:
        open_page(path)


def leave_report(
    run: "Run", data: "Dataset | None" = None, estimator: "SampleClusterer | None" = None
) -> None:
    """Write a finished run's report; an error there is only a warning, as the run is complete."""
    with loading():
        from infomeans.report import write_report

    try:
        with errors.status("Writing the report"):
            write_report(run, data=data, estimator=estimator)
    except Exception as error:
        again = f"infomeans report --debug {shlex.quote(str(run.path))}"
        warn(
            f"The report could not be written: {error}. The run itself is complete. For details: "
            f"{again}"
        )
    else:
        say(f"Report: {run.report}")
