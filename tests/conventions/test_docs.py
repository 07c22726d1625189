"""The page of conventions has all that the rows say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rankscope.conventions import TABLE, Convention

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.address)
def test_a_row_is_on_the_page(row: Convention) -> None:
    (line,) = (line for line in WRITTEN.splitlines() if line.startswith(f"| [`{row.address}`]"))
    assert line.endswith(f"| {row.verified} |")
    section = WRITTEN.partition(f"### {row.address}\n")[2].partition("\n### ")[0]
    for text in (row.summary, *row.notes, *row.sources, *(bug.says for bug in row.bugs)):
        assert text in section


def test_every_link_to_a_row_leads_to_one() -> None:
    anchors = set(re.findall(r'^<a id="([^"]+)"></a>$', WRITTEN, flags=re.MULTILINE))
    links = re.findall(r"^\| \[`[^`]+`\]\(#([^)]+)\)", WRITTEN, flags=re.MULTILINE)
    assert len(links) == len(set(links)) == len(TABLE)
    assert set(links) == anchors
