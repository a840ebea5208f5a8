"""What goes wrong by the user's hand."""

from collections.abc import Sequence


class InputError(ValueError):
    """What the user gave cannot be used; the message says in one line why, and what can."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


class ClusteringWarning(UserWarning):
    """Something is wrong with the clusters: collapsed, empty, or far from their start."""


def few(things: Sequence[object], most: int = 3) -> str:
    """The first of many things, for a message of one line: 'a, b, c and 5 more'."""
    shown = ", ".join(str(thing) for thing in things[:most])
    return f"{shown} and {len(things) - most} more" if len(things) > most else shown
