"""Settings of the optimisation, and the presets."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

# Total numbers of pixels, images and vectors in pretraining: one to three minutes on two cores.
PIXELS = 240_000_000
IMAGES = 660_000
VECTORS = 330_000

LARGE, FEWEST = 100_000, 2
"""With more samples than this, epochs are fewer in proportion, but at least so many."""

BATCH = 100
WARM_STEPS, PATIENT_STEPS = 400, 100
"""Steps that the warm-up may take at least, and steps to wait for a better agreement."""


@dataclass(frozen=True)
class Settings:
    """Settings of the optimisation that do not belong to a method.

    Attributes
    ----------
    pretrain_epochs, warmup_epochs, epochs : int
        Maximum number of epochs of each phase.
    batch_size : int
        Number of samples per batch.
    pretrain_learning_rate, learning_rate : float
        Learning rates of Adam, at the peak of the schedule.
    schedule : {"one-cycle", "constant"}
        Schedule of pretraining and of the alternation; the warm-up has a constant rate.
    hidden_weight : float
        Weight of the hidden layers in the reconstruction loss.
    detach_clean : bool
        Whether the clean layers are detached from the gradient in that loss.
    glorot : bool
        Whether the weights are initialised as in the paper.
    paper_noise : bool
        Whether hidden layers have a ReLU, and the noisy pass has a dropout of 0.1 at the input, at
        every hidden layer and at the embedding, as in the paper's text.
    start : {"auto", "soft_kmeans"}
        The meaning of `init="auto"`.
    least_features : int
        Minimum length of the embedding; otherwise it equals the number of clusters.
    validation_share : float
        Share of the samples held out in pretraining, for early stopping.
    pretrain_patience, warmup_patience : int
        Number of epochs without improvement after which these phases end: of the held-out loss,
        and of the agreement with the initial clusters.
    warmup_agreement : float
        The warm-up ends when this share of the samples is predicted into their initial cluster;
        what the network has not learned by then is more noise than structure. Infinity disables
        it. With more than ten clusters a larger share is needed, because a whole cluster could be
        missing otherwise. It is also larger in the first steps, where the network still learns.

    Examples
    --------
    >>> from infomeans.training import resolve_settings
    >>> resolve_settings("fast", n_samples=10_000, shape=(16,)).batches(n_samples=10_000)
    100
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
    start: Literal["auto", "soft_kmeans"]
    least_features: int
    validation_share: float
    pretrain_patience: int
    warmup_patience: int
    warmup_agreement: float

    @property
    def network(self) -> dict[str, Any]:
        """Arguments of the default network: its loss, weights and noise."""
        noise = {"hidden_activation": "relu", "dropout": (0.1,) * 4} if self.paper_noise else {}
        return {
            "hidden_weight": self.hidden_weight,
            "detach_clean": self.detach_clean,
            "glorot": self.glorot,
            **noise,
        }

    def batches(self, n_samples: int) -> int:
        """Number of batches per epoch."""
        return -(-n_samples // self.batch_size)


def fast(
    n_samples: int,
    shape: tuple[int, ...] = (),
    augment: bool = False,
    embedded: bool = False,
    n_selected: int | None = None,
) -> Settings:
    """Settings for a CPU with few cores: one-cycle schedules, fewer epochs for more samples.

    - Pretraining sees a fixed total number of pixels and images, or of vectors.
    - Of very many samples fewer epochs are enough, because the steps count. This was not measured.
    - A dense network on vectors drifts from its start at a learning rate that suits a convolutional
      one, so its rate is lower. It can learn nearly all of the start, because it has no pixel noise
      to fit, so its warm-up is longer.
    - A network that fine-tunes embeddings does not drift. But clusters that it has only just
      separated mix again, so its warm-up has no early end.
    - Without a network, only a head is trained, and a high learning rate does no harm.
    - Augmented images are never the same twice, so a longer alternation keeps learning.
    """
    images, vectors = len(shape) == 3, len(shape) == 1
    moves = embedded and vectors
    budget = min(PIXELS // math.prod(shape[1:]), IMAGES) if images else VECTORS
    least = _epochs_of_many(10, n_samples)
    n_warm = n_selected or n_samples
    warm = _epochs_of_many(60 if vectors and not moves else 30, n_warm)
    return Settings(
        pretrain_epochs=_epochs(budget, n_samples, least=least, most=120),
        warmup_epochs=max(warm, _epochs_of(WARM_STEPS, n_warm)),
        epochs=_epochs(
            330_000 if augment else 130_000, n_samples, least=least, most=100 if augment else 40
        ),
        batch_size=BATCH,
        pretrain_learning_rate=5e-3,
        learning_rate=1e-3 if images or moves else 3e-4 if vectors else 1e-2,
        schedule="one-cycle",
        hidden_weight=0.0,
        detach_clean=True,
        glorot=False,
        paper_noise=False,
        start="auto",
        least_features=16,
        validation_share=0.0,
        pretrain_patience=100,
        warmup_patience=max(30 if moves else 5, _epochs_of(PATIENT_STEPS, n_warm)),
        warmup_agreement=math.inf if moves else 0.999 if vectors else 0.985,
    )


def paper(
    n_samples: int,
    shape: tuple[int, ...] = (),
    augment: bool = False,
    embedded: bool = False,
    n_selected: int | None = None,
) -> Settings:
    """Settings of the paper's text: constant rates, and every phase lasts while it improves."""
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
    n_selected: int | None = None,
    **overrides: int | float | None,
) -> Settings:
    """The settings of a preset for these samples, with overrides.

    Parameters
    ----------
    preset : {"fast", "paper"}
        Name of the preset.
    n_samples : int
        Number of samples.
    shape : (d,) or (c, h, w)
        Shape of one sample; empty if there is no network.
    augment : bool
        Whether the samples are augmented.
    embedded : bool
        Whether the samples are embeddings of another model.
    n_selected : int, optional
        Number of samples in which the start is found, and on which the warm-up trains; by default
        all.
    **overrides
        Fields of `Settings`; None keeps the value of the preset.

    Returns
    -------
    Settings

    Examples
    --------
    >>> from infomeans.training import resolve_settings
    >>> settings = resolve_settings("fast", n_samples=1797, shape=(1, 8, 8), epochs=5)
    >>> settings.epochs, settings.batch_size
    (5, 100)
    """
    if preset not in PRESETS:
        raise ValueError(f"preset={preset!r} is unknown; choose one of {', '.join(PRESETS)}.")
    given = {
        name: int(value) if isinstance(value, Integral) else float(value)
        for name, value in overrides.items()
        if value is not None
    }
    usual = PRESETS[preset](n_samples, shape, augment, embedded, n_selected)
    return replace(usual, **given)  # type: ignore[arg-type]


def _epochs_of(steps: int, n_samples: int) -> int:
    """Number of epochs that have this many steps with the default batch size."""
    return -(-steps // -(-n_samples // BATCH))


def _epochs_of_many(epochs: int, n_samples: int) -> int:
    """As many epochs as asked for, or fewer of very many samples."""
    return min(epochs, max(FEWEST, math.ceil(epochs * LARGE / n_samples)))


def _epochs(samples: int, n_samples: int, *, least: int, most: int) -> int:
    """Number of epochs in which the network sees this many samples in total, within limits."""
    return min(max(round(samples / n_samples), least), most)
