"""infomeans methods."""

from rich.padding import Padding

from infomeans.cli.reporting import console


def methods() -> None:
    """List the methods, with one line and the source of each.

    Example: infomeans methods
    """
    from infomeans.methods import BASELINES, METHODS

    for info in (METHODS | BASELINES).values():
        console.print(f"[bold cyan]{info.slug:<10}[/] [bold]{info.estimator}[/]: {info.summary}")
        console.print(Padding(f"[dim]{info.citation}", (0, 0, 1, 11)), highlight=False)
