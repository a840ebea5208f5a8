"""Deep clustering built on one identity: mutual information is soft, regularised K-means.

>>> from sklearn.datasets import make_blobs
>>> from infomeans import MIADM
>>> X, _ = make_blobs(n_samples=90, centers=3, random_state=0)
>>> MIADM(n_clusters=3, pretrain_epochs=2, epochs=2, random_state=0).fit_predict(X).shape
(90,)
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

__all__ = ["__version__", "export", "load"]
__all__.extend(ESTIMATORS)
__all__.extend(_MODULES)


def __getattr__(name: str) -> object:
    """Import an attribute on first use, so that the command line starts without torch."""
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
