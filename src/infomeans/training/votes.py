"""Votes of the neighbours on the targets."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from infomeans import functional as IF
from infomeans.data.rows import Feed
from infomeans.methods.base import Method
from infomeans.methods.state import SampleState
from infomeans.randomness import Draws

VOTES = {"doubt": 0.01, "polled": 10_000}
"""Assumed error rate of neighbours, and maximum number of samples to estimate their weight."""

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
    """Let the neighbours of every sample vote on its target; return the weight of the votes.

    Parameters
    ----------
    state : SampleState
        State with neighbours; its targets are replaced.
    method : Method
        Gives the posteriors.
    x : Feed
        The samples.
    look : callable
        Returns the embedding of another view of some samples.
    seed : int
        Seed of the samples and views. With the same seed, only the network differs between calls.
    """
    with Draws(seed):
        # Every process polls some of its own samples.
        most = -(-VOTES["polled"] // state.processes.count)
        polled = torch.randperm(len(x))[:most].to(state.targets.device)
        seen = torch.cat([method(look(x.batch(part))) for part in polled.split(BATCH)])
    votes = state.votes(method, doubt=VOTES["doubt"])
    asked = (state.targets[polled], votes[polled], seen)
    weight = IF.vote_weight(*map(state.processes.gathered, asked))
    state.targets = IF.voted_targets(state.targets, votes, weight)
    return weight
