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

    Only the warm-up and the alternation are done again. Clusters of the run merge or part along its
    tree; see `infomeans.graph.Hierarchy.cut`.

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
    if wanted == tree.n_clusters:
        raise InputError(f"{run.path} has {wanted} clusters already.")
    tree.cut(wanted)
    params = {name: value for name, value in begun.params.items() if name not in ("k_min", "k_max")}
    if not isinstance(params.get("sizes", ""), str):
        del params["sizes"]
    params.pop("pretrain_epochs", None)
    if run.metrics.get("start", {}).get("free"):
        params["sizes"] = "free"
    return replace(
        begun,
        n_clusters=wanted,
        method=run.metrics.get("chosen_method", begun.method),
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
    """The names of those clusters of a run that another number of clusters did not change."""
    tree = tree_of(base)
    after = tree.cut(made.n_clusters)
    same = _unchanged(tree.cluster, after)
    names = {k: name for k, name in base.names.names.items() if k in same}
    return Names(names, run=made.key)


def _unchanged(before: IntArray, after: IntArray) -> set[int]:
    """Clusters with the same number and the same leaves in both cuts."""
    return {k for k in np.unique(before).tolist() if ((before == k) == (after == k)).all()}


def check_same_data(base: Path, fingerprint: str) -> None:
    """Refuse other data than those of the run."""
    if Run(base).config["data"]["fingerprint"] != fingerprint:
        raise InputError(
            f"the data have changed since {base} was made, so its tree does not fit them; run "
            f"`infomeans cluster` again."
        )
