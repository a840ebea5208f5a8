"""infomeans relabel."""

from pathlib import Path
from typing import Annotated

import typer

from infomeans.cli.reporting import say
from infomeans.errors import InputError


def relabel(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    names: Annotated[
        Path, typer.Argument(metavar="NAMES", help="The names.json that the report saved.")
    ],
) -> None:
    """Name and merge the clusters in a run's labels.

    The names replace earlier ones. A file with an empty object, {}, restores the model's clusters.

    Example: infomeans relabel run names.json
    """
    import numpy as np

    from infomeans.runs import Run

    made = Run(run)
    if not names.is_file():
        raise InputError(f"{names} is not a file; give the names.json that the report saved.")
    given = made.read_names(names)
    made.take()
    labels = made.rename(given)
    made.leave()
    groups = len(np.unique(labels.clusters))
    named = given.titles.keys() & set(given.merged(made.n_clusters).tolist())
    say(
        f"{len(named)} named, {sum(map(len, given.merge)) - len(given.merge)} merged away: "
        f"{groups} clusters in {made.path / 'labels.csv'}"
    )
    say(f"To update the report: infomeans report {made.path}")
