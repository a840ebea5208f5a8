"""Self-contained HTML pages, with styles, scripts and data in one file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined
from numpy.typing import NDArray

import infomeans


def render(
    template: str,
    *,
    css: Sequence[str],
    js: Sequence[str],
    content: Mapping[str, Any],
    **values: Any,
) -> str:
    """Render a template.

    Parameters
    ----------
    template : str
        Name of the template.
    css, js : sequences of str
        Names of the styles and scripts to include, in order.
    content : mapping
        Data for the scripts, embedded as JSON.
    **values
        Variables of the template; text is escaped.
    """
    environment = Environment(
        loader=FunctionLoader(_part), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    styles = "\n".join(map(_part, css))
    first, start = _part("theme.js"), _part("start.js")
    scripts = "\n".join(map(_part, ("common.js", *js)))
    return environment.get_template(template).render(
        policy=_policy(styles=[styles], scripts=[first, start, scripts]),
        css=styles,
        theme_js=first,
        start_js=start,
        js=scripts,
        content=as_json(content),
        version=infomeans.__version__,
        **values,
    )


def _policy(*, styles: Sequence[str], scripts: Sequence[str]) -> str:
    """What a page may do: run and look like these texts, and show pictures, but ask no server.

    Pictures are in the page itself, or files beside it.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_digest, scripts))}",
            f"style-src {' '.join(map(_digest, styles))}",
            "img-src 'self' data: blob: file:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def packed(values: NDArray[Any], kind: str) -> str:
    """An array as base64, in little-endian byte order."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()).decode()


def as_json(content: Mapping[str, Any]) -> str:
    """JSON that is safe inside a page: nothing in it ends the script or starts a comment."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _part(name: str) -> str:
    return (files("infomeans.report") / "page" / name).read_text(encoding="utf-8")
