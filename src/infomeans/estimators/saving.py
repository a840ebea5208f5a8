"""Models on disk: JSON says what a model is, safetensors hold its numbers.

A folder holds `model.json` and the file of tensors that it names. The JSON is written last, so
that a crash leaves the old model or the new one.
"""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from infomeans import __version__
from infomeans.errors import InputError
from infomeans.files import write_atomic
from infomeans.networks import network_from_config, network_to_config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infomeans.estimators.base import SampleEstimator

FORMAT = 1
"""What this version writes; it reads this and all before."""

ESTIMATORS = (
    "MIADM",
    "SRKMeans",
    "DEPICT",
    "MID",
    "DEC",
    "DCN",
    "Autoencoder",
    "KMeansBaseline",
    "GraphBaseline",
)
GIVEN = "given"
"""Stands for a network or initial clusters that were passed in."""

_PARTS = ("network", "method", "scaling")
_ARRAYS = ("labels_", "initial_labels_", "cluster_centers_")


def write_model(model: SampleEstimator, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a fitted model to a folder."""
    folder = Path(path)
    description = folder / "model.json"
    if folder.exists() and not (overwrite and description.exists()) and any(folder.iterdir()):
        raise FileExistsError(
            f"{folder} exists already; name a new folder"
            + (" or pass overwrite=True." if description.exists() else ", for it is not a model's.")
        )
    folder.mkdir(parents=True, exist_ok=True)
    tensors = save(_tensors(model))
    weights = f"{hashlib.sha256(tensors).hexdigest()[:16]}.safetensors"
    write_atomic(folder / weights, tensors)
    write_atomic(description, json.dumps({**_describe(model), "weights": weights}, indent=2) + "\n")
    for other in folder.glob("*.safetensors"):
        if other.name != weights:
            other.unlink()


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
    tensors = _read_tensors(folder / description["weights"])
    model = _estimator_class(description["estimator"], estimator)()
    built = network_from_config(description["network"], network)
    model.set_params(**description["params"])
    model._rebuild(built, {part: _under(part, tensors) for part in _PARTS})
    for name, value in _under("fitted", tensors).items():
        setattr(model, name, value.numpy())
    if getattr(model, "network", None) == GIVEN:
        model.network = network or model.network_
    if getattr(model, "init", None) == GIVEN:
        model.init = model.initial_labels_
    for name, value in description["fitted"].items():
        setattr(model, name, value)
    model._sample_shape = tuple(model._sample_shape)
    if "feature_names_in_" in description["fitted"]:
        model.feature_names_in_ = np.array(model.feature_names_in_, dtype=object)
    return model


def plain_params(model: SampleEstimator) -> dict[str, Any]:
    """An estimator's parameters as JSON can hold them."""
    return {name: _plain(value) for name, value in model.get_params(deep=False).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple | np.ndarray) and np.asarray(value).dtype.kind in "iuf":
        return np.asarray(value).tolist()
    if callable(value):
        return GIVEN
    return value if isinstance(value, str | int | float) else None


def _describe(model: SampleEstimator) -> dict[str, Any]:
    params = plain_params(model)
    if not isinstance(params.get("init", ""), str):
        params["init"] = GIVEN
    if "checkpoint" in params:
        params["checkpoint"] = None
    fitted = {
        "_sample_shape": list(model._sample_shape),
        "_n_features_out": model._n_features_out,
        "history_": getattr(model, "history_", []),
    }
    if hasattr(model, "n_features_in_"):
        fitted["n_features_in_"] = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        fitted["feature_names_in_"] = [str(name) for name in model.feature_names_in_]
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


def _under(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    prefix = f"{part}."
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}


def _model_folder(path: Path) -> Path:
    for folder in (path, path / "model"):
        if (folder / "model.json").exists():
            return folder
    raise InputError(f"{path} is not a saved model or a run: it holds no model.json.")


def _read_description(folder: Path) -> dict[str, Any]:
    try:
        description = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        found = description["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / 'model.json'} is not the description of a model.") from error
    if found > FORMAT:
        raise InputError(
            f"{folder} was saved in format {found} by infomeans {description.get('infomeans')}; "
            f"this version, {__version__}, reads formats up to {FORMAT}. Install a newer one."
        )
    return dict(description)


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load(path.read_bytes())
    except (FileNotFoundError, SafetensorError) as error:
        raise InputError(
            f"{path}, which holds the model's weights, cannot be read: {error}"
        ) from error


def _estimator_class(name: str, given: type[SampleEstimator] | None) -> type[SampleEstimator]:
    if given is not None:
        return given
    if name not in ESTIMATORS:
        raise InputError(
            f"The model is a {name}, which is none of {', '.join(ESTIMATORS)}; pass its class as "
            f"estimator=."
        )
    return getattr(import_module("infomeans.estimators"), name)
