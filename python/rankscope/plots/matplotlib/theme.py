"""Colors, markers and hatches for light and dark backgrounds.

The hues are those of Okabe and Ito, *Color Universal Design*, 2008, which people with any type of
color vision can distinguish. Their lightness is chosen so that they also differ in grayscale, and
stand out from the background.
"""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    ThemeName: TypeAlias = Literal["light", "dark"]


@record(frozen=True, slots=True)
class Theme:
    """The colors of a plot.

    Args:
        paper: The background.
        ink: Text and axes.
        faint: Grid lines.
        muted: Secondary text and marks.
        lines: The colors of lines, in the order in which they are used.
        fills: The colors of the parts of a bar, used in turn. The last one is for the part of
            queries without relevant documents.
        edge: The edges and hatches of the parts of a bar.
    """

    paper: str
    ink: str
    faint: str
    muted: str
    lines: tuple[str, ...]
    fills: tuple[str, ...]
    edge: str


THEMES = {
    "light": Theme(
        paper="#FFFFFF",
        ink="#1B1B1B",
        faint="#E3E3E3",
        muted="#5F5F5F",
        lines=("#003C7B", "#AF4805", "#1D8D5F", "#942465", "#B58A14", "#1B1B1B"),
        fills=("#2A5F9E", "#D06A25", "#F2CE70", "#F4F4F4"),
        edge="#1B1B1B",
    ),
    "dark": Theme(
        paper="#14181F",
        ink="#F0F0F0",
        faint="#333A45",
        muted="#A9B0BA",
        lines=("#30A5DD", "#F59753", "#F3DE5B", "#D15E9A", "#5FD9A9", "#F6F6F6"),
        fills=("#2F7FD0", "#E8853B", "#F6E27A", "#4A525E"),
        edge="#14181F",
    ),
}
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (2.5, 1)), (0, (8, 2)))
HATCHES = ("", "///", "...", "\\\\\\", "ooo", "+++", "|||", "xxx")


def find_theme(name: str) -> Theme:
    """Return a theme by its name.

    Raises:
        UsageError: The theme doesn't exist.
    """
    if name not in THEMES:
        raise UsageError(
            f"theme must be one of {', '.join(THEMES)}, found {name!r}",
            hint="the default is light",
            code="bad_parameter",
        )
    return THEMES[name]
