"""Models on disk: JSON says what a model is, safetensors hold its numbers.

A folder holds `model.json` and the file of tensors that it names. `model.json` is written last, so
that a crash leaves the old model or the new one.
"""

from __future__ import annotations

import hashlib
import json
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from infomeans import __version__
from infomeans.data.recipes import FILE as _MODEL
from infomeans.data.recipes import KEY as _INPUT
from infomeans.data.recipes import OLD_FILE, ArrayRecipe, Recipe
from infomeans.errors import InputError
from infomeans.files import write_atomic
from infomeans.methods import ESTIMATORS
from infomeans.networks import network_from_config, network_to_config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infomeans.estimators.base import SampleEstimator

FORMAT = 2
"""What this version writes; it reads this and all before."""

GIVEN = "given"
"""Stands for a network or initial clusters that were passed in."""

_TENSORS = re.compile(r"[0-9a-f]{16}\.safetensors")
_PARTS = ("network", "method", "scaling")
_ARRAYS = ("labels_", "initial_labels_", "cluster_centers_", "views_")
_OF_THE_MOMENT = ("callbacks", "checkpoint", "device", "n_threads")


def write_model(
    model: SampleEstimator,
    path: str | Path,
    *,
    recipe: Recipe | None = None,
    overwrite: bool = False,
) -> None:
    """Write a fitted model to a folder.

    Parameters
    ----------
    model : SampleEstimator
    path : path
    recipe : Recipe, optional
        How its samples were read; by default they were an array.
    overwrite : bool
        Whether to replace a model that lies there.
    """
    folder = Path(path)
    before = _files(folder)
    _check_free(folder, before, overwrite)
    description, tensors = _describe(model), save(_tensors(model))
    weights = hashlib.sha256(tensors).hexdigest()[:16] + ".safetensors"
    reading = (recipe or ArrayRecipe(model._sample_shape)).to_json()
    content = {**description, "weights": weights, _INPUT: reading}
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / weights, tensors)
    write_atomic(folder / _MODEL, json.dumps(content, indent=2) + "\n")
    for name in before - {_MODEL, weights}:
        (folder / name).unlink(missing_ok=True)


