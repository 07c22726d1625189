"""The colors of plots, reports and the dashboard, on light and on dark backgrounds.

This is the only place with colors. Plots take them from here, and the style of pages has each as a
custom property of the same name, such as `--retrieval` or `--run-1`.

The hues of runs and losses are those of Okabe and Ito, *Color Universal Design*, 2008, which people
with any type of color vision can distinguish. A run or a loss has the same hue on both backgrounds.
Lightness is chosen so that colors also differ in grayscale, and stand out from the background.
"""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal, TypeAlias

    ThemeName: TypeAlias = Literal["light", "dark"]


@record(frozen=True, slots=True, kw_only=True)
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
    light, dark = (
        "\n".join(f"  --{name}: {color};" for name, color in _list_colors(palette))
        for palette in (LIGHT, DARK)
    )
    scheme = "  color-scheme: light dark;"
    return (
        f":root {{\n{scheme}\n{light}\n}}\n\n"
        f"@media (prefers-color-scheme: dark) {{\n:root {{\n{dark}\n}}\n}}\n\n"
    )


def _list_colors(palette: Palette) -> Iterator[tuple[str, str]]:
    for field in Palette.__annotations__:
        held = getattr(palette, field)
        name = field.replace("_", "-")
        if isinstance(held, str):
            yield name, held
        else:
            yield from ((f"{name}-{number}", color) for number, color in enumerate(held, start=1))


MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (2.5, 1)), (0, (8, 2)))
HATCHES = ("", "///", "...", "\\\\\\", "ooo", "+++", "|||", "xxx")


def find_theme(name: str) -> Palette:
    """Return the colors of a theme by its name."""
    if name not in PALETTES:
        raise UsageError(
            f"theme must be one of {', '.join(PALETTES)}, found {name!r}",
            hint="the default is light",
            code="bad_parameter",
        )
    return PALETTES[name]
