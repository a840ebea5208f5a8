"""infomeans demo."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from infomeans.cli.options import Seed, Threads
from infomeans.cli.report import leave_report
from infomeans.cli.reporting import console, loading, plain, say
from infomeans.durations import duration


def demo(
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results; by default a new one, demo-run."),
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in --out.")
    ] = False,
) -> None:
    """Cluster 1,797 handwritten digits and compare with four baselines.

    Example: infomeans demo --out digits --seed 1
    """
    from infomeans.runs import check_free, free_folder

    folder = out or free_folder("demo-run")
    check_free(folder, overwrite=overwrite)
    with loading():
        from infomeans.workflows.demo import run_demo

    done = run_demo(
        folder,
        seed,
        lambda what: console.print(f"[bold]{plain(what)}"),
        threads=threads,
        overwrite=overwrite,
    )
    table = Table(title="1,797 handwritten digits, 10 clusters")
    table.add_column("method")
    for name in ("accuracy", "NMI", "ARI", "I(X;K)", "time"):
        table.add_column(name, justify="right")
    for row in done.rows:
        figures = (row.acc, row.nmi, row.ari, row.mi)
        table.add_row(row.method, *(f"{x:.3f}" for x in figures), duration(row.seconds))
    console.print(table)
    console.print(
        "The true classes are used for this table only, never for training. mi-adm starts from: "
        f"{done.run.metrics['start']['choice']['chosen']}. I(X;K) is in nats, at most log 10 = "
        "2.303."
    )
    say(f"Results: {folder}/")
    leave_report(done.run, done.data, done.estimator)
