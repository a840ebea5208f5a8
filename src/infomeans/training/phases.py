"""The phases of the training: the loop over epochs, the state, and the best epoch."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from torch.optim import Adam
from torch.optim.lr_scheduler import OneCycleLR

from infomeans.errors import DivergenceError
from infomeans.methods.batch import Batch
from infomeans.model.model import evaluating
from infomeans.processes import ALONE, Processes
from infomeans.randomness import undrawn
from infomeans.training.checkpoint import restore_optimizer

if TYPE_CHECKING:
    from lightning_fabric import Fabric
    from torch import Tensor, nn
    from torch.optim import Optimizer
    from torch.optim.lr_scheduler import LRScheduler

    from infomeans.data.rows import Feed
    from infomeans.methods.base import Method
    from infomeans.methods.state import SampleState
    from infomeans.training.history import Record
    from infomeans.training.settings import Settings
    from infomeans.training.step import TrainingStep


PHASES = ("pretrain", "warm-up", "alternate")
RELEASED = 256
"""Number of steps after which state in files is taken out of memory."""

RISE = 0.3
"""Share of a one-cycle schedule in which the learning rate rises."""

HALVINGS = 5
"""How often a phase may halve its learning rate before training stops."""

RATES = ("lr", "initial_lr", "max_lr", "min_lr")
"""The learning rates of a group of parameters; a schedule has its own."""


class Loop:
    """The optimiser of one phase, and its epochs.

    Parameters
    ----------
    fabric : Fabric
        Device and precision.
    settings : Settings
        Settings of the training.
    step : TrainingStep
        Network and method.
    rate : float
        Learning rate at the peak of the schedule.
    total_steps : int
        Number of steps of the schedule; with 0 the learning rate is constant.
    processes : Processes
        The processes that train together.

    Attributes
    ----------
    on_step : callable or None
        Called after every step with the number of steps done in the epoch and their total.
    halvings : int
        How often the learning rate was halved because the training diverged.
    """

    def __init__(
        self,
        fabric: Fabric,
        settings: Settings,
        step: TrainingStep,
        rate: float,
        total_steps: int = 0,
        processes: Processes = ALONE,
    ) -> None:
        self.fabric = fabric
        self.processes = processes
        self.settings = settings
        self.method = step.method
        self.total_steps = total_steps
        self.on_step: Callable[[int, int], None] | None = None
        self.halvings = 0
        groups = _parameter_groups(step)
        self.optimizer: Optimizer | None = None
        self.schedule: LRScheduler | None = None
        if any(group["params"] for group in groups):
            fused = fabric.device.type in ("cpu", "cuda")
            optimizer = Adam(groups, rate, fused=fused)
            if settings.schedule == "one-cycle" and total_steps > 1:
                rates = [group["lr"] for group in optimizer.param_groups]
                self.schedule = OneCycleLR(
                    optimizer, rates, total_steps=total_steps, pct_start=RISE
                )
            self.step, self.optimizer = fabric.setup(step, optimizer)
        else:
            # Without gradients there is nothing that processes would have to average.
            self.step = fabric.setup(step) if processes.alone else step

    def epoch(
        self,
        record: Record,
        x: Feed,
        state: SampleState | None = None,
        *,
        targets: bool = True,
        samples: Tensor | None = None,
    ) -> None:
        """Train on every sample once, and write the mean terms of the loss into the record.

        Parameters
        ----------
        record : Record
            The record to fill in.
        x : Feed
            The samples.
        state : SampleState, optional
            State of the samples; None in pretraining.
        targets : bool
            Whether the loss uses the targets of the state.
        samples : (m,) integer tensor, optional
            Positions of the samples to train on; by default all.

        Raises
        ------
        DivergenceError
            If the loss, a parameter or a moment of the optimiser is NaN or infinite in the end. On
            a CPU the loss of every step is looked at. Other devices would have to wait for it, and
            several processes would have to agree.
        """
        self.step.train()
        watched = self.processes.alone and self.fabric.device.type == "cpu"
        sums: dict[str, Tensor] = {}
        order = x.order(samples).to(self.fabric.device)
        n_samples = self.processes.count_of(len(order))
        # No process may have an empty batch.
        steps = min(self.settings.batches(n_samples), self.processes.least(len(order)))
        sizes = _even_sizes(len(order), max(steps, 1))
        shares, end = self._shares(sizes), 0
        for done, (size, share) in enumerate(zip(sizes, shares, strict=True), start=1):
            index, end = order[end : end + size], end + size
            known = () if state is None else self._known(x, state, index, targets)
            terms, statistics = self.step(x.batch(index), *known)
            loss = sum(terms.values())
            if watched:
                check_finite(loss.item(), "loss", record, self.settings)
            self._descend(loss, share)
            if self.method is not None and state is not None:
                self.method.after_step(self.processes.total(statistics))
            for name, term in terms.items():
                sums[name] = sums.get(name, 0) + term.detach() * len(index)
            if self.on_step is not None:
                self.on_step(done, len(sizes))
            if state is not None and done % RELEASED == 0:
                state.shelf.release()
        # Statistics of a BatchNorm differ between processes; those of the first are kept.
        self.processes.same(self.step.buffers())
        sums = self.processes.total(sums)
        record.add_terms({name: value.item() / n_samples for name, value in sums.items()})
        check_finite(record.loss, "loss", record, self.settings)
        if self.processes.any(not self._is_finite()):
            check_finite(math.nan, "norm of the weights", record, self.settings)

    def halve(self) -> None:
        """Halve the learning rate, now and in the rest of the schedule."""
        self.halvings += 1
        for group in self.optimizer.param_groups if self.optimizer else ():
            group.update({name: group[name] / 2 for name in RATES if name in group})

    def _is_finite(self) -> bool:
        """Whether all parameters and all moments of the optimiser are finite."""
        if self.optimizer is None:
            return True
        moments = (value for one in self.optimizer.state.values() for value in one.values())
        groups = (group["params"] for group in self.optimizer.param_groups)
        tensors = [*(p.detach() for params in groups for p in params), *moments]
        floats = [t for t in tensors if isinstance(t, torch.Tensor) and t.is_floating_point()]
        return bool(torch.stack([t.isfinite().all().to(floats[0].device) for t in floats]).all())

    def _shares(self, sizes: Sequence[int]) -> list[float]:
        """The weight of this process in every batch: its share, times the number of processes.

        A batch is spread over all processes. Each has the mean loss of its part, and gradients are
        averaged over the processes. With these weights that is the gradient of the whole batch.
        """
        if self.processes.alone:
            return [1.0] * len(sizes)
        own = torch.tensor(sizes)
        whole = self.processes.total({"own": own})["own"]
        return (own * self.processes.count / whole).tolist()

    def _known(self, x: Feed, state: SampleState, index: Tensor, targets: bool) -> tuple[Any, ...]:
        """The state of a batch: targets, positions, columns, and a neighbour of each sample."""
        neighbors = None
        if self.method is not None and self.method.wants_neighbors and state.neighbors is not None:
            ids, weights = (part[index] for part in state.neighbors)
            chosen = ids.gather(1, torch.multinomial(weights, 1)).squeeze(1)
            neighbors = x.anywhere(chosen.long())
        q = state.targets[index] if targets else None
        places = index + state.span[0]
        return q, places, state.column_rows(index), neighbors

    @property
    def rises(self) -> bool:
        """Whether the learning rate still rises; small changes then do not mean convergence."""
        schedule = self.schedule
        return schedule is not None and schedule.last_epoch < RISE * self.total_steps

    def state_dict(self) -> dict[str, Any]:
        """The state needed to resume."""
        return {
            "optimizer": self.optimizer.state_dict() if self.optimizer else None,
            "schedule": self.schedule.state_dict() if self.schedule else None,
            "precision": self.fabric.strategy.precision.state_dict(),
            "halvings": self.halvings,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume from a state."""
        if self.optimizer:
            restore_optimizer(self.optimizer, state["optimizer"])
        if self.schedule:
            self.schedule.load_state_dict(state["schedule"])
        self.fabric.strategy.precision.load_state_dict(state["precision"])
        self.halvings = state["halvings"]

    def _descend(self, loss: Tensor, share: float) -> None:
        if self.optimizer is None:
            return
        with undrawn():
            self.optimizer.zero_grad()
            self.fabric.backward(loss if share == 1.0 else share * loss)
            self.optimizer.step()
            if self.schedule is not None:
                self.schedule.step()


