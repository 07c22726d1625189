"""Ids come from anywhere: whatever they are, they are shown and do nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import rankscope as rs

from tests.report.page import read_page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.report.page import Element

HOSTILE = {
    "markup": "<img/src=x/onerror=alert(1)>",
    "end of script": "</script><script>alert(1)</script>",
    "end of style": "</style><script>alert(1)</script>",
    "comment": "--><!--<b>",
    "double quote": 'x"onmouseover="alert(1)',
    "single quote": "x'onmouseover='alert(1)",
    "entity": "&lt;b&gt;&amp;&#60;",
    "template": "{{7*7}}{%raw%}${7*7}",
    "formula": "=HYPERLINK(1)",
    "address": "javascript:alert(1)",
    "controls": "a\x01\x1b[31mb\x7f",
    "right to left": "abc\u202edcba\u2066x",
    "invisible": "a\u200bb\ufeff\u2028",
    "Hebrew": "שלום",
    "wide": "🐙" * 20,
    "long": "x" * 4_096,
}
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


def pages_with(text: str) -> list[str]:
    """Pages of inputs that have a text as query, document, run, attribute, value and column."""
    run = {text: {text: 2.0, "other": 1.0}, "q2": {text: 1.0}}
    qrels = {text: {text: 1, "unseen": 2}, "q2": {"d": 1}}
    log = {"qid": [text, text, "q2", "q3"], "doc": [text, "b", text, "c"], "label": [1, 2, 0, 1]}
    log |= {"score": [3.0, 2.0, 1.0, 1.0], text: [text, text, "x", text]}
    return [
        rs.report(qrels, {text: run, "plain": run}).to_html(),
        rs.report(log, "nDCG@10", by=text).to_html(),
    ]


@pytest.fixture(scope="module")
def plain() -> list[Element]:
    return [read_page(page) for page in pages_with("harmless")]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_an_id_is_text_wherever_it_stands_and_shows_what_cannot_be_seen(
    text: str, plain: list[Element]
) -> None:
    for page, usual in zip(pages_with(text), plain, strict=True):
        assert UNSEEN.search(page) is None
        elements, expected = read_page(page).every(), usual.every()
        assert [each.tag for each in elements] == [each.tag for each in expected]
        for element, twin in zip(elements, expected, strict=True):
            assert element.attributes.keys() == twin.attributes.keys()


def test_an_id_is_shown_as_it_is() -> None:
    text = "<b>&lt;a'b\"c{{7*7}}שלום"
    page = read_page(pages_with(text)[0])
    assert text in [each.text for each in page.find("bdi")]


def test_a_long_id_is_cut() -> None:
    for page in pages_with("x" * 4_096):
        assert "x" * 201 not in page
        assert "(4,096 characters)" in page


def test_the_direction_of_an_id_does_not_leak() -> None:
    """Names stand in elements that keep the direction of their text to themselves."""
    for page in map(read_page, pages_with("שלום")):
        isolated = [each for tag in ("bdi", "code") for each in page.find(tag)]
        within = sum(each.text.count("שלום") for each in isolated)
        assert 0 < within == page.find("body")[0].text.count("שלום")


def test_a_path_of_odd_bytes_is_shown_escaped(tmp_path: Path) -> None:
    name = tmp_path / "a\udcff\x1b[31m\u202e'b.run"
    name.write_bytes(b"q1 Q0 d1 1 1 t\n")
    report = rs.report({"q1": {"d1": 1}}, name)
    assert UNSEEN.search(report.to_html()) is None
