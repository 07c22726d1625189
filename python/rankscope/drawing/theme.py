"""Which colors, markers, dash patterns and hatches plots use."""

from __future__ import annotations

from rankscope.drawing.palette import PALETTES
from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from rankscope.drawing.palette import Palette

    ThemeName: TypeAlias = Literal["light", "dark"]

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
