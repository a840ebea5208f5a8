"""An epoch of the trainer, compared with a bare loop over the same network, batches and loss.

    python benchmarks/trainer_overhead.py [--images 28] [--samples 4000] [--rounds 5]

Both run in turn in one process, so other load on the machine affects both. Needs no data.
"""

import argparse
import time
from statistics import median

import torch
import torch.nn.functional as F
from common import append, machine

from infomeans import functional as IF
from infomeans.data.rows import TensorFeed
from infomeans.methods.mi_adm import MIADMMethod
from infomeans.model import Model, Scaling
from infomeans.networks import convolutional_autoencoder
from infomeans.start import Start
from infomeans.training import Trainer, make_fabric, resolve_settings

K, D, BATCH = 10, 32, 100


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--images", type=int, default=28, help="side length in pixels")
    arguments.add_argument("--samples", type=int, default=4000)
    arguments.add_argument("--rounds", type=int, default=5)
    options, before = arguments.parse_args(), machine()
    x = torch.rand(options.samples, 1, options.images, options.images) * 2 - 1
    x = x.contiguous(memory_format=torch.channels_last)
    labels = torch.arange(len(x)) % K
    ratios = []
    for turn in range(options.rounds + 1):
        ours, bare = trainer_epoch(x, labels), bare_epoch(x, labels)
        if turn:  # the first round warms up
            ratios.append(ours / bare)
            print(f"trainer {ours:.2f} s  bare {bare:.2f} s  ratio {ours / bare:.3f}", flush=True)
    print(f"median ratio {median(ratios):.3f}")
    append("trainer_overhead.jsonl", {**vars(options), "ratios": ratios, "machine": before})


def parts(x: torch.Tensor):
    torch.manual_seed(0)
    network = convolutional_autoencoder(tuple(x.shape[1:]), D)
    return network, MIADMMethod(K, D)


def trainer_epoch(x: torch.Tensor, labels: torch.Tensor) -> float:
    """Seconds of one epoch of the alternation, including the clean pass and the targets."""
    network, method = parts(x)
    settings = resolve_settings("fast", len(x), warmup_epochs=0, epochs=1, batch_size=BATCH)
    scaling = Scaling(torch.tensor(0.0), torch.tensor(1.0))
    model = Model(tuple(x.shape[1:]), scaling, network, method)
    trainer = Trainer(make_fabric("cpu"), model, settings, seed=0)
    feed = TensorFeed(x)
    trainer.cluster(feed, trainer.embed(feed), Start(labels))
    return trainer.history[-1].seconds


def bare_epoch(x: torch.Tensor, labels: torch.Tensor) -> float:
    """The same as a bare loop: cross-entropy and reconstruction, then a clean pass and targets."""
    network, _ = parts(x)
    network = network.to(memory_format=torch.channels_last)
    head = torch.nn.Linear(D, K)
    q = F.one_hot(labels, K).float()
    parameters = [*network.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters, 1e-3, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=-(-len(x) // BATCH))
    began = time.perf_counter()
    for index in torch.randperm(len(x)).split(BATCH):
        batch = x[index]
        z = network.noisy(batch)
        loss = IF.cross_entropy(q[index], F.log_softmax(head(z), dim=1))
        loss = loss + network.reconstruction(batch, z)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        p = torch.cat([F.softmax(head(network(part)), dim=1) for part in x.split(1024)])
        q = p**2 / p.square().sum(0).sqrt()
        q /= q.sum(1, keepdim=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
