"""Notebooks show results as HTML: text left, numbers right, nothing that runs, dark or light."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
import rankscope as rs
from rankscope.output.html import FIRST_ROWS, MOST_ROWS
from rankscope.output.table import Table

from tests.notebooks.results import SHOWN, Runs
from tests.report.page import Element, read_page
from tests.report.test_page import HOSTILE

ALLOWED = {
    "class": r"[\w -]+",
    "style": r"[\w:;%. -]+",
    "scope": "col|row",
    "role": "region|group",
    "tabindex": "0",
    "aria-label": ".*",
    "dir": "ltr",
    "colspan": r"\d+",
}
TAGS = {
    *("div", "style", "table", "thead", "tbody", "tr", "th", "td", "bdi", "sup", "sub", "b", "p"),
    *("h4", "span", "br"),
}

plain = pytest.fixture(scope="module", name="plain")(
    lambda: Runs(query=lambda at: f"q{at}", doc=lambda at: f"d{at}")
)
texts = [text[:4_000] for text in HOSTILE.values()]
hostile = pytest.fixture(scope="module", name="hostile")(
    lambda: Runs(
        query=lambda at: f"{texts[at % len(texts)]}{at}",
        doc=lambda at: f"{texts[at % len(texts)]}{at}",
    )
)


@pytest.fixture(scope="module", params=SHOWN)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def shown(name: str, plain: Runs) -> Any:  # noqa: ANN401 - any result
    return SHOWN[name](plain)


@pytest.fixture(scope="module")
def page(shown: Any) -> Element:  # noqa: ANN401 - any result
    return read(shown)


def read(shown: Any) -> Element:  # noqa: ANN401 - any result
    return read_page(shown._repr_html_())


def words(text: str) -> set[str]:
    return set(re.findall(r"[\w.@+-]+", text))


def strip(html: str) -> str:
    """The text of a page, with a space for each tag."""
    return unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<style>.*?</style>", "", html)))


def test_a_notebook_shows_what_is_printed(name: str, shown: Any) -> None:  # noqa: ANN401 - any result
    # Formulas differ: HTML has signs for them. Comparisons are wider on a page than on a terminal.
    if name not in {"explanation", "comparison"}:
        assert words(str(shown)) <= words(strip(shown._repr_html_()))


def test_ids_are_text_and_nothing_runs(name: str, hostile: Runs) -> None:
    html = SHOWN[name](hostile)._repr_html_()
    for element in read_page(html).every():
        assert element.tag in TAGS
        for attribute, value in element.attributes.items():
            assert re.fullmatch(ALLOWED[attribute], value, re.DOTALL), (attribute, value)
    assert html.isascii()
    assert not re.search(r"(?i)url\(|@import|expression\(", html)


def test_styles_change_nothing_else_on_the_page(page: Element) -> None:
    root, *others = page.children
    assert not others
    (style,) = root.find("style")
    scope = f".{root.attributes['class']}"
    steps = {"0%", "99%", "to"}
    for selectors in re.findall(r"(?:^|[{}])([^{}@]+)\{", style.text):
        for selector in selectors.split(","):
            assert selector.startswith(scope) or selector in steps, selector


def test_numbers_are_on_the_right_and_text_is_on_the_left(name: str, page: Element) -> None:
    if name in {"explanation", "comparison", "leaderboard"}:
        return
    for table in page.find("table"):
        names = [head.text for head in table.find("thead")[0].find("th")]
        for row in table.find("tbody")[0].find("tr"):
            for head, cell in zip(names, row.find("td"), strict=True):
                number = r"[+-]?\d[\d.,]*%?|nan|–|\d+ of \d+|[\d.]+ to [\d.]+"
                is_number = re.fullmatch(number, cell.text.strip()) is not None
                assert is_number != ("text" in cell.attributes.get("class", "").split()), head


def test_a_table_that_can_scroll_is_reached_by_the_keyboard(page: Element) -> None:
    boxes = [*page.find("div", tabindex="0")]
    assert len(boxes) == len(page.find("table"))
    for box in boxes:
        assert box.attributes["role"] in {"region", "group"}
        assert box.attributes["aria-label"]


def test_a_long_table_is_cut() -> None:
    def rows(count: int) -> tuple[int, str]:
        page = read(Table({"query_id": [f"q{at}" for at in range(count)], "value": [0.5] * count}))
        return len(page.find("tr")) - 1, page.text

    assert rows(MOST_ROWS)[0] == MOST_ROWS
    count, text = rows(12_345)
    assert count == FIRST_ROWS
    assert text.endswith(f"and {12_345 - FIRST_ROWS:,} more rows")


def test_a_long_id_is_cut() -> None:
    text = read(Table({"query_id": ["q" * 1_000_000], "value": [0.5]})).text
    assert len(text) < 5_000
    assert "(1,000,000 characters)" in text


def test_texts_that_are_numbers_are_on_the_right_only_if_the_table_says_so() -> None:
    columns = {"id": ["12"], "share": ["12%"]}
    cells = read(Table(columns, numbers=("share",))).find("td")
    assert [cell.attributes.get("class") for cell in cells] == ["text", None]


def test_a_report_is_a_page_of_its_own_that_cannot_reach_the_notebook(hostile: Runs) -> None:
    report = rs.report(hostile.qrels, hostile.runs, ["nDCG@5"])
    (frame,) = read_page(report._repr_html_()).children
    assert frame.tag == "iframe"
    # Without allow-same-origin, the page has an origin of its own.
    assert frame.attributes["sandbox"] == "allow-scripts"
    assert frame.attributes["srcdoc"] == report.to_html()
    assert report._repr_html_().isascii()
