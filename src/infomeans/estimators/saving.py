"""Save and load estimators: the model with its parameters and labels."""

from __future__ import annotations

import hashlib
import math
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from infomeans import __version__
from infomeans.data.schema import ArraySchema, Schema
from infomeans.errors import InputError
from infomeans.methods import ESTIMATORS
from infomeans.model import Model, Scaling, Strangeness
from infomeans.model.folder import ModelFolder, tensors_under
from infomeans.networks import load_weights, network_from_config, network_to_config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infomeans.estimators.base import SampleEstimator

USER_SUPPLIED = "given"
"""Saved in place of a network or initial labels that the user passed in."""

_ARRAYS = ("labels_", "initial_labels_", "cluster_centers_")
_VIEWS = "fitted.views_"
PARTS = ("network", "method", "scaling", "strangeness")
ROOM = 2**24
"""Number of values that any model may have memory for."""

_NOT_SAVED = ("callbacks", "checkpoint", "device", "n_threads")


def write_model(
    estimator: SampleEstimator,
    path: str | Path,
    *,
    schema: Schema | None = None,
    overwrite: bool = False,
) -> None:
    """Write a fitted estimator to a folder.

    Parameters
    ----------
    estimator : SampleEstimator
        The fitted estimator.
    path : path
        Folder to write to.
    schema : Schema, optional
        How its samples were read; by default as an array.
    overwrite : bool
        Whether to replace an existing model.
    """
    ModelFolder(path).write(
        _describe(estimator),
        _tensors(estimator),
        schema or ArraySchema(estimator.model_.shape),
        overwrite=overwrite,
    )


