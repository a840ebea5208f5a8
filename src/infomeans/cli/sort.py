"""infomeans sort."""

from pathlib import Path
from typing import Annotated

import typer

from infomeans.cli.reporting import errors, loading, say, warn


def sort(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run on images.")],
    into: Annotated[Path, typer.Option(help="The folder to create.")],
    link: Annotated[
        bool, typer.Option("--link/--copy", help="Make symbolic links, or copies.")
    ] = False,
) -> None:
    """Put the pictures of a run into one folder per cluster.

    The most typical pictures come first, and doubtful and strange ones are in folders of their own.
    The originals stay where they are.

    Example: infomeans sort run --into sorted
    """
    from infomeans.runs import Run

    made = Run(run)
    with loading():
        from infomeans.workflows.sorting import missing_text, sort_pictures

    with errors.status("Sorting"):
        done = sort_pictures(made, into, link=link)
    if done.missing:
        warn(missing_text(done.missing))
    say(
        f"{done.pictures:,} pictures in {done.folders} folders, {done.doubtful:,} of them "
        f"doubtful and {done.strange:,} strange: {into}"
    )
