"""What a phase of the training consists of: its loop, its state, and what was best in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.optim import Adam
from torch.optim.lr_scheduler import OneCycleLR

from infomeans.training.checkpoint import restore_optimizer

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer
    from torch.optim.lr_scheduler import LRScheduler

    from infomeans.methods.base import Embedded, Method
    from infomeans.training.history import Record
    from infomeans.training.step import TrainingStep
    from infomeans.training.trainer import Trainer


RISE = 0.3
"""The share of a one-cycle schedule in which the learning rate rises."""


class Loop:
    """The optimiser of one phase, and its epochs."""

    def __init__(self, trainer: Trainer, step: TrainingStep, total_steps: int = 0) -> None:
        self.trainer = trainer
        self.method = step.method
        self.total_steps = total_steps
        settings = trainer.settings
        rate = settings.learning_rate if step.method else settings.pretrain_learning_rate
        parameters = [p for p in step.parameters() if p.requires_grad]
        self.optimizer: Optimizer | None = None
        self.schedule: LRScheduler | None = None
        if parameters:
            fused = trainer.fabric.device.type in ("cpu", "cuda")
            optimizer = Adam(parameters, rate, fused=fused)
            if settings.schedule == "one-cycle" and total_steps > 1:
                self.schedule = OneCycleLR(optimizer, rate, total_steps=total_steps, pct_start=RISE)
            self.step, self.optimizer = trainer.fabric.setup(step, optimizer)
        else:
            self.step = trainer.fabric.setup(step)

    def epoch(self, record: Record, x: Tensor, q: Tensor | None = None) -> None:
        """Train on every sample once, and write the mean terms of the loss into the record."""
        self.step.train()
        sums: dict[str, Tensor] = {}
        batches = torch.randperm(len(x)).to(x.device).tensor_split(self.trainer.steps(x))
        for index in batches:
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
        self.trainer.check_finite(record.loss, "loss", record)

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
            "precision": self.trainer.fabric.strategy.precision.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        if self.optimizer:
            restore_optimizer(self.optimizer, state["optimizer"])
        if self.schedule:
            self.schedule.load_state_dict(state["schedule"])
        self.trainer.fabric.strategy.precision.load_state_dict(state["precision"])

    def _descend(self, loss: Tensor) -> None:
        if self.optimizer is None:
            return
        self.optimizer.zero_grad()
        self.trainer.fabric.backward(loss)
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
    """Says when a score has stood still for too long, and keeps what belongs to the best."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.score = float("-inf")
        self.waited = 0
        self.state: dict[str, Tensor] | None = None
        self.epoch: int | None = None

    def stands(self, score: float) -> bool:
        """Take a score in; True if none has been better for too long."""
        self.waited = 0 if score > self.score else self.waited + 1
        self.score = max(self.score, score)
        return self.waited >= self.patience
