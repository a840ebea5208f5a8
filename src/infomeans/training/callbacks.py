"""Callbacks during training."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from infomeans.training.history import Record


class Callback:
    """Base class of callbacks; override the methods you need.

    Pass a list of callbacks to an estimator as its parameter `callbacks`.

    Examples
    --------
    End pretraining as soon as the reconstruction is good enough:

    >>> from sklearn.datasets import load_iris
    >>> from infomeans import MIADM
    >>> from infomeans.training import Callback
    >>> class GoodEnough(Callback):
    ...     def on_phase(self, phase, epochs):
    ...         print(f"{phase}: at most {epochs} epochs")
    ...
    ...     def on_epoch(self, record):
    ...         return record.phase == "pretrain" and record.loss < 10
    >>> lengths = {"pretrain_epochs": 5, "warmup_epochs": 1, "epochs": 2}
    >>> model = MIADM(3, callbacks=[GoodEnough()], random_state=0, **lengths)
    >>> model = model.fit(load_iris().data)
    pretrain: at most 5 epochs
    start: at most 0 epochs
    warm-up: at most 1 epochs
    alternate: at most 2 epochs
    >>> sum(record["phase"] == "pretrain" for record in model.history_)
    1
    """

    def on_phase(self, phase: str, epochs: int) -> None:
        """Called when a phase begins.

        Parameters
        ----------
        phase : {"pretrain", "start", "warm-up", "alternate"}
            Name of the phase.
        epochs : int
            Maximum number of epochs; 0 for "start", the search for the initial clusters.
        """

    def on_resume(self, phase: str, done: int) -> None:
        """Called after `on_phase` if the phase resumes with `done` epochs already complete."""

    def on_epoch(self, record: Record) -> bool | None:
        """Called after every epoch; a return value of True ends the phase."""

    def on_end(self) -> None:
        """Training is over, or was broken off."""


class ProgressBars(Callback):
    """A progress bar for each phase, on standard error."""

    def __init__(self, label: str = "") -> None:
        self.label = label
        self._bars: Progress | None = None

    def on_phase(self, phase: str, epochs: int) -> None:
        """Start the phase's bar."""
        if self._bars is None:
            self._bars = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[note]}"),
                console=Console(stderr=True),
            )
            self._bars.start()
        self._close_bar()
        description = f"{self.label} {phase}".strip()
        self._bars.add_task(f"{description:<18}", total=epochs or None, note="")

    def on_resume(self, phase: str, done: int) -> None:
        """Show what was done before."""
        if self._bars is not None:
            self._bars.update(self._bars.tasks[-1].id, completed=done)

    def on_epoch(self, record: Record) -> None:
        """Move the bar on."""
        if self._bars is not None:
            note = f"loss {record.loss:.4f}"
            if record.mi is not None:
                note += f"  I(X;K) {record.mi:.3f}"
            self._bars.update(self._bars.tasks[-1].id, advance=1, note=note)

    def on_end(self) -> None:
        """Leave the bars on the screen; where an error broke training off, as they stood."""
        if self._bars is not None:
            if sys.exc_info()[0] is None:
                self._close_bar()
            self._bars.stop()
            self._bars = None

    def _close_bar(self) -> None:
        """A phase that stopped early is complete all the same."""
        if self._bars is not None and self._bars.tasks:
            bar = self._bars.tasks[-1]
            done = bar.completed or 1
            self._bars.update(bar.id, completed=done, total=done)
