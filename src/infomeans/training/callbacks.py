"""Callbacks during training."""

from __future__ import annotations

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

    def on_plan(self, phases: dict[str, int]) -> None:
        """Training begins.

        Parameters
        ----------
        phases : dict of str to int
            Maximum number of epochs of each phase, in order; see `on_phase`. If training resumes,
            this includes phases that are already complete.
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

    def on_step(self, done: int, steps: int) -> None:
        """Called after every step of an epoch, with the number of steps done and their total."""

    def on_epoch(self, record: Record) -> bool | None:
        """Called after every epoch; a return value of True ends the phase."""

    def on_end(self) -> None:
        """Called when training ends, or is interrupted."""
