"""What goes wrong by the user's hand."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class InputError(ValueError):
    """What the user gave cannot be used.

    Parameters
    ----------
    *problems : str
        Each says in one line why, and what can be used.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__(*(" ".join(problem.splitlines()) for problem in problems))

    def __str__(self) -> str:
        return "\n".join(self.problems)

    @property
    def problems(self) -> tuple[str, ...]:
        """One line each."""
        return self.args


class Problems:
    """Mistakes that do not depend on each other, to be reported all at once.

    Examples
    --------
    >>> from infomeans.errors import Problems
    >>> problems = Problems()
    >>> with problems.collect(ValueError):
    ...     int("many")
    >>> problems.add("k=0 is too small; 1 or more is accepted.")
    >>> problems.report()
    Traceback (most recent call last):
    infomeans.errors.InputError: invalid literal for int() with base 10: 'many'
    k=0 is too small; 1 or more is accepted.
    """

    def __init__(self) -> None:
        self._found: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, *problems: str) -> None:
        """Take in problems; one that is known already counts once."""
        self._found += [problem for problem in problems if problem not in self._found]

    @contextmanager
    def collect(self, *kinds: type[Exception]) -> Iterator[None]:
        """An InputError, or an error of these kinds, ends the block alone."""
        try:
            yield
        except InputError as error:
            self.add(*error.problems)
        except kinds as error:
            self.add(str(error))

    def report(self) -> None:
        """Raise an InputError with all problems, if there are any."""
        if self._found:
            raise InputError(*self._found)


class ClusteringWarning(UserWarning):
    """Something is wrong with the clusters: collapsed, empty, or far from their start."""


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
