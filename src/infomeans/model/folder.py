"""Models on disk: a JSON description, and the tensors in safetensors format.

A folder holds `model.json` and the tensor file that it names. `model.json` is written last: a
crash leaves the old model or the new one. Both have a hash, which is compared on reading.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from infomeans.data.schema import FILE, KEY, OLD_FILE, Schema
from infomeans.errors import InputError
from infomeans.files import check_seal, read_json, regular, sealed, write_atomic

FORMAT = 3
"""The format that this version writes; it also reads all earlier ones."""

_TENSORS = re.compile(r"[0-9a-f]{16}\.safetensors")


class ModelFolder:
    """The folder of a model, which need not exist yet.

    Parameters
    ----------
    path : path
        The folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @classmethod
    def find(cls, path: Path) -> ModelFolder:
        """The model folder at a path, or inside the run folder at that path."""
        for folder in (path, path / "model"):
            if (folder / FILE).exists():
                return cls(folder)
        why = f"holds no {FILE}" if path.exists() else "does not exist"
        raise InputError(f"{path} is not a saved model or a run: it {why}.")

    def write(
        self,
        description: Mapping[str, Any],
        tensors: Mapping[str, Tensor],
        schema: Schema,
        *,
        overwrite: bool = False,
    ) -> None:
        """Write a model: its description, its tensors, and the schema of its input."""
        before = self._files()
        self._check_free(before, overwrite)
        packed = save(dict(tensors))
        weights = _name(packed)
        content = {"format": FORMAT, **description, "weights": weights, KEY: schema.to_json()}
        self.path.mkdir(parents=True, exist_ok=True)
        write_atomic(self.path / weights, packed)
        write_atomic(self.path / FILE, json.dumps(sealed(content), indent=2) + "\n")
        for name in before - {FILE, weights}:
            (self.path / name).unlink(missing_ok=True)

    def read(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Read the description and the tensors of a model."""
        description = self._description()
        check_seal(self.path / FILE, description, needed=description["format"] >= 3)
        path = self.path / description["weights"]
        try:
            packed = regular(path).read_bytes()
            if _TENSORS.fullmatch(path.name) and _name(packed) != path.name:
                raise InputError(f"{path} is damaged: the weights are not those that were saved.")
            tensors = load(packed)
        except (FileNotFoundError, SafetensorError) as error:
            raise InputError(
                f"{path}, with the model's weights, cannot be read: {error}"
            ) from error
        for name, tensor in tensors.items():
            # Features without outliers have no limits.
            wrong = tensor.isnan() if name.startswith("scaling.") else ~tensor.isfinite()
            if tensor.is_floating_point() and bool(wrong.any()):
                raise InputError(f"{path} is damaged: {name} has values that are not finite.")
        return description, tensors

    def _description(self) -> dict[str, Any]:
        file = self.path / FILE
        try:
            description = read_json(file)
            found, weights = int(description["format"]), Path(description["weights"])
        except InputError:
            raise
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(f"{file} is not the description of a model.") from error
        if found > FORMAT:
            raise InputError(
                f"{self.path} was saved in format {found} by infomeans "
                f"{description.get('infomeans')}; this version reads formats up to {FORMAT}. "
                f"Install a newer one."
            )
        if weights.name != str(weights) or not weights.name:
            raise InputError(f"{file} names weights outside its folder: {weights}.")
        return description

    def _files(self) -> set[str]:
        """Names of the files of the model in the folder; empty if there is none."""
        try:
            description = self._description()
        except FileNotFoundError:
            return set()
        except InputError:
            return {FILE}
        schema = () if KEY in description else (OLD_FILE,)
        return {FILE, description["weights"], *schema}

    def _check_free(self, model: set[str], overwrite: bool) -> None:
        """Refuse a folder that holds a model, or anything else.

        Files left by an interrupted write are ignored.
        """
        names = {path.name for path in self.path.iterdir()} if self.path.exists() else set()
        if any(not (_TENSORS.fullmatch(name) or name.startswith(".")) for name in names - model):
            raise FileExistsError(f"{self.path} exists and holds no model; name a new folder.")
        if model and not overwrite:
            raise FileExistsError(
                f"{self.path} already holds a model; pass overwrite=True to replace it."
            )


def _name(packed: bytes) -> str:
    """The name of a file with these tensors, by its hash."""
    return hashlib.sha256(packed).hexdigest()[:16] + ".safetensors"


def tensors_under(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a part, whose names begin with its name and a dot."""
    prefix = f"{part}."
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
