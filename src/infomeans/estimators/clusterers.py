"""The clusterers: one class for each method of the registry, generated from the method.

A method declares its parameters once, in its constructor, and describes them in its docstring. The
estimator class takes both from there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import getdoc
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from infomeans.estimators.deep_clusterer import SIZES, DeepClusterer
from infomeans.methods import METHODS
from infomeans.methods.parameters import parameters_of

if TYPE_CHECKING:
    from infomeans.methods.base import Method

_EXAMPLE = """
Examples
--------
>>> from sklearn.datasets import make_blobs
>>> from infomeans import {name}
>>> X, _ = make_blobs(n_samples=90, centers=3, random_state=0)
>>> model = {name}(n_clusters=3, pretrain_epochs=2, epochs=2, random_state=0).fit(X)
>>> model.labels_.shape
(90,)
>>> model.predict_proba(X[:2]).shape
(2, 3)
"""


def make_clusterer(name: str, method: type[Method], slug: str | None = None) -> type[DeepClusterer]:
    """Make an estimator class for a method.

    Parameters
    ----------
    name : str
        Name of the class.
    method : subclass of Method
        The clustering method. If its constructor takes `sizes`, that is the parameter of
        `DeepClusterer`.
    slug : str, optional
        Name of the method in the registry; None for a method of your own.

    Returns
    -------
    subclass of DeepClusterer

    Examples
    --------
    >>> from infomeans.estimators import make_clusterer
    >>> from infomeans.methods.mi_adm import MIADMMethod
    >>> Mine = make_clusterer("Mine", MIADMMethod)
    >>> Mine(n_clusters=3, lam=0.1).lam
    0.1
    """
    parameters = [one for one in parameters_of(method) if one.name != SIZES]
    content: dict[str, Any] = {
        "__doc__": _docstring(method) + (_EXAMPLE.format(name=name) if slug else ""),
        "__module__": __name__,
        "__annotations__": {one.name: _plain_type(one.type) for one in parameters},
        "method": slug or method,
        "_parameter_constraints": {
            **DeepClusterer._parameter_constraints,
            **{one.name: one.constraints for one in parameters},
        },
    }
    for one in parameters:
        content[one.name] = field(default=one.default)
    made = type(name, (DeepClusterer,), content)
    return dataclass(eq=False, repr=False, kw_only=True)(made)


def _plain_type(hint: Any) -> Any:
    """A type without its constraints."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _docstring(method: type[Method]) -> str:
    """The method's docstring, without the parameters that the estimator sets itself."""
    lines = (getdoc(method) or "").splitlines()
    kept = [line for line in lines if line != "n_clusters, n_features : int"]
    shared = "The parameters not listed here are those of `DeepClusterer`."
    if "Parameters" in kept:
        at = kept.index("Parameters")
        return "\n".join([*kept[:at], shared, "", *kept[at:], ""])
    return "\n".join([*kept, "", shared, ""])


CLUSTERERS = {
    info.estimator: make_clusterer(info.estimator, info.load(), slug)
    for slug, info in METHODS.items()
}
# Pickle finds a class by its name in its module.
globals().update(CLUSTERERS)
