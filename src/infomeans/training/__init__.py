"""The training loop, its settings, its history and those who look on."""

from infomeans.training.augmentation import (
    augmentation_settings,
    random_affine,
    view_maps,
    warp,
)
from infomeans.training.callbacks import Callback, ProgressBars
from infomeans.training.checkpoint import Checkpoint
from infomeans.training.devices import make_fabric
from infomeans.training.history import Record, kept
from infomeans.training.reproducible import isolated, seed_for
from infomeans.training.settings import Settings, resolve_settings
from infomeans.training.step import step_work
from infomeans.training.trainer import Trainer

__all__ = [
    "Callback",
    "Checkpoint",
    "ProgressBars",
    "Record",
    "Settings",
    "Trainer",
    "augmentation_settings",
    "isolated",
    "kept",
    "make_fabric",
    "random_affine",
    "resolve_settings",
    "seed_for",
    "step_work",
    "view_maps",
    "warp",
]
