"""Axes that a notebook shows as a picture."""

from __future__ import annotations

from io import BytesIO

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

DOTS = 96
"""The number of pixels per inch on the page."""
DENSITY = 2
"""The number of dots per pixel, so that text is sharp on screens with small pixels."""


class PictureAxes(Axes):
    """The axes of a figure of their own, which a notebook shows as a picture.

    The figure isn't registered with pyplot. It is shown where the axes are the last expression of a
    cell or are passed to `display`, and nowhere else. The picture contains all that was drawn by
    then, such as a title that you have changed.
    """

    def _repr_png_(self) -> tuple[bytes, dict[str, int | str]] | None:
        figure: Figure | None = self.get_figure(root=True)
        if figure is None:
            return None
        stream = BytesIO()
        figure.savefig(stream, format="png", dpi=DOTS * DENSITY, facecolor="auto")
        width, height = figure.get_size_inches()
        sizes = {"width": round(width * DOTS), "height": round(height * DOTS)}
        return stream.getvalue(), {**sizes, "alt": self.get_title(loc="left")}


def open_picture(size: tuple[float, float], color: str) -> Axes:
    """Return the axes of a new figure, which no list of pyplot keeps alive."""
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)  # inches
    figure = Figure(figsize=size, layout=layout, facecolor=color)
    return figure.add_subplot(axes_class=PictureAxes)
