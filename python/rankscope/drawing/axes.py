"""The axes to draw on, the names of what is drawn, and the files of figures."""

from __future__ import annotations

import os
from io import StringIO

from rankscope.drawing.palette import find_theme
from rankscope.errors import UsageError, hint_extra
from rankscope.names import quote
from rankscope.output.text import show
from rankscope.writing import replacing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform

    from rankscope.drawing.palette import Palette, ThemeName

TEXT = 9
"""The size of text, in points."""
DASHED = (0, (4, 2))
"""The dash pattern of lines that mark a mean or a baseline."""


def open_axes(
    ax: Axes | None,
    theme: ThemeName,
    size: tuple[float, float],
    grid: Literal["both", "x", "y"] = "both",
) -> tuple[Axes, Palette]:
    """Return axes in the style of a theme, and the colors of the theme."""
    colors = find_theme(theme)
    if ax is None:
        try:
            from rankscope.drawing.picture import open_picture  # noqa: PLC0415 - loads Matplotlib
        except ModuleNotFoundError as error:
            raise UsageError(
                "plots need matplotlib, which is not installed",
                hint=hint_extra("plot"),
                code="missing_extra",
            ) from error
        ax = open_picture(size, colors.paper)
    ax.set_facecolor(colors.paper)
    ax.spines[:].set_color(colors.quiet)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=colors.ink, labelsize=TEXT)
    ax.set_axisbelow(True)
    ax.grid(axis=grid, color=colors.faint, linewidth=0.8)
    return ax, colors


def name_axes(
    ax: Axes, theme: Palette, *, title: str, x: str, y: str = "", legend: float = 0
) -> None:
    """Set the title and the labels of the axes; the title is above a legend of a height."""
    # A name of a run that has two dollar signs is not a formula.
    style: dict[str, Any] = {"color": theme.ink, "parse_math": False}
    ax.set_title(title, loc="left", fontsize=TEXT + 1.5, pad=10 + legend, **style)
    ax.set_xlabel(x, fontsize=TEXT, **style)
    ax.set_ylabel(y, fontsize=TEXT, **style)


def name_rows(ax: Axes, names: Sequence[str], top: float = -0.6) -> None:
    """Name the rows of a plot, the first at the top."""
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.set_ylim(len(names) - 0.4, top)


def annotate(  # noqa: PLR0917 - as Matplotlib
    ax: Axes,
    text: str,
    xy: tuple[float, float],
    offset: tuple[float, float],
    color: str,
    at: str | Transform = "data",
    **style: Any,  # noqa: ANN401 - what Matplotlib takes
) -> None:
    """Write a text at an offset in points from a place, which can be outside the axes."""
    style = {"color": color, "fontsize": TEXT, "va": "center", "parse_math": False, **style}
    ax.annotate(text, xy, offset, at, "offset points", annotation_clip=False, **style)


def add_legend(
    ax: Axes,
    theme: Palette,
    entries: Sequence[tuple[Artist | BarContainer, str]],
    **style: Any,  # noqa: ANN401 - what Matplotlib takes
) -> None:
    """Add a legend without a frame."""
    handles = [handle for handle, _ in entries]
    # Matplotlib would leave out a name for its first underscore, so it is set afterwards.
    legend = ax.legend(handles, ["-"] * len(handles), frameon=False, fontsize=TEXT, **style)
    for text, (_, name) in zip(legend.get_texts(), entries, strict=True):
        text.set(text=name, color=theme.ink, parse_math=False)


ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.2}
"""The style of a legend between the title and the plot."""


LONGEST = (34, 48, 80)
"""Longer names are cut in the middle, since runs often differ at both ends."""


def fit_names(names: Sequence[str]) -> list[str]:
    """Return names on one line, with an ellipsis in the middle of those that are too long.

    Different names stay different.

    Examples:
        >>> fit_names(["bm25", "dense_retriever_with_cross_encoder_reranker"])
        ['bm25', 'dense_retriever_w…encoder_reranker']
    """
    shown = [show(name) for name in names]
    for longest in LONGEST:
        fitted = [_cut(name, longest) for name in shown]
        if len(set(fitted)) == len(set(shown)):
            return fitted
    return shown


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[-end:]}"


def measure_widest(texts: Sequence[str]) -> float:
    """Return about how wide the longest line of some texts is, in inches."""
    lines = [line for text in texts for line in text.split("\n")]
    # The mean width of a character is 0.6 of the height of the text; a point is 1/72 of an inch.
    return max(map(len, lines), default=0) * 0.6 * TEXT / 72


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
        figure.savefig(part, format=form, dpi=150, metadata=UNDATED.get(form), facecolor="auto")


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
