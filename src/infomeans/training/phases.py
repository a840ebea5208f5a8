"""What a phase of the training consists of: its loop, its state, and what was best in it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.optim import Adam
from torch.optim.lr_scheduler import OneCycleLR

from infomeans.errors import InputError
from infomeans.training.checkpoint import restore_optimizer

if TYPE_CHECKING:
    from lightning_fabric import Fabric
    from torch import Tensor
    from torch.optim import Optimizer
    from torch.optim.lr_scheduler import LRScheduler

    from infomeans.methods.base import Embedded, Method
    from infomeans.training.history import Record
    from infomeans.training.settings import Settings
    from infomeans.training.step import TrainingStep


PHASES = ("pretrain", "warm-up", "alternate")
RISE = 0.3
"""The share of a one-cycle schedule in which the learning rate rises."""


class Loop:
    """The optimiser of one phase, and its epochs.

    Parameters
    ----------
    fabric : Fabric
    settings : Settings
    step : TrainingStep
    total_steps : int
        Of the schedule; with 0 the learning rate is constant.
    """

    def __init__(
        self, fabric: Fabric, settings: Settings, step: TrainingStep, total_steps: int = 0
    ) -> None:
        self.fabric = fabric
        self.settings = settings
        self.method = step.method
        self.total_steps = total_steps
        rate = settings.learning_rate if step.method else settings.pretrain_learning_rate
        parameters = [p for p in step.parameters() if p.requires_grad]
        self.optimizer: Optimizer | None = None
        self.schedule: LRScheduler | None = None
        if parameters:
            fused = fabric.device.type in ("cpu", "cuda")
            optimizer = Adam(parameters, rate, fused=fused)
            if settings.schedule == "one-cycle" and total_steps > 1:
                self.schedule = OneCycleLR(optimizer, rate, total_steps=total_steps, pct_start=RISE)
            self.step, self.optimizer = fabric.setup(step, optimizer)
        else:
            self.step = fabric.setup(step)

    def epoch(self, record: Record, x: Tensor, q: Tensor | None = None) -> None:
        """Train on every sample once, and write the mean terms of the loss into the record."""
        self.step.train()
        sums: dict[str, Tensor] = {}
        order = torch.randperm(len(x)).to(x.device)
        for index in order.tensor_split(self.settings.batches(len(x))):
            terms, statistics = self.step(x[index], None if q is None else q[index])
            self._descend(sum(terms.values()))
            if self.method is not None:
                self.method.after_step(statistics)
            for name, term in terms.items():
                sums[name] = sums.get(name, 0) + term.detach() * len(index)
        means = {name: value.item() / len(x) for name, value in sums.items()}
        record.loss = sum(means.values())
        record.reconstruction = means.get("reconstruction")
        record.clustering = means.get("clustering")
        check_finite(record.loss, "loss", record, self.settings)

    @property
    def rises(self) -> bool:
        """Whether the learning rate still rises, so that little may change by lack of it alone."""
        schedule = self.schedule
        return schedule is not None and schedule.last_epoch < RISE * self.total_steps

    def state_dict(self) -> dict[str, Any]:
        """What it takes to go on."""
        return {
            "optimizer": self.optimizer.state_dict() if self.optimizer else None,
            "schedule": self.schedule.state_dict() if self.schedule else None,
            "precision": self.fabric.strategy.precision.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        if self.optimizer:
            restore_optimizer(self.optimizer, state["optimizer"])
        if self.schedule:
            self.schedule.load_state_dict(state["schedule"])
        self.fabric.strategy.precision.load_state_dict(state["precision"])

    def _descend(self, loss: Tensor) -> None:
        if self.optimizer is None:
            return
        self.optimizer.zero_grad()
        self.fabric.backward(loss)
        self.optimizer.step()
        if self.schedule is not None:
            self.schedule.step()


@dataclass
class Phase:
    """What a phase changes from epoch to epoch, beyond the network."""

    name: str
    epochs: int
    loop: Loop
    best: Best | None = None
    method: Method | None = None
    data: Embedded | None = None
    initial: Tensor | None = None

    def state_dict(self) -> dict[str, Any]:
        """What it takes to go on."""
        return {
            "loop": self.loop.state_dict(),
            "best": vars(self.best) if self.best else None,
            "method": self.method.state_dict() if self.method else None,
            "q": self.data.q if self.data else None,
            "initial": self.initial,
            "neighbors": self.data.neighbors if self.data else None,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.loop.load_state_dict(state["loop"])
        if self.best:
            vars(self.best).update(state["best"])
        if self.method and self.data:
            self.method.load_state_dict(state["method"])
            self.data.q = state["q"].to(self.data.q)


class Best:
    """The highest score of a phase so far, and what belongs to it.

    Attributes
    ----------
    score : float
    epoch : int or None
        That had it.
    waited : int
        Epochs since then.
    state : dict of tensors or None
        As it was then, if it is kept.
    """

    def __init__(self) -> None:
        self.score = float("-inf")
        self.epoch: int | None = None
        self.waited = 0
        self.state: dict[str, Tensor] | None = None

    def offer(
        self, score: float, epoch: int, state: Callable[[], dict[str, Tensor]] | None = None
    ) -> None:
        """Take in an epoch's score; if it is the highest, keep a copy of the state."""
        if score <= self.score:
            self.waited += 1
            return
        self.score, self.epoch, self.waited = score, epoch, 0
        if state is not None:
            self.state = copy.deepcopy(state())


def check_finite(value: float | None, name: str, record: Record, settings: Settings) -> None:
    """Refuse to go on with what is no number."""
    if value is None or math.isfinite(value):
        return
    remedy = (
        f"Autoencoder(learning_rate=...) takes a lower one than "
        f"{settings.pretrain_learning_rate:g}."
        if record.phase == PHASES[0]
        else f"A lower learning_rate than {settings.learning_rate:g} may help."
    )
    raise InputError(
        f"The training diverged: in epoch {record.epoch + 1} of the phase {record.phase} "
        f"the {name} is {value}. {remedy}"
    )
