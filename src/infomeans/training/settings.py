"""How long and how fast to train: the presets."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

# What pretraining looks at in all: about as much as a minute or three on two cores allow.
PIXELS = 240_000_000
IMAGES = 660_000
VECTORS = 330_000


@dataclass(frozen=True)
class Settings:
    """Everything about the optimisation that is not the method's own.

    Attributes
    ----------
    pretrain_epochs, warmup_epochs, epochs : int
        The most epochs of each phase.
    batch_size : int
    pretrain_learning_rate, learning_rate : float
        Adam's, at the peak of the schedule.
    schedule : {"one-cycle", "constant"}
        Of pretraining and of the alternation; the warm-up is constant.
    hidden_weight : float
        Weight of the hidden layers in the reconstruction loss.
    detach_clean : bool
        Whether the clean layers are constants in that loss.
    glorot : bool
        Whether the weights start as in the paper.
    paper_noise : bool
        Whether hidden layers have a ReLU and the noisy pass drops a tenth of the input, of every
        hidden layer and of the embedding, as the paper's text says.
    start : {"graph", "soft_kmeans"}
        What `init="auto"` stands for.
    least_features : int
        The embedding has as many features as there are clusters, but no fewer than this.
    validation_share : float
        Share of the samples held out in pretraining, to stop it by.
    pretrain_patience, warmup_patience : int
        Epochs without improvement after which these phases end: of the held-out loss, and of the
        agreement with the initial clusters.
    warmup_agreement : float
        The share of samples predicted into their initial cluster at which the warm-up ends: what
        a network has not learned of them by then is more noise than structure. Never, if infinite;
        with more than ten clusters it takes more, for a whole cluster must not go missing in it,
        and so it does in the first steps, for there a network still learns.
    """

    pretrain_epochs: int
    warmup_epochs: int
    epochs: int
    batch_size: int
    pretrain_learning_rate: float
    learning_rate: float
    schedule: Literal["one-cycle", "constant"]
    hidden_weight: float
    detach_clean: bool
    glorot: bool
    paper_noise: bool
    start: Literal["graph", "soft_kmeans"]
    least_features: int
    validation_share: float
    pretrain_patience: int
    warmup_patience: int
    warmup_agreement: float

    @property
    def network(self) -> dict[str, Any]:
        """What the default network is told about its loss, its weights and its noise."""
        noise = {"hidden_activation": "relu", "dropout": (0.1,) * 4} if self.paper_noise else {}
        return {
            "hidden_weight": self.hidden_weight,
            "detach_clean": self.detach_clean,
            "glorot": self.glorot,
            **noise,
        }

    def batches(self, n_samples: int) -> int:
        """How many an epoch has."""
        return -(-n_samples // self.batch_size)


def fast(
    n_samples: int, shape: tuple[int, ...] = (), augment: bool = False, embedded: bool = False
) -> Settings:
    """For a CPU with few cores: one-cycle schedules, fewer epochs the more samples there are.

    Pretraining looks at so many pixels and images, or vectors, in all. A dense network on vectors
    moves whole groups of samples at the rate that suits a convolutional one, and drifts from its
    start; and it can learn nearly all of that start, for it has no noise of pixels to fit. One that
    moves given embeddings does not drift so, but where it has only just parted the clusters of the
    start they mix again: so it trains on them for a while. Where there is no network, only a head
    on embeddings, nothing can be thrown off by a high rate. Augmented images are never the same
    twice, so that a longer alternation goes on learning.
    """
    images, vectors = len(shape) == 3, len(shape) == 1
    moves = embedded and vectors
    budget = min(PIXELS // math.prod(shape[1:]), IMAGES) if images else VECTORS
    return Settings(
        pretrain_epochs=_epochs(budget, n_samples, least=10, most=120),
        warmup_epochs=60 if vectors and not moves else 30,
        epochs=_epochs(
            330_000 if augment else 130_000, n_samples, least=10, most=100 if augment else 40
        ),
        batch_size=100,
        pretrain_learning_rate=5e-3,
        learning_rate=1e-3 if images or moves else 3e-4 if vectors else 1e-2,
        schedule="one-cycle",
        hidden_weight=0.0,
        detach_clean=True,
        glorot=False,
        paper_noise=False,
        start="graph",
        least_features=16,
        validation_share=0.0,
        pretrain_patience=100,
        warmup_patience=30 if moves else 5,
        warmup_agreement=math.inf if moves else 0.999 if vectors else 0.985,
    )


def paper(
    n_samples: int, shape: tuple[int, ...] = (), augment: bool = False, embedded: bool = False
) -> Settings:
    """The paper's text: constant rates, and every phase as long as it improves."""
    return Settings(
        pretrain_epochs=4000,
        warmup_epochs=4000,
        epochs=4000,
        batch_size=100,
        pretrain_learning_rate=1e-3,
        learning_rate=1e-3,
        schedule="constant",
        hidden_weight=1.0,
        detach_clean=False,
        glorot=True,
        paper_noise=True,
        start="soft_kmeans",
        least_features=1,
        validation_share=0.1,
        pretrain_patience=100,
        warmup_patience=5,
        warmup_agreement=1.0,
    )


PRESETS = {"fast": fast, "paper": paper}


def resolve_settings(
    preset: str,
    n_samples: int,
    shape: tuple[int, ...] = (),
    *,
    augment: bool = False,
    embedded: bool = False,
    **overrides: int | float | None,
) -> Settings:
    """A preset for these samples, with those values replaced that are not None.

    Parameters
    ----------
    preset : {"fast", "paper"}
    n_samples : int
    shape : (d,) or (c, h, w)
        Of a sample that the network takes; empty where there is no network.
    augment : bool
        Whether the samples are changed at random every time.
    embedded : bool
        Whether the samples are embeddings that another model has made.
    **overrides
        Fields of `Settings`.
    """
    if preset not in PRESETS:
        raise ValueError(f"preset={preset!r} is unknown; choose one of {', '.join(PRESETS)}.")
    given = {
        name: int(value) if isinstance(value, Integral) else float(value)
        for name, value in overrides.items()
        if value is not None
    }
    return replace(PRESETS[preset](n_samples, shape, augment, embedded), **given)  # type: ignore[arg-type]


def _epochs(samples: int, n_samples: int, *, least: int, most: int) -> int:
    """Epochs that show the network so many samples in all, within limits."""
    return min(max(round(samples / n_samples), least), most)
