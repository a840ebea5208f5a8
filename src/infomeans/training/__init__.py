"""The training loop, with its settings, history and callbacks."""

from infomeans.training.callbacks import Callback
from infomeans.training.checkpoint import Checkpoint
from infomeans.training.devices import join, make_fabric
from infomeans.training.fitted import Fitted
from infomeans.training.history import Record, kept
from infomeans.training.progress_bars import ProgressBars
from infomeans.training.settings import Settings, resolve_settings
from infomeans.training.trainer import Trainer

__all__ = [
    "Callback",
    "Checkpoint",
    "Fitted",
    "ProgressBars",
    "Record",
    "Settings",
    "Trainer",
    "join",
    "kept",
    "make_fabric",
    "resolve_settings",
]
