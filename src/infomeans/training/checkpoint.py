"""The state of a training, to resume it.

Tensors are in a safetensors file, everything else is JSON in its header. One rename replaces the
whole state, and reading it cannot execute code. What was found once, such as the neighbours, is in
a second file, which the first one names. Each has a hash of its content, which is compared on
reading.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from infomeans.data.memory import in_parts
from infomeans.errors import InputError
from infomeans.files import regular, writing

HEADER, HASH = "infomeans", "sha256"
PIECE = 2**24
"""Number of bytes that are written at once."""

KINDS = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip
"""Types of tensors, as safetensors calls them."""

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
        self._start: str | None = None

    def save(self, state: Mapping[str, Any], start: Mapping[str, Any] | None = None) -> None:
        """Replace the state in the file.

        Parameters
        ----------
        state : mapping
            What changes from epoch to epoch.
        start : mapping, optional
            What was found once, and does not change. It is large, has a file of its own, and is
            written only the first time.
        """
        if start is not None and self._start is None:
            key = secrets.token_hex(8)
            self._write(self.start_path, {"key": key, "start": start})
            self._start = key
        content = {"identity": self.identity, "state": state, "start": self._start}
        self._write(self.path, content)

    def load(self) -> dict[str, Any] | None:
        """The state in the file, with what was found once; None if there is no file."""
        if not self.path.exists():
            return None
        content = self._read(self.path)
        self._check(content["identity"])
        state: dict[str, Any] = {**content["state"], "found": None}
        # Checkpoints of earlier versions have none.
        self._start = content.get("start")
        if self._start is not None:
            lasting = self._read(self.start_path)
            if lasting["key"] != self._start:
                raise InputError(
                    f"checkpoint {self.path} cannot be read: {self.start_path} belongs to another "
                    f"one."
                )
            state["found"] = lasting["start"]
        return state

    @property
    def start_path(self) -> Path:
        """The file of what was found once."""
        return start_file(self.path)

    @staticmethod
    def _write(path: Path, content: Mapping[str, Any]) -> None:
        tensors: dict[str, Tensor] = {}
        tree = json.dumps(_pack(content, tensors))
        metadata = {HEADER: tree, HASH: _hash(tree, tensors)}
        with writing(path) as file:
            for piece in _safetensors(tensors, metadata):
                file.write(piece)

    @staticmethod
    def _read(path: Path) -> dict[str, Any]:
        try:
            with safe_open(regular(path), framework="pt") as file:
                metadata, names = file.metadata(), file.keys()
                tree, tensors = metadata[HEADER], {name: file.get_tensor(name) for name in names}
            # Checkpoints of earlier versions have no hash.
            if HASH in metadata and metadata[HASH] != _hash(tree, tensors):
                raise ValueError("its content does not match its hash")
            content: dict[str, Any] = _unpack(json.loads(tree), tensors)
            return content
        except (
            OSError, SafetensorError, KeyError, TypeError, ValueError, RecursionError,
        ) as error:  # fmt: skip
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(
                f"checkpoint {path} is damaged: {reason}. Delete it to train from the beginning, "
                f"or put back a copy of it."
            ) from error

    def _check(self, identity: Mapping[str, Any]) -> None:
        for name in {**self.identity, **identity}:
            ours, theirs = self.identity.get(name), identity.get(name)
            if ours != theirs:
                raise InputError(
                    f"checkpoint {self.path} belongs to another training: its {name} is "
                    f"{theirs!r}, not {ours!r}. Name another file or delete this one."
                )


def start_file(path: Path) -> Path:
    """The file beside a checkpoint with what was found once."""
    return path.with_name(f"{path.stem}-start{path.suffix}")


def check_checkpoint(path: Path) -> None:
    """Refuse a checkpoint that is damaged, or lacks what was found once."""
    content = Checkpoint._read(path)
    Checkpoint(path, content["identity"]).load()


def remove_checkpoint(path: Path) -> None:
    """Delete both files of a checkpoint, if they exist."""
    path.unlink(missing_ok=True)
    start_file(path).unlink(missing_ok=True)


def _safetensors(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> Iterator[bytes]:
    """The content of a safetensors file, piece by piece: no tensor is copied as a whole.

    The library would copy all of them before it writes the first.
    """
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    at = 0
    for name, tensor in tensors.items():
        end = at + tensor.numel() * tensor.element_size()
        shape = list(tensor.shape)
        header[name] = {"dtype": KINDS[tensor.dtype], "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for tensor in tensors.values():
        yield from map(bytes, _pieces(tensor))


def _hash(tree: str, tensors: Mapping[str, Tensor]) -> str:
    """The hash of everything in a file."""
    hashed = hashlib.sha256(tree.encode())
    for name in sorted(tensors):
        hashed.update(f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)}".encode())
        for piece in _pieces(tensors[name]):
            hashed.update(piece)
    return hashed.hexdigest()


def _pieces(tensor: Tensor) -> Iterator[memoryview]:
    """The bytes of a tensor, some at a time."""
    for part in in_parts(tensor.reshape(-1).view(torch.uint8).numpy(), PIECE):
        yield part.data


def _pack(value: Any, tensors: dict[str, Tensor]) -> Any:
    """A tree of containers, numbers and strings as JSON; its tensors go into the dictionary."""
    if isinstance(value, Tensor):
        name = str(len(tensors))
        tensors[name] = value.detach().cpu().contiguous()
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
