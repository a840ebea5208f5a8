"""Tables of results, beside the figures of the paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from infomeans.benchmark.paper import RESULTS
from infomeans.data.benchmarks import BENCHMARKS

FIGURES = ("acc", "nmi")


@dataclass(frozen=True)
class Cell:
    """One figure of a method on a data set, over the seeds.

    Attributes
    ----------
    values : list of float
        One value per seed.
    printed : float or None
        The figure in the paper.
    gains : list of float
        Gain of each value over the run's start; empty if the method has no start.
    """

    values: list[float]
    printed: float | None = None
    gains: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median over the seeds."""
        return median(self.values)

    @property
    def gap(self) -> float | None:
        """Difference from the paper's figure."""
        return None if self.printed is None else self.median - self.printed

    def row(self) -> list[str]:
        """Median, range, the paper's figure, the gap, and the median gain."""
        printed = ["", ""] if self.printed is None else [_short(self.printed), f"{self.gap:+.3f}"]
        gain = f"{median(self.gains):+.4f}" if self.gains else ""
        return [_short(self.median), self._range(), *printed, gain]

    def _range(self) -> str:
        if len(self.values) == 1:
            return "one seed"
        least, most = _short(min(self.values)), _short(max(self.values))
        return least if least == most else f"{least}-{most}"


Cells = dict[tuple[str, str, str], Cell]
"""By method, data set and figure."""


def collect(rows: Sequence[dict[str, Any]], *, augment: bool = False) -> Cells:
    """The cells of a table from the rows of the results."""
    groups: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for row in rows:
        if row["augment"] == augment:
            groups.setdefault((row["method"], row["dataset"]), {})[row["seed"]] = row
    cells = {}
    for (method, dataset), group in groups.items():
        printed = None if augment else RESULTS.get(method, {}).get(dataset)
        for i, figure in enumerate(FIGURES):
            values = [row[figure] for row in group.values()]
            gains = [r[figure] - r["start"][figure] for r in group.values() if r.get("start")]
            cells[method, dataset, figure] = Cell(values, printed[i] if printed else None, gains)
    return cells


def title(dataset: str) -> str:
    """The name of a data set in tables and figures."""
    name = max((name for name in BENCHMARKS if dataset.startswith(name)), key=len)
    return BENCHMARKS[name].title + dataset.removeprefix(name).replace("-", ", ")


Table = tuple[str, list[str], list[list[str]]]
"""A title, the column heads, and the rows."""


def markdown(cells: Cells, kind: str = "") -> str:
    """One Markdown table per data set, with a row per method; `kind` is added to the titles."""
    return "\n".join(
        f"### {name}\n\n{plain(heads, _with_bold(heads, rows))}"
        for name, heads, rows in _tables(cells, kind)
    )


def latex(cells: Cells, kind: str = "") -> str:
    """The same tables in LaTeX."""
    parts = ["% Needs \\usepackage{booktabs}.\n"]
    for name, heads, rows in _tables(cells, kind):
        lines = [
            f"% {name}",
            f"\\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            "\\toprule",
            *_latex_rows([[name, *heads[1:]]]),
            "\\midrule",
            *_latex_rows(rows),
            "\\bottomrule",
            "\\end{tabular}",
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def plain(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table with aligned columns."""
    cells = [[str(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
    lines = [[cell.ljust(w) for cell, w in zip(row, widths, strict=True)] for row in cells]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _tables(cells: Cells, kind: str) -> Iterator[Table]:
    """A table for every data set, without its empty columns."""
    methods, datasets = _axes(cells)
    for dataset in datasets:
        rows = [
            [method, *cells[method, dataset, "acc"].row(), *cells[method, dataset, "nmi"].row()]
            for method in methods
            if (method, dataset, "acc") in cells
        ]
        columns = ["range", "paper", "gap", "gain"]
        heads = ["", "ACC", *columns, "NMI", *columns]
        kept = [i for i, head in enumerate(heads) if not head or any(row[i] for row in rows)]
        yield (
            title(dataset) + kind,
            [heads[i] for i in kept],
            [[row[i] for i in kept] for row in rows],
        )


def _with_bold(heads: list[str], rows: list[list[str]]) -> list[list[str]]:
    """Set the highest medians in bold."""
    columns = {heads.index(head) for head in ("ACC", "NMI")}
    highest = {i: max((row[i] for row in rows), key=float) for i in columns}
    return [[f"**{x}**" if x == highest.get(i) else x for i, x in enumerate(row)] for row in rows]


def _latex_rows(rows: list[list[str]]) -> list[str]:
    return [" & ".join(map(_dashes, row)) + " \\\\" for row in rows]


def _dashes(text: str) -> str:
    """Use LaTeX's dash in ranges and its minus sign."""
    return re.sub(r"^-(?=\d)", "$-$", re.sub(r"(?<=\d)-(?=\d)", "--", text))


def _axes(cells: Cells) -> tuple[list[str], list[str]]:
    """Methods in order of first occurrence, data sets in the paper's order."""
    methods = list(dict.fromkeys(method for method, _, _ in cells))
    found = dict.fromkeys(dataset for _, dataset, _ in cells)
    known = [dataset for dataset in BENCHMARKS if dataset in found]
    return methods, known + [dataset for dataset in found if dataset not in BENCHMARKS]


def _short(value: float) -> str:
    return f"{value:.3f}"