def load_model(
    path: str | Path,
    *,
    network: nn.Module | None = None,
    estimator: type[SampleEstimator] | None = None,
) -> Any:
    """Load a model that `save` or a run wrote. No code from the file is executed.

    Parameters
    ----------
    path : path
        Folder of a model or of a run.
    network : nn.Module, optional
        A module with the architecture that the model was fitted with, if it is not built in. Its
        weights are in the file, its code is not.
    estimator : class, optional
        Class of the estimator, if it is not built in.

    Returns
    -------
    fitted estimator

    Raises
    ------
    InputError
        If the folder holds no model, or one that cannot be built.

    Examples
    --------
    >>> import numpy as np
    >>> import infomeans
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> infomeans.GraphBaseline(n_clusters=2).fit(X).save("model")
    >>> infomeans.load("model").predict([[0.05], [4.9]])
    array([0, 1])
    """
    folder = ModelFolder.find(Path(path))
    description, tensors = folder.read()
    try:
        return _build(description, tensors, network, estimator)
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"the model in {folder.path} cannot be built: {reason}") from error


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator that are saved, as JSON values."""
    return {name: _plain(name, params[name]) for name in params if name not in _NOT_SAVED}


def digest(*values: Any) -> str:
    """A short hash of arrays."""
    hashed = hashlib.sha256()
    for value in values:
        hashed.update(np.ascontiguousarray(value).data)
    return hashed.hexdigest()[:16]


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.random.RandomState):
        return None
    if callable(value):
        return USER_SUPPLIED
    array = np.asarray(value)
    if array.dtype.kind in "biuf":
        return array.tolist()
    raise TypeError(f"{name}={value!r} cannot be saved; numbers, text and arrays can.")


def _describe(estimator: SampleEstimator) -> dict[str, Any]:
    params = plain_params(estimator._fitted_params)
    if not isinstance(params.get("init", ""), str):
        params["init"] = USER_SUPPLIED
    names = getattr(estimator, "feature_names_in_", None)
    return {
        "infomeans": __version__,
        "torch": torch.__version__,
        "estimator": type(estimator).__name__,
        "params": params,
        "network": network_to_config(estimator.model_.network),
        "fitted": {
            "shape": list(estimator.model_.shape),
            "n_features_out": estimator.model_.n_features,
            # An auto-encoder has no clusters.
            "n_clusters": getattr(estimator, "n_clusters_", None),
            "history": estimator.history_,
            "feature_names": None if names is None else [str(name) for name in names],
        },
    }


def _tensors(estimator: SampleEstimator) -> dict[str, Tensor]:
    state = estimator.model_.state_dict()
    state[_VIEWS] = state.pop("views")
    tensors = {name: value.detach().cpu().contiguous().clone() for name, value in state.items()}
    for name in _ARRAYS:
        if getattr(estimator, name, None) is not None:
            tensors[f"fitted.{name}"] = torch.tensor(np.ascontiguousarray(getattr(estimator, name)))
    return tensors


def _build(
    description: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    network: nn.Module | None,
    estimator: type[SampleEstimator] | None,
) -> SampleEstimator:
    made = _estimator_class(description["estimator"], estimator)()
    kept = _kept_params(description["params"], made)
    made.set_params(**kept)
    if "n_clusters" in kept:
        made.n_clusters_ = int(description["fitted"].get("n_clusters", kept["n_clusters"]))
    made.model_ = _model(description, tensors, network, made)
    for name in _ARRAYS:
        if f"fitted.{name}" in tensors:
            setattr(made, name, tensors[f"fitted.{name}"].numpy())
    if kept.get("network") == USER_SUPPLIED:
        made.set_params(network=network or made.model_.network)
    if kept.get("init") == USER_SUPPLIED:
        made.set_params(init=made.initial_labels_)
    fitted = description["fitted"]
    made._fitted_params = made.get_params(deep=False)
    made.history_ = fitted["history"]
    if not made.model_.images:
        made.n_features_in_ = made.model_.shape[0]
    if fitted["feature_names"]:
        made.feature_names_in_ = np.array(fitted["feature_names"], dtype=object)
    return made


def _kept_params(params: Mapping[str, Any], made: SampleEstimator) -> dict[str, Any]:
    """The saved parameters, under the names that they have now."""
    kept = {name: value for name, value in params.items() if name not in _NOT_SAVED}
    if "prior" in kept and "prior" not in made.get_params():
        shares = kept.pop("prior")
        kept |= {} if shares is None else {"sizes": shares}
    return kept


def _model(
    description: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    given: nn.Module | None,
    estimator: SampleEstimator,
) -> Model:
    fitted = description["fitted"]
    _check_sizes(fitted, tensors)
    parts = {part: tensors_under(part, tensors) for part in PARTS}
    network = network_from_config(description["network"], given)
    load_weights(network, parts["network"])
    # As the trainer leaves it: the memory layout affects the order of summation in convolutions.
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    method = estimator._build_method(
        getattr(estimator, "n_clusters_", 0), fitted["n_features_out"], parts["method"]
    )
    if method is not None:
        # Models of earlier versions lack what a method has gained since.
        gained = {name: method.state_dict()[name] for name in getattr(method, "gained", ())}
        method.load_state_dict({**gained, **parts["method"]})
    views = tensors.get(_VIEWS, torch.empty(0, 2, 3))
    scaling, learned = Scaling(**parts["scaling"]), parts["strangeness"]
    # Models of earlier versions have no outlier scores.
    strangeness = Strangeness(learned) if learned else None
    return Model(tuple(fitted["shape"]), scaling, network, method, views, strangeness).eval()


def _check_sizes(fitted: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Refuse sizes that the tensors cannot have, before memory is taken for them."""
    room = max(ROOM, 16 * sum(tensor.numel() for tensor in tensors.values()))
    sizes = [fitted.get("n_clusters") or 1, fitted["n_features_out"], *fitted["shape"]]
    clusters, features, *shape = (int(size) for size in sizes)
    if min(sizes) < 1 or clusters * features > room or math.prod(shape) > room:
        raise InputError(
            f"the model claims {clusters} clusters, {features} features and samples of shape "
            f"{tuple(shape)}, which do not fit its weights."
        )


def _estimator_class(name: str, given: type[SampleEstimator] | None) -> type[SampleEstimator]:
    if given is not None:
        return given
    if name not in ESTIMATORS:
        raise InputError(
            f"the model is a {name}, not one of {', '.join(ESTIMATORS)}; pass its class as "
            f"estimator=."
        )
    return getattr(import_module("infomeans.estimators"), name)
