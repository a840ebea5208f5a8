"""Colours and symbols that are distinct for colour-blind people too."""

from __future__ import annotations

COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
    "#3b1fd8",
    "#8f1d1d",
    "#4d4456",
    "#b9aea2",
)
"""Any two are distinct for people with red-green colour blindness; a test measures it."""

DARK = (
    "#2f8fd6",
    "#f0b429",
    "#21bf8f",
    "#e8703a",
    "#e38ec4",
    "#96d6ff",
    "#8979ff",
    "#d9544f",
    "#857789",
    "#e9e2d8",
)
"""The same ten on a dark ground, where three of the others can hardly be seen."""

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
    """Colour and symbol of a cluster: a hundred pairs before the first is repeated.

    Consecutive clusters differ in both, so either is enough to tell ten clusters apart.
    """
    lap, colour = divmod(cluster, len(COLOURS))
    return COLOURS[colour], SYMBOLS[(colour + lap) % len(SYMBOLS)]
