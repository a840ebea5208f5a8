"""The parameters of a method, read from its constructor.

A method declares each parameter once, as a keyword of its `__init__`: the name, the type and the
default. The estimator of the method uses all three.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from sklearn.utils._param_validation import Interval, StrOptions

if TYPE_CHECKING:
    from infomeans.methods.base import Method

Positive = Annotated[float, Interval(Real, 0, None, closed="neither")]
NotNegative = Annotated[float, Interval(Real, 0, None, closed="left")]

Sizes = Literal["equal", "free"] | Sequence[float]
"""Desired sizes of the clusters: equal, learned, or shares."""


@dataclass(frozen=True)
class Parameter:
    """A parameter: its name, type, default, and scikit-learn constraints."""

    name: str
    type: Any
    default: Any
    constraints: list[Any]


def parameters_of(method: type[Method]) -> list[Parameter]:
    """The parameters of a method, without the numbers of clusters and features."""
    hints = get_type_hints(method.__init__, include_extras=True)
    return [
        Parameter(name, hints[name], given.default, _constraints(hints[name]))
        for name, given in inspect.signature(method).parameters.items()
        if given.kind is inspect.Parameter.KEYWORD_ONLY
    ]


def _constraints(hint: Any) -> list[Any]:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return [constraint for part in get_args(hint) for constraint in _constraints(part)]
    if origin is Annotated:
        return list(get_args(hint)[1:])
    if origin is Literal:
        return [StrOptions({*get_args(hint)})]
    if hint is NoneType:
        return [None]
    if hint is bool:
        return ["boolean"]
    return ["array-like"] if origin is Sequence else [hint]
