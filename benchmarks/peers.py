"""DEC and DCN of infomeans against DEC and DCN of ClustPy, on USPS.

    python benchmarks/peers.py --clustpy-python ENV/bin/python --data-dir DATA
        [--pretrain-epochs 100] [--epochs 150] [--batch-size 256] [--seed 0]
        [--methods dec dcn] [--contestants clustpy kmeans graph defaults bf16]
        [--samples N] [--out benchmarks/results/peers.jsonl]

ClustPy is installed in a separate environment, ENV, with the same torch:

    ENV/bin/pip install torch==2.13.0 scikit-learn scipy matplotlib pandas tqdm
    ENV/bin/pip install --no-deps clustpy

The second command compiles a C module. ClustPy imports torchvision for types and transforms that
are not used here. If torchvision is missing or does not load with this torch, empty modules replace
it.

Every contestant runs in its own process, one after the other:

- clustpy: ClustPy, which starts from K-means.
- kmeans: infomeans, also started from K-means. This is the equal start.
- graph: infomeans from its own start, all else equal.
- defaults: infomeans with its defaults: convolutional network, warm-up and numbers of epochs. The
  two before have no warm-up, because ClustPy has none.
- bf16: as graph, with precision="bf16-mixed"; for processors with bfloat16, and only on request.

All but defaults get the same vectors (every pixel with mean 0 and variance 1), ClustPy's dense
auto-encoder layer for layer (256-500-500-2000-10, leaky ReLU, a linear embedding), the same batch
size, Adam, and the same numbers of epochs; K-means has twenty restarts. All else is each library's
default: learning rates and their schedule, and weights of the loss. infomeans may stop earlier,
when its targets have converged.

The clock starts with the call of `fit` and is paused while clusters are recorded. An epoch of
infomeans includes its pass over the clean data, the new targets and that recording. ClustPy is
observed through `tqdm.trange`, which its epochs iterate over; its progress bars are left out. The
last clusters are those that `fit` returns, which for ClustPy come from another K-means. No
contestant sees the classes: they write their clusters, which are scored afterwards. Needs Linux.

As a lower bound of the time of an epoch, the benchmark also measures its matrix products by
themselves, in single precision, batch by batch: those of the encoder, and for DCN and pretraining
also of the decoder, forward and backward. No program that trains this network with these batches
and torch's matrix products can be faster.
"""

# No import of infomeans at the top: ClustPy's interpreter runs this file too.
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np

STARTS = {
    "clustpy": "kmeans",
    "kmeans": "kmeans",
    "graph": "graph",
    "defaults": "graph",
    "bf16": "graph",
}
CONTESTANTS = tuple(STARTS)
METHODS = ("dec", "dcn")
SETTINGS = ("pretrain_epochs", "epochs", "batch_size", "seed")
HIDDEN, FEATURES, K = (500, 500, 2000), 10, 10
RESTARTS = 20  # as init="kmeans"
EMBED_BATCH = 1024
FIGURES = ("s/pretraining epoch", "s/epoch", "s in all", "ACC start", "ACC end", "peak MB")

Curve = list[tuple[float, float]]


class Watch:
    """Records the epochs of a fit, and the clusters after each.

    Attributes
    ----------
    epochs : dict of lists
        Seconds of the epochs of both phases.
    moments : list of (seconds, labels)
        The clusters, with the time on the clock.
    """

    def __init__(self) -> None:
        self.epochs: dict[str, list[float]] = {"pretrain": [], "cluster": []}
        self.moments: list[tuple[float, np.ndarray]] = []
        self._began = time.perf_counter()

    def now(self) -> float:
        return time.perf_counter() - self._began

    @contextmanager
    def paused(self) -> Iterator[None]:
        before = self.now()
        yield
        self._began += self.now() - before

    def see(self, labels: Callable[[], Any]) -> None:
        now = self.now()
        with self.paused():
            self.moments.append((now, np.asarray(labels()).astype(np.int16)))


# The process that starts the others.


