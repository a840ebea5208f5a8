"""Errors, warnings and other text for the user."""

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, those that turn the direction of text, line separators and surrogates."""


def visible(text: str) -> str:
    r"""Text that is safe on a terminal: control characters become escapes such as \x1b.

    Characters that turn the direction of text and line separators count as well, and so do
    surrogates, which stand for bytes that are not UTF-8.

    Examples
    --------
    >>> from infomeans.errors import visible
    >>> print(visible("a\x1b[2Jb\nc"))
    a\x1b[2Jb\nc
    """
    return _UNSEEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


class InputError(ValueError):
    """Invalid input from the user.

    Parameters
    ----------
    *problems : str
        One line each, saying what is wrong and what is accepted.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__(*(visible(" ".join(problem.splitlines())) for problem in problems))

    def __str__(self) -> str:
        return "\n".join(self.problems)

    @property
    def problems(self) -> tuple[str, ...]:
        """The messages, one line each."""
        return self.args


class DivergenceError(InputError):
    """A number of the training is NaN or infinite."""


class Problems:
    """Collects independent problems, to report them all at once.

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
        """Add problems; duplicates are dropped."""
        self._found += [problem for problem in problems if problem not in self._found]

    @contextmanager
    def collect(self, *kinds: type[Exception]) -> Iterator[None]:
        """Add an InputError, or an error of these kinds, instead of raising it."""
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
    """The clusters are doubtful: collapsed, empty, or far from their start."""


def warn_caller(message: str, kind: type[Warning] = ClusteringWarning) -> None:
    """Give a warning at the line that called infomeans, directly or by scikit-learn."""
    frame: FrameType | None = sys._getframe()
    level = 0
    while frame is not None and _package(frame) in ("infomeans", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level + 1)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def few(things: Sequence[object], most: int = 3) -> str:
    """The first items of a list, for a one-line message: 'a, b, c and 5 more'."""
    shown = ", ".join(str(thing) for thing in things[:most])
    return f"{shown} and {len(things) - most} more" if len(things) > most else shown


def by_reason(left_out: Sequence[tuple[str, str]], most: int = 3) -> str:
    """Items grouped by reason: 'a, b, c and 5 more (not an image); d (empty)'."""
    reasons: dict[str, list[str]] = {}
    for name, reason in left_out:
        reasons.setdefault(reason, []).append(name)
    shown = [f"{few(names, most)} ({reason})" for reason, names in reasons.items()]
    others = sum(len(names) for names in list(reasons.values())[most:])
    return "; ".join(shown[:most] + ([f"{others} more"] if others else []))
