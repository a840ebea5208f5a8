"""Progress on a terminal as bars, elsewhere as plain lines, both with the time left."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from infomeans.durations import duration

SHORTEST, LONGEST = 8, 40
"""Characters that a bar may have."""

TIMES, NOTE = len("59 s, 59 s left"), len("loss 0.1234  I(X;K) 2.123")
"""What these take at least, so that the bar keeps its length when they change."""


class Pace:
    """How fast work goes, by what was done in this process.

    The first move only starts the clock: it may report what was done before, and it pays for
    whatever has to be set up.

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
        """So much is done by now."""
        self.done, self._moved = done, self.clock()
        if self._first is None:
            self._first = done, self._moved

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self._began

    @property
    def measured(self) -> float:
        """The seconds that the pace is known from."""
        return 0.0 if self._first is None else self._moved - self._first[1]

    @property
    def each(self) -> float | None:
        """Seconds for one unit of work; None while that is not known."""
        if self._first is None or self.done <= self._first[0]:
            return None
        return self.measured / (self.done - self._first[0])

    def left(self, total: float | None) -> float | None:
        """Seconds until all is done; None while that is not known."""
        if self.each is None or total is None:
            return None
        since = self.clock() - self._moved
        return max(0.0, (total - self.done) * self.each - since)


class TimeColumn(ProgressColumn):
    """The time elapsed and the time left, by the `Pace` in the task's field "pace"."""

    def render(self, task: Task) -> Text:
        """The time elapsed alone, once a task is finished or while nothing else is known."""
        if task.finished:
            return Text(duration(task.finished_time or 0.0))
        pace: Pace = task.fields["pace"]
        left, elapsed = pace.left(task.total), duration(pace.elapsed)
        return Text(elapsed if left is None else f"{elapsed}, {duration(left)} left")


def draws_bars(console: Console) -> bool:
    """Whether a console can draw bars; FORCE_COLOR makes no terminal of a file."""
    return console.is_interactive and console.file.isatty()


def make_bars(
    console: Console, clock: Callable[[], float] = time.perf_counter, *, transient: bool = False
) -> Progress:
    """Bars in one style; a task has the fields "count", "pace" and "note"."""

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
    """Plain lines about work that takes long, where no bar can be drawn.

    A line comes after half a minute or a tenth of the work, whichever takes longer, but after ten
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
        """Print a line, as it is."""
        self.said += 1
        self._last = self.clock()
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def due(self, whole: float | None) -> bool:
        """Whether it is time for another line on work that takes so many seconds as a whole."""
        wait = min(max(self.EVERY, self.SHARE * (whole or 0.0)), self.LATEST)
        return self.clock() - self._last >= (wait if self.said else self.first)
