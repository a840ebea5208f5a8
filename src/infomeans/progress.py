"""Progress bars on a terminal and plain lines elsewhere, both with the time left."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from infomeans.durations import duration
from infomeans.errors import visible

SHORTEST, LONGEST = 8, 40
"""Minimum and maximum length of a bar, in characters."""

TIMES, NOTE = len("59 s, 59 s left"), len("loss 0.1234  I(X;K) 2.123")
"""Minimum widths of these columns, so that the bar keeps its length when they change."""


class Pace:
    """Estimates the speed of work from what was done in this process.

    The first move only starts the clock: it may report work of an earlier process, and it includes
    the time of setting up.

    Parameters
    ----------
    clock : callable
        The time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.done = 0.0
        self._began = clock()
        self._first: tuple[float, float] | None = None
        self._moved = self._began

    def move(self, done: float) -> None:
        """Report how much is done."""
        self.done, self._moved = done, self.clock()
        if self._first is None:
            self._first = done, self._moved

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self._began

    @property
    def measured(self) -> float:
        """Seconds that the estimate is based on."""
        return 0.0 if self._first is None else self._moved - self._first[1]

    @property
    def each(self) -> float | None:
        """Seconds per unit of work; None while unknown."""
        if self._first is None or self.done <= self._first[0]:
            return None
        return self.measured / (self.done - self._first[0])

    def left(self, total: float | None) -> float | None:
        """Seconds until all is done; None while unknown."""
        if self.each is None or total is None:
            return None
        since = self.clock() - self._moved
        return max(0.0, (total - self.done) * self.each - since)


class TimeColumn(ProgressColumn):
    """The time elapsed and the time left, by the `Pace` in the task's field "pace"."""

    def render(self, task: Task) -> Text:
        """Only the time elapsed, if the task is finished or the time left is unknown."""
        if task.finished:
            return Text(duration(task.finished_time or 0.0))
        pace: Pace = task.fields["pace"]
        left, elapsed = pace.left(task.total), duration(pace.elapsed)
        return Text(elapsed if left is None else f"{elapsed}, {duration(left)} left")


def draws_bars(console: Console) -> bool:
    """Whether a console can draw bars; FORCE_COLOR does not turn a file into a terminal."""
    return console.is_interactive and console.file.isatty()


def make_bars(
    console: Console, clock: Callable[[], float] = time.perf_counter, *, transient: bool = False
) -> Progress:
    """Progress bars in one style; tasks need the fields "count", "pace" and "note"."""

    def column(name: str, width: int | None = None) -> TextColumn:
        place = Column(no_wrap=True, overflow="ellipsis", min_width=width)
        return TextColumn(f"{{task.{name}}}", markup=False, table_column=place)

    return Progress(
        column("description"),
        BarColumn(None, table_column=Column(min_width=SHORTEST, max_width=LONGEST, ratio=1)),
        column("fields[count]"),
        TimeColumn(Column(no_wrap=True, min_width=TIMES)),
        column("fields[note]", NOTE),
        console=console,
        get_time=clock,
        transient=transient,
    )


class Lines:
    """Plain lines about long work, where no bar can be drawn.

    A line follows after half a minute or a tenth of the work, whichever is longer, but after ten
    minutes at the latest.

    Parameters
    ----------
    console : Console
    clock : callable
        The time in seconds.
    first : float
        Seconds until the first line.
    """

    EVERY, SHARE, LATEST = 30.0, 0.1, 600.0

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float] = time.perf_counter,
        first: float = EVERY,
    ) -> None:
        self.console = console
        self.clock = clock
        self.first = first
        self.said = 0
        self._last = clock()

    def say(self, line: str) -> None:
        """Print a line, without markup."""
        self.said += 1
        self._last = self.clock()
        self.console.print(visible(line), markup=False, highlight=False, soft_wrap=True)

    def due(self, whole: float | None) -> bool:
        """Whether another line is due, for work that takes `whole` seconds in total."""
        wait = min(max(self.EVERY, self.SHARE * (whole or 0.0)), self.LATEST)
        return self.clock() - self._last >= (wait if self.said else self.first)
