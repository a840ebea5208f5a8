"""Looking on while a model trains."""

from __future__ import annotations

from infomeans.training.history import Record


class Callback:
    """Override what you need; every method does nothing by itself.

    An estimator takes a list of callbacks as its parameter `callbacks`.

    Examples
    --------
    Pretraining ends as soon as the reconstruction is good enough:

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
            The most epochs of each phase, in their order; see `on_phase`. Of a training that is
            resumed, phases that are complete already are among them.
        """

    def on_phase(self, phase: str, epochs: int) -> None:
        """A phase begins.

        Parameters
        ----------
        phase : {"pretrain", "start", "warm-up", "alternate"}
        epochs : int
            The most epochs it may have; 0 for "start", the search for the initial clusters.
        """

    def on_resume(self, phase: str, done: int) -> None:
        """A phase that has just begun goes on after so many epochs from before an interruption."""

    def on_step(self, done: int, steps: int) -> None:
        """So many steps of an epoch's steps are done."""

    def on_epoch(self, record: Record) -> bool | None:
        """An epoch is over; a return value of True ends its phase."""

    def on_end(self) -> None:
        """Training is over, or was broken off."""
