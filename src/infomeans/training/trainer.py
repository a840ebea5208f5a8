"""The loop: pretrain the network, warm up on the initial clusters, alternate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import torch
import torch.nn.functional as F
from lightning_fabric import Fabric
from torch import Tensor, nn

from infomeans.data.rows import Feed
from infomeans.data.shelf import IN_MEMORY, Shelf
from infomeans.errors import DivergenceError, InputError
from infomeans.graph import neighbor_graph, usual_neighbors
from infomeans.methods.base import Method
from infomeans.methods.state import Neighbors, SampleState
from infomeans.model import Model
from infomeans.processes import ALONE, Processes
from infomeans.randomness import Draws, seed_for
from infomeans.start import Start
from infomeans.training.callbacks import Callback
from infomeans.training.checkpoint import Checkpoint
from infomeans.training.course import Course
from infomeans.training.fitted import Fitted
from infomeans.training.history import Record, initial_agreement, labels_of, mean_change, measure
from infomeans.training.phases import (
    PHASES,
    Best,
    Loop,
    Phase,
    check_finite,
    hold_out,
    mean_loss,
)
from infomeans.training.settings import Settings
from infomeans.training.step import Augment, TrainingStep
from infomeans.training.votes import take_votes

EMBED_BATCH = 1024
ROWS = 2**16
"""Number of initial clusters that are made targets at once."""

NEAREST = 3
"""Number of nearest neighbours that the result of a fit keeps."""

LOST = 0.01
"""The share of log K by which the information may end below its highest."""

STRAYED = 0.15
"""The share of a cluster's mean size that may have left the initial clusters after the warm-up."""

SETTLED, UNSETTLED = 200, 0.002
"""Before so many steps of the warm-up, no larger share of all samples may have left them."""


