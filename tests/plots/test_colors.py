"""Colors are distinct and readable, on light and on dark paper, and are defined in one place."""

from __future__ import annotations

import re
import runpy
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import rankscope
from matplotlib.colors import to_rgb
from rankscope._drawing import (
    DARK,
    DASHES,
    HATCHES,
    LIGHT,
    MARKERS,
    PALETTES,
    open_axes,
    write_properties,
)
from rankscope.errors import UsageError
from rankscope.plots.curves import PARTS, UNDEFINED

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision
# deficiency", IEEE Transactions on Visualization and Computer Graphics 15 (6), 2009, severity 1.
VISIONS = {
    "trichromat": np.eye(3),
    "protanope": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranope": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanope": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
# The primaries and the white of sRGB (IEC 61966-2-1).
TO_XYZ = np.array(
    [
        (0.4124564, 0.3575761, 0.1804375),
        (0.2126729, 0.7151522, 0.0721750),
        (0.0193339, 0.1191920, 0.9503041),
    ]
)
WHITE = (0.95047, 1.0, 1.08883)


def linear(color):
    parts = np.array(to_rgb(color))
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(channels):
    """The coordinates of CIE 1976: lightness from 0 to 100, and two for the hue."""
    share = TO_XYZ @ channels / WHITE
    x, y, z = np.where(share > (6 / 29) ** 3, np.cbrt(share), share * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def lightness(color):
    return lab(linear(color))[0]


def hue(color):
    _, a, b = lab(linear(color))
    return np.degrees(np.arctan2(b, a)) % 360


def contrast(one, other):
    """The contrast ratio of the Web Content Accessibility Guidelines."""
    low, high = sorted((TO_XYZ @ linear(color))[1] for color in (one, other))
    return (high + 0.05) / (low + 0.05)


def distance(one, other, vision):
    """How far apart two colors are for a type of color vision (CIE 1976)."""
    seen = [np.clip(VISIONS[vision] @ linear(color), 0, 1) for color in (one, other)]
    return np.linalg.norm(lab(seen[0]) - lab(seen[1]))


PACKAGE = Path(rankscope.__file__).parent
STYLES = [path for path in PACKAGE.rglob("*") if path.suffix in {".css", ".j2", ".js"}]

both = pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)


def losses(palette):
    return [getattr(palette, part) for part in PARTS if part != UNDEFINED]


def test_lightness_is_that_of_known_greys():
    assert lightness("#000000") == pytest.approx(0)
    assert lightness("#FFFFFF") == pytest.approx(100)
    assert lightness("#777777") == pytest.approx(50, abs=0.1)
    assert contrast("#FFFFFF", "#000000") == pytest.approx(21)


def test_red_and_green_are_nearer_for_who_lacks_a_cone():
    apart = distance("#c04040", "#608040", "trichromat")
    assert distance("#c04040", "#608040", "deuteranope") < apart / 2
    assert distance("#c04040", "#608040", "tritanope") > apart / 2


@both
def test_runs_differ_in_grey_and_stand_out_from_the_paper(palette):
    for one, other in combinations(palette.run, 2):
        assert abs(lightness(one) - lightness(other)) > 6
    assert min(contrast(line, palette.paper) for line in palette.run) > 3


@both
def test_kinds_of_loss_differ_in_grey_and_stand_out_from_the_paper(palette):
    # Any two stand beside each other where the kind between them is 0.
    for one, other in combinations([*losses(palette), palette.value], 2):
        assert abs(lightness(one) - lightness(other)) > 12
    for color in losses(palette):
        assert contrast(color, palette.paper) > 3
        assert abs(lightness(color) - lightness(palette.undefined)) > 12


@both
@pytest.mark.parametrize("vision", VISIONS)
def test_people_with_any_color_vision_tell_colors_apart(palette, vision):
    # A difference of 2.3 is just noticeable. Lines also differ in marker and dash pattern.
    for colors in (palette.run, losses(palette), (palette.better, palette.worse)):
        for one, other in combinations(colors, 2):
            assert distance(one, other, vision) > 15


def test_a_run_and_a_loss_keep_their_hue_on_dark_paper():
    *light, black = LIGHT.run
    *dark, white = DARK.run
    pairs = [
        *zip(light, dark, strict=True),
        *zip(losses(LIGHT), losses(DARK), strict=True),
        (LIGHT.better, DARK.better),
        (LIGHT.worse, DARK.worse),
    ]
    for one, other in pairs:
        assert abs((hue(one) - hue(other) + 180) % 360 - 180) < 40
    # The last is that of the text.
    assert contrast(black, LIGHT.paper) > 15
    assert contrast(white, DARK.paper) > 15


def test_runs_differ_without_color():
    assert len(set(MARKERS)) == len(set(map(str, DASHES))) == len(LIGHT.run) == len(DARK.run)


@both
def test_stages_of_a_pipeline_differ_from_the_next_in_grey_and_in_hatch(palette):
    assert len(set(HATCHES)) == len(HATCHES)
    assert palette.stage[0] == palette.retrieval
    for one, other in combinations(palette.stage, 2):
        assert abs(lightness(one) - lightness(other)) > 12


@both
def test_text_can_be_read(palette):
    assert contrast(palette.ink, palette.paper) > 7
    for name in ("quiet", "accent", "better", "worse", "ok", "alert", "insufficient"):
        for behind in (palette.paper, palette.panel):
            assert contrast(getattr(palette, name), behind) > 4.5
    assert contrast(palette.ink, palette.alert_panel) > 7


def test_there_is_no_other_theme():
    assert open_axes(None, "dark", (1, 1))[1] is DARK
    with pytest.raises(UsageError) as refused:
        open_axes(None, "sepia", (1, 1))
    assert refused.value.code == "bad_parameter"


def test_no_other_file_has_a_color():
    written = re.compile(r"[\"' :(]#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b|\brgb\(|\bhsl\(")
    checked = [*STYLES, *PACKAGE.rglob("*.py")]
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in checked
        if written.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"_drawing.py"}


def test_every_color_that_a_style_names_exists():
    style = write_properties()
    light, dark = style.split("@media")
    assert [*re.findall(r"--([\w-]+):", light)] == [*re.findall(r"--([\w-]+):", dark)]
    for path in STYLES:
        text = path.read_text(encoding="utf-8")
        own = set(re.findall(r"--([\w-]+):", text))
        for name in re.findall(r"var\(--([\w-]+)\)", text):
            assert name in own or f"--{name}:" in style or name in {"sans", "mono"}, path


DOCS = Path(__file__).resolve().parents[2] / "docs"
HOOK = runpy.run_path(str(DOCS / "hooks" / "plots.py"))
PAGES = {
    path.name: text
    for path in DOCS.glob("*.md")
    if "<!-- plot:" in (text := path.read_text(encoding="utf-8"))
}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_place_for_a_plot_has_one_on_light_and_on_dark_paper(page):
    drawn = HOOK["draw_plots"](page, PAGES[page])
    assert len(drawn) == 2 * PAGES[page].count("<!-- plot:")
    assert all(svg.startswith("<svg") and svg.endswith("</svg>") for svg in drawn.values())
    for address, svg in drawn.items():
        theme = address.removesuffix(".svg").rpartition("-")[2]
        assert f"fill: {PALETTES[theme].paper}" in svg


def test_there_are_such_pages():
    assert {"discounts.md", "plots.md"} <= PAGES.keys()
