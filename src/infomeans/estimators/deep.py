"""Estimators that train a network."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions
from torch import nn

from infomeans import __version__
from infomeans import functional as IF
from infomeans.data import Dataset
from infomeans.data.arrays import network_shape
from infomeans.data.shelf import Shelf
from infomeans.errors import InputError
from infomeans.estimators.base import (
    POSITIVE,
    POSITIVE_INT,
    SampleEstimator,
)
from infomeans.estimators.saving import USER_SUPPLIED, digest, plain_params
from infomeans.functional.affine import LIMITS
from infomeans.model import Model, Scaling
from infomeans.networks import (
    DenoisingAutoencoder,
    ResidualNetwork,
    build_network,
    takes_embeddings,
)
from infomeans.randomness import Draws
from infomeans.threads import limited, step_threads
from infomeans.training import (
    Callback,
    Checkpoint,
    ProgressBars,
    Trainer,
    join,
)
from infomeans.training.devices import deterministic
from infomeans.training.step import step_work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from infomeans.data.rows import Feed
    from infomeans.networks import NetworkSpec
    from infomeans.processes import Processes
    from infomeans.training import Settings

TRAINING = 3
"""Number of the way to train: raised if scaling or random numbers change, as then no resume would
be exact."""

NO_EFFECT = ("verbose",)
"""Parameters that do not affect the result."""


@dataclass(eq=False, repr=False, kw_only=True)
class DeepEstimator(SampleEstimator):
    """Base class of estimators that train a network."""

    network: NetworkSpec = "auto"
    batch_size: int | None = None
    learning_rate: float | None = None
    preset: Literal["fast", "paper"] = "fast"
    augment: bool = False
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    callbacks: Sequence[Callback] | None = None
    checkpoint: str | PathLike[str] | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SampleEstimator._parameter_constraints,
        "network": "no_validation",
        "batch_size": [POSITIVE_INT, None],
        "learning_rate": [POSITIVE, None],
        "preset": [StrOptions({"fast", "paper"})],
        "augment": ["boolean"],
        "precision": [StrOptions({"32-true", "bf16-mixed", "16-mixed"})],
        "callbacks": [list, tuple, None],
        "checkpoint": [str, PathLike, None],
    }

    def _scaling(self, data: Dataset) -> Scaling:
        if takes_embeddings(self.network) and len(data.shape) == 1:
            return Scaling.of_embeddings(data)
        return super()._scaling(data)

    @contextmanager
    def _training(
        self, data: Dataset, settings: Settings, n_clusters: int, n_features: int
    ) -> Iterator[tuple[Trainer, Feed]]:
        """A trainer for a model of these samples, and the prepared samples.

        On exit, even after an error, callbacks are told of the end.
        """
        fabric, processes = join(self.device, self.precision)
        seed = processes.made_once(self._seed)
        said = f"{type(self).__name__} {n_clusters} {self.checkpoint is None} {settings}"
        _check_parts(data, settings, processes, said)
        callbacks = [*(self.callbacks or ()), *([ProgressBars()] if self.verbose else [])]
        try:
            with deterministic(), limited(self.n_threads), ExitStack() as threads:
                scaling = processes.made_once(lambda: self._scaling(data))
                with Draws(seed):
                    network = build_network(
                        self.network,
                        network_shape(data.shape),
                        n_clusters,
                        n_features=n_features,
                        **settings.network,
                    ).to(fabric.device)
                model = Model(data.shape, scaling, network)
                work = step_work(network, network_shape(data.shape), settings.batch_size)
                self.n_threads_ = threads.enter_context(step_threads(work))
                x = data.feed(
                    lambda samples: model.prepare(samples, fabric.device), processes.span(len(data))
                )
                if self.network == "auto" and isinstance(network, DenoisingAutoencoder):
                    network.start(_mean(x, processes))
                if (
                    self.network == "residual"
                    and isinstance(network, ResidualNetwork)
                    and network.projects
                ):
                    network.start(processes.total(network.scatter(x.blocks())))
                # Modules of the user start with other random weights in every process.
                processes.same([*network.parameters(), *network.buffers()])
                trainer = Trainer(
                    fabric,
                    model,
                    settings,
                    seed=seed,
                    processes=processes,
                    shelf=Shelf(data.memory),
                    augment=IF.random_affine if self.augment else None,
                    callbacks=callbacks,
                    checkpoint=self._checkpoint(data, settings, network, seed),
                )
                yield trainer, x
        finally:
            for callback in callbacks if processes.first else ():
                callback.on_end()

    def _checkpoint(
        self, data: Dataset, settings: Settings, network: nn.Module, seed: int
    ) -> Checkpoint | None:
        """The checkpoint file, with everything that identifies this training."""
        if self.checkpoint is None:
            return None
        params = plain_params(self.get_params(deep=False))
        identity = {
            "infomeans": __version__,
            "training": TRAINING,
            "estimator": type(self).__name__,
            "data": data.fingerprint,
            **{
                name: digest(value) if isinstance(value, list) else value
                for name, value in params.items()
                if name not in NO_EFFECT
            },
            "random_state": None if self.random_state is None else seed,
            "settings": asdict(settings),
            "augmentation": self._augmentation() if self.augment else None,
        }
        if params["network"] == USER_SUPPLIED:
            # Without a seed, a factory gives other initial weights every time.
            made_anew = self.random_state is None and not isinstance(self.network, nn.Module)
            weights = () if made_anew else (t.cpu() for t in network.state_dict().values())
            layers = [f"{name}: {type(layer).__name__}" for name, layer in network.named_modules()]
            sizes = [f"{name}: {tuple(t.shape)}" for name, t in network.state_dict().items()]
            identity["network"] = digest(np.array(layers + sizes), *weights)
        return Checkpoint(self.checkpoint, identity)

    def _augmentation(self) -> dict[str, float]:
        """Settings of the augmentation."""
        return LIMITS


def _check_parts(data: Dataset, settings: Settings, processes: Processes, said: str) -> None:
    """Refuse processes that have different data or parameters, or too few samples each."""
    if processes.alone:
        return
    most = min(settings.batches(len(data)), settings.batch_size)
    if processes.count > most:
        raise InputError(
            f"{processes.count} processes are too many for {len(data)} samples in batches of "
            f"{settings.batch_size}; start at most {most}, or give a smaller batch_size."
        )
    processes.check_same(
        f"{data.fingerprint} {said}",
        "process {} has other data or parameters than process 0; all must call fit alike.",
    )


def _mean(x: Feed, processes: Processes) -> Tensor:
    """The mean sample of all processes."""
    if processes.alone:
        return x.mean()
    return processes.total({"sum": x.mean() * len(x)})["sum"] / x.n_samples