def main() -> None:
    from common import machine

    from infomeans.benchmark.results_file import Results

    options = parse()
    where = machine()
    with tempfile.TemporaryDirectory() as folder:
        classes = prepare(options, Path(folder))
        rows = [
            measure(name, method, options, Path(folder), classes)
            for method in options.methods
            for name in options.contestants
        ]
        floor = {**products(Path(folder), options.batch_size), "load1": os.getloadavg()[0]}
    against = [
        compare(ours, theirs)
        for theirs in rows
        for ours in rows
        if theirs["contestant"] == "clustpy" != ours["contestant"]
        if theirs["method"] == ours["method"]
    ]
    show(against)
    show_products(floor, rows)
    settings = {name: getattr(options, name) for name in (*SETTINGS, "samples")}
    line = {
        **settings,
        "contestants": rows,
        "against_clustpy": against,
        "matrix_products": floor,
        "machine": where,
    }
    Results(options.out).append(line)


def parse() -> Namespace:
    from common import RESULTS, parser

    arguments = parser(str(__doc__).splitlines()[0])
    arguments.add_argument(
        "--clustpy-python", required=True, help="interpreter of the environment with ClustPy"
    )
    arguments.add_argument("--pretrain-epochs", type=int, default=100)
    arguments.add_argument("--epochs", type=int, default=150)
    arguments.add_argument("--batch-size", type=int, default=256)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    arguments.add_argument(
        "--contestants", nargs="+", choices=CONTESTANTS, default=CONTESTANTS[:-1]
    )
    arguments.add_argument("--samples", type=int, help="size of a random subset; default all")
    arguments.add_argument("--out", type=Path, default=RESULTS / "peers.jsonl")
    return arguments.parse_args()


