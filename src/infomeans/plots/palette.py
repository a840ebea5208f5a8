"""Colours and signs that also the colour-blind can tell apart."""

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
"""Any two stay well apart for people who see no red or no green; a test measures it."""

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
    """Colour and sign of a cluster: a hundred pairs before the first comes again.

    Neighbours in number differ in both, so that ten clusters are told apart by either.
    """
    lap, colour = divmod(cluster, len(COLOURS))
    return COLOURS[colour], SYMBOLS[(colour + lap) % len(SYMBOLS)]
