"""Pages in one file: what they need of style, script and data is in them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from functools import cache
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
    """Fill a template in.

    Parameters
    ----------
    template : str
        Its name.
    css, js : sequences of str
        Names of what goes into the page, in order.
    content : mapping
        What the scripts read, as JSON.
    **values
        What the template reads; text is escaped.
    """
    environment = Environment(
        loader=FunctionLoader(_part), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template(template).render(
        css="\n".join(map(_part, css)),
        theme_js=_part("theme.js"),
        start_js=_part("start.js"),
        js="\n".join(map(_part, ("common.js", *js))),
        plotly=plotly(),
        content=as_json(content),
        version=infomeans.__version__,
        **values,
    )


def packed(values: NDArray[Any], kind: str) -> str:
    """An array as base64, little end first."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()).decode()


def as_json(content: Mapping[str, Any]) -> str:
    """JSON that can stand in a page: nothing in it ends the script or begins a comment."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _part(name: str) -> str:
    return (files("infomeans.report") / "page" / name).read_text(encoding="utf-8")


@cache
def plotly() -> str:
    """Plotly's script, as it can stand in a page."""
    # Its own function for this imports far more than the file it reads.
    script = files("plotly") / "package_data" / "plotly.min.js"
    return script.read_text(encoding="utf-8").replace("</script", "<\\/script")
