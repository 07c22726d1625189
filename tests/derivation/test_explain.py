"""What an explanation says, however it is written, in cases that a person can follow."""

from __future__ import annotations

import html
import itertools
import json
import math
import pickle
import re
from html.parser import HTMLParser
from itertools import combinations
from math import log2
from operator import truediv

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Rankings, RankscopeError, nDCG
from rankscope._explain.gains import LossSplit
from rankscope._explain.ideal import find_best_swap

from tests.refusals import refuses


def test_two_documents_of_one_score_share_their_mean_gain():
    qrels = {"q": {"a": 3, "b": 0, "c": 1}}
    run = {"q": {"a": 2.0, "b": 2.0, "c": 1.0}}
    explanation = Rankings.from_run(qrels, run, ties="average").explain("q", nDCG @ 10)
    first, second, third = explanation.rows
    assert (first.tie, second.tie, third.tie) == ((1, 2), (1, 2), None)
    assert (first.gain, second.gain, third.gain) == (1.5, 1.5, 1)
    dcg = 1.5 / log2(2) + 1.5 / log2(3) + 1 / log2(4)
    assert explanation.value == dcg / (3 + 1 / log2(3))
    assert "= marks documents of one score" in str(explanation)


def test_a_tie_across_the_cutoff_is_said_to_be_one():
    qrels, run = {"q": {"a": 3, "b": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    explanation = Rankings.from_run(qrels, run, ties="average").explain("q", "nDCG@2")
    assert [row.gain for row in explanation.rows] == [4 / 3, 4 / 3]
    assert "Ranks 1 to 3 have one score, across the cutoff." in str(explanation)


def test_a_query_without_relevant_documents_reads_well():
    explanation = rs.explain([0, 0], k=3)
    assert explanation.is_undefined
    assert explanation.value == 0
    assert math.isnan(explanation.rows[0].ndcg)
    assert (explanation.best, explanation.worst, explanation.swap) == (None, None, None)
    text = " ".join(str(explanation).split())
    assert "nDCG@3 is undefined: no judged document has a gain above 0, and IDCG@3 is 0." in text
    assert "It counts as 0 (empty=zero)." in text


@pytest.mark.parametrize(
    ("empty", "value", "words"),
    [
        ("zero", 0.0, "counts as 0"),
        ("one", 1.0, "counts as 1"),
        ("skip", math.nan, "is left out of the mean"),
        ("nan", math.nan, "is NaN, and so is the mean"),
        ("error", math.nan, "is refused by an evaluation"),
    ],
)
def test_what_becomes_of_an_undefined_query_is_said(empty, value, words):
    explanation = rs.explain([0, 0], empty=empty)
    assert explanation.value == pytest.approx(value, nan_ok=True)
    assert words in " ".join(str(explanation).split())
    head = "nDCG has no value" if math.isnan(value) else f"nDCG = {value:.4f}"
    assert str(explanation).startswith(head)


def test_a_query_that_is_not_in_the_run_is_explained():
    rankings = Rankings.from_run({"q": {"a": 2}, "r": {"b": 1}}, {"r": {"b": 1.0}})
    explanation = rankings.explain("q", nDCG @ 10)
    assert explanation.is_missing
    assert (explanation.value, explanation.rows, explanation.retrieved) == (0.0, (), 0)
    assert [document.doc_id for document in explanation.unretrieved.shown] == ["a"]
    assert explanation.losses == LossSplit(1.0, 0.0, 0.0)
    assert "The query is not in the run: that counts as an empty list" in str(explanation)
    skipped = rankings.explain("q", nDCG @ 10, policy="missing=skip")
    assert math.isnan(skipped.value)


def test_an_empty_list_in_the_run_is_not_missing():
    rankings = Rankings.from_run({"q": {"a": 2}, "r": {"b": 1}}, {"q": {}, "s": {"b": 1.0}})
    policy = "missing=skip"
    values = rankings.evaluate(nDCG @ 10, policy=policy).per_query_list(nDCG @ 10)
    explanations = [rankings.explain(query, nDCG @ 10, policy=policy) for query in "qr"]
    assert [one.is_missing for one in explanations] == [False, True]
    assert [one.value for one in explanations] == pytest.approx(values, nan_ok=True, abs=0, rel=0)
    assert "The list is empty." in str(explanations[0])


def test_documents_below_the_cutoff_and_never_retrieved_are_named():
    qrels = {"q": {"a": 1, "b": 3, "c": 2, "e": 3}}
    run = {"q": {doc: -float(rank) for rank, doc in enumerate("xaybzc")}}
    explanation = Rankings.from_run(qrels, run).explain("q", nDCG @ 3)
    assert [(one.doc_id, one.rank) for one in explanation.below.shown] == [("b", 4), ("c", 6)]
    assert [one.doc_id for one in explanation.unretrieved.shown] == ["e"]
    assert [row.found_at for row in explanation.ideal_rows] == [4, None, 6]
    losses = explanation.losses
    parts = (losses.retrieval, losses.truncation, losses.ordering)
    assert parts == pytest.approx((0.191917562895225, 0.6383835125790451, 0.06263082389336977))
    assert explanation.observes_retrieval


def test_retrieval_is_not_observable_where_only_the_list_is_judged():
    explanation = rs.explain([0, 1], k=1)
    assert not explanation.observes_retrieval
    assert "not observable" in str(explanation)
    assert "never retrieved" not in str(explanation)
    known = rs.explain([0, 1], k=1, ideal=[2, 1, 0])
    assert known.observes_retrieval
    assert "not observable" not in str(known)


def test_a_long_list_is_shown_as_far_as_it_matters():
    grades = [0.0] * 5000
    for rank in (3, 40, 700, 4000):
        grades[rank - 1] = 1.0
    explanation = rs.explain(grades, limit=10)
    ranks = [row.rank for row in explanation.rows]
    assert ranks == [1, 2, 3, 4, 5, 40, 700, 4000, 5000]
    hidden = [(gap.first, gap.last, gap.gains) for gap in explanation.gaps]
    assert hidden == [(6, 39, 0), (41, 699, 0), (701, 3999, 0), (4001, 4999, 0)]
    assert explanation.rows[-1].dcg == explanation.dcg == rs.dcg(grades)
    assert len(str(explanation).splitlines()) < 60


def test_gains_that_are_not_shown_are_counted():
    explanation = rs.explain([1.0] * 1000, k=100, limit=10)
    assert [row.rank for row in explanation.rows] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 100]
    assert [(gap.first, gap.last, gap.gains) for gap in explanation.gaps] == [(10, 99, 90)]
    assert explanation.below.count == 900
    assert len(explanation.below.shown) == len(explanation.ideal_rows) == 10
    assert explanation.ideal_size == 100
    assert "ranks 10 to 99: not shown, 90 with a gain" in str(explanation)
    assert "…" in explanation.formula


def test_numbers_beyond_all_measure_are_written_short():
    explanation = rs.explain([1000, 0, 999], gain="exp2", k=2)
    assert explanation.value == (2.0**1000 / 1) / (2.0**1000 + 2.0**999 / log2(3))
    assert "1.0715e+301" in str(explanation)
    assert max(map(len, str(explanation).split("\n"))) < 160


def test_documents_are_named_by_a_mapping_as_well():
    named = rs.explain([4, 2], names=["A", "B"])
    assert rs.explain({"A": 4, "B": 2}) == named
    assert [row.doc_id for row in named.rows] == ["A", "B"]


@pytest.mark.parametrize("kind", [np.array, tuple, lambda grades: np.array(grades, np.float32)])
def test_grades_may_be_any_row_of_numbers(kind):
    grades = [4, 2, 5]
    assert rs.explain(kind(grades)) == rs.explain(grades)


def test_a_convention_is_explained_by_its_own_rules():
    rankings = Rankings.from_run({"q": {"a": 1, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}})
    explanation = rankings.explain("q", nDCG @ 2, convention="lightgbm")
    evaluation = rankings.evaluate(nDCG @ 2, convention="lightgbm")
    assert explanation.value == evaluation.per_query(nDCG @ 2)[0]
    assert explanation.measure.parameters["gain"] != "linear"


def test_explanations_are_values():
    explanation = rs.explain([4, 2, 5], k=2, names="ABC")
    assert pickle.loads(pickle.dumps(explanation)) == explanation  # noqa: S301 - our own
    assert repr(explanation) == "Explanation(nDCG@2, value 0.6994)"
    assert hash(explanation) == hash(rs.explain([4, 2, 5], k=2, names="ABC"))


QUERY = Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.0}})


