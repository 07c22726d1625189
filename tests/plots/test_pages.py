"""The pages of the documentation show the plots that they promise."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from rankscope.drawing.palette import PALETTES

DOCS = Path(__file__).resolve().parents[2] / "docs"
HOOK = runpy.run_path(str(DOCS / "hooks" / "plots.py"))
PAGES = {
    path.name: text
    for path in DOCS.glob("*.md")
    if "<!-- plot:" in (text := path.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("page", PAGES)
def test_every_place_for_a_plot_has_one_on_light_and_on_dark_paper(page: str) -> None:
    drawn = HOOK["draw_plots"](page, PAGES[page])
    assert len(drawn) == 2 * PAGES[page].count("<!-- plot:")
    assert all(svg.startswith("<svg") and svg.endswith("</svg>") for svg in drawn.values())
    for address, svg in drawn.items():
        theme = address.removesuffix(".svg").rpartition("-")[2]
        assert f"fill: {PALETTES[theme].paper}" in svg


def test_there_are_such_pages() -> None:
    assert {"discounts.md", "plots.md"} <= PAGES.keys()
