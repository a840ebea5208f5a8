"""Progress bars for the phases of a training, or lines where no bar can be drawn."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from infomeans.durations import duration
from infomeans.progress import Lines, Pace, draws_bars, make_bars
from infomeans.training.callbacks import Callback
from infomeans.training.history import Record

SURE = 1.0
"""Seconds of steps after which the total time can be estimated."""

DEARER = 1.25
"""Time of a clustering epoch relative to one of pretraining: it also embeds all samples."""


class ProgressBars(Callback):
    """A progress bar for each phase on standard error, with the time elapsed and the time left.

    If standard error is not a terminal, plain lines replace the bars. About a second after the
    first step, a line estimates the time of all phases; some can end early.

    Parameters
    ----------
    label : str
        Text before the name of every phase.
    console : Console, optional
        By default standard error.
    clock : callable
        The time in seconds.
    """

    def __init__(
        self,
        label: str = "",
        *,
        console: Console | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.label = label
        self.console = console
        self.clock = clock
        self._reset()

    def _reset(self) -> None:
        self._ahead: dict[str, int] = {}
        self._forecast = False
        self._view: _Bars | _Lines | None = None
        self._now: _Phase | None = None

    def on_plan(self, phases: dict[str, int]) -> None:
        """Store the phases to come."""
        self._ahead = dict(phases)

    def on_phase(self, phase: str, epochs: int) -> None:
        """Start the bar of the phase."""
        if self._view is None:
            console = self.console or Console(stderr=True)
            self._view = (_Bars if draws_bars(console) else _Lines)(console, self.clock)
        self._close()
        while phase in self._ahead:
            del self._ahead[next(iter(self._ahead))]
        known = None if self._now is None else self._now.each_later
        title = f"{self.label} {phase}".strip()
        self._now = _Phase(phase, title, epochs, Pace(self.clock), dict(self._ahead), known)
        self._view.begin(self._now)

    def on_resume(self, phase: str, done: int) -> None:
        """Advance the bar to the epochs that are already complete."""
        if self._view is not None and self._now is not None:
            self._now.before = self._now.done = done
            self._now.pace.move(done)
            self._view.resume(self._now)

    def on_step(self, done: int, steps: int) -> None:
        """Advance the bar within an epoch; the work after its steps counts as one step."""
        if self._now is not None:
            self._move(self._now, self._now.done + done / (steps + 1))

    def on_epoch(self, record: Record) -> None:
        """Advance the bar to the end of the epoch."""
        if self._now is not None:
            self._now.done = record.epoch + 1
            self._now.take_in(record)
            self._move(self._now, self._now.done)

    def on_end(self) -> None:
        """Leave the bars on the screen; after an error, as they are."""
        if self._view is not None:
            if sys.exc_info()[0] is None:
                self._close()
            self._view.stop()
        self._reset()

    def _move(self, now: _Phase, done: float) -> None:
        assert self._view is not None
        now.pace.move(done)
        if not self._forecast and now.pace.measured >= SURE and now.left_in_all is not None:
            self._forecast = True
            self._view.say(now.forecast(now.left_in_all))
        self._view.move(now)

    def _close(self) -> None:
        if self._view is not None and self._now is not None:
            self._view.end(self._now)


@dataclass
class _Phase:
    """A phase that is shown.

    Attributes
    ----------
    name, title : str
        Name of the phase, and the text to show.
    epochs, done, before : int
        Maximum number of epochs, those that are complete, and those that were when it resumed.
    pace : Pace
        Speed in epochs.
    later : dict of str to int
        Maximum numbers of epochs of the phases after it.
    known : float or None
        Seconds of a later epoch, estimated by the phase before.
    figures : str
        Figures of the last epoch.
    """

    name: str
    title: str
    epochs: int
    pace: Pace
    later: dict[str, int]
    known: float | None = None
    done: int = 0
    before: int = 0
    figures: str = ""

    def take_in(self, record: Record) -> None:
        """Show the figures of an epoch."""
        self.figures = f"loss {record.loss:.4f}"
        if record.mi is not None:
            self.figures += f"  I(X;K) {record.mi:.3f}"

    def count(self, total: int) -> str:
        """Complete epochs and their total; empty for a phase without epochs."""
        return f"{self.done}/{total}" if self.epochs else ""

    @property
    def each_later(self) -> float | None:
        """Estimated seconds of an epoch of a later phase."""
        if self.pace.each is None:
            return self.known
        return self.pace.each * (DEARER if self.name == "pretrain" else 1)

    @property
    def left_later(self) -> float | None:
        """Estimated maximum time of the phases after this one, in seconds."""
        return None if self.each_later is None else sum(self.later.values()) * self.each_later

    @property
    def left_in_all(self) -> float | None:
        """Estimated maximum time of this phase and those after it, in seconds."""
        here, later = self.pace.left(self.epochs), self.left_later
        return None if here is None or later is None else here + later

    def forecast(self, left: float) -> str:
        """A line on how long training may take."""
        ahead = {self.name: self.epochs - self.before, **self.later}
        phases = ", ".join(f"{name} {epochs}" for name, epochs in ahead.items() if epochs)
        return f"About {duration(left)} of training ahead, at most. Epochs: {phases}."


class _Bars:
    """Phases as bars on a terminal."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self.bars = make_bars(console, clock)
        self.bars.start()

    def say(self, line: str) -> None:
        self.bars.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def begin(self, now: _Phase) -> None:
        fields: dict[str, Any] = {"count": now.count(now.epochs), "pace": now.pace, "note": ""}
        self.bars.add_task(f"{now.title:<9}", total=now.epochs or None, **fields)

    def move(self, now: _Phase) -> None:
        self._update(now, total=now.epochs)

    resume = move

    def end(self, now: _Phase) -> None:
        """Complete the bar, even if the phase stopped early or has no epochs."""
        if not now.epochs:
            now.pace.move(1)
        self._update(now, total=now.done if now.epochs else 1)

    def stop(self) -> None:
        self.bars.stop()

    def _update(self, now: _Phase, total: int) -> None:
        fields: dict[str, Any] = {"count": now.count(total), "note": now.figures}
        bar = self.bars.tasks[-1].id
        self.bars.update(bar, completed=now.pace.done, total=total, **fields)


class _Lines:
    """Phases as lines in a file: when one begins, when it ends, and a few in between."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self.lines = Lines(console, clock)
        self.say = self.lines.say

    def begin(self, now: _Phase) -> None:
        what = f"up to {now.epochs} epochs" if now.epochs else "looking for the initial clusters"
        self.say(f"{now.title}: {what}")

    def resume(self, now: _Phase) -> None:
        self.say(f"{now.title}: resumes after {now.done} of {now.epochs} epochs")

    def move(self, now: _Phase) -> None:
        left = now.pace.left(now.epochs)
        if left is None or not self.lines.due(now.pace.elapsed + left):
            return
        line = f"{self._state(now)}, {duration(left)} left"
        if now.later and now.left_in_all is not None:
            line += f", in all {duration(now.left_in_all)} at most"
        self.say(line)

    def end(self, now: _Phase) -> None:
        line = self._state(now)
        if now.later and now.left_later is not None:
            line += f"; {duration(now.left_later)} of training left at most"
        self.say(line)

    def stop(self) -> None:
        pass

    def _state(self, now: _Phase) -> str:
        state = f"{now.count(now.epochs)} epochs" if now.epochs else "done"
        parts = [state, *now.figures.split("  "), duration(now.pace.elapsed)]
        return f"{now.title}: " + ", ".join(part for part in parts if part)