@pytest.mark.parametrize(
    ("code", "ask"),
    [
        ("not_explained", lambda: rs.explain([1], measure="ERR")),
        ("not_explained", lambda: QUERY.explain("q", "ERR@10")),
        ("unknown_query", lambda: QUERY.explain("r", nDCG)),
        ("unknown_query", lambda: QUERY.explain(7, nDCG)),
        ("bad_parameter", lambda: rs.explain([1], k=2, measure=nDCG @ 3)),
        ("bad_parameter", lambda: rs.explain([1], k=0)),
        ("bad_parameter", lambda: rs.explain([1], gain="cubic")),
        ("bad_parameter", lambda: rs.explain([1], limit=1)),
        ("bad_parameter", lambda: QUERY.explain("q", ["nDCG@5", "nDCG@10"])),
        ("unknown_measure", lambda: rs.explain([1], measure="nDGC")),
        ("length_mismatch", lambda: rs.explain([1, 2], names="A")),
        ("empty_input", lambda: rs.explain([])),
        ("empty_input", lambda: rs.explain([math.nan])),
        ("rel_out_of_range", lambda: rs.explain([math.inf])),
        ("not_numeric", lambda: rs.explain(["4"])),
        ("ideal_mismatch", lambda: rs.explain([3, 1], ideal=[1])),
        ("bad_policy", lambda: rs.explain([1], empty="none")),
        ("gain_missing", lambda: rs.explain([9], gain=[0, 1])),
    ],
)
def test_what_cannot_be_explained_is_refused(code, ask):
    with refuses(RankscopeError, code):
        ask()


