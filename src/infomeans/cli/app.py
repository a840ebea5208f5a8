"""The command line application; the work is done elsewhere."""

from typing import Annotated

import typer

from infomeans.cli import benchmark
from infomeans.cli.cluster import cluster
from infomeans.cli.compare import compare
from infomeans.cli.demo import demo
from infomeans.cli.evaluate import evaluate
from infomeans.cli.export import export
from infomeans.cli.methods import methods
from infomeans.cli.predict import predict
from infomeans.cli.recut import recut
from infomeans.cli.relabel import relabel
from infomeans.cli.report import report
from infomeans.cli.reporting import command, console
from infomeans.cli.show import show
from infomeans.cli.sort import sort
from infomeans.cli.verify import verify

app = typer.Typer(
    help="Find groups in unlabelled images, tables and embeddings.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for function in (
    demo, cluster, recut, predict, show, report, relabel, sort, compare, evaluate, export, verify,
    methods,
):  # fmt: skip
    command(app)(function)

app.add_typer(benchmark.app, name="benchmark")


def _version(wanted: bool) -> None:
    if wanted:
        from infomeans import __version__

        console.print(f"infomeans {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Find groups in unlabelled images, tables and embeddings."""
