"""However an explanation is written, identifiers stay text, and the numbers stay the same."""

from __future__ import annotations

import html
import json
import math
import re
from html.parser import HTMLParser

import pytest
import rankscope as rs
from rankscope import Explanation, Rankings, nDCG

HOSTILE = {
    "markup": "<script>alert(1)</script>&amp;",
    "table": "a|b||c",
    "emphasis": "*a* _b_ `c` [d](e) ~~f~~ # g",
    "latex": r"\input{x} 50% $y$ #1 a_b ~ ^ {z}",
    "terminal": "\x1b[31mred\x07",
    "lines": "one\ntwo\r\nthree\u2028four\ttabbed",
    "reversed": "a\u202eb\u200fc\u2066d",
    "hebrew": "\u05e9\u05dc\u05d5\u05dd",
    "wide": "検索\U0001f50d",
    "quotes": "\"'><img src=x onerror=alert(1)>",
    "long": "x" * 4000,
    "blank": " ",
    "formula": "=1+1",
}


def explain(*ids: str, **settings: object) -> Explanation:
    """Explain a query whose documents, one of them not retrieved, and itself are called so."""
    first, *_ = ids
    qrels = {first: {doc: grade % 4 for grade, doc in enumerate([*ids, f"{first}2"], start=1)}}
    run = {first: {doc: -float(rank) for rank, doc in enumerate(ids)}}
    return Rankings.from_run(qrels, run, **settings).explain(first, nDCG @ 10)


class Cells(HTMLParser):
    """The tags of a piece of HTML, and the texts of the cells of its tables."""

    def __init__(self, piece: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(piece)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in {"src", "href"} for name, _ in attrs)
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", HOSTILE)
def test_html_has_the_tags_of_the_house_only(name: str) -> None:
    piece = explain(HOSTILE[name], "b").to_html()
    assert piece.isascii()
    assert piece.isprintable() or set(re.findall(r"[^ -~]", piece)) == {"\n"}
    found = Cells(piece)
    known = {"div", "style", "h4", "p", "span", "sub", "sup", "bdi"}
    tables = {"table", "thead", "tbody", "tr", "th", "td"}
    assert set(found.tags) <= known | tables
    assert len({len(row) for row in found.rows[:3]}) == 1
    assert len(piece) < 20_000


def test_html_shows_the_numbers_of_the_rows() -> None:
    explanation = explain("a", "b", "c")
    cells = Cells(explanation.to_html(digits=6)).rows[1 : 1 + len(explanation.rows)]
    for shown, row in zip(cells, explanation.rows, strict=True):
        assert shown[0] == str(row.rank)
        numbers = (row.contribution, row.cg, row.dcg, row.idcg, row.ndcg)
        assert shown[-5:] == [f"{number:.6f}" for number in numbers]


def test_a_page_is_a_piece_with_a_head() -> None:
    explanation = explain("a", "b")
    page = explanation.to_html(is_page=True)
    assert page.startswith("<!doctype html>")
    assert explanation.to_html() in page
    assert f"<title>nDCG@10 = {explanation.value:.4f} for query a</title>" in page
    assert explanation._repr_html_() == explanation.to_html()


@pytest.mark.parametrize("name", HOSTILE)
def test_text_is_printable_and_its_columns_stand_in_line(name: str) -> None:
    text = explain(HOSTILE[name], "b", "c").to_text()
    assert all(line.isprintable() for line in text.split("\n"))
    assert max(map(len, text.split("\n"))) < 200


def cut_row(line: str) -> list[str]:
    """The cells of a row of a Markdown table, as GitHub cuts them."""
    return [cell.strip() for cell in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]]


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_tables_keep_their_columns(name: str) -> None:
    text = explain(HOSTILE[name], "b", "c").to_markdown()
    blocks = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(blocks) == 4
    for block in blocks:
        head, *rows = map(cut_row, block.strip().split("\n"))
        assert {len(row) for row in rows} == {len(head)}
    outside = re.sub(r"```text.*?```", "", text, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)[<`]", outside)


@pytest.mark.parametrize("name", HOSTILE)
def test_latex_has_no_command_of_an_identifier(name: str) -> None:
    text = explain(HOSTILE[name], "b", "c").to_latex()
    ours = {
        "alpha", "begin", "cdot", "cdots", "end", "footnotesize", "frac", "hline", "ldots", "ln",
        "log", "mathrm", "medskip", "multicolumn", "noindent", "par", "paragraph", "quad",
        "textasciicircum", "textasciitilde", "textbackslash", "textbar", "textbf", "textgreater",
        "textit", "textless", "times", "char",
    }  # fmt: skip
    assert set(re.findall(r"(?<!\\)\\([A-Za-z]+)", text)) <= ours
    assert not re.search(r"(?<!\\)[%#~]", text)
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    for table in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        for line in re.findall(r"^(.*) \\\\$", table[1], flags=re.MULTILINE):
            assert len(re.findall(r"(?<!\\)&", line)) in {len(table[0]) - 1, 0}


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_every_way_has_the_same_digits(form: str) -> None:
    explanation = rs.explain([4, 2, 5, 3, 5], k=3, names="ABCDE")
    written = getattr(explanation, f"to_{form}")(digits=7)
    for value in (explanation.value, explanation.dcg, explanation.idcg, explanation.swap.gain):
        assert f"{value:.7f}" in html.unescape(written)


def test_a_mapping_is_json_without_nan() -> None:
    explanation = rs.explain([1, math.nan, 0], names=["a", "b\x00", "<c>"], unjudged="remove")
    document = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert document["value"] == explanation.value
    assert document["removed"]["shown"][0]["doc_id"] == "b\x00"
    assert document["removed"]["shown"][0]["grade"] is None
    assert [row["doc_id"] for row in document["rows"]] == ["a", "<c>"]
    assert document["formula"] == explanation.formula
