"""Training steps with one thread against two, by the work of a step: what WORTH_A_THREAD rests on.

    python benchmarks/thread_steps.py [--seconds 4]

Both take turns in one process; of each the 5 % quantile counts, a step that little disturbed. Needs
no data; let nothing else run.
"""

import argparse
import time

from infomeans.networks import build_network
from infomeans.threads import limited
from infomeans.training.step import step_work

BATCH, CLUSTERS = 100, 10
CASES = (
    ("dense", (36,)),
    ("dense", (1000,)),
    ("residual", (512,)),
    ("residual", (768,)),
    *(("convolutional", (1, side, side)) for side in (8, 16, 28, 32)),
)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=float, default=4, help="for each network")
    options = arguments.parse_args()
    from common import append, machine

    before, rows = machine(), []
    for kind, shape in CASES:
        network = build_network("residual" if kind == "residual" else "auto", shape, CLUSTERS)
        work = step_work(network, shape, BATCH)
        one, two = milliseconds(network, shape, options.seconds)
        rows.append({"network": kind, "shape": shape, "work": work, "one": one, "two": two})
        print(
            f"{kind:13} {shape!s:11} {work / 1e6:5.0f} million  one {one:6.2f} ms  "
            f"two {two:6.2f} ms  {two / one:.2f} times",
            flush=True,
        )
    append("thread_steps.jsonl", {"steps": rows, "batch": BATCH, "machine": before})


def milliseconds(network, shape: tuple[int, ...], seconds: float) -> tuple[float, float]:
    """Of a step with one thread and with two."""
    import torch

    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    x = torch.randn(10 * BATCH, *shape).tanh()
    if len(shape) == 3:
        x = x.contiguous(memory_format=torch.channels_last)
        network = network.to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    times: dict[int, list[float]] = {1: [], 2: []}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for count, taken in times.items():
            with limited(count):
                step(network, optimizer, x)  # the first wakes the threads up
                for _ in range(4):
                    began = time.perf_counter()
                    step(network, optimizer, x)
                    taken.append(1000 * (time.perf_counter() - began))
    one, two = (sorted(taken)[len(taken) // 20] for taken in times.values())
    return one, two


def step(network, optimizer, x) -> None:
    import torch

    batch = x[torch.randint(len(x), (BATCH,))]
    z = network.noisy(batch)
    loss = z.square().mean() + network.reconstruction(batch, z)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    main()
