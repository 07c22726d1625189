"""Writing plots to files."""

from __future__ import annotations

import os
from io import StringIO

from rankscope.errors import UsageError
from rankscope.names import quote
from rankscope.writing import replacing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150
PLAIN_SVG = {"Creator": None, "Date": None, "Format": None, "Type": None}
UNDATED = {"svg": PLAIN_SVG, "svgz": PLAIN_SVG, "pdf": {"CreationDate": None}}
"""The metadata to omit in each format, so that files don't contain their creation date."""


def save(ax: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure of axes to a file.

    The file is written completely or not at all. The extension determines the format, which can be
    any that Matplotlib supports, such as `.svg`, `.png` or `.pdf`.

    Args:
        ax: The axes that a function of this package returned.
        path: The file.

    Raises:
        UsageError: Matplotlib doesn't support the format.
        FileError: The file cannot be written.
    """
    figure = _figure(ax)
    text = os.fsdecode(path)
    form = text.rpartition(".")[2].lower()
    known = figure.canvas.get_supported_filetypes()
    if "." not in text or form not in known:
        endings = ", ".join(sorted(known))
        raise UsageError(
            f"the extension of a plot must be one of {endings}, found {quote(text)}",
            hint="write plot.svg",
            code="bad_format",
        )
    with replacing(text) as part:
        figure.savefig(part, format=form, dpi=DPI, metadata=UNDATED.get(form), facecolor="auto")


def to_svg(ax: Axes) -> str:
    """Return the figure of axes as an SVG element for a web page.

    Args:
        ax: The axes that a function of this package returned.
    """
    held = StringIO()
    _figure(ax).savefig(held, format="svg", metadata=UNDATED["svg"], facecolor="auto")
    text = held.getvalue()
    return text[text.index("<svg") :].rstrip("\n")


def _figure(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    if figure is None:
        raise UsageError(
            "the axes were removed from their figure",
            hint="draw again",
            code="bad_parameter",
        )
    return figure