NEGATIVE = "A negative grade has no gain (negative=nonrelevant)."


@pytest.mark.parametrize(
    ("grades", "policy", "is_said"),
    [
        ([-1, 2], "", True),
        ([-1, 2], "negative=gain", False),
        ([-1, 2], "negative=minmax", False),
        ([1, 2], "", False),
        ([2, -1], "", True),
    ],
)
def test_a_negative_grade_without_gain_is_explained(grades, policy, *, is_said):
    shown = rs.Rankings.from_lists([grades])
    explained = shown.explain(shown.query_ids[0], "nDCG@2", policy=policy)
    assert (NEGATIVE in str(explained)) is is_said


gains = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 3.0, 7.0]), max_size=12)
discounts = st.lists(st.floats(0, 1), min_size=12, max_size=12)


def total(gains, discounts):
    return sum(gain * weight for gain, weight in zip(gains, discounts, strict=False))


@given(gains=gains, discounts=discounts)
def test_no_other_swap_gains_more(gains, discounts):
    best = 0.0
    for one, other in combinations(range(len(gains)), 2):
        swapped = [*gains]
        swapped[one], swapped[other] = gains[other], gains[one]
        best = max(best, total(swapped, discounts) - total(gains, discounts))
    found = find_best_swap(gains, discounts)
    assert (found.gained if found else 0.0) == pytest.approx(best, abs=1e-12)


def test_a_long_list_is_searched_by_halves():
    # Of 20,000 different gains in the best order but for two, no other pair gains anything.
    gains = [1 / rank for rank in range(1, 20_001)]
    gains[5000], gains[7000] = gains[7000], gains[5000]
    discounts = [1 / rank for rank in range(1, 20_001)]
    found = find_best_swap(gains, discounts)
    assert (found.rank, found.other_rank) == (5001, 7001)


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


def explain(*ids, **settings):
    """Explain a query whose documents, one of them not retrieved, and itself are called so."""
    first, *_ = ids
    qrels = {first: {doc: grade % 4 for grade, doc in enumerate([*ids, f"{first}2"], start=1)}}
    run = {first: {doc: -float(rank) for rank, doc in enumerate(ids)}}
    return Rankings.from_run(qrels, run, **settings).explain(first, nDCG @ 10)


