"""The predict command, compared with a forward pass of the same encoder, on 70,000 MNIST images.

    python benchmarks/predict_speed.py --data-dir DATA [--repeats 3]

Both take the images as bytes and run in turn in one process. Neither time includes loading torch,
the model and the images. The command's time includes the posteriors, confidence and entropy of
every sample, and writing them as CSV.
"""

import tempfile
import time
from pathlib import Path
from statistics import median

import torch
from common import append, machine, parser

from infomeans import MIADM
from infomeans.data import benchmark
from infomeans.workflows.predict import predict

BATCH = 1024


def main() -> None:
    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--repeats", type=int, default=3)
    options = arguments.parse_args()
    where = machine()
    samples = benchmark("mnist-full", options.data_dir)
    model = MIADM(10, pretrain_epochs=1, warmup_epochs=1, epochs=1, random_state=0)
    model.fit(samples.X[:2000])
    bare_seconds, our_seconds = [], []
    for _ in range(options.repeats):
        bare_seconds.append(timed(lambda: bare(model, samples.X)))
        our_seconds.append(timed(lambda: ours(model, samples)))
    row = {
        "n": len(samples.X),
        "bare_per_second": len(samples.X) / median(bare_seconds),
        "predict_per_second": len(samples.X) / median(our_seconds),
        "ratio": median(b / o for b, o in zip(bare_seconds, our_seconds, strict=True)),
        "machine": where,
    }
    append("predict_speed.jsonl", row)
    print({name: round(value, 3) for name, value in row.items() if name != "machine"})


def timed(function) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


@torch.inference_mode()
def bare(model, X) -> None:
    for first in range(0, len(X), BATCH):
        x = torch.from_numpy(X[first : first + BATCH])[:, None].float()
        x = model.scaling_(x).contiguous(memory_format=torch.channels_last)
        model.network_(x)


def ours(model, samples) -> None:
    with tempfile.TemporaryDirectory() as folder:
        predict(model, samples).write(Path(folder) / "labels.csv")


if __name__ == "__main__":
    main()
