"""Shows the API reference the estimators that are made from their methods.

The reference is built from source text, in which these classes do not appear.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import griffe


class MadeEstimators(griffe.Extension):
    """Adds the class of every method to `infomeans.estimators`."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Add the classes, once the package is loaded."""
        if pkg.name != "infomeans":
            return
        made = importlib.import_module("infomeans.estimators.clusterers").CLUSTERERS
        for name, estimator in made.items():
            pkg["estimators"].set_member(name, _described(name, estimator))


def _described(name: str, estimator: type) -> griffe.Class:
    """A class with its docstring and the signature of its constructor."""
    described = griffe.Class(
        name,
        bases=["DeepClusterer"],
        docstring=griffe.Docstring(inspect.getdoc(estimator) or "", parser="numpy"),
    )
    parameters = griffe.Parameters(
        *(
            griffe.Parameter(
                given.name,
                annotation=str(given.annotation),
                kind=griffe.ParameterKind.keyword_only,
                default=repr(given.default),
            )
            for given in inspect.signature(estimator).parameters.values()
        )
    )
    described.set_member("__init__", griffe.Function("__init__", parameters=parameters))
    return described
