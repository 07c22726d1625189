"""Axes that a notebook shows as a picture."""

from __future__ import annotations

from io import BytesIO

from matplotlib.axes import Axes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        held = BytesIO()
        figure.savefig(held, format="png", dpi=DOTS * DENSITY, facecolor="auto")
        width, height = figure.get_size_inches()
        sizes = {"width": round(width * DOTS), "height": round(height * DOTS)}
        return held.getvalue(), {**sizes, "alt": self.get_title(loc="left")}
