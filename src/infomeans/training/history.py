"""What happened in each epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from torch import Tensor

from infomeans import functional as IF
from infomeans.methods.base import Method
from infomeans.methods.state import SampleState


@dataclass
class Record:
    """One epoch. What a phase does not know is None.

    Attributes
    ----------
    phase : {"pretrain", "warm-up", "alternate"}
    epoch : int
        From 0 in each phase.
    loss : float
        Mean over the epoch's batches.
    terms : dict of str to float
        The same of every term that the loss names, such as clustering and reconstruction.
    mi, h_k, h_k_x : float
        I(X;K), H(K) and H(K|X) of the clean posteriors after the epoch, in nats.
    delta_q : float
        Mean squared change of the targets.
    vote_weight : float
        What the votes of neighbours weigh in the targets that the next epoch is to follow.
    empty : int
        Clusters that held no sample after the epoch.
    back_to : int
        Of the last epoch: the earlier one of its phase whose state training went back to.
    seconds : float
        The epoch's time, the pass over the clean data included.
    """

    phase: str
    epoch: int
    loss: float = 0.0
    terms: dict[str, float] = field(default_factory=dict)
    mi: float | None = None
    h_k: float | None = None
    h_k_x: float | None = None
    delta_q: float | None = None
    vote_weight: float | None = None
    empty: int | None = None
    back_to: int | None = None
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """The record as a plain dictionary, in which the terms stand by their names."""
        plain = asdict(self)
        first = {name: plain.pop(name) for name in ("phase", "epoch", "loss")}
        return {**first, **plain.pop("terms"), **plain}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Record:
        """The record that `as_dict` wrote."""
        known = {one.name for one in fields(cls)}
        terms = {name: value for name, value in plain.items() if name not in known}
        return cls(**{name: plain[name] for name in plain if name in known}, terms=terms)


def kept(history: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The epoch whose state a training ended with: the last, or the one that it went back to.

    Parameters
    ----------
    history : sequence of mappings
        Records as dictionaries; empty if nothing was trained, and so is then the result.
    """
    if not history:
        return {}
    last = history[-1]
    back_to = last.get("back_to")
    return last if back_to is None else history[back_to - last["epoch"] - 1]


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
    n = len(state)
    h_k, h_k_x = IF.entropy(total["p"] / n).item(), total["h"].item() / n
    empty = int((total["sizes"] == 0).sum())
    return {"mi": h_k - h_k_x, "h_k": h_k, "h_k_x": h_k_x, "empty": empty}
