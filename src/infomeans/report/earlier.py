"""What an earlier report of the same run shows of samples that can no longer be read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infomeans.errors import InputError

FROM_SAMPLES = (
    "thumbs",
    "originals",
    "table",
    "features",
    "prototypes",
    "classes",
    "matched",
    "confusion",
    "against",
    "baselines",
)
"""What a page has only if the samples could be read."""


@dataclass(frozen=True)
class Earlier:
    """What an earlier page had from the samples.

    Attributes
    ----------
    content : dict
        The parts of the page's content in `FROM_SAMPLES`.
    sheets : list of str
        Its sheets of thumbnails.
    """

    content: dict[str, Any]
    sheets: list[str]


def earlier(path: Path, content: Mapping[str, Any], *, replaced: bool) -> Earlier | None:
    """What a page at this path has from the same samples, in the same order.

    Parameters
    ----------
    path : Path
        The page; it need not exist.
    content : mapping
        The content of the new page, with the `order` of its samples.
    replaced : bool
        Whether the new page takes the place of this one.

    Raises
    ------
    InputError
        If the page would be replaced, but shows samples in a form that cannot be taken over.
    """
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        old = json.loads(_script(text, "content"))
        same = old["order"] == content["order"]
        kept = {name: old[name] for name in FROM_SAMPLES}
    except (ValueError, KeyError, TypeError):
        same, kept = False, {}
    sheets = re.findall(r'<script type="text/plain" id="sheet-\d+">([^<]*)</script>', text)
    if same:
        return Earlier(kept, sheets) if sheets or any(kept.values()) else None
    if replaced and (sheets or '"table":{' in text):
        raise InputError(
            f"{path} shows samples that a new page would lack, so it is left as it is; name "
            f"another file with --out."
        )
    return None


def _script(text: str, name: str) -> str:
    return text.split(f'id="{name}">', 1)[1].split("</script>", 1)[0]
