"""Schemas: how input was read, so that new input can be read in the same way."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from infomeans.data.decoding import Fit
from infomeans.errors import InputError
from infomeans.files import regular

FILE, KEY = "model.json", "input"
"""File and key of the schema in a model folder."""

OLD_FILE = "input.json"
"""File of the schema in the first model format."""

Kind = Literal["images", "table", "array"]
Depth = Literal["uint8", "uint16", "float32"]


@dataclass(frozen=True)
class Schema(ABC):
    """Base class of the schemas; they can be written to JSON and read back."""

    kind: ClassVar[Kind]

    @property
    @abstractmethod
    def sample_shape(self) -> tuple[int, ...]:
        """The shape of one sample."""

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {"kind": self.kind, **asdict(self)}

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> Schema:
        """The schema that `to_json` wrote."""
        fields = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in plain.items()
            if name != "kind"
        }
        return _SCHEMAS[plain["kind"]](**fields)


def read_schema(path: Path) -> Schema:
    """Read the schema of a model's input from the folder of the model or of its run."""
    for folder in (path, path / "model"):
        if (folder / FILE).exists():
            try:
                plain = _json(folder / FILE).get(KEY) or _json(folder / OLD_FILE)
                return Schema.from_json(plain)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(f"{folder / FILE} is damaged.") from error
    raise InputError(f"{path} is not a saved model or a run: it holds no {FILE}.")


def _json(path: Path) -> Any:
    return json.loads(regular(path).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class ImageSchema(Schema):
    """Images of one size, with 1 or 3 channels, all of one depth.

    `fit` is how images of other proportions were treated. Old models always stretched them.
    """

    kind = "images"

    height: int
    width: int
    channels: int
    depth: Depth
    fit: Fit = "stretch"

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """(h, w) for grey, (h, w, 3) for colour."""
        grey = (self.height, self.width)
        return grey if self.channels == 1 else (*grey, self.channels)


@dataclass(frozen=True)
class TableSchema(Schema):
    """The columns used as features, in order.

    `medians` has one value for each column, or is None if missing values were not accepted.
    """

    kind = "table"

    columns: tuple[str, ...]
    medians: tuple[float, ...] | None = None
    id_column: str | None = None

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """(d,)."""
        return (len(self.columns),)


@dataclass(frozen=True)
class ArraySchema(Schema):
    """Samples of one shape; `key` is the name of the array in a file that holds several."""

    kind = "array"

    shape: tuple[int, ...]
    key: str | None = None

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """Shape of one row of the array."""
        return self.shape


_SCHEMAS: dict[str, type[Schema]] = {
    cls.kind: cls for cls in (ImageSchema, TableSchema, ArraySchema)
}