@dataclass
class Phase:
    """The state of a phase that changes from epoch to epoch, apart from the network."""

    name: str
    epochs: int
    loop: Loop
    best: Best | None = None
    method: Method | None = None
    samples: SampleState | None = None

    def state_dict(self) -> dict[str, Any]:
        """The state needed to resume."""
        return {
            "loop": self.loop.state_dict(),
            "best": vars(self.best) if self.best else None,
            "method": self.method.state_dict() if self.method else None,
            "samples": self.samples.state_dict() if self.samples else None,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume from a state."""
        self.loop.load_state_dict(state["loop"])
        if self.best:
            vars(self.best).update(state["best"])
        if self.method:
            self.method.load_state_dict(state["method"])
        if self.samples:
            self.samples.load_state_dict(state["samples"])


class Best:
    """The highest score of a phase so far, with its epoch and state.

    Attributes
    ----------
    score : float
        The highest score.
    last : float
        The score of the last epoch.
    epoch : int or None
        The epoch with that score.
    waited : int
        Number of epochs since then.
    state : dict of tensors or None
        The state after that epoch, if it is kept.
    """

    def __init__(self) -> None:
        self.score = self.last = float("-inf")
        self.epoch: int | None = None
        self.waited = 0
        self.state: dict[str, Tensor] | None = None

    def offer(
        self, score: float, epoch: int, state: Callable[[], dict[str, Tensor]] | None = None
    ) -> None:
        """Compare an epoch's score; if it is the highest, keep a copy of the state."""
        self.last = score
        self.waited = 0 if score > self.score else self.waited + 1
        if score < self.score:
            return
        # Of equal epochs the later one has learned more.
        self.score, self.epoch = score, epoch
        if state is not None:
            self.state = copy.deepcopy(state())


def _even_sizes(n: int, parts: int) -> list[int]:
    """Sizes of parts of n samples that differ by one at most, the larger ones first."""
    size, larger = divmod(n, parts)
    return [size + 1] * larger + [size] * (parts - larger)


def _parameter_groups(step: TrainingStep) -> list[dict[str, Any]]:
    """Parameter groups for the optimiser; a method may define its own."""
    if step.method is not None:
        return step.method.parameter_groups(cast("nn.Module", step.network))
    return [{"params": [p for p in step.parameters() if p.requires_grad]}]


def hold_out(n: int, share: float, *, seed: int) -> tuple[Tensor, Tensor]:
    """Positions of the samples to train on, and of those held out for early stopping."""
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    kept = n - int(share * n)
    return order[:kept], order[kept:]


@torch.no_grad()
def mean_loss(
    fabric: Fabric,
    step: TrainingStep,
    x: Feed,
    index: Sequence[Tensor],
    processes: Processes = ALONE,
) -> float:
    """Mean loss of pretraining over some samples, given in batches, without noise."""
    total = 0.0
    with evaluating(step), fabric.autocast():
        for part in map(x.batch, filter(len, index)):
            terms = step.terms(Batch(step.network, part, drop=False))
            total += float(sum(terms.values())) * len(part)
    sums = processes.total({"loss": torch.tensor(total, dtype=torch.float64)})
    return sums["loss"].item() / processes.count_of(sum(map(len, index)))


def check_finite(value: float | None, name: str, record: Record, settings: Settings) -> None:
    """Raise DivergenceError if a value is NaN or infinite."""
    if value is None or math.isfinite(value):
        return
    remedy = (
        f"Pretrain with Autoencoder(learning_rate=...) and a rate below "
        f"{settings.pretrain_learning_rate:g}."
        if record.phase == PHASES[0]
        else f"A learning_rate below {settings.learning_rate:g} may help."
    )
    raise DivergenceError(
        f"Training diverged: in epoch {record.epoch + 1} of the phase {record.phase} "
        f"the {name} is {value}. {remedy}"
    )
