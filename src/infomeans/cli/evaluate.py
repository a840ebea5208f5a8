"""infomeans evaluate."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from infomeans.cli.options import IdColumn, Key
from infomeans.cli.reporting import console, plain, say

if TYPE_CHECKING:
    from infomeans.metrics import Confusion

WIDEST = 20
LISTED = 15


def evaluate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    labels: Annotated[str, typer.Option(help="True classes: a file, a column or 'folder'.")],
    id_column: IdColumn = None,
    key: Key = None,
) -> None:
    """Compare the clusters of a run with true classes.

    Example: infomeans evaluate run --labels folder
    """
    import numpy as np

    from infomeans.metrics import confusion, labelled, scored_on, scores_of_labelled
    from infomeans.runs import Run
    from infomeans.workflows.evaluate import true_classes

    made = Run(run)
    clusters = made.labels
    classes = true_classes(made, clusters.ids, labels, id_column=id_column, key=key)
    figures = scores_of_labelled(classes, clusters.clusters)
    for name, title in (("acc", "accuracy"), ("nmi", "NMI"), ("ari", "ARI")):
        console.print(f"{title:<9} {figures[name]:.4f}", highlight=False)
    names, known = made.names, labelled(classes)
    if not known.all():
        say(f"scored {scored_on(int(known.sum()), len(known))}")
    if names.merge:
        say(f"of {len(np.unique(clusters.clusters))} clusters, after merging")
    found = confusion(classes[known], clusters.clusters[known])
    found = replace(found, clusters=np.array([names.named(k) for k in found.clusters.tolist()]))
    fits = max(found.counts.shape) <= WIDEST
    console.print(_table(found) if fits else _mistakes(found))


def _table(found: "Confusion") -> Table:
    """Classes by clusters, with the matched cells in bold."""
    table = Table(title="classes (rows) by clusters (columns)")
    table.add_column("")
    for cluster in found.clusters:
        table.add_column(plain(cluster), justify="right")
    for row, (name, counts) in enumerate(zip(found.classes, found.counts, strict=True)):
        cells = [f"[dim]{n}" if n == 0 else str(n) for n in counts]
        if row < len(cells):
            cells[row] = f"[bold]{counts[row]}"
        table.add_row(plain(name), *cells)
    return table


def _mistakes(found: "Confusion") -> Table:
    """The largest off-diagonal cells, for a table too wide to show."""
    table = Table(title=f"the {LISTED} largest confusions")
    for name in ("class", "in cluster", "matched to", "samples"):
        table.add_column(name, justify="right" if name == "samples" else "left")
    wrong = [
        (int(count), row, column)
        for row, counts in enumerate(found.counts)
        for column, count in enumerate(counts)
        if count and row != column
    ]
    for count, row, column in sorted(wrong, reverse=True)[:LISTED]:
        matched = found.classes[column] if column < len(found.classes) else "no class"
        cells = (found.classes[row], found.clusters[column], matched, count)
        table.add_row(*(plain(cell) for cell in cells))
    return table
