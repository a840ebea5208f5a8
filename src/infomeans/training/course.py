"""The course of a training: its epochs, one after the other, recorded, saved and resumed."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from infomeans.errors import DivergenceError, InputError
from infomeans.processes import ALONE, Processes
from infomeans.randomness import Draws, seed_for
from infomeans.training.history import Record
from infomeans.training.phases import HALVINGS, PHASES, Phase

if TYPE_CHECKING:
    from torch import nn

    from infomeans.training.callbacks import Callback
    from infomeans.training.checkpoint import Checkpoint


class Course:
    """Runs the epochs of a training, and goes on where an interrupted one was.

    Parameters
    ----------
    network : nn.Module
        The network. An interrupted training restores its weights.
    seed : int
        An interrupted training restores its own.
    plan : callable
        Returns the maximum number of epochs of each phase.
    processes : Processes
        The processes that train together.
    callbacks : sequence of Callback
    checkpoint : Checkpoint, optional
        Where the state is kept after every epoch.

    Attributes
    ----------
    history : list of Record
    saved : dict or None
        The state of an interrupted training, until the phase in which it stopped is resumed.
    lasting : dict or None
        What was found before the warm-up and does not change any more, for checkpoints.
    begun : bool
        Whether an epoch has begun.
    """

    def __init__(
        self,
        network: nn.Module,
        seed: int,
        plan: Callable[[], Mapping[str, int]],
        *,
        processes: Processes = ALONE,
        callbacks: Sequence[Callback] = (),
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.network = network
        self.seed = seed
        self.processes = processes
        self.callbacks = callbacks if processes.first else ()
        self.checkpoint = checkpoint
        self.history: list[Record] = []
        self.lasting: dict[str, Any] | None = None
        self.begun = False
        self._plan = plan
        self._announced = False
        self.saved = processes.made_once(checkpoint.load) if checkpoint else None
        if self.saved is not None:
            self.seed = self.saved["seed"]
            network.load_state_dict(self.saved["network"])
            self.history = [Record.from_dict(record) for record in self.saved["history"]]

    @property
    def found(self) -> Mapping[str, Any] | None:
        """What an interrupted training had found before its warm-up."""
        return None if self.saved is None else self.saved["found"]

    def announce(self, phase: str, epochs: int = 0, done: int = 0) -> None:
        """Tell the callbacks that a phase begins, or goes on."""
        first, self._announced = not self._announced, True
        for callback in self.callbacks:
            if first:
                callback.on_plan(dict(self._plan()))
            callback.on_phase(phase, epochs)
            if done:
                callback.on_resume(phase, done)

    def run(self, phase: Phase, train: Callable[[Record], bool]) -> None:
        """A phase: train epoch after epoch, until that says it is done or a callback does."""
        first = self._resume(phase)
        if first >= phase.epochs:
            return
        self.announce(phase.name, phase.epochs, first)
        phase.loop.on_step = self._stepped
        for epoch in range(first, phase.epochs):
            began = time.perf_counter()
            record, done = self._epoch(phase, epoch, train)
            record.seconds = time.perf_counter() - began
            self.history.append(record)
            stop = [callback.on_epoch(record) for callback in self.callbacks]
            over = done or self.processes.any(any(stop))
            self._save(phase, phase.epochs if over else epoch + 1)
            if over:
                break

    def _epoch(
        self, phase: Phase, epoch: int, train: Callable[[Record], bool]
    ) -> tuple[Record, bool]:
        """An epoch, and whether the phase is done.

        If a number is NaN or infinite, the epoch is undone and begun again, with half the learning
        rate and other noise. For that, network, method and optimiser are copied before every epoch.
        """
        self.begun = True
        parts = [part for part in (self.network, phase.method, phase.loop) if part is not None]
        before = [copy.deepcopy(part.state_dict()) for part in parts]
        for again in count():
            # Processes draw different samples and different noise.
            place = [PHASES.index(phase.name), epoch]
            place += [] if self.processes.alone else [self.processes.rank]
            seed = seed_for(self.seed, *place, *([again] if again else []))
            record = Record(phase.name, epoch, halvings=again or None)
            try:
                with Draws(seed):
                    return record, train(record)
            except DivergenceError as problem:
                for part, state in zip(parts, before, strict=True):
                    part.load_state_dict(copy.deepcopy(state))
                if phase.loop.halvings + again == HALVINGS:
                    raise InputError(
                        f"{problem} The phase {phase.name} has already halved its learning rate "
                        f"{HALVINGS} times."
                    ) from problem
                for _ in range(again + 1):
                    phase.loop.halve()
        raise AssertionError

    def _stepped(self, done: int, steps: int) -> None:
        for callback in self.callbacks:
            callback.on_step(done, steps)

    def _resume(self, phase: Phase) -> int:
        """The epoch that a phase begins with: its first, unless it was trained before."""
        if self.saved is None:
            return 0
        if self.saved["phase"] != phase.name:
            return phase.epochs
        saved, self.saved = self.saved, None
        phase.load_state_dict(saved)
        return int(saved["next"])

    def _save(self, phase: Phase, following: int) -> None:
        if self.checkpoint is not None:
            state: dict[str, Any] = {
                **phase.state_dict(),
                "phase": phase.name,
                "next": following,
                "seed": self.seed,
                "network": self.network.state_dict(),
                "history": [record.as_dict() for record in self.history],
            }
            if self.processes.first:
                self.checkpoint.save(state, self.lasting)
