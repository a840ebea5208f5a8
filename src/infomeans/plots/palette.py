"""Colours and signs that also the colour-blind can tell apart."""

from __future__ import annotations

COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
    "#7a5195",
    "#b3a200",
    "#8c564b",
    "#707784",
)
"""The first six differ in hue for everyone; the others differ in lightness from their like."""

SYMBOLS = (
    "circle",
    "diamond",
    "square",
    "triangle-up",
    "cross",
    "triangle-down",
    "x",
    "pentagon",
    "star",
    "hexagram",
)


def look(cluster: int) -> tuple[str, str]:
    """Colour and sign of a cluster: a hundred pairs before the first comes again."""
    lap, colour = divmod(cluster, len(COLOURS))
    return COLOURS[colour], SYMBOLS[lap % len(SYMBOLS)]
