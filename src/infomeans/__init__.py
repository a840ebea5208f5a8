"""Deep clustering that stands on one identity: mutual information is soft, regularised K-means.

>>> from infomeans import MIADM
>>> labels = MIADM(n_clusters=10, random_state=0).fit_predict(X)  # doctest: +SKIP
"""

from importlib import import_module
from importlib.metadata import version

from infomeans.methods.registry import ESTIMATORS
from infomeans.threads import sleep_while_waiting

sleep_while_waiting()

__version__ = version("infomeans")

_MODULES = (
    "data",
    "errors",
    "functional",
    "graph",
    "methods",
    "metrics",
    "networks",
    "training",
)

__all__ = [*ESTIMATORS, *_MODULES, "__version__", "export", "load"]


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for: the command line starts without torch."""
    if name in ESTIMATORS:
        return getattr(import_module("infomeans.estimators"), name)
    if name == "load":
        return import_module("infomeans.estimators").load_model
    if name == "export":
        return import_module("infomeans.model.export")
    if name in _MODULES:
        return import_module(f"infomeans.{name}")
    raise AttributeError(f"module 'infomeans' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
