"""Other numbers of clusters from the network of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from infomeans._typing import IntArray
from infomeans.errors import InputError
from infomeans.graph import Hierarchy
from infomeans.methods import DEEP
from infomeans.naming import Names
from infomeans.runs import Run
from infomeans.workflows.request import Request


def recut_request(run: Run, n_clusters: int | None = None, *, more: int = 0) -> Request:
    """The request for a run with another number of clusters, from the network of this one.

    Only the warm-up and the alternation are done again, and they aim at the sizes of the cut.
    Clusters of the run merge or part along its tree; see `infomeans.graph.Hierarchy.cut`.

    Parameters
    ----------
    run : Run
        A complete run of a deep method.
    n_clusters : int, optional
        Number of clusters.
    more : int
        If it is not given: how many more than the run has; negative for fewer.
    """
    tree, begun = tree_of(run), Request(**run.config["arguments"])
    if begun.method not in DEEP:
        raise InputError(
            f"{run.path} was made by {begun.method}, which trains no network; run "
            f"`infomeans cluster` with another -k."
        )
    wanted = tree.n_clusters + more if n_clusters is None else n_clusters
    if wanted < 1:
        raise InputError(f"{run.path} has one cluster; there is none to merge it with.")
    if wanted == tree.n_clusters:
        merged = " (before merging)" if run.names.merge else ""
        raise InputError(f"{run.path} has {wanted} clusters already{merged}.")
    tree.cut(wanted)
    left_out = ("k_min", "k_max", "pretrain_epochs", "sizes", "init")
    params = {name: value for name, value in begun.params.items() if name not in left_out}
    method = run.metrics.get("chosen_method", begun.method)
    return replace(
        begun,
        n_clusters=wanted,
        # MI-Pairs would move far from the cut.
        method="mi-adm" if method in ("auto", "mi-pairs") else method,
        params=params,
        base=str(run.path.absolute()),
    )


def tree_of(run: Run) -> Hierarchy:
    """The tree of a run, which must have one."""
    run.check_complete()
    if run.tree is None:
        raise InputError(
            f"{run.path} has no tree of its clusters: an earlier version made it, which wrote none."
        )
    return run.tree


def kept_names(base: Run, made: Run) -> Names:
    """The names and merges of those clusters of a run that stay as they are in another."""
    tree, names = tree_of(base), base.names
    after = tree.cut(made.n_clusters)
    now = _unchanged(tree.cluster, after)
    merge = [tuple(now[k] for k in group) for group in names.merge if all(k in now for k in group)]
    kept = {now[k]: name for k, name in names.names.items() if k in now}
    return Names(kept | _joined(names, tree.cluster, after), tuple(merge), run=made.key)


def _joined(names: Names, before: IntArray, after: IntArray) -> dict[int, str]:
    """Names of new clusters that are several named ones together."""
    found = {}
    for new in np.unique(after).tolist():
        members = np.unique(before[after == new]).tolist()
        whole = np.isin(before, members).sum() == (after == new).sum()
        if whole and len(members) > 1 and all(k in names.names for k in members):
            found[new] = " + ".join(names.names[k] for k in members)
    return found


def _unchanged(before: IntArray, after: IntArray) -> dict[int, int]:
    """The new numbers of the clusters that have the same leaves in both cuts."""
    found = {}
    for old in np.unique(before).tolist():
        new = int(after[before == old][0])
        if ((after == new) == (before == old)).all():
            found[old] = new
    return found


def check_same_data(base: Path, fingerprint: str) -> None:
    """Refuse other data than those of the run."""
    if Run(base).config["data"]["fingerprint"] != fingerprint:
        raise InputError(
            f"the data have changed since {base} was made, so its tree does not fit them; run "
            f"`infomeans cluster` again."
        )
