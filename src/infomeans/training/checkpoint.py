"""The state of a training in one file, to resume it.

Tensors are in a safetensors file, everything else is JSON in its header. One rename replaces the
whole state, and reading it cannot execute code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from infomeans.errors import InputError
from infomeans.files import write_atomic

HEADER = "infomeans"
_TENSOR, _PAIRS = "__tensor__", "__pairs__"


class Checkpoint:
    """A file with the state after the last epoch.

    Parameters
    ----------
    path : path
        The file.
    identity : mapping
        Everything that identifies a training; a state with another identity is refused.
    """

    def __init__(self, path: str | PathLike[str], identity: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.identity = json.loads(json.dumps(identity))

    def save(self, state: Mapping[str, Any]) -> None:
        """Replace the state in the file."""
        tensors: dict[str, Tensor] = {}
        tree = _pack({"identity": self.identity, "state": state}, tensors)
        write_atomic(self.path, save(tensors, metadata={HEADER: json.dumps(tree)}))

    def load(self) -> dict[str, Any] | None:
        """The state in the file; None if there is no file."""
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                tree = json.loads(file.metadata()[HEADER])
                names = file.keys()
                content = _unpack(tree, {name: file.get_tensor(name) for name in names})
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"checkpoint {self.path} cannot be read: {error}") from error
        self._check(content["identity"])
        state: dict[str, Any] = content["state"]
        return state

    def _check(self, identity: Mapping[str, Any]) -> None:
        for name in {**self.identity, **identity}:
            ours, theirs = self.identity.get(name), identity.get(name)
            if ours != theirs:
                raise InputError(
                    f"checkpoint {self.path} belongs to another training: its {name} is "
                    f"{theirs!r}, not {ours!r}. Name another file or delete this one."
                )


def _pack(value: Any, tensors: dict[str, Tensor]) -> Any:
    """A tree of containers, numbers and strings as JSON; its tensors go into the dictionary."""
    if isinstance(value, Tensor):
        name = str(len(tensors))
        tensors[name] = value.detach().cpu().contiguous().clone()
        return {_TENSOR: name}
    if isinstance(value, Mapping):
        return {_PAIRS: [[key, _pack(item, tensors)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [_pack(item, tensors) for item in value]
    return value


def _unpack(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(value, list):
        return [_unpack(item, tensors) for item in value]
    if isinstance(value, dict):
        if _TENSOR in value:
            return tensors[value[_TENSOR]]
        return {key: _unpack(item, tensors) for key, item in value[_PAIRS]}
    return value


def restore_optimizer(optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """Load an optimiser's state with the memory layout of its parameters.

    A file does not store the layout, but a fused optimiser needs the same one for parameters and
    their moments.
    """
    optimizer.load_state_dict(state)
    for parameter, moments in optimizer.state.items():
        for name, value in moments.items():
            if isinstance(value, Tensor) and value.shape == parameter.shape:
                moments[name] = torch.empty_like(parameter).copy_(value)
