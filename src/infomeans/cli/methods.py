"""infomeans methods."""

from rich.table import Table

from infomeans.cli.reporting import console


def methods() -> None:
    """List the methods, each with a summary and its citation.

    Example: infomeans methods
    """
    from infomeans.methods import BASELINES, DEEP

    table = Table.grid(padding=(0, 2, 0, 0))
    for info in (DEEP | BASELINES).values():
        table.add_row(
            f"[bold cyan]{info.slug}[/]",
            f"[bold]{info.estimator}[/]: {info.summary}\n[dim]{info.citation}[/]\n",
        )
    console.print(table)
