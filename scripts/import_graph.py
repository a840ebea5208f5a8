"""Draw which parts of infomeans import which: `python scripts/import_graph.py`.

A part is a package or a module directly below `infomeans`. An arrow that follows from others is
left out: if `cli` imports `runs` and `runs` imports `data`, there is no arrow from `cli` to `data`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "infomeans"
DRAWING = ROOT / "docs" / "images" / "imports.svg"

Graph = dict[str, set[str]]
Places = dict[str, tuple[float, float]]

BOX, ROW, GAP, PASSING, MARGIN = (104, 30), 74, 24, 34, 16
BACKGROUND, FILL, INK, ARROW = "#ffffff", "#e8eef7", "#1f2937", "#64748b"
SWEEPS = 24
"""How often the parts of a row are ordered anew by what they are connected with."""


def parts(package: Path = PACKAGE) -> dict[str, list[Path]]:
    """The packages and modules directly below a package, each with its files."""
    found = {
        path.stem: sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for path in sorted(package.iterdir())
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    return {name: files for name, files in found.items() if not name.startswith("_")}


def imports(package: Path = PACKAGE) -> Graph:
    """What each part imports of the others."""
    files = parts(package)
    return {
        name: {part for file in paths for part in _imported(file, package.name)}
        & (files.keys() - {name})
        for name, paths in files.items()
    }


def _imported(file: Path, root: str) -> Iterator[str]:
    """The parts that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            above, _, below = name.partition(".")
            if above == root and below:
                yield below.partition(".")[0]


def reduced(graph: Mapping[str, set[str]]) -> Graph:
    """The graph without arrows that follow from others."""
    reach: Graph = {}

    def below(name: str) -> set[str]:
        if name not in reach:
            reach[name] = set().union(*({part} | below(part) for part in graph[name]))
        return reach[name]

    return {
        name: {part for part in targets if not any(part in below(via) for via in targets)}
        for name, targets in graph.items()
    }


def rows(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The parts in rows, each as high as all arrows pointing down allow."""
    depth = dict.fromkeys(graph, 0)
    for _ in graph:
        for name, targets in graph.items():
            depth |= {part: max(depth[part], depth[name] + 1) for part in targets}
    return [sorted(n for n in graph if depth[n] == row) for row in range(1 + max(depth.values()))]


def routed(graph: Mapping[str, set[str]], stacked: list[list[str]]) -> list[list[str]]:
    """For each arrow the places it goes through, one in each row that it crosses.

    The places are added to the rows, so that no arrow runs through a box.
    """
    row_of = {name: number for number, row in enumerate(stacked) for name in row}
    routes = []
    for source, target in sorted((a, b) for a in graph for b in graph[a]):
        between = range(row_of[source] + 1, row_of[target])
        bends = [f"{source}>{target}:{number}" for number in between]
        for number, bend in zip(between, bends, strict=True):
            stacked[number].append(bend)
        routes.append([source, *bends, target])
    return routes


def order(stacked: list[list[str]], routes: list[list[str]]) -> None:
    """Bring connected places near to each other, row by row."""
    near: Graph = {name: set() for row in stacked for name in row}
    for route in routes:
        for one, other in pairwise(route):
            near[one].add(other)
            near[other].add(one)
    at = {name: i - (len(row) - 1) / 2 for row in stacked for i, name in enumerate(row)}

    def middle(name: str) -> float:
        return sum(at[n] for n in near[name]) / len(near[name]) if near[name] else at[name]

    for sweep in range(SWEEPS):
        for row in stacked if sweep % 2 else reversed(stacked):
            row.sort(key=lambda name: (middle(name), name))
            at |= {name: i - (len(row) - 1) / 2 for i, name in enumerate(row)}


def drawing(package: Path = PACKAGE) -> str:
    """The SVG."""
    graph = reduced(imports(package))
    stacked = rows(graph)
    routes = routed(graph, stacked)
    order(stacked, routes)
    width = 2 * MARGIN + max(sum(map(_slot, row)) for row in stacked)
    height = 2 * MARGIN + (len(stacked) - 1) * ROW + BOX[1]
    places: Places = {}
    for number, row in enumerate(stacked):
        x = (width - sum(map(_slot, row))) / 2
        for name in row:
            places[name] = (x + _slot(name) / 2, MARGIN + BOX[1] / 2 + number * ROW)
            x += _slot(name)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-family="sans-serif" font-size="14">'
    )
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0 8 4 0 8z" fill="{ARROW}"/></marker>'
    )
    ground = f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>'
    arrows = [_arrow([places[name] for name in route]) for route in routes]
    boxes = [_box(name, *places[name]) for name in graph]
    return "\n".join([head, f"<defs>{tip}</defs>", ground, *arrows, *boxes, "</svg>", ""])


def _slot(name: str) -> int:
    """The width that a part, or an arrow that passes by, takes in its row."""
    return PASSING if ">" in name else BOX[0] + GAP


def _arrow(points: list[tuple[float, float]]) -> str:
    """A smooth line from the lower edge of one box to the upper edge of another."""
    x, y = points[0]
    path = f"M{x:g} {y + BOX[1] / 2:g}"
    edges = [y + BOX[1] / 2 for _, y in points[:-1]], [y - BOX[1] / 2 for _, y in points[1:]]
    for (x, _), (to_x, _), start, end in zip(points, points[1:], *edges, strict=False):
        half = (start + end) / 2
        path += f"V{start:g}C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {end:g}"
    return f'<path d="{path}" fill="none" stroke="{ARROW}" marker-end="url(#tip)"/>'


def _box(name: str, x: float, y: float) -> str:
    wide, high = BOX
    return (
        f'<rect x="{x - wide / 2:g}" y="{y - high / 2:g}" width="{wide}" height="{high}" rx="6" '
        f'fill="{FILL}" stroke="{ARROW}"/>'
        f'<text x="{x:g}" y="{y + 5:g}" text-anchor="middle" fill="{INK}">{escape(name)}</text>'
    )


if __name__ == "__main__":
    DRAWING.write_text(drawing(), encoding="utf-8")