class Cells(HTMLParser):
    """The tags of a piece of HTML, and the texts of the cells of its tables."""

    def __init__(self, piece):
        super().__init__()
        self.tags = []
        self.open = []
        self.rows = []
        self.feed(piece)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in {"src", "href"} for name, _ in attrs)
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", HOSTILE)
def test_html_has_the_tags_of_the_house_only(name):
    piece = explain(HOSTILE[name], "b").to_html()
    assert piece.isascii()
    assert piece.isprintable() or set(re.findall(r"[^ -~]", piece)) == {"\n"}
    found = Cells(piece)
    known = {"div", "style", "h4", "p", "span", "sub", "sup", "bdi"}
    tables = {"table", "thead", "tbody", "tr", "th", "td"}
    assert set(found.tags) <= known | tables
    assert len({len(row) for row in found.rows[:3]}) == 1
    assert len(piece) < 20_000


def test_html_shows_the_numbers_of_the_rows():
    explanation = explain("a", "b", "c")
    cells = Cells(explanation.to_html(digits=6)).rows[1 : 1 + len(explanation.rows)]
    for shown, row in zip(cells, explanation.rows, strict=True):
        assert shown[0] == str(row.rank)
        numbers = (row.contribution, row.cg, row.dcg, row.idcg, row.ndcg)
        assert shown[-5:] == [f"{number:.6f}" for number in numbers]


def test_a_page_is_a_piece_with_a_head():
    explanation = explain("a", "b")
    page = explanation.to_html(is_page=True)
    assert page.startswith("<!doctype html>")
    assert explanation.to_html() in page
    assert f"<title>nDCG@10 = {explanation.value:.4f} for query a</title>" in page
    assert explanation._repr_html_() == explanation.to_html()


@pytest.mark.parametrize("name", HOSTILE)
def test_text_is_printable_and_its_columns_stand_in_line(name):
    text = explain(HOSTILE[name], "b", "c").to_text()
    assert all(line.isprintable() for line in text.split("\n"))
    assert max(map(len, text.split("\n"))) < 200


