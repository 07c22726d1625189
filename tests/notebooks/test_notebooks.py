"""Notebooks show results as HTML that does nothing, and terminals how far long work is."""

from __future__ import annotations

import re
from functools import partial
from html import unescape
from io import StringIO
from types import SimpleNamespace

import pytest
import rankscope as rs
from rankscope._show import progress
from rankscope._show.html import FIRST_ROWS, MOST_ROWS
from rankscope._show.progress import ProgressBar
from rankscope._show.table import Table

from tests.notebooks.results import SHOWN, Runs
from tests.refusals import refuses
from tests.report.page import read_page
from tests.report.test_page import HOSTILE
from tests.trec import write_qrels, write_run

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
def name(request):
    return str(request.param)


@pytest.fixture(scope="module")
def shown(name, plain):
    return SHOWN[name](plain)


@pytest.fixture(scope="module")
def page(shown):
    return read(shown)


def read(shown):
    return read_page(shown._repr_html_())


def words(text):
    return set(re.findall(r"[\w.@+-]+", text))


def strip(html):
    """The text of a page, with a space for each tag."""
    return unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<style>.*?</style>", "", html)))


def test_a_notebook_shows_what_is_printed(name, shown):
    # Formulas differ: HTML has signs for them. Comparisons are wider on a page than on a terminal.
    if name not in {"explanation", "comparison"}:
        assert words(str(shown)) <= words(strip(shown._repr_html_()))


def test_ids_are_text_and_nothing_runs(name, hostile):
    html = SHOWN[name](hostile)._repr_html_()
    for element in read_page(html).every():
        assert element.tag in TAGS
        for attribute, value in element.attributes.items():
            assert re.fullmatch(ALLOWED[attribute], value, re.DOTALL), (attribute, value)
    assert html.isascii()
    assert not re.search(r"(?i)url\(|@import|expression\(", html)


def test_styles_change_nothing_else_on_the_page(page):
    root, *others = page.children
    assert not others
    (style,) = root.find("style")
    scope = f".{root.attributes['class']}"
    steps = {"0%", "99%", "to"}
    for selectors in re.findall(r"(?:^|[{}])([^{}@]+)\{", style.text):
        for selector in selectors.split(","):
            assert selector.startswith(scope) or selector in steps, selector


def test_numbers_are_on_the_right_and_text_is_on_the_left(name, page):
    if name in {"explanation", "comparison", "leaderboard"}:
        return
    for table in page.find("table"):
        names = [head.text for head in table.find("thead")[0].find("th")]
        for row in table.find("tbody")[0].find("tr"):
            for head, cell in zip(names, row.find("td"), strict=True):
                number = r"[+-]?\d[\d.,]*%?|nan|–|\d+ of \d+|[\d.]+ to [\d.]+"
                is_number = re.fullmatch(number, cell.text.strip()) is not None
                assert is_number != ("text" in cell.attributes.get("class", "").split()), head


def test_a_table_that_can_scroll_is_reached_by_the_keyboard(page):
    boxes = [*page.find("div", tabindex="0")]
    assert len(boxes) == len(page.find("table"))
    for box in boxes:
        assert box.attributes["role"] in {"region", "group"}
        assert box.attributes["aria-label"]


def test_a_long_table_is_cut():
    def rows(count):
        page = read(Table({"query_id": [f"q{at}" for at in range(count)], "value": [0.5] * count}))
        return len(page.find("tr")) - 1, page.text

    assert rows(MOST_ROWS)[0] == MOST_ROWS
    count, text = rows(12_345)
    assert count == FIRST_ROWS
    assert text.endswith(f"and {12_345 - FIRST_ROWS:,} more rows")


def test_a_long_id_is_cut():
    text = read(Table({"query_id": ["q" * 1_000_000], "value": [0.5]})).text
    assert len(text) < 5_000
    assert "(1,000,000 characters)" in text


def test_texts_that_are_numbers_are_on_the_right_only_if_the_table_says_so():
    columns = {"id": ["12"], "share": ["12%"]}
    cells = read(Table(columns, numbers=("share",))).find("td")
    assert [cell.attributes.get("class") for cell in cells] == ["text", None]


