"""Neighbours that have a say in the targets."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans.data.rows import Feed
from infomeans.methods.base import Method
from infomeans.methods.state import SampleState
from infomeans.training.reproducible import isolated

VOTES = {"doubt": 0.01, "polled": 10_000}
"""How often neighbours may be wrong, and by how many samples at most their weight is measured."""

BATCH = 1024


@torch.no_grad()
def take_votes(
    state: SampleState,
    method: Method,
    x: Feed,
    look: Callable[[Tensor], Tensor],
    *,
    seed: int,
) -> float:
    """Let the neighbours of every sample vote on its target; returns the weight of the votes.

    Parameters
    ----------
    state : SampleState
        With neighbours; its targets change.
    method : Method
    x : Feed
    look : callable
        Gives the embedding of another view of some samples.
    seed : int
        The same samples are looked at in the same views every time: only the network changes.
    """
    with isolated():
        torch.manual_seed(seed)
        polled = torch.randperm(len(x))[: VOTES["polled"]].to(state.targets.device)
        seen = torch.cat([method(look(x.batch(part))) for part in polled.split(BATCH)])
    votes = state.votes(method, doubt=VOTES["doubt"])
    weight = IF.vote_weight(state.targets[polled], votes[polled], seen)
    state.targets = IF.voted_targets(state.targets, votes, weight)
    return weight
