"""The page of conventions has all that the rows say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from rankscope.conventions import TABLE, Convention

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
HOOK = runpy.run_path(str(ROOT / "docs" / "hooks" / "conventions.py"))
WRITTEN = HOOK["on_page_markdown"](PAGE, page=None, config=None, files=None)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.address)
def test_a_row_is_on_the_page(row: Convention) -> None:
    (line,) = (line for line in WRITTEN.splitlines() if line.startswith(f"| [`{row.address}`]"))
    assert line.endswith(f"| {row.verified} |")
    section = WRITTEN.partition(f"### {row.address} ")[2].partition("\n### ")[0]
    for text in (row.summary, *row.notes, *row.sources, *(bug.says for bug in row.bugs)):
        assert text in section


def test_every_link_to_a_row_leads_to_one() -> None:
    anchors = set(re.findall(r"^### .* \{#([^}]+)\}$", WRITTEN, flags=re.MULTILINE))
    links = re.findall(r"^\| \[`[^`]+`\]\(#([^)]+)\)", WRITTEN, flags=re.MULTILINE)
    assert len(links) == len(set(links)) == len(TABLE)
    assert set(links) == anchors


def test_nothing_is_left_to_fill_in() -> None:
    assert "<!-- conventions" not in WRITTEN