def load_model(
    path: str | Path,
    *,
    network: nn.Module | None = None,
    estimator: type[SampleEstimator] | None = None,
) -> Any:
    """The model that `save` or a run wrote; nothing in the file is run.

    Parameters
    ----------
    path : path
        The folder of a model, or of a run.
    network : nn.Module, optional
        A module of the architecture the model was fitted with, if that was not one of ours: its
        weights are in the file, its code is not.
    estimator : class, optional
        The estimator's class, if it is not one of ours.
    """
    folder = _model_folder(Path(path))
    description = _read_description(folder)
    tensors = _read_tensors(folder, description)
    try:
        return _build(description, tensors, network, estimator)
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{folder} holds no model that can be built: {reason}") from error


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Those parameters of an estimator that are more than of the moment, as JSON can hold them."""
    return {name: _plain(name, params[name]) for name in params if name not in _OF_THE_MOMENT}


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
        return GIVEN
    array = np.asarray(value)
    if array.dtype.kind in "biuf":
        return array.tolist()
    raise TypeError(f"{name}={value!r} cannot be saved; numbers, text and arrays can.")


def _files(folder: Path) -> set[str]:
    """The names of the files that make up the model in a folder, if there is one."""
    try:
        description = _read_description(folder)
    except FileNotFoundError:
        return set()
    except InputError:
        return {_MODEL}
    recipe = () if _INPUT in description else (OLD_FILE,)
    return {_MODEL, description["weights"], *recipe}


def _check_free(folder: Path, model: set[str], overwrite: bool) -> None:
    """Refuse a folder that holds a model, or anything else.

    What a broken write left behind is no reason.
    """
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if any(not (_TENSORS.fullmatch(name) or name.startswith(".")) for name in names - model):
        raise FileExistsError(f"{folder} exists already and is not a model's; name a new folder.")
    if model and not overwrite:
        raise FileExistsError(f"{folder} holds a model already; pass overwrite=True to replace it.")


def _describe(model: SampleEstimator) -> dict[str, Any]:
    params = plain_params(model._fitted_params)
    if not isinstance(params.get("init", ""), str):
        params["init"] = GIVEN
    fitted = {
        "shape": list(model._sample_shape),
        "n_features_out": model._n_features_out,
        "history": model.history_,
        "feature_names": None,
    }
    if hasattr(model, "feature_names_in_"):
        fitted["feature_names"] = [str(name) for name in model.feature_names_in_]
    return {
        "format": FORMAT,
        "infomeans": __version__,
        "torch": torch.__version__,
        "estimator": type(model).__name__,
        "params": params,
        "network": network_to_config(model.network_),
        "fitted": fitted,
    }


def _tensors(model: SampleEstimator) -> dict[str, Tensor]:
    tensors = {
        f"{part}.{name}": value.detach().cpu().contiguous().clone()
        for part in _PARTS
        if hasattr(model, f"{part}_")
        for name, value in getattr(model, f"{part}_").state_dict().items()
    }
    for name in _ARRAYS:
        if hasattr(model, name):
            tensors[f"fitted.{name}"] = torch.tensor(np.ascontiguousarray(getattr(model, name)))
    return tensors


def _model_folder(path: Path) -> Path:
    for folder in (path, path / "model"):
        if (folder / _MODEL).exists():
            return folder
    why = f"holds no {_MODEL}" if path.exists() else "does not exist"
    raise InputError(f"{path} is not a saved model or a run: it {why}.")


def _read_description(folder: Path) -> dict[str, Any]:
    try:
        description = json.loads((folder / _MODEL).read_text(encoding="utf-8"))
        found, weights = int(description["format"]), Path(description["weights"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / _MODEL} is not the description of a model.") from error
    if found > FORMAT:
        raise InputError(
            f"{folder} was saved in format {found} by infomeans {description.get('infomeans')}; "
            f"this version, {__version__}, reads formats up to {FORMAT}. Install a newer one."
        )
    if weights.name != str(weights):
        raise InputError(f"{folder / _MODEL} names weights outside its folder: {weights}.")
    return dict(description)


def _read_tensors(folder: Path, description: Mapping[str, Any]) -> dict[str, Tensor]:
    path = folder / description["weights"]
    try:
        return load(path.read_bytes())
    except (FileNotFoundError, SafetensorError) as error:
        raise InputError(f"{path}, with the model's weights, cannot be read: {error}") from error


def _build(
    description: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    network: nn.Module | None,
    estimator: type[SampleEstimator] | None,
) -> SampleEstimator:
    model = _estimator_class(description["estimator"], estimator)()
    kept = {k: v for k, v in description["params"].items() if k not in _OF_THE_MOMENT}
    model.set_params(**kept)
    built = network_from_config(description["network"], network)
    model._rebuild(built, {part: _under(part, tensors) for part in _PARTS})
    for name in _ARRAYS:
        if f"fitted.{name}" in tensors:
            setattr(model, name, tensors[f"fitted.{name}"].numpy())
    if kept.get("network") == GIVEN:
        model.set_params(network=network or model.network_)
    if kept.get("init") == GIVEN:
        model.set_params(init=model.initial_labels_)
    fitted = description["fitted"]
    model._sample_shape = tuple(fitted["shape"])
    model._n_features_out = fitted["n_features_out"]
    model._fitted_params = model.get_params(deep=False)
    model.history_ = fitted["history"]
    if len(model._sample_shape) == 1:
        model.n_features_in_ = model._sample_shape[0]
    if fitted["feature_names"]:
        model.feature_names_in_ = np.array(fitted["feature_names"], dtype=object)
    return model


def _under(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    prefix = f"{part}."
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}


def _estimator_class(name: str, given: type[SampleEstimator] | None) -> type[SampleEstimator]:
    if given is not None:
        return given
    if name not in ESTIMATORS:
        raise InputError(
            f"The model is a {name}, which is none of {', '.join(ESTIMATORS)}; pass its class as "
            f"estimator=."
        )
    return getattr(import_module("infomeans.estimators"), name)
