"""Train every method on the same batches, in one process or in several."""

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

from infomeans.data.rows import PartFeed, TensorFeed
from infomeans.errors import InputError
from infomeans.methods import METHODS
from infomeans.methods.state import Neighbors
from infomeans.model import Model, Scaling
from infomeans.networks.adapters import UserNetwork
from infomeans.processes import Processes
from infomeans.randomness import seed_for
from infomeans.start import Start
from infomeans.training import Trainer, join, make_fabric, resolve_settings

SEED, K, D, N, BATCH = 7, 3, 4, 240, 40
PLACES = ((1, 0), (2, 0), (2, 1))
"""Phase and epoch of every epoch: one of warm-up, two of the alternation."""


class Network(nn.Module):
    """No noise, so that nothing but the batches is random."""

    def __init__(self):
        super().__init__()
        self.inner, self.back = nn.Linear(6, D), nn.Linear(D, 6)

    def encode(self, x):
        return torch.tanh(self.inner(x))

    def decode(self, z):
        return self.back(z)


class TheirBatches(TensorFeed):
    """All samples in one process, in the batches that two processes would have together."""

    def __init__(self, x):
        super().__init__(x)
        self.places = iter(PLACES)

    def order(self, samples=None):
        place, half = next(self.places), len(self) // 2
        own = []
        for rank in range(2):
            draw = torch.Generator().manual_seed(seed_for(SEED, *place, rank))
            positions = rank * half + torch.randperm(half, generator=draw)
            own.append(positions.tensor_split(len(self) // BATCH))
        return torch.cat([part for both in zip(*own, strict=True) for part in both])


def samples():
    draw = torch.Generator().manual_seed(SEED)
    labels = torch.arange(N) * K // N  # sorted, so that processes have different clusters
    x = torch.randn(K, 6, generator=draw)[labels] + 0.8 * torch.randn(N, 6, generator=draw)
    labels[::9] = 0
    return x, labels


def trained(slug, fabric, processes, feed, labels):
    """Targets, network and method of all samples after three epochs."""
    torch.manual_seed(SEED)
    network = UserNetwork(Network())
    model = Model((6,), Scaling(torch.tensor(0.0), torch.tensor(1.0)), network)
    model.method = METHODS[slug].load()(K, D)
    settings = resolve_settings(
        "fast", N, (6,), warmup_epochs=1, epochs=2, batch_size=BATCH, learning_rate=1e-2
    )
    trainer = Trainer(fabric, model, settings, seed=SEED, processes=processes)
    # One neighbour each, most of them in the part of another process.
    ids = (torch.arange(N) + N // 2 + 3)[:, None] % N
    start = Start(labels, neighbors=Neighbors(ids.int(), torch.ones(N, 1)))
    state = trainer.cluster(feed, trainer.embed(feed), start)
    found = {"targets": state.state_dict()["targets"]}
    found |= {f"model {name}": t for name, t in model.state_dict().items()}
    found["loss"] = torch.tensor([record.loss for record in trainer.history])
    found["mi"] = torch.tensor([record.mi for record in trainer.history])
    found["posteriors"] = torch.as_tensor(trainer.fitted(feed, state).posteriors)
    return {f"{slug} {name}": t.detach().numpy() for name, t in found.items()}


def _of_last(found):
    every = [None, None]
    dist.all_gather_object(every, found)
    return every[-1]


def refused(call):
    """The message of the error that a call raises in this process."""
    try:
        call()
    except InputError as error:
        return str(error)
    return "no error"


def alone():
    x, labels = samples()
    results = {}
    for slug in METHODS:
        results |= trained(slug, make_fabric("cpu"), Processes(), TheirBatches(x), labels)
    return results


def main(out):
    """What each of several processes does; the first writes the results."""
    x, labels = samples()
    fabric, processes = join("cpu")
    feed = PartFeed(TensorFeed(processes.own(x)), TensorFeed(x))
    results = {
        "other data": refused(lambda: processes.check_same(str(processes.rank), "Not {}.")),
        "first fails": refused(lambda: processes.made_once(lambda: int("many"))),
        "gathered": processes.gathered(torch.arange(2 + processes.rank)).numpy(),
    }
    # What the last process has met.
    results = {name: _of_last(found) for name, found in results.items()}
    for slug in METHODS:
        results |= trained(slug, fabric, processes, feed, labels)
    if processes.first:
        np.savez(out, **results)
