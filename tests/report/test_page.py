"""The page: one file that loads nothing, well formed, the same for the same input."""

from __future__ import annotations

import base64
import re
from hashlib import sha256
from itertools import pairwise

import pytest
import rankscope as rs

from tests.refusals import refuses
from tests.report.page import read_page

QRELS = {
    "q1": {"d1": 3, "d2": 0, "d3": 1},
    "q2": {"d4": 1, "d5": 2},
    "q3": {"d6": 1},
    "q4": {"d7": 0},
}
OLD = {"q1": {"d2": 3.0, "d1": 2.0, "d9": 1.0}, "q2": {"d4": 2.0, "d5": 1.0}, "q4": {"d7": 1.0}}
NEW = {"q1": {"d1": 3.0, "d3": 2.0}, "q2": {"d5": 2.0}, "q3": {"d8": 1.0, "d6": 1.0}}
RUNS = {"old": OLD, "new": NEW}


@pytest.fixture(scope="module")
def html():
    return rs.report(QRELS, RUNS).to_html()


@pytest.fixture(scope="module")
def page(html):
    return read_page(html)


def test_one_input_gives_one_page(html):
    assert rs.report(QRELS, RUNS).to_html() == html


def test_the_browser_is_told_to_load_nothing_and_to_run_only_what_stands_in_the_page(html, page):
    (policy,) = (
        meta.attributes["content"]
        for meta in page.find("meta")
        if meta.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, flags=re.DOTALL)
        digest = base64.b64encode(sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert {"base-uri", "form-action"} <= rules.keys()


def test_nothing_is_fetched_and_nothing_hides_in_attributes(page):
    for element in page.every():
        for name, value in element.attributes.items():
            assert not name.startswith("on")
            assert name not in {"style", "src", "srcset", "srcdoc", "action", "formaction"}
            assert name != "href" or value.startswith("#")
    assert not page.find("link") + page.find("iframe") + page.find("img") + page.find("object")


def test_what_is_named_is_there_once(page):
    ids = [each.attributes["id"] for each in page.every() if "id" in each.attributes]
    assert len(set(ids)) == len(ids)
    named = [
        each.attributes[name].removeprefix("#")
        for each in page.every()
        for name in ("href", "for", "aria-labelledby", "data-for")
        if name in each.attributes
    ]
    assert named
    assert set(named) <= set(ids)


def test_a_reader_of_the_screen_finds_headings_and_cells(page):
    (root,) = page.find("html")
    assert root.attributes["lang"] == "en"
    assert len(page.find("h1")) == 1
    levels = [int(each.tag[1]) for each in page.every() if re.fullmatch(r"h\d", each.tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for head in page.find("th"):
        assert head.attributes["scope"] in {"col", "row"}
    for region in page.find("div", role="region"):
        assert region.attributes["aria-label"]
        assert region.attributes["tabindex"] == "0"
    for field in page.find("input"):
        assert page.find("label", **{"for": field.attributes["id"]})


def test_every_row_has_as_many_cells_as_the_head(page):
    for table in page.find("table"):
        (head,) = table.find("thead")
        width = len(head.find("th"))
        (body,) = table.find("tbody")
        for row in body.find("tr"):
            cells = row.find("th") + row.find("td")
            assert sum(int(cell.attributes.get("colspan", 1)) for cell in cells) == width


@pytest.mark.parametrize("interval", [None, 0.95])
def test_a_single_query_has_no_interval(interval):
    html = rs.report(
        {"q": {"d": 1}}, {"only": {"q": {"d": 1.0}}}, "RR", interval=interval
    ).to_html()
    assert "to –" not in read_page(html).find("main")[0].text
    assert "1 judged query, 1 run," in " ".join(html.split())
    (summary,) = read_page(html).find("section", **{"aria-labelledby": "summary"})
    assert interval is not None or "interval" not in summary.text


POLICIES = (
    "empty=skip",
    "empty=one",
    "empty=nan",
    "missing=skip",
    "unjudged=remove",
    "unjudged=0.5",
    "unretrieved=ignore",
    "negative=gain",
    "missing_gain=-1",
    "aggregate=median",
    "aggregate=tail_mean(0.5)",
    "ties=average",
    "ties=best,empty=skip,missing=skip",
    "negative=minmax",
    "aggregate=ratio_of_sums",
)
ONLY_OF_SOME = POLICIES[-2:]
"""What only some measures take."""


@pytest.mark.parametrize("policy", POLICIES)
def test_there_is_a_page_under_every_policy(policy):
    judged = QRELS | {"q5": {"d9": -1, "d8": 2}}
    tied = OLD | {"q5": {"d9": 1.0, "d8": 1.0}}
    for measures in (["nDCG@3", "AP", "DCG@2"], ["RBP(p=0.8)", "NumRel", "OrderingLoss@2"]):
        if policy in ONLY_OF_SOME:
            judged, tied, measures = QRELS, OLD, ["nDCG@3"]  # noqa: PLW2901 - what they take
        expected = rs.evaluate(judged, tied, measures, policy=policy)
        report = rs.report(judged, {"old": tied, "new": NEW}, measures, policy=policy)
        assert str(dict(report.runs["old"].evaluation)) == str(dict(expected))
        read_page(report.to_html())


def test_measures_made_of_functions_are_reported():
    def double(grade):
        return 2 * grade

    html = rs.report(QRELS, RUNS, rs.nDCG(gain=double) @ 10).to_html()
    assert "double" in read_page(html).find("th")[1].text


def test_values_above_1_are_not_drawn_beside_others():
    page = read_page(rs.report(QRELS, {"old": OLD}, ["RR", "NumRet"]).to_html())
    ratio, count = page.find("table")[1].find("tbody")[0].find("tr")
    assert len(ratio.find("circle")) == 1
    assert count.find("circle") == []


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    report = rs.report(QRELS, RUNS)
    with refuses(rs.FileError, "io"):
        report.write(tmp_path / "none" / "page.html")
    report.write(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == report.to_html()


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


def pages_with(text):
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
def plain():
    return [read_page(page) for page in pages_with("harmless")]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_an_id_is_text_wherever_it_stands_and_shows_what_cannot_be_seen(text, plain):
    for page, usual in zip(pages_with(text), plain, strict=True):
        assert UNSEEN.search(page) is None
        # Names in a sentence have an element of their own if they are written from right to left.
        elements, expected = (
            [each for each in found.every() if each.tag != "bdi"]
            for found in (read_page(page), usual)
        )
        assert [each.tag for each in elements] == [each.tag for each in expected]
        for element, twin in zip(elements, expected, strict=True):
            assert element.attributes.keys() == twin.attributes.keys()


def test_an_id_is_shown_as_it_is():
    text = "<b>&lt;a'b\"c{{7*7}}שלום"
    page = read_page(pages_with(text)[0])
    assert text in [each.text for each in page.find("bdi")]


@pytest.mark.parametrize("count", [200, 201, 4_096])
def test_a_long_id_is_cut(count):
    for page in pages_with("x" * count):
        assert "x" * 200 in page
        assert "x" * 201 not in page
        assert (f"({count:,} characters)" in page) is (count > 200)


def test_the_direction_of_an_id_does_not_leak():
    """Names stand in elements that keep the direction of their text to themselves."""
    for page in map(read_page, pages_with("שלום")):
        isolated = [each for tag in ("bdi", "code") for each in page.find(tag)]
        within = sum(each.text.count("שלום") for each in isolated)
        assert 0 < within == page.find("body")[0].text.count("שלום")


def test_a_path_of_odd_bytes_is_shown_escaped(tmp_path):
    name = tmp_path / "a\udcff\x1b[31m\u202e'b.run"
    name.write_bytes(b"q1 Q0 d1 1 1 t\n")
    report = rs.report({"q1": {"d1": 1}}, name)
    assert UNSEEN.search(report.to_html()) is None