class Trainer:
    """Trains the network of a model, and then network and method together.

    It knows what methods and networks have in common, and none of them by name.

    Parameters
    ----------
    fabric : Fabric
        Device and precision.
    model : Model
        Trained in place. Without a method only its network can be pretrained.
    settings : Settings
    seed : int
    processes : Processes
        The processes that train together. Each has its own part of the samples.
    shelf : Shelf
        Where embeddings and targets are kept.
    augment : callable, optional
        Changes the samples that the noisy pass sees.
    callbacks : sequence of Callback
    checkpoint : Checkpoint, optional
        Where the state is kept after every epoch. If it holds one already, training goes on from
        there, to the same end.

    Attributes
    ----------
    course : Course
        Runs the epochs.
    """

    def __init__(
        self,
        fabric: Fabric,
        model: Model,
        settings: Settings,
        *,
        seed: int,
        processes: Processes = ALONE,
        shelf: Shelf = IN_MEMORY,
        augment: Augment | None = None,
        callbacks: Sequence[Callback] = (),
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.fabric = fabric
        self.model = model
        self.settings = settings
        self.processes = processes
        self.shelf = shelf
        self.augment = augment
        self._start: Start | None = None
        # The scaling stays on the CPU, where samples are prepared: not every device has doubles.
        self.network.to(fabric.device)
        # Convolutions on a CPU are faster with channels last; other layers ignore it.
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.course = Course(
            self.network,
            seed,
            partial(_plan, model, settings),
            processes=processes,
            callbacks=callbacks,
            checkpoint=checkpoint,
        )

    @property
    def seed(self) -> int:
        """The seed of this training, or of the interrupted one that goes on."""
        return self.course.seed

    @property
    def history(self) -> list[Record]:
        """One record per epoch."""
        return self.course.history

    @property
    def network(self) -> nn.Module:
        """The network in training."""
        return self.model.network

    @property
    def method(self) -> Method:
        """The method in training."""
        return cast(Method, self.model.method)

    def pretrain(self, x: Feed) -> None:
        """Train the network alone: its reconstruction, or what the method asks for instead."""
        epochs, step = self.settings.pretrain_epochs, self._pretraining_step()
        if _pretraining(self.model) == "none" or epochs == 0:
            return
        share, seed = self.settings.validation_share, seed_for(self.seed, len(PHASES))
        trained, held_out = hold_out(len(x), share, seed=seed)
        stops_early = self.processes.any(len(held_out) > 0)
        steps = self.settings.batches(self.processes.count_of(len(trained)))
        rate = self.settings.pretrain_learning_rate
        loop = Loop(self.fabric, self.settings, step, rate, epochs * steps, self.processes)
        best = Best()
        phase = Phase("pretrain", epochs, loop, best, step.method)

        def train(record: Record) -> bool:
            loop.epoch(record, x, samples=trained if stops_early else None)
            if not stops_early:
                return False
            parts = held_out.split(EMBED_BATCH)
            loss = mean_loss(self.fabric, step, x, parts, self.processes)
            check_finite(loss, "loss of the samples held out", record, self.settings)
            best.offer(-loss, record.epoch, step.state_dict)
            return best.waited >= self.settings.pretrain_patience

        self.course.run(phase, train)
        if best.state is not None:
            step.load_state_dict(best.state)

    def embed(self, x: Feed) -> Tensor:
        """The clean embedding of the samples of this process."""
        finite = torch.ones((), dtype=torch.bool, device=self.fabric.device)

        def watched(blocks: Iterable[Tensor]) -> Iterator[Tensor]:
            for block in blocks:
                finite.logical_and_(block.isfinite().all())
                yield block

        with self.fabric.autocast():
            z = self.model.embed(
                x.blocks(EMBED_BATCH), lambda blocks: self.shelf.rows(watched(blocks), len(x))
            )
        if self.processes.any(not finite):
            if not self.history and not self.course.begun:
                raise InputError(
                    "Embeddings contain NaN or infinity before any training: look at the network."
                )
            raise DivergenceError(
                "The training diverged: embeddings contain NaN or infinity. A lower learning_rate "
                "may help."
            )
        return z

    def saved_start(self) -> Start | None:
        """The start of an interrupted training; None if it was not found before the stop."""
        saved, found = self.course.saved, self.course.found
        if saved is None or found is None:
            return None
        return Start.restored(saved["samples"]["initial"], found)

    def cluster(self, x: Feed, z: Tensor, start: Start | None) -> SampleState:
        """Train network and method together.

        Parameters
        ----------
        x : Feed
        z : (n, d) tensor
            The embedding of these samples before.
        start : Start or None
            The initial clusters of all samples; None for a method that wants none.

        Returns
        -------
        SampleState
            What is known of the samples in the end.
        """
        method = self.method.to(self.fabric.device)
        self._start = start
        neighbors = self._neighbors(z, start)
        self.course.lasting = {**(start.lasting if start else {}), "neighbors": neighbors}
        state = self._first_state(z, start, neighbors)
        with Draws(seed_for(self.seed, len(PHASES) + 2)):
            method.start(state)
        if start is not None:
            self._warm_up(x, state)
            self._assign_others(state)
        self._alternate(x, state)
        method.finish(state)
        return state

    def fitted(self, x: Feed, state: SampleState) -> Fitted:
        """What the trained model says of its samples, as `predict` would say it."""
        blocks = self.model.outputs(x.blocks(EMBED_BATCH), self.fabric.device)
        everyone = self.processes.gathered
        parts = ((z.cpu(), p.cpu()) for z, p in blocks)
        embedding, posteriors = map(everyone, self.shelf.columns(parts, len(x)))
        start, near = self._start, state.neighbors
        score, stability = (start.score, start.stability) if start else (None, None)
        fitted = Fitted(
            embedding.numpy(),
            posteriors.numpy(),
            None if state.initial is None else everyone(state.initial).cpu().numpy(),
            [record.as_dict() for record in self.history],
            choice=start.choice if start else None,
            stability=None if stability is None else stability.numpy(),
            start_seconds=start.seconds if start else None,
            number=start.number if start else None,
            n_selected=start.n_selected if start else None,
            neighbors=None if near is None else everyone(near.ids[:, :NEAREST]).cpu().numpy(),
        )
        if score is None:
            return fitted
        return replace(fitted, score=score(fitted.labels[score.samples.numpy()]))

    def _first_state(
        self, z: Tensor, start: Start | None, neighbors: Neighbors | None
    ) -> SampleState:
        n_clusters, columns = self.method.n_clusters, self.method.columns
        options: dict[str, Any] = {
            "neighbors": neighbors and neighbors.map(self.processes.own).on(z.device),
            "columns": columns,
            "processes": self.processes,
            "shelf": self.shelf,
        }
        if start is None:
            targets = z.new_full((len(z), n_clusters), 1 / n_clusters)
            return SampleState(z, targets, **options)
        own = self.processes.own
        initial = own(start.labels).to(z.device)
        soft = start.targets
        if soft is not None:
            return SampleState(z, own(soft).to(z), initial=initial, **options)
        rows = (
            F.one_hot(part.clamp_min(0), n_clusters).to(z) * (part >= 0)[:, None]
            for part in initial.split(ROWS)
        )
        targets = self.shelf.rows(rows, len(initial))
        return SampleState(z, targets, initial=initial, **options)

    def _neighbors(self, z: Tensor, start: Start | None) -> Neighbors | None:
        """The neighbours of the start; without them, those in the embedding if they are wanted."""
        neighbors = None if start is None else start.neighbors
        found = self.course.found
        if neighbors is None and found is not None and found["neighbors"] is not None:
            neighbors = Neighbors(*found["neighbors"])
        if neighbors is None and self.method.wants_neighbors:
            everything = self.processes.gathered(z).cpu().numpy()
            count = usual_neighbors(len(everything), self.method.n_clusters)
            neighbors = self.processes.made_once(
                lambda: Neighbors.of_graph(neighbor_graph(everything, count))
            )
        return neighbors

    def _warm_up(self, x: Feed, state: SampleState) -> None:
        """Train against the initial clusters until the agreement with them stops rising.

        Then go back to the epoch in which it was highest.
        """
        method, initial = self.method, state.initial
        loop = self._loop()
        if loop.optimizer is None or initial is None:
            return
        best, step = Best(), self._step()
        phase = Phase("warm-up", self.settings.warmup_epochs, loop, best, method, state)
        # With many clusters a small share of the samples can be all of one.
        enough = max(self.settings.warmup_agreement, 1 - STRAYED / method.n_clusters)
        # What has not been learned after a few steps may yet be.
        # Samples without an initial cluster have nothing to train against.
        all_known = not self.processes.any(bool((initial < 0).any()))
        known = None if all_known else (initial >= 0).nonzero().flatten().cpu()
        n_known = self.processes.count_of(int((initial >= 0).sum()))
        settled = -(-SETTLED // self.settings.batches(n_known))

        def train(record: Record) -> bool:
            loop.epoch(record, x, state, samples=known)
            state.embedding = self.embed(x)
            method.warm(state)
            self._observe(record, state)
            agreement = initial_agreement(method, state, initial)
            best.offer(agreement, record.epoch, step.state_dict)
            wanted = enough if record.epoch + 1 >= settled else max(enough, 1 - UNSETTLED)
            return agreement >= wanted or best.waited >= self.settings.warmup_patience

        self.course.run(phase, train)
        if best.score > best.last:
            self._go_back(x, state, step, best)
            method.warm(state)

    def _assign_others(self, state: SampleState) -> None:
        """Samples without an initial cluster get the one that the network has learned for them."""
        assert state.initial is not None
        if self.processes.any(bool((state.initial < 0).any())):
            labels = state.map_rows(lambda z: self.method.log_posteriors(z).argmax(dim=1))
            # In place of what is known, because arrays of one number per sample are large.
            state.initial = torch.where(state.initial < 0, labels, state.initial, out=labels)

    def _alternate(self, x: Feed, state: SampleState) -> None:
        """Alternate targets and training until the targets stop changing.

        Training can lose a cluster, or mix two. If the clusters are clearly worse in the end, by
        the score that chose the start or else by I(X;K), it goes back to where they were best.
        """
        epochs, method = self.settings.epochs, self.method
        loop = self._loop(epochs * self.settings.batches(x.n_samples))
        best, step = Best(), self._step()
        phase = Phase("alternate", epochs, loop, best, method, state)
        if (score := self._score(state)) is not None:
            best.offer(score, -1, step.state_dict)
        self._set_targets(x, state)

        def train(record: Record) -> bool:
            loop.epoch(record, x, state, targets=method.has_targets)
            state.embedding, before = self.embed(x), state.targets
            method.follow(state)
            self._observe(record, state)
            sign = record.mi if method.gains_information else None
            sign = sign if record.score is None else record.score
            if sign is not None:
                best.offer(sign, record.epoch, step.state_dict)
            trains_on = record.epoch + 1 < epochs
            refilled = method.refill(state) if record.empty and trains_on else 0
            record.vote_weight = self._set_targets(x, state)
            record.delta_q = mean_change(state, before)
            unsettled = refilled or (method.soft and loop.rises)
            return record.delta_q < method.tolerance and not unsettled

        self.course.run(phase, train)
        if best.score - best.last > LOST * math.log(method.n_clusters):
            self._go_back(x, state, step, best)
            method.refresh(state)

    def _go_back(self, x: Feed, state: SampleState, step: TrainingStep, best: Best) -> None:
        """Put network and method back to where they were best."""
        assert best.state is not None
        self.history[-1].back_to = best.epoch
        step.load_state_dict(best.state)
        state.embedding = self.embed(x)

    def _set_targets(self, x: Feed, state: SampleState) -> float | None:
        """New targets, by the method and then by the neighbours; returns the weight of these."""
        method, augment = self.method, self.augment
        with torch.no_grad():
            method.refresh(state)
        if augment is None or state.neighbors is None or not method.has_targets:
            return None

        def look(part: Tensor) -> Tensor:
            with self.fabric.autocast():
                return self.model.embed([augment(part)])

        return take_votes(state, method, x, look, seed=seed_for(self.seed, len(PHASES) + 1))

    def _observe(self, record: Record, state: SampleState) -> None:
        """Write down what the clean pass shows."""
        for name, value in measure(self.method, state).items():
            setattr(record, name, value)
        check_finite(record.mi, "mutual information", record, self.settings)
        record.score = self._score(state)

    def _score(self, state: SampleState) -> float | None:
        """The score of the present clusters, if the start was chosen by one."""
        score = self._start and self._start.score
        if not score:
            return None
        labels = labels_of(self.method, state, score.samples)
        # Machines may round differently, but must decide alike.
        return self.processes.made_once(lambda: score(labels))

    def _pretraining_step(self) -> TrainingStep:
        own = self.method.to(self.fabric.device) if _pretraining(self.model) == "own" else None
        return TrainingStep(self.model.network, own, self.augment, pretraining=True)

    def _step(self) -> TrainingStep:
        return TrainingStep(self.model.network, self.method, self.augment)

    def _loop(self, total_steps: int = 0) -> Loop:
        rate = self.settings.learning_rate
        return Loop(self.fabric, self.settings, self._step(), rate, total_steps, self.processes)


def _pretraining(model: Model) -> str:
    """What pretraining is about: "reconstruction", "own" or "none"."""
    method = cast("Method | None", model.method)
    kind = "reconstruction" if method is None else method.pretraining
    possible = kind != "reconstruction" or model.network.reconstructs
    return kind if possible else "none"


def _plan(model: Model, settings: Settings) -> dict[str, int]:
    """Maximum number of epochs of each phase."""
    plan = {}
    if _pretraining(model) != "none":
        plan["pretrain"] = settings.pretrain_epochs
    if model.method is not None:
        if model.method.wants_start:
            plan |= {"start": 0, "warm-up": settings.warmup_epochs}
        plan["alternate"] = settings.epochs
    return {phase: epochs for phase, epochs in plan.items() if epochs or phase == "start"}
