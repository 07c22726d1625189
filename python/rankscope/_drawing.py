"""Colours and axes of pictures."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rankscope._names import as_dict, quote
from rankscope._show.table import show
from rankscope._writing import replacing
from rankscope.errors import UsageError, hint_extra

ThemeName: TypeAlias = Literal["light", "dark"]

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colors on one background, by default the light one.

    Args:
        paper: The background.
        panel: The background of what is set apart.
        ink: Text and axes.
        quiet: Secondary text and marks.
        line: Borders.
        faint: Grid lines and the borders of rows.
        accent: Links, and marks of charts with one series.
        focus: The outline of what has the keyboard focus.
        value: The part of a bar that was not lost.
        retrieval: Retrieval loss.
        stage: Retrieval loss by stage of a pipeline, in turn.
        truncation: Truncation loss.
        ordering: Ordering loss.
        undefined: The part of queries without relevant documents.
        edge: The edges and hatches of the parts of a bar.
        run: The colors of runs and versions, in the order in which they are used.
        better: What rose, or is better than the baseline.
        worse: What fell, or is worse than the baseline.
        ok: The state of what is as it should be.
        alert: The state of what is not, and the floor of a rule.
        insufficient: The state of what lacks data.
        alert_panel: The background of alerts.
        level: Baselines.
    """

    paper: str = "#ffffff"
    panel: str = "#f4f6f8"
    ink: str = "#1a2027"
    quiet: str = "#55606c"
    line: str = "#d5dbe1"
    faint: str = "#e8ecf0"
    accent: str = "#0b5fa5"
    focus: str = "#b4540a"
    value: str = "#d4dbe2"
    retrieval: str = "#6b2d5c"
    stage: tuple[str, ...] = ("#6b2d5c", "#d9bfd3", "#a87c9e")
    truncation: str = "#1f6fae"
    ordering: str = "#c67c00"
    undefined: str = "#f4f6f8"
    edge: str = "#1a2027"
    # Blue, vermilion, green, purple, yellow, gray; the same order on dark paper.
    run: tuple[str, ...] = ("#003c7b", "#af4805", "#1d8d5f", "#942465", "#b58a14", "#1a2027")
    better: str = "#00614c"
    worse: str = "#b8430b"
    ok: str = "#17683a"
    alert: str = "#b3261e"
    insufficient: str = "#8a5000"
    alert_panel: str = "#fdf1ef"
    level: str = "#55606c"


LIGHT = Palette()
DARK = Palette(
    paper="#12161b",
    panel="#1b2128",
    ink="#e6eaef",
    quiet="#a5b0bc",
    line="#36404b",
    faint="#252c35",
    accent="#7cbcf4",
    focus="#f0a35c",
    value="#3c4753",
    retrieval="#a3659a",
    stage=("#a3659a", "#f2e3f0", "#cfa6c9"),
    truncation="#56a5e0",
    ordering="#f7b94e",
    undefined="#3c4753",
    edge="#12161b",
    run=("#30a5dd", "#f59753", "#5fd9a9", "#d15e9a", "#f3de5b", "#f6f6f6"),
    better="#5fdcb2",
    worse="#ff9a6b",
    ok="#6fd39a",
    alert="#ff8d85",
    insufficient="#f0b455",
    alert_panel="#2a1a1b",
    level="#a5b0bc",
)
PALETTES = {"light": LIGHT, "dark": DARK}


def write_properties() -> str:
    r"""Write the colors as custom properties of CSS, which follow the reader's color scheme.

    Examples:
        >>> print(*write_properties().splitlines()[:3], sep="\n")
        :root {
          color-scheme: light dark;
          --paper: #ffffff;
    """
    light, dark = ("\n".join(_list_properties(palette)) for palette in (LIGHT, DARK))
    return (
        f":root {{\n  color-scheme: light dark;\n{light}\n}}\n\n"
        f"@media (prefers-color-scheme: dark) {{\n:root {{\n{dark}\n}}\n}}\n\n"
    )


def _list_properties(palette: Palette) -> Iterator[str]:
    for field, value in as_dict(palette).items():
        colors = {"": value} if isinstance(value, str) else dict(enumerate(value, start=1))
        for number, color in colors.items():
            yield f"  --{field.replace('_', '-')}{number and f'-{number}'}: {color};"


MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (2.5, 1)), (0, (8, 2)))
HATCHES = ("", "///", "...", "\\\\\\", "ooo", "+++", "|||", "xxx")


def check_word(name: str, value: object, words: Collection[str]) -> None:
    """Raise an error unless a value is one of some words, of which the first is the default."""
    if value not in words:
        raise UsageError(
            f"{name} must be one of: {', '.join(words)}, found {quote(value)}",
            hint=f"the default is {next(iter(words))}",
            code="bad_parameter",
        )


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
    check_word("theme", theme, PALETTES)
    colors = PALETTES[theme]
    if ax is None:
        try:
            from rankscope._picture import open_picture
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


def name_columns(ax: Axes, names: Sequence[str], rotation: float) -> None:
    """Name the columns of a plot, from the left; the names of many are rotated."""
    rotation = rotation if len(names) > 8 else 0
    ax.set_xticks(range(len(names)), names, rotation=rotation, parse_math=False)


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
    forms = figure.canvas.get_supported_filetypes()
    if "." not in text or form not in forms:
        endings = ", ".join(sorted(forms))
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
    stream = StringIO()
    _figure(ax).savefig(stream, format="svg", metadata=UNDATED["svg"], facecolor="auto")
    text = stream.getvalue()
    return text[text.index("<svg") :].rstrip("\n")


def _figure(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    if figure is None:
        raise UsageError(
            "the axes were removed from their figure", hint="draw again", code="bad_parameter"
        )
    return figure