def prepare(options: Namespace, folder: Path) -> np.ndarray:
    """Write the samples for the contestants; return the classes, which they do not see."""
    from common import load

    images, classes = load("usps", options.data_dir)
    if options.samples is not None:
        chosen = np.random.default_rng(0).permutation(len(images))[: options.samples]
        images, classes = images[chosen], classes[chosen]
    pixels = images.reshape(len(images), -1).astype(np.float64)
    deviation = pixels.std(axis=0)
    vectors = (pixels - pixels.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    np.savez(folder / "samples.npz", images=images, vectors=vectors.astype(np.float32))
    return classes


def measure(
    name: str, method: str, options: Namespace, folder: Path, classes: np.ndarray
) -> dict[str, Any]:
    """Run a contestant, and score the clusters it has written."""
    from infomeans.metrics import accuracy, nmi

    settings = {setting: getattr(options, setting) for setting in SETTINGS}
    job = {"contestant": name, "method": method, "folder": str(folder), **settings}
    python = options.clustpy_python if name == "clustpy" else sys.executable
    load1 = os.getloadavg()[0]
    subprocess.run(
        [python, __file__, "--contestant", json.dumps(job)], check=True, stdout=subprocess.DEVNULL
    )
    report = json.loads((folder / "report.json").read_text())
    labels = np.load(folder / "labels.npy")
    curve = [
        (round(seconds, 3), round(accuracy(classes, found), 4))
        for seconds, found in zip(report.pop("moments"), labels, strict=True)
    ]
    row = {
        "contestant": name,
        "method": method,
        "init": STARTS[name],
        "acc": curve[-1][1],
        "nmi": round(nmi(classes, labels[-1]), 4),
        "load1": round(load1, 2),
        **report,
        "curve": curve,
    }
    figures = (
        row["pretrain"]["median"],
        row["cluster"]["median"],
        curve[-1][0],
        curve[0][1],
        curve[-1][1],
        row["peak_mb"],
    )
    print(f"{method} {name}:", end=" ")
    print(
        ", ".join(f"{what} {x:.5g}" for what, x in zip(FIGURES, figures, strict=True)), flush=True
    )
    return row


def compare(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """Speed relative to ClustPy, and the lead in accuracy after equal time.

    `ahead` is the share of the time in which our accuracy is higher, from the first clusters of
    either until both have ended; without clusters the accuracy counts as 0. The leads are the
    smallest since both have clusters, the one when ClustPy ends, and the one when both have ended.
    """
    mine, peer = ours["curve"], theirs["curve"]
    moments = sorted({seconds for seconds, _ in mine + peer})
    leads = [at(mine, moment) - at(peer, moment) for moment in moments]
    spans = [after - before for before, after in pairwise(moments)]
    won = [span for span, lead in zip(spans, leads[:-1], strict=True) if lead > 0]
    both = max(mine[0][0], peer[0][0])
    figures = {
        "ahead": sum(won) / sum(spans),
        "least_lead": min(lead for t, lead in zip(moments, leads, strict=True) if t >= both),
        "lead_at_its_end": at(mine, peer[-1][0]) - at(peer, peer[-1][0]),
        "last_lead": leads[-1],
        "memory": ours["peak_mb"] / theirs["peak_mb"],
    }
    if ours["contestant"] != "defaults":  # another network
        for phase in ("pretrain", "cluster"):
            for kind in ("median", "least"):
                figures[f"{phase}_speed_{kind}"] = theirs[phase][kind] / ours[phase][kind]
    named = {name: round(value, 4) for name, value in figures.items()}
    return {"contestant": ours["contestant"], "method": ours["method"], **named}


def at(curve: Curve, moment: float) -> float:
    """Accuracy of the latest clusters at a time; 0 before there are any."""
    return next((acc for seconds, acc in reversed(curve) if seconds <= moment), 0.0)


def show(against: list[dict[str, Any]]) -> None:
    """Print the comparison as a table; speeds are relative to ClustPy."""
    columns = {
        "pretraining": "pretrain_speed_median",
        "epoch": "cluster_speed_median",
        "memory": "memory",
        "ahead": "ahead",
        "least lead": "least_lead",
        "at its end": "lead_at_its_end",
        "last lead": "last_lead",
    }
    print(f"\n{'against ClustPy':<16}" + "".join(f"{title:>12}" for title in columns))
    for row in against:
        cells = (f"{row[name]:12.3f}" if name in row else " " * 12 for name in columns.values())
        print(f"{row['method'] + ' ' + row['contestant']:<16}" + "".join(cells))


def products(folder: Path, batch_size: int, repeats: int = 5) -> dict[str, float]:
    """Seconds of the matrix products of an epoch by themselves; the fastest of a few runs."""
    import torch

    with np.load(folder / "samples.npz") as arrays:
        n, inputs = arrays["vectors"].shape
    encoder = list(pairwise((inputs, *HIDDEN, FEATURES)))
    decoder = [(narrow, wide) for wide, narrow in reversed(encoder)]
    sizes = [batch_size] * (n // batch_size) + [n % batch_size] * (n % batch_size > 0)

    def seconds(layers: list[tuple[int, int]]) -> float:
        made = [
            (torch.randn(batch_size, a), torch.randn(b, a), torch.randn(batch_size, b))
            for a, b in layers
        ]
        began = time.perf_counter()
        for size in sizes:
            for depth, (x, weight, gradient) in enumerate(made):
                x[:size] @ weight.T
                gradient[:size].T @ x[:size]
                if depth:  # the gradient of the input is not needed
                    gradient[:size] @ weight
        return time.perf_counter() - began

    phases = {"pretrain": encoder + decoder, "dec": encoder, "dcn": encoder + decoder}
    return {
        phase: round(min(seconds(layers) for _ in range(repeats)), 4)
        for phase, layers in phases.items()
    }


def show_products(floor: dict[str, float], rows: list[dict[str, Any]]) -> None:
    """Print the ratio of the fastest epoch to its matrix products."""
    print(f"\n{'epoch / products':<16}{'pretraining':>12}{'epoch':>12}")
    for row in rows:
        if row["contestant"] not in ("defaults", "bf16"):  # another network, other products
            times = (row[phase]["least"] for phase in ("pretrain", "cluster"))
            least = (floor["pretrain"], floor[row["method"]])
            cells = (f"{t / p:12.2f}" for t, p in zip(times, least, strict=True))
            print(f"{row['method'] + ' ' + row['contestant']:<16}" + "".join(cells))


# The process of a contestant.


def contest(job: dict[str, Any]) -> None:
    """Run a contestant; write its report and its clusters to the folder."""
    import torch

    torch.set_flush_denormal(True)
    torch.optim.Adam([torch.zeros(1)])  # the first optimiser loads much of torch; do not time it
    folder, package = Path(job["folder"]), "infomeans"
    kind = "images" if job["contestant"] == "defaults" else "vectors"
    with np.load(folder / "samples.npz") as arrays:
        X = arrays[kind]
    if job["contestant"] == "clustpy":
        torchvision, package = import_torchvision(), "clustpy"
        versions = {"torchvision": torchvision}
        fit = prepare_clustpy(job)
    else:
        versions = {}
        fit = prepare_infomeans(job)
    for name in (package, "torch", "numpy", "scikit-learn"):
        versions[name] = version(name)
    idle = peak_mb()
    watch = fit(X)
    report = {
        "pretrain": spread(watch.epochs["pretrain"]),
        "cluster": spread(watch.epochs["cluster"]),
        "seconds": round(watch.moments[-1][0], 3),
        "idle_mb": idle,
        "peak_mb": peak_mb(),
        "threads": torch.get_num_threads(),
        "versions": {"python": platform.python_version(), **versions},
        "moments": [seconds for seconds, _ in watch.moments],
    }
    np.save(folder / "labels.npy", np.stack([labels for _, labels in watch.moments]))
    (folder / "report.json").write_text(json.dumps(report))


def prepare_infomeans(job: dict[str, Any]) -> Callable[[np.ndarray], Watch]:
    import infomeans
    from infomeans.methods import find_method
    from infomeans.training import Callback, Record

    kind: Any = {"dec": infomeans.DEC, "dcn": infomeans.DCN}[job["method"]]
    base: Any = find_method(job["method"]).load()

    def fit(X: np.ndarray) -> Watch:
        class Epochs(Callback):
            def on_epoch(self, record: Record) -> None:
                phase = "pretrain" if record.phase == "pretrain" else "cluster"
                watch.epochs[phase].append(record.seconds)

        class Watched(base):  # type: ignore[misc]
            def refresh(self, data: Any) -> None:
                watch.see(lambda: data.map(lambda z: self.log_posteriors(z).argmax(dim=1)).numpy())
                super().refresh(data)

        class Estimator(kind):  # type: ignore[misc]
            method = Watched

        settings: dict[str, Any] = {}
        if job["contestant"] != "defaults":
            settings = {name: job[name] for name in ("pretrain_epochs", "epochs", "batch_size")}
            settings["init"] = STARTS[job["contestant"]]
            if job["contestant"] == "bf16":
                settings["precision"] = "bf16-mixed"
            settings["warmup_epochs"] = 0
            settings["network"] = lambda shape, k: same_network(shape[0])
        watch = Watch()
        model = Estimator(
            K, device="cpu", random_state=job["seed"], callbacks=[Epochs()], **settings
        )
        model.fit(X)
        watch.see(lambda: model.labels_)
        return watch

    return fit


def same_network(n_inputs: int) -> Any:
    """The network of ClustPy, layer for layer, for infomeans."""
    from torch import nn

    def layers(widths: tuple[int, ...]) -> nn.Sequential:
        linear = [nn.Linear(wide, narrow) for wide, narrow in pairwise(widths)]
        parts = [part for layer in linear for part in (layer, nn.LeakyReLU())]
        return nn.Sequential(*parts[:-1])

    class Autoencoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            widths = (n_inputs, *HIDDEN, FEATURES)
            self.encoder, self.decoder = layers(widths), layers(widths[::-1])

        def encode(self, x: Any) -> Any:
            return self.encoder(x)

        def decode(self, z: Any) -> Any:
            return self.decoder(z)

    return Autoencoder()


def prepare_clustpy(job: dict[str, Any]) -> Callable[[np.ndarray], Watch]:
    import tqdm
    from clustpy import deep
    from clustpy.deep import dcn, dec
    from clustpy.deep.neural_networks import FeedforwardAutoencoder

    kind = {"dec": deep.DEC, "dcn": deep.DCN}[job["method"]]
    module = {"dec": dec._DEC_Module, "dcn": dcn._DCN_Module}[job["method"]]

    def fit(X: np.ndarray) -> Watch:
        peer = Peer(X)
        model = kind(
            K,
            batch_size=job["batch_size"],
            pretrain_epochs=job["pretrain_epochs"],
            clustering_epochs=job["epochs"],
            neural_network=(FeedforwardAutoencoder, {"layers": [X.shape[1], *HIDDEN, FEATURES]}),
            embedding_size=FEATURES,
            initial_clustering_params={"n_init": RESTARTS},
            device="cpu",
            random_state=job["seed"],
        )
        hold = mock.patch.object(module, "fit", peer.holding(module.fit))
        with hold, mock.patch.object(tqdm, "trange", peer.trange):
            model.fit(X)
        peer.watch.see(lambda: model.labels_)
        return peer.watch

    return fit


class Peer:
    """Observes ClustPy's training."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        self.watch = Watch()
        self.module: Any = None
        self.network: Any = None

    def holding(self, train: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the training of ClustPy's module, to keep references to it and its network."""

        def hold(module: Any, network: Any, *arguments: Any) -> Any:
            self.module, self.network = module, network
            return train(module, network, *arguments)

        return hold

    def trange(self, count: int, desc: str = "") -> "Bar":
        """Replacement of `tqdm.trange`."""
        return Bar(self.epochs(count))

    def epochs(self, count: int) -> Iterator[int]:
        self.look()
        for epoch in range(count):
            began = self.watch.now()
            yield epoch
            phase = "pretrain" if self.module is None else "cluster"
            self.watch.epochs[phase].append(self.watch.now() - began)
            self.look()

    def look(self) -> None:
        if self.module is not None:
            self.watch.see(self.labels)

    def labels(self) -> np.ndarray:
        import torch

        with torch.no_grad():  # in parts, so that this does not raise the peak memory
            parts = torch.from_numpy(self.X).split(EMBED_BATCH)
            found = [self.module.predict_hard(self.network.encode(part)) for part in parts]
        return torch.cat(found).numpy()


class Bar:
    """The interface of a progress bar that ClustPy uses."""

    def __init__(self, epochs: Iterator[int]) -> None:
        self.epochs = epochs

    def __iter__(self) -> Iterator[int]:
        return self.epochs

    def set_postfix(self, *arguments: Any) -> None:
        pass


def import_torchvision() -> str:
    """The version of torchvision; "stand-in" if ClustPy gets empty modules instead."""
    try:
        import torchvision
    except (ImportError, OSError, RuntimeError):
        for name in ("torchvision", "torchvision.models", "torchvision.models._api"):
            sys.modules[name] = ModuleType(name)
        vars(sys.modules["torchvision.models._api"]).update(Weights=object, WeightsEnum=object)
        return "stand-in"
    return str(torchvision.__version__)


def spread(seconds: list[float]) -> dict[str, float]:
    """The median of the epochs, and the fastest, which is least affected by other load."""
    return {
        "epochs": len(seconds),
        "median": round(median(seconds), 4),
        "least": round(min(seconds), 4),
    }


def peak_mb() -> int:
    """Peak memory of this process.

    Not `ru_maxrss`, which starts at the peak of the parent process.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(round(int(line.split()[1]) / 1024) for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--contestant"]:
        contest(json.loads(sys.argv[2]))
    else:
        main()
