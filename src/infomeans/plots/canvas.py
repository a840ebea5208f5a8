"""The figure class; only this module imports matplotlib at the top."""

import io

from matplotlib.figure import Figure


class Canvas(Figure):
    """A figure without a window, independent of pyplot.

    A plain figure is shown in a notebook only after pyplot was imported; this one always is.
    """

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()