def test_a_report_is_a_page_of_its_own_that_cannot_reach_the_notebook(hostile):
    report = rs.report(hostile.qrels, hostile.runs, ["nDCG@5"])
    (frame,) = read_page(report._repr_html_()).children
    assert frame.tag == "iframe"
    # Without allow-same-origin, the page has an origin of its own.
    assert frame.attributes["sandbox"] == "allow-scripts"
    assert frame.attributes["srcdoc"] == report.to_html()
    assert report._repr_html_().isascii()


class Terminal(StringIO):
    """What a program writes on a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal, on which bars appear at once."""
    made = Terminal()
    # pytest replaces sys.stderr between this and the test.
    standard = SimpleNamespace(stderr=made)
    monkeypatch.setattr(progress, "sys", standard)
    monkeypatch.setattr(progress, "ProgressBar", partial(ProgressBar, after=0))
    return made


usual = Runs(query=lambda at: f"q{at}", doc=lambda at: f"d{at}")


def write_files(folder):
    qrels = write_qrels(folder / "a.qrels", usual.qrels)
    return qrels, write_run(folder / "a.run", usual.runs["old"])


def test_reading_files_draws_a_bar_for_each(terminal, tmp_path):
    qrels, run = write_files(tmp_path)
    shown = rs.evaluate(qrels, run, "nDCG@5", progress=True)
    for name in (qrels, run):
        assert f"\r…{name[-39:]}: " in terminal.getvalue()
    assert "%|" in terminal.getvalue()
    assert shown.to_dict() == rs.evaluate(qrels, run, "nDCG@5").to_dict()


def test_a_comparison_and_a_report_draw_their_steps(terminal):
    made = rs.compare(usual.qrels, usual.runs, "nDCG@5", progress=True)
    assert "reading runs: " in terminal.getvalue()
    assert str(made) == str(rs.compare(usual.qrels, usual.runs, "nDCG@5"))
    report = rs.report(usual.qrels, usual.runs, "nDCG@5", progress=True)
    assert "evaluating runs: " in terminal.getvalue()
    assert report.to_html() == rs.report(usual.qrels, usual.runs, "nDCG@5").to_html()


def test_work_that_fails_clears_its_bar(terminal):
    def fail():
        with ProgressBar("a.run", after=0) as bar:
            bar(1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert terminal.getvalue().endswith("\r")


def test_short_work_and_what_is_no_terminal_stay_empty(terminal, monkeypatch, tmp_path):
    with ProgressBar("a.run", after=3600) as bar:
        bar(1, 2)
    assert terminal.getvalue() == ""
    qrels, run = write_files(tmp_path)
    plain_file = StringIO()
    for stream in (plain_file, None):
        monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
        rs.evaluate(qrels, run, "nDCG@5", progress=True)
    assert plain_file.getvalue() == ""


def test_without_progress_nothing_is_drawn(terminal, tmp_path):
    qrels, run = write_files(tmp_path)
    rs.evaluate(qrels, run, "nDCG@5")
    rs.evaluate(qrels, run, "nDCG@5", progress=False)
    rs.compare(usual.qrels, usual.runs, "nDCG@5")
    assert terminal.getvalue() == ""


def test_a_function_is_called_in_place_of_a_bar(terminal, tmp_path):
    qrels, run = write_files(tmp_path)
    calls = []
    rs.evaluate(qrels, run, "nDCG@5", progress=lambda *call: calls.append(call))
    size = (tmp_path / "a.run").stat().st_size
    assert {total for _, total in calls} == {size}
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("given", ["yes", 1, 0.5])
def test_progress_that_is_neither_is_an_error(given, tmp_path):
    qrels, run = write_files(tmp_path)
    for call in (
        lambda: rs.evaluate(qrels, run, "nDCG@5", progress=given),
        lambda: rs.compare(usual.qrels, usual.runs, "nDCG@5", progress=given),
        lambda: rs.report(usual.qrels, usual.runs, "nDCG@5", progress=given),
    ):
        with refuses(rs.UsageError, "bad_parameter", match="expected progress to be True"):
            call()
