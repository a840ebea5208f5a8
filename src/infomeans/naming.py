"""Names of clusters, and clusters merged by the user.

A small JSON file, as the report saves it or written by hand:

    {"format": 1, "run": "...", "names": {"0": "cats"}, "merge": [[2, 5], [3, 4, 7]]}

A name is stored as it was typed, for the cluster it was typed for. The name of a merged group is
composed of the names of its members when it is shown, and is never stored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from infomeans._typing import IntArray
from infomeans.errors import InputError, few

FORMAT = 1
_FIELDS = {"format": int, "run": str, "names": dict, "merge": list}


@dataclass(frozen=True)
class Names:
    """Names of clusters, and clusters to merge.

    Parameters
    ----------
    names : dict of int to str
        Names by cluster, as typed.
    merge : list of lists of int
        Each list becomes one cluster, with the smallest of its numbers.
    run : str
        Key of the run that the clusters belong to; empty in a file written by hand.
    """

    names: Mapping[int, str] = field(default_factory=dict)
    merge: tuple[tuple[int, ...], ...] = ()
    run: str = ""

    def __bool__(self) -> bool:
        return bool(self.names or self.merge)

    @classmethod
    def read(cls, path: Path, *, run: str, n_clusters: int) -> Names:
        """Read a file of names and check that it fits the clusters of a run."""
        try:
            plain = json.loads(path.read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path} is not JSON: {error}") from error
        try:
            made = cls._from_json(plain)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{path} is not a file of cluster names; accepted is JSON such as "
                f'{{"names": {{"0": "cats"}}, "merge": [[2, 5]]}}.'
            ) from error
        if made.run not in ("", run):
            raise InputError(f"{path} names the clusters of another run.")
        made._check(path, n_clusters)
        return made

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            "format": FORMAT,
            "run": self.run,
            "names": {str(cluster): name for cluster, name in self.names.items()},
            "merge": [list(group) for group in self.merge],
        }

    def merged(self, n_clusters: int) -> IntArray:
        """The number of every cluster after merging (K,)."""
        into = np.arange(n_clusters)
        for group in self.merge:
            into[list(group)] = min(group)
        return into

    @cached_property
    def titles(self) -> dict[int, str]:
        """Names of the clusters; a merged group has the names of all its members, each once."""
        titles = dict(self.names)
        for group in self.merge:
            given = [self.names[member] for member in group if member in self.names]
            titles |= dict.fromkeys(group, " + ".join(dict.fromkeys(given))) if given else {}
        return titles

    def of(self, cluster: int) -> str:
        """The name of a cluster, or its number if it has none."""
        return self.titles.get(cluster, str(cluster))

    def named(self, cluster: int) -> str:
        """A cluster's name and number, or only its number if it has no name."""
        return f"{self.titles[cluster]} ({cluster})" if cluster in self.titles else str(cluster)

    @classmethod
    def _from_json(cls, plain: Any) -> Names:
        for name, value in plain.items():
            if not isinstance(value, _FIELDS[name]):
                raise TypeError(name)
        if plain.get("format", FORMAT) > FORMAT:
            raise ValueError("format")
        groups = tuple(_group(group) for group in plain.get("merge", ()))
        given = {
            _number(key): " ".join(name.split()) for key, name in plain.get("names", {}).items()
        }
        names = {cluster: given[cluster] for cluster in sorted(given) if given[cluster]}
        return cls(names, groups, plain.get("run", ""))

    def _check(self, path: Path, n_clusters: int) -> None:
        mentioned = [cluster for group in self.merge for cluster in group]
        unknown = {c for c in [*self.names, *mentioned] if not 0 <= c < n_clusters}
        if unknown:
            raise InputError(
                f"{path} mentions cluster {few(sorted(unknown))}; the run has clusters 0 to "
                f"{n_clusters - 1}."
            )
        twice = [cluster for cluster, times in Counter(mentioned).items() if times > 1]
        if twice:
            raise InputError(f"{path} merges cluster {few(sorted(twice))} twice.")


def _number(key: str) -> int:
    if str(int(key)) != key:
        raise ValueError(key)
    return int(key)


def _group(plain: Any) -> tuple[int, ...]:
    if not plain or not all(type(cluster) is int for cluster in plain):
        raise TypeError("merge")
    return tuple(sorted(plain))
