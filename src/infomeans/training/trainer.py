"""The loop: pretrain the network, warm up on the initial clusters, alternate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import torch
import torch.nn.functional as F
from lightning_fabric import Fabric
from torch import Tensor, nn

from infomeans import functional as IF
from infomeans.errors import InputError
from infomeans.methods.base import Embedded, Method, Neighbors, Network
from infomeans.training.augmentation import VOTES
from infomeans.training.callbacks import Callback
from infomeans.training.checkpoint import Checkpoint
from infomeans.training.history import Record, measure
from infomeans.training.phases import PHASES, Best, Loop, Phase, check_finite
from infomeans.training.reproducible import isolated, seed_for
from infomeans.training.settings import Settings
from infomeans.training.step import Augment, TrainingStep

FindStart = Callable[[Tensor], tuple[Tensor, Neighbors | None]]

EMBED_BATCH = 1024
LOST = 0.01
"""The share of log K by which I(X;K) may end below its highest."""

STRAYED = 0.15
"""The share of a cluster's mean size that may have left the initial clusters after the warm-up."""

SETTLED, UNSETTLED = 200, 0.002
"""Before so many steps of the warm-up, no larger share of all samples may have left them."""


class Trainer:
    """Trains a network, and then a network and a method together.

    It knows what methods and networks have in common, and none of them by name.

    Parameters
    ----------
    fabric : Fabric
        Brings device and precision.
    network : Network
        Trained in place.
    settings : Settings
    seed : int
    augment : callable, optional
        Changes the samples that the noisy pass sees, which beside a method drops nothing then.
    callbacks : sequence of Callback
    checkpoint : Checkpoint, optional
        Where the state is kept after every epoch. If it holds one already, training goes on from
        there, to the same end.

    Attributes
    ----------
    history : list of Record
    """

    def __init__(
        self,
        fabric: Fabric,
        network: Network,
        settings: Settings,
        *,
        seed: int,
        augment: Augment | None = None,
        callbacks: Sequence[Callback] = (),
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.fabric = fabric
        self.network = network
        self.settings = settings
        self.seed = seed
        self.augment = augment
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.history: list[Record] = []
        module = cast(nn.Module, network).to(fabric.device)
        # Convolutions on a CPU are faster with the channels last; to others it means nothing.
        module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._saved = checkpoint.load() if checkpoint else None
        if self._saved is not None:
            self.seed = self._saved["seed"]
            module.load_state_dict(self._saved["network"])
            self.history = [Record(**record) for record in self._saved["history"]]

    def pretrain(self, x: Tensor) -> None:
        """Train the reconstruction alone, on samples (n, ...) that lie on the device."""
        epochs = self.settings.pretrain_epochs
        if not self.network.reconstructs or epochs == 0:
            return
        x, held_out = self._hold_out(x)
        loop = self._loop(self._step(), epochs * self.settings.batches(len(x)))
        best, module = Best(), cast(nn.Module, self.network)
        phase = Phase("pretrain", epochs, loop, best)

        def train(record: Record) -> bool:
            loop.epoch(record, x)
            if len(held_out) == 0:
                return False
            best.offer(-self._held_out_loss(held_out), record.epoch, module.state_dict)
            return best.waited >= self.settings.pretrain_patience

        self._run(phase, train)
        if best.state is not None:
            module.load_state_dict(best.state)

    def embed(self, x: Tensor) -> Tensor:
        """The clean embedding of all samples."""
        z = embed(self.network, x, self.fabric)
        if not z.isfinite().all():
            raise InputError(
                "The training diverged: the network gives embeddings that are no numbers. A lower "
                "learning_rate may help."
                if self.history
                else "The network gives embeddings that are no numbers, before any training."
            )
        return z

    def cluster(self, x: Tensor, method: Method, start: FindStart) -> Tensor:
        """Train network and method together, from hard initial clusters.

        Parameters
        ----------
        x : (n, ...) tensor
            On the device.
        method : Method
        start : callable
            Gives the initial clusters (n,) for the embedding (n, d) of the pretrained network,
            and the neighbours whose votes count in the targets where samples are augmented, if
            there are any.

        Returns
        -------
        (n,) tensor
            The initial clusters.
        """
        method.to(self.fabric.device)
        z = self.embed(x)
        initial, neighbors = self._initial(z, start)
        targets = F.one_hot(initial.to(z.device), method.n_clusters).to(x)
        data = Embedded(z, targets, neighbors)
        method.start(data)
        self._warm_up(x, method, data, initial)
        self._alternate(x, method, data, initial)
        method.finish(data)
        return initial

    def _initial(self, z: Tensor, start: FindStart) -> tuple[Tensor, Neighbors | None]:
        """The start, unless it was found before the training was broken off."""
        if self._saved is None or self._saved["initial"] is None:
            for callback in self.callbacks:
                callback.on_phase("start", 0)
            initial, neighbors = start(z)
        else:
            initial, neighbors = self._saved["initial"], self._saved.get("neighbors")
        if neighbors is None:
            return initial, None
        return initial, Neighbors(*(part.to(z.device) for part in neighbors))

    def _warm_up(self, x: Tensor, method: Method, data: Embedded, initial: Tensor) -> None:
        """Train against the hard initial clusters until the agreement with them stops rising."""
        loop = self._loop(self._step(method))
        if loop.optimizer is None:
            return
        best = Best()
        phase = Phase("warm-up", self.settings.warmup_epochs, loop, best, method, data, initial)
        # With many clusters a small share of the samples can be all of one.
        enough = max(self.settings.warmup_agreement, 1 - STRAYED / method.n_clusters)
        # What has not been learned after a few steps may yet be.
        settled = -(-SETTLED // self.settings.batches(len(x)))

        def train(record: Record) -> bool:
            loop.epoch(record, x, data.q)
            data.z = self.embed(x)
            method.warm(data)
            self._observe(record, method, data)
            labels = data.map(lambda z: method.log_posteriors(z).argmax(dim=1)).cpu()
            agreement = (labels == initial.cpu()).double().mean().item()
            best.offer(agreement, record.epoch)
            wanted = enough if record.epoch + 1 >= settled else max(enough, 1 - UNSETTLED)
            return agreement >= wanted or best.waited >= self.settings.warmup_patience

        self._run(phase, train)

    def _alternate(self, x: Tensor, method: Method, data: Embedded, initial: Tensor) -> None:
        """Alternate targets and training until the targets stop changing.

        Training can lose a cluster. Where I(X;K) should not fall and has fallen in the end, the
        training goes back to where it was highest.
        """
        epochs = self.settings.epochs
        step = self._step(method)
        loop = self._loop(step, epochs * self.settings.batches(len(x)))
        best = Best()
        phase = Phase("alternate", epochs, loop, best, method, data, initial)
        self._set_targets(x, method, data)

        def train(record: Record) -> bool:
            loop.epoch(record, x, data.q if method.has_targets else None)
            data.z, before = self.embed(x), data.q
            method.follow(data)
            self._observe(record, method, data)
            if method.gains_information and record.mi is not None:
                best.offer(record.mi, record.epoch, step.state_dict)
            trains_on = record.epoch + 1 < epochs
            refilled = method.refill(data) if record.empty and trains_on else 0
            record.vote_weight = self._set_targets(x, method, data)
            record.delta_q = F.mse_loss(data.q, before).item()
            unsettled = refilled or (method.soft and loop.rises)
            return record.delta_q < method.tolerance and not unsettled

        self._run(phase, train)
        if best.state is not None:
            mi = self.history[-1].mi
            assert mi is not None
            if best.score - mi > LOST * math.log(method.n_clusters):
                self.history[-1].back_to = best.epoch
                step.load_state_dict(best.state)
                data.z = self.embed(x)
                method.refresh(data)

    @torch.no_grad()
    def _set_targets(self, x: Tensor, method: Method, data: Embedded) -> float | None:
        """New targets, by the method and then by the neighbours; returns the weight of these."""
        method.refresh(data)
        if self.augment is None or data.neighbors is None or not method.has_targets:
            return None
        with isolated():
            # The same samples in the same views every time: what changes is the network.
            torch.manual_seed(seed_for(self.seed, len(PHASES) + 1))
            polled = torch.randperm(len(x))[: VOTES["polled"]].to(x.device)
            parts = polled.split(EMBED_BATCH)
            seen = torch.cat([method(self.embed(self.augment(x[part]))) for part in parts])
        votes = data.votes(method, doubt=VOTES["doubt"])
        weight = IF.vote_weight(data.q[polled], votes[polled], seen)
        data.q = IF.voted_targets(data.q, votes, weight)
        return weight

    def _observe(self, record: Record, method: Method, data: Embedded) -> None:
        """Write down what the clean pass shows."""
        for name, value in measure(method, data).items():
            setattr(record, name, value)
        check_finite(record.mi, "mutual information", record, self.settings)

    def _run(self, phase: Phase, train: Callable[[Record], bool]) -> None:
        """A phase: train epoch after epoch, until that says it is done or a callback does."""
        first = self._resume(phase)
        if first >= phase.epochs:
            return
        for callback in self.callbacks:
            callback.on_phase(phase.name, phase.epochs - first)
        for epoch in range(first, phase.epochs):
            torch.manual_seed(seed_for(self.seed, PHASES.index(phase.name), epoch))
            record, began = Record(phase.name, epoch), time.perf_counter()
            done = train(record)
            record.seconds = time.perf_counter() - began
            self.history.append(record)
            stop = [callback.on_epoch(record) for callback in self.callbacks]
            over = done or any(stop)
            self._save(phase, phase.epochs if over else epoch + 1)
            if over:
                break

    def _resume(self, phase: Phase) -> int:
        """The epoch that a phase begins with: its first, unless it was trained before."""
        if self._saved is None:
            return 0
        if self._saved["phase"] != phase.name:
            return phase.epochs
        saved, self._saved = self._saved, None
        phase.load_state_dict(saved)
        return int(saved["next"])

    def _save(self, phase: Phase, following: int) -> None:
        if self.checkpoint is not None:
            self.checkpoint.save(
                {
                    **phase.state_dict(),
                    "phase": phase.name,
                    "next": following,
                    "seed": self.seed,
                    "network": cast(nn.Module, self.network).state_dict(),
                    "history": [record.as_dict() for record in self.history],
                }
            )

    def _step(self, method: Method | None = None) -> TrainingStep:
        return TrainingStep(self.network, method, self.augment)

    def _loop(self, step: TrainingStep, total_steps: int = 0) -> Loop:
        return Loop(self.fabric, self.settings, step, total_steps)

    def _hold_out(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Samples to train on, and samples to stop by."""
        generator = torch.Generator().manual_seed(seed_for(self.seed, len(PHASES)))
        order = torch.randperm(len(x), generator=generator).to(x.device)
        kept = len(x) - int(self.settings.validation_share * len(x))
        return (x[order[:kept]], x[order[kept:]]) if kept < len(x) else (x, x[:0])

    def _held_out_loss(self, x: Tensor) -> float:
        with _evaluating(self.network), torch.no_grad(), self.fabric.autocast():
            parts = [
                self.network.reconstruction(part, self.network(part)) * len(part)
                for part in x.split(EMBED_BATCH)
            ]
        return float(sum(parts)) / len(x)


def embed(network: Network, x: Tensor, fabric: Fabric) -> Tensor:
    """The clean embedding of samples that lie on the device."""
    with _evaluating(network), torch.no_grad(), fabric.autocast():
        return torch.cat([network(part) for part in x.split(EMBED_BATCH)]).float()


@contextmanager
def _evaluating(network: Network) -> Iterator[None]:
    module = cast(nn.Module, network)
    training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(training)
