"""The state of a training in one file, from which it can go on.

Tensors lie in a safetensors file, and everything else as JSON in its header, so that one rename
puts the whole state in place and reading it cannot run code.
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
    """Keeps the state after the last epoch.

    Parameters
    ----------
    path : path
        The file.
    identity : mapping
        What makes a training the same one: a state with another identity is refused.
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
                    f"{theirs!r}, not {ours!r}. Name another file or remove this one."
                )


def _pack(value: Any, tensors: dict[str, Tensor]) -> Any:
    """JSON for a tree of containers, numbers and texts; its tensors go into the dictionary."""
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
    """Load an optimiser's state into the memory layout of its parameters.

    A file knows no layout, but a fused optimiser walks through parameters and their moments side
    by side.
    """
    optimizer.load_state_dict(state)
    for parameter, moments in optimizer.state.items():
        for name, value in moments.items():
            if isinstance(value, Tensor) and value.shape == parameter.shape:
                moments[name] = torch.empty_like(parameter).copy_(value)
