"""The commands; they have no logic of their own."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

app = typer.Typer(
    help="Find groups in unlabelled images, tables and embeddings.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
console = Console()


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


@app.command()
def demo(
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results; by default a new one, demo-run."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same clusters.")] = 0,
    overwrite: Annotated[bool, typer.Option(help="Write into a folder that exists.")] = False,
) -> None:
    """Cluster 1,797 handwritten digits and compare with three baselines.

    Example: infomeans demo --out digits --seed 1
    """
    from infomeans.runs import free_folder

    if out is not None and out.exists() and not overwrite:
        _refuse(f"--out {out} exists already; name a new folder or add --overwrite.")
    folder = out or free_folder("demo-run")
    with console.status("Loading torch"):
        import torch

        from infomeans.demo import run_demo
    # Values that die out towards zero would slow every product on a CPU.
    torch.set_flush_denormal(True)
    rows = run_demo(folder, seed, lambda what: console.print(f"[bold]{what}"))
    table = Table(title="1,797 handwritten digits, 10 clusters")
    table.add_column("method")
    for name in ("accuracy", "NMI", "ARI", "I(X;K)", "seconds"):
        table.add_column(name, justify="right")
    for row in rows:
        figures = (row.acc, row.nmi, row.ari, row.mi)
        table.add_row(row.method, *(f"{x:.3f}" for x in figures), f"{row.seconds:.1f}")
    console.print(table)
    console.print(
        "The classes served to fill this table and for nothing else. I(X;K) is in nats, at most "
        "log 10 = 2.303."
    )
    console.print(f"Results: {folder}/ (labels.csv, metrics.json, history.jsonl, config.json)")


@app.command()
def methods() -> None:
    """List the methods, with one line and the source of each.

    Example: infomeans methods
    """
    from infomeans.methods import METHODS

    for info in METHODS.values():
        console.print(f"[bold cyan]{info.slug:<10}[/] [bold]{info.estimator}[/]: {info.summary}")
        console.print(Padding(f"[dim]{info.citation}", (0, 0, 1, 11)), highlight=False)


def _refuse(message: str) -> None:
    Console(stderr=True).print(f"[red]Error:[/red] {message}", highlight=False, soft_wrap=True)
    raise typer.Exit(2)
