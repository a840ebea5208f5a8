"""Records of the epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans._typing import IntArray
from infomeans.errors import few
from infomeans.methods.base import Method
from infomeans.methods.state import SampleState, Statistics


@dataclass
class Record:
    """The record of one epoch. Values that a phase does not have are None.

    Attributes
    ----------
    phase : {"pretrain", "warm-up", "alternate"}
        Name of the phase.
    epoch : int
        Number of the epoch, from 0 in each phase.
    loss : float
        Mean loss over the batches.
    terms : dict of str to float
        Mean of every term of the loss, such as clustering and reconstruction.
    mi, h_k, h_k_x : float
        I(X;K), H(K) and H(K|X) of the clean posteriors after the epoch, in nats.
    score : float
        Mutual information between the clusters of neighbours, if it chose the start.
    delta_q : float
        Mean squared change of the targets.
    vote_weight : float
        Weight of the neighbours' votes in the targets of the next epoch.
    empty : int
        Number of empty clusters after the epoch.
    back_to : int
        Only in the last epoch: the earlier epoch of the phase whose state was restored, or -1 if
        it was the state before the phase.
    halvings : int
        How often the epoch was undone because a number was NaN or infinite, and begun again with
        half the learning rate; None if it was not.
    seconds : float
        Duration of the epoch, including the pass over the clean data.

    Examples
    --------
    >>> from infomeans.training import Record
    >>> record = Record("pretrain", epoch=0, loss=0.5, terms={"reconstruction": 0.5})
    >>> record.as_dict()["reconstruction"]
    0.5
    """

    phase: str
    epoch: int
    loss: float = 0.0
    terms: dict[str, float] = field(default_factory=dict)
    mi: float | None = None
    h_k: float | None = None
    h_k_x: float | None = None
    score: float | None = None
    delta_q: float | None = None
    vote_weight: float | None = None
    empty: int | None = None
    back_to: int | None = None
    halvings: int | None = None
    seconds: float = 0.0

    def add_terms(self, terms: Mapping[str, float]) -> None:
        """Set the terms of the loss, and the loss, which is their sum."""
        taken = [name for name in terms if name in {one.name for one in fields(self)}]
        if taken:
            raise ValueError(
                f"The loss names a term {few(taken)}, but records have another value of that name; "
                f"rename the term."
            )
        self.terms, self.loss = dict(terms), sum(terms.values())

    def as_dict(self) -> dict[str, Any]:
        """The record as a flat dictionary, with the terms under their own names."""
        plain = asdict(self)
        first = {name: plain.pop(name) for name in ("phase", "epoch", "loss")}
        return {**first, **plain.pop("terms"), **plain}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Record:
        """The record from a dictionary of `as_dict`."""
        known = {one.name for one in fields(cls)}
        terms = {name: value for name, value in plain.items() if name not in known}
        return cls(**{name: plain[name] for name in plain if name in known}, terms=terms)


def kept(history: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The record of the epoch whose state was kept: the last, or the one that was restored.

    Parameters
    ----------
    history : sequence of mappings
        Records as dictionaries. If it is empty, so is the result.

    Examples
    --------
    >>> from infomeans.training import kept
    >>> kept([{"epoch": 0, "mi": 2.1}, {"epoch": 1, "mi": 1.7, "back_to": 0}])["mi"]
    2.1
    """
    if not history:
        return {}
    last = history[-1]
    back_to = last.get("back_to")
    if back_to is None:
        return last
    if back_to < 0:
        # The state before the phase is what an earlier phase has kept.
        return kept(history[: -last["epoch"] - 1])
    return history[back_to - last["epoch"] - 1]


def measure(method: Method, state: SampleState) -> dict[str, float | int]:
    """Entropies and empty clusters of the clean posteriors, from sums over the samples."""

    def sums(z: Tensor, q: Tensor) -> dict[str, Tensor]:
        log_p = method.log_posteriors(z)
        p = log_p.exp()
        return {
            "p": p.sum(dim=0),
            "h": IF.entropy(p).sum(),
            "sizes": log_p.argmax(dim=1).bincount(minlength=method.n_clusters),
        }

    total = state.total(sums)
    n = state.n_samples
    h_k, h_k_x = IF.entropy(total["p"] / n).item(), total["h"].item() / n
    empty = int((total["sizes"] == 0).sum())
    return {"mi": h_k - h_k_x, "h_k": h_k, "h_k_x": h_k_x, "empty": empty}


@torch.no_grad()
def labels_of(method: Method, state: SampleState, samples: Tensor) -> IntArray:
    """The most probable cluster of some samples of all processes, by their positions (m,)."""
    first, end = state.span
    labels = torch.zeros_like(samples)
    for part, found in zip(samples.split(state.chunk), labels.split(state.chunk), strict=True):
        own = (part >= first) & (part < end)
        z = state.embedding[(part[own] - first).to(state.embedding.device)]
        found[own] = method.log_posteriors(z).argmax(dim=1).cpu()
        state.shelf.release()
    # Every sample belongs to one process; the others add zero.
    return state.processes.total({"labels": labels})["labels"].numpy()


def initial_agreement(method: Method, state: SampleState, initial: Tensor) -> float:
    """The share of the samples with an initial cluster whose most probable one is the same."""

    def same(z: Tensor, _: Tensor, initial: Tensor) -> Statistics:
        agree = method.log_posteriors(z).argmax(dim=1).eq(initial)
        return {"same": agree.sum(), "known": (initial >= 0).sum()}

    sums = state.total(same, initial)
    return sums["same"].item() / sums["known"].item()


def mean_change(state: SampleState, before: Tensor) -> float:
    """The mean squared change of the targets."""
    sums = state.total(lambda _, q, before: {"change": (q - before).square().sum()}, before)
    return sums["change"].item() / (state.n_samples * before.shape[1])
