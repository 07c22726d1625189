"""Writes plots to files, without a date and without pyplot."""

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
"""What is not written by format, so that files do not tell the day they were made."""


def save(ax: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure of Axes to a file, whole or not at all.

    The format is one that Matplotlib writes: `.svg`, `.png`, `.pdf` and others.

    Args:
        ax: What a function here has drawn on.
        path: The file, whose ending says the format.

    Raises:
        UsageError: Matplotlib writes no such format.
        FileError: The file cannot be written.
    """
    figure = _figure(ax)
    text = os.fsdecode(path)
    form = text.rpartition(".")[2].lower()
    known = figure.canvas.get_supported_filetypes()
    if "." not in text or form not in known:
        endings = ", ".join(sorted(known))
        raise UsageError(
            f"expected a file that ends with one of {endings}, found {quote(text)}",
            hint="write plot.svg",
            code="bad_format",
        )
    with replacing(text) as part:
        figure.savefig(part, format=form, dpi=DPI, metadata=UNDATED.get(form), facecolor="auto")


def to_svg(ax: Axes) -> str:
    """Give the figure of Axes as the text of an SVG element, to be put into a page.

    Args:
        ax: What a function here has drawn on.
    """
    held = StringIO()
    _figure(ax).savefig(held, format="svg", metadata=UNDATED["svg"], facecolor="auto")
    text = held.getvalue()
    return text[text.index("<svg") :].rstrip("\n")


def _figure(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    if figure is None:
        raise UsageError(
            "expected Axes of a figure, found some that were removed",
            hint="draw again",
            code="bad_parameter",
        )
    return figure
