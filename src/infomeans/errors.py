"""What goes wrong by the user's hand."""

from collections.abc import Sequence


class InputError(ValueError):
    """What the user gave cannot be used; the message says in one line why, and what can."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


def few(things: Sequence[object], most: int = 3) -> str:
    """The first of many things, for a message of one line: 'a, b, c and 5 more'."""
    shown = ", ".join(str(thing) for thing in things[:most])
    return f"{shown} and {len(things) - most} more" if len(things) > most else shown


def by_reason(left_out: Sequence[tuple[str, str]], most: int = 3) -> str:
    """What was left out, under its reasons: 'a, b, c and 5 more (no image); d (empty)'."""
    reasons: dict[str, list[str]] = {}
    for name, reason in left_out:
        reasons.setdefault(reason, []).append(name)
    shown = [f"{few(names, most)} ({reason})" for reason, names in reasons.items()]
    others = sum(len(names) for names in list(reasons.values())[most:])
    return "; ".join(shown[:most] + ([f"{others} more"] if others else []))
