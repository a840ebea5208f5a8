"""Check the names and values of estimator parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import validate_parameter_constraints

from infomeans.errors import Problems


def check_parameters(
    models: Mapping[str, BaseEstimator], params: Mapping[str, Any], reserved: Collection[str]
) -> None:
    """Refuse parameters that none of the estimators accepts; report all problems at once.

    Parameters
    ----------
    models : mapping of str to estimator
        The chosen estimator by name; all of them if the method is unknown.
    params : mapping of str to value
        Parameters to check.
    reserved : collection of str
        Parameters that cannot be set this way.
    """
    problems = Problems()
    accepted = {name: model.get_params().keys() - reserved for name, model in models.items()}
    unknown = [name for name in params if not any(name in names for names in accepted.values())]
    if unknown and len(models) == 1:
        ((method, names),) = accepted.items()
        problems.add(
            f"{method} has no parameter {', '.join(unknown)}; it accepts "
            f"{', '.join(sorted(names))}."
        )
    elif unknown:
        problems.add(f"No method has a parameter {', '.join(unknown)}.")
    for name in params.keys() - set(unknown):
        takers = [model for method, model in models.items() if name in accepted[method]]
        refusals = [_refusal(model, name, params[name]) for model in takers]
        if all(refusals):
            problems.add(refusals[0])
    problems.report()


def _refusal(model: BaseEstimator, name: str, value: Any) -> str:
    """scikit-learn's message about an invalid value; empty if the value is valid."""
    try:
        validate_parameter_constraints(
            model._parameter_constraints, {name: value}, caller_name=type(model).__name__
        )
    except (ValueError, TypeError) as error:
        return str(error)
    return ""