def cut_row(line):
    """The cells of a row of a Markdown table, as GitHub cuts them."""
    return [cell.strip() for cell in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]]


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_tables_keep_their_columns(name):
    text = explain(HOSTILE[name], "b", "c").to_markdown()
    blocks = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(blocks) == 4
    for block in blocks:
        head, *rows = map(cut_row, block.strip().split("\n"))
        assert {len(row) for row in rows} == {len(head)}
    outside = re.sub(r"```text.*?```", "", text, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)[<`]", outside)


@pytest.mark.parametrize("name", HOSTILE)
def test_latex_has_no_command_of_an_identifier(name):
    text = explain(HOSTILE[name], "b", "c").to_latex()
    ours = {
        "alpha", "begin", "cdot", "cdots", "end", "footnotesize", "frac", "hline", "ldots", "ln",
        "log", "mathrm", "medskip", "multicolumn", "noindent", "par", "paragraph", "quad",
        "textasciicircum", "textasciitilde", "textbackslash", "textbar", "textbf", "textgreater",
        "symbol", "textit", "textless", "times",
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
def test_every_way_has_the_same_digits(form):
    explanation = rs.explain([4, 2, 5, 3, 5], k=3, names="ABCDE")
    written = getattr(explanation, f"to_{form}")(digits=7)
    for value in (explanation.value, explanation.dcg, explanation.idcg, explanation.swap.gain):
        assert f"{value:.7f}" in html.unescape(written)


def test_a_mapping_is_json_without_nan():
    explanation = rs.explain([1, math.nan, 0], names=["a", "b\x00", "<c>"], unjudged="remove")
    document = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert document["value"] == explanation.value
    assert document["removed"]["shown"][0]["doc_id"] == "b\x00"
    assert document["removed"]["shown"][0]["grade"] is None
    assert [row["doc_id"] for row in document["rows"]] == ["a", "<c>"]
    assert document["formula"] == explanation.formula


def read_column(explanation, name, digits, title="The list"):
    """The cells of a read_column of a table, as they are printed."""
    lines = explanation.to_text(digits).split("\n")
    start = next(at for at, line in enumerate(lines) if line.startswith(title))
    table = list(itertools.takewhile(bool, lines[start + 1 :]))
    end = table[0].index(name) + len(name)
    while table[0][end:].startswith(" ×"):  # another read_column begins with the same word
        end = table[0].index(name, end) + len(name)
    return [line[:end].split()[-1] for line in table[1:]]


ARTICLE = [4, 2, 5, 3, 5]
DISCOUNTED = [4, 2 / log2(3), 5 / log2(4), 3 / log2(5), 5 / log2(6)]
BEST = [5, 5 / log2(3), 4 / log2(4), 3 / log2(5), 2 / log2(6)]
DCGS, IDCGS = [*itertools.accumulate(DISCOUNTED)], [*itertools.accumulate(BEST)]


@pytest.mark.parametrize(
    ("name", "formula", "published"),
    [
        ("CG", itertools.accumulate(ARTICLE), "4.00 6.00 11.00 14.00 19.00"),
        ("DCG", DCGS, "4.00 5.26 7.76 9.05 10.99"),
        ("IDCG", IDCGS, "5.00 8.15 10.15 11.45 12.22"),
        ("nDCG", map(truediv, DCGS, IDCGS), "0.80 0.65 0.76 0.79 0.90"),
    ],
)
def test_the_table_by_rank_is_that_of_the_article(name, formula, published):
    explanation = rs.explain(ARTICLE, names="ABCDE")
    found = [getattr(row, name.lower()) for row in explanation.rows]
    assert found == list(formula)
    # Each name ends another: the running columns are found from the right.
    places = ["CG", "DCG", "IDCG", "nDCG"]
    lines = explanation.to_text(2).split("\n")
    start = lines.index("The list, rank by rank") + 2
    cells = [line.split()[-4:][places.index(name)] for line in lines[start : start + 5]]
    assert cells == published.split()


def test_the_terms_are_those_of_the_article():
    explanation = rs.explain(ARTICLE, k=3, names="ABCDE")
    assert [row.contribution for row in explanation.rows] == DISCOUNTED[:3]
    assert [row.contribution for row in explanation.ideal_rows] == BEST[:3]
    assert read_column(explanation, "gain × discount", 4) == ["4.0000", "1.2619", "2.5000"]
    text = explanation.to_text(3)
    assert "DCG@3 = 4/log2(2) + 2/log2(3) + 5/log2(4)" in text
    assert "IDCG@3 = 5/log2(2) + 5/log2(3) + 4/log2(4)" in text
    assert "= 7.762 / 10.155" in text
    assert text.startswith("nDCG@3 = 0.764\n")


def test_a_term_that_articles_have_wrong_is_printed_right():
    # 3/log2(5) is 1.29203, not 1.29248.
    explanation = rs.explain(ARTICLE)
    assert read_column(explanation, "gain × discount", 5)[3] == "1.29203"


def test_the_worst_and_the_best_order_are_those_that_are_published():
    explanation = rs.explain([3, 1, 2, 0, 2], gain="exp2")
    assert (explanation.worst.grades, explanation.best.grades) == ((0, 1, 2, 2, 3), (3, 2, 2, 1, 0))
    assert f"{explanation.worst.value:.15f}" == "0.566447862549826"
    assert explanation.best.value == 1


# Järvelin and Kekäläinen, 2002: the list and the ideal of their example, with base 2.
VECTOR = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
IDEAL = [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]


def test_the_vectors_of_the_inventors_are_printed():
    explanation = rs.explain(VECTOR, ideal=IDEAL, discount="jk", base=2)
    assert explanation.to_text(2).count("max(1, log2(") > 0
    rows = explanation.rows
    dcg = "3.00 5.00 6.89 6.89 6.89 7.28 7.99 8.66 9.61 9.61"
    assert [f"{row.dcg:.2f}" for row in rows] == dcg.split()
    best = "3.00 6.00 7.89 8.89 9.75 10.53 10.88 11.22 11.53 11.83"
    assert [f"{row.idcg:.2f}" for row in rows] == best.split()
