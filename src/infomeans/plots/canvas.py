"""The paper that figures are drawn on; nothing else here imports matplotlib by itself."""

import io

from matplotlib.figure import Figure


class Canvas(Figure):
    """A figure that no window holds and that pyplot knows nothing of.

    A plain figure shows itself in a notebook only after pyplot was imported; this one always does.
    """

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()
