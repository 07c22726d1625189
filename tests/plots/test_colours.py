"""Plots read in grey, on light and on dark paper."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from rankscope.errors import UsageError
from rankscope.plots.matplotlib.theme import DASHES, HATCHES, MARKERS, THEMES, Theme, find_theme

both = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)


def luminance(colour: str) -> float:
    """The relative luminance of sRGB (IEC 61966-2-1), 0 for black and 1 for white."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def lightness(colour: str) -> float:
    """How light it looks (CIE 1976), from 0 to 100."""
    share = luminance(colour)
    return 116 * share ** (1 / 3) - 16 if share > (6 / 29) ** 3 else share * (29 / 3) ** 3


def contrast(one: str, other: str) -> float:
    """The contrast ratio of the Web Content Accessibility Guidelines."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_lightness_is_that_of_known_greys() -> None:
    assert lightness("#000000") == 0
    assert lightness("#FFFFFF") == pytest.approx(100)
    assert lightness("#777777") == pytest.approx(50, abs=0.1)
    assert contrast("#FFFFFF", "#000000") == pytest.approx(21)


@both
def test_lines_differ_in_grey_and_stand_out_from_the_paper(theme: Theme) -> None:
    for one, other in combinations(theme.lines, 2):
        assert abs(lightness(one) - lightness(other)) > 6
    assert min(contrast(line, theme.paper) for line in theme.lines) > 3


def test_lines_differ_without_colour() -> None:
    assert len(set(MARKERS)) == len(set(map(str, DASHES))) == len(THEMES["light"].lines)


@both
def test_parts_of_a_bar_differ_from_the_next_in_grey_and_in_hatch(theme: Theme) -> None:
    *parts, other = theme.fills
    assert len(set(HATCHES)) == len(HATCHES)
    # The first follows upon the last, and each may be the last before what is none of them.
    for one, next_one in [*pairwise([*parts, parts[0]]), *((part, other) for part in parts)]:
        assert abs(lightness(one) - lightness(next_one)) > 12
    # Those that differences are drawn in are the first two.
    assert min(contrast(fill, theme.paper) for fill in theme.fills[:2]) > 3


@both
def test_text_can_be_read(theme: Theme) -> None:
    assert contrast(theme.ink, theme.paper) > 7
    assert contrast(theme.muted, theme.paper) > 4.5


def test_there_is_no_other_theme() -> None:
    assert find_theme("dark") is THEMES["dark"]
    with pytest.raises(UsageError) as refused:
        find_theme("sepia")
    assert refused.value.code == "bad_parameter"
