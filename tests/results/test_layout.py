"""Results as tables, frames, numbers and JSON: marks, digits, order, names and small print."""

from __future__ import annotations

import inspect
import json
import math
import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope._show import FORMATS, write
from rankscope._show.diagnostics import shorten
from rankscope._show.latex import LABEL, escape
from rankscope._show.layout import Cell, Grid, Layout, MeasureColumn, lay_out_means, order_runs
from rankscope.errors import UsageError
from rankscope.measures import TABLE
from rankscope.measures.table import measure

from tests.cli.command import run as run_command
from tests.report.page import read_page
from tests.trec import write_qrels, write_run

NAN = float("nan")
QRELS = {f"q{number}": {"a": 2, "b": 1, "c": 0} for number in range(12)}
ORDERS = {"best": "abc", "good": "acb", "poor": "cba"}
RUNS = {name: {query: [*order] for query in QRELS} for name, order in ORDERS.items()}


def mark(values, direction="higher", digits=4):
    """Return B, s or - for each value: the best, the second best, or neither."""
    column = MeasureColumn(name="AP", direction=direction, values=values)
    grid = lay_out_means([], [column], digits=digits)
    return "".join("B" if cell.is_best else "s" if cell.is_second else "-" for [cell] in grid.rows)


@pytest.mark.parametrize(
    ("values", "direction", "marks"),
    [
        ([0.3, 0.2, 0.1], "higher", "Bs-"),
        ([0.3, 0.2, 0.1], "lower", "-sB"),
        ([0.3, 0.2, 0.1], "neither", "---"),
        ([0.3, 0.3, 0.1], "higher", "BBs"),
        ([0.3, NAN, 0.1, 0.2], "higher", "B--s"),
        ([0.3, 0.3, 0.3], "higher", "---"),
        ([NAN, NAN, NAN], "higher", "---"),
        # Of two runs, the second best is the worst.
        ([0.3, 0.2], "higher", "B-"),
        ([0.3], "higher", "-"),
        # What is printed alike is marked alike.
        ([0.30001, 0.30002, 0.1], "higher", "BBs"),
        ([0.30004, 0.30006, 0.1], "higher", "sB-"),
    ],
)
def test_the_best_printed_value_is_bold_and_the_next_one_underlined(values, direction, marks):
    assert mark(values, direction) == marks


def test_runs_without_a_value_are_last_in_every_direction():
    assert order_runs([NAN, 0.1, 0.3, 0.1], "higher") == [2, 1, 3, 0]
    assert order_runs([NAN, 0.1, 0.3, 0.1], "lower") == [1, 3, 2, 0]


@pytest.mark.parametrize("digits", [0, 1, 3, 15])
def test_all_formats_have_the_same_cells(digits):
    found = rs.evaluate(QRELS, RUNS, ["nDCG@2", "RR(rel=2)"])
    expected = [
        f"{found[run][name]:.{digits}f}"
        for run in ("best", "good", "poor")
        for name in ("nDCG@2", "RR(rel=2)")
    ]
    for write_table in (found.to_latex, found.to_markdown):
        lines = write_table(digits=digits, sort="RR(rel=2)").splitlines()
        rows = [line for line in lines if line.lstrip("| ").startswith(tuple(RUNS))]
        assert re.findall(r"\b[01](?:\.\d+)?\b", " ".join(rows)) == expected


def test_latex_is_a_table_with_caption_label_and_what_it_needs():
    compared = rs.compare(QRELS, RUNS, ["nDCG@2", "RR(rel=2)"])
    words = {"caption": "50% of_runs", "label": "tab:a b}", "baseline": ["good", "poor"]}
    lines = compared.to_latex(**words).splitlines()
    assert lines[0] == r"% needs \usepackage{booktabs,amssymb}"
    assert lines[1] == r"\begin{table}[t]"
    assert r"\caption{50\% of\_runs}" in lines
    assert r"\label{tab:a-b-}" in lines
    assert lines[-1] == r"\end{table}"
    [best] = [line for line in lines if line.startswith("best")]
    assert r"\textbf{1.0000} & \textsuperscript{$\dagger$$\ddagger$}" in best
    [poor] = [line for line in lines if line.startswith("poor")]
    assert r"\textsuperscript{$\blacktriangledown$$\dagger$}" in poor
    text = " ".join(lines)
    facts = ("permutation test", r"p \textless{} 0.05", "Holm over 6 comparisons", "12 queries")
    assert all(fact in text for fact in facts), text


PAPER = {
    "names": {"best": "Best_1", "good": "Good", "nDCG@2": "nDCG", "RR(rel=2)": "MRR"},
    "percent": True,
    "relative": True,
    "caption": "x",
}


def read_rows(text):
    """The cells of a table in LaTeX, without commands."""
    plain = re.sub(r"\\(textbf|underline|textsuperscript){|[{}]", "", text)
    lines = [line.removesuffix(r"\\") for line in plain.splitlines() if line.endswith(r"\\")]
    return [[cell.strip() for cell in line.split("&")] for line in lines]


def test_runs_and_measures_have_other_names_and_values_are_in_percent():
    compared = rs.compare(QRELS, RUNS, ["nDCG@2", "RR(rel=2)"], baseline="good")
    board = rs.leaderboard(QRELS, RUNS, ["nDCG@2", "RR(rel=2)"], baseline="good")
    base = compared.means["good"].values()
    for table, first in ((compared, 0), (board, 1)):
        text = table.to_latex(**PAPER)
        assert "significantly better than Good" in text
        assert "In percent: nDCG, MRR." in text
        assert r"$\Delta$\%: the change from Good, in percent of its mean." in text
        assert not re.search(r"(than|from) good|nDCG@2", text)
        for run, name in (("best", r"Best\_1"), ("good", "Good"), ("poor", "poor")):
            [row] = [row for row in read_rows(text) if row[first] == name]
            for mean, of_baseline in zip(compared.means[run].values(), base, strict=True):
                assert f"{100 * mean:.2f}" in row
                change = 100 * (mean / of_baseline - 1)
                assert f"{change:+.1f}".replace("-", "$-$") in row


def test_one_run_has_other_names_and_percent_but_no_baseline():
    found = rs.evaluate(QRELS, RUNS["good"], ["RR(rel=2)", "NumRet"], interval=0.95)
    text = found.to_latex(names={"RR(rel=2)": "MRR"}, percent=True)
    lower, upper = found.intervals["RR(rel=2)"]
    shown = [f"MRR & {100 * found['RR(rel=2)']:.2f}", f"{100 * lower:.2f}", f"{100 * upper:.2f}"]
    for part in (*shown, f"NumRet & {found['NumRet']:.2f}", "In percent: MRR."):
        assert part in text


ONE = rs.evaluate(QRELS, RUNS["good"], "RR")
SEVERAL = rs.evaluate(QRELS, RUNS, "RR")
AGAINST_GOOD = rs.compare(QRELS, RUNS, "RR", baseline="good")
COMPARED = rs.compare(QRELS, RUNS, "RR")


@pytest.mark.parametrize(
    ("results", "choices", "said"),
    [
        ([ONE], {"sort": "RR"}, "one run has no order of runs and no baseline"),
        ([ONE], {"baseline": "good"}, "one run has no order of runs and no baseline"),
        ([ONE], {"relative": True}, "one run has no order of runs and no baseline"),
        ([SEVERAL, COMPARED], {"relative": True}, "a relative change needs a baseline"),
        ([SEVERAL, COMPARED], {"names": {"bets": "Best"}}, "did you mean 'best'"),
        ([SEVERAL, COMPARED], {"names": {"AP": "MAP"}}, "there are best, good, poor"),
        ([SEVERAL], {"baseline": "best"}, "have no tests against a baseline"),
        ([AGAINST_GOOD], {"baseline": "best"}, "compared with 'good' only"),
        ([AGAINST_GOOD], {"baseline": "bets"}, "did you mean 'best'"),
        *(([ONE], {"digits": digits}, "expected digits") for digits in (-1, 16, 2.0, True, "3")),
    ],
)
def test_choices_that_cannot_be_meant_are_refused(results, choices, said):
    for result in results:
        for write_table in (result.to_latex, result.to_markdown):
            with pytest.raises(rs.UsageError, match=said):
                write_table(**choices)


def test_completion_shows_the_choices():
    choices = {"caption", "label", "digits", "sort", "baseline", "names", "percent", "relative"}
    for result in (rs.Evaluation, rs.Evaluations, rs.Comparison, rs.Leaderboard):
        for function in (result.to_latex, result.to_markdown):
            assert {*inspect.signature(function).parameters} == {"self", *choices}


def test_a_change_from_0_is_not_relative():
    runs = {"none": {query: ["c"] for query in QRELS}, "best": RUNS["best"]}
    compared = rs.compare(QRELS, runs, "RR(rel=2)", baseline="none")
    assert "| none | 0.0000 | – |" in compared.to_markdown(relative=True)


def test_a_sign_stands_only_where_the_corrected_difference_is_significant():
    compared = rs.compare(QRELS, RUNS, ["nDCG@2", "RR(rel=2)"], baseline="good")
    lines = compared.to_latex().splitlines()
    # RR(rel=2) of good and best is 1 for all queries.
    assert compared["RR(rel=2)", "best"].p == 1
    [best] = [line for line in lines if line.startswith("best")]
    assert best.count("dagger") == 1
    assert compared["nDCG@2", "best"].better == "best"


def test_two_runs_are_marked_against_the_first():
    two = rs.compare(QRELS, {name: RUNS[name] for name in ("best", "poor")}, "RR(rel=2)")
    assert "▼ significantly worse than best." in two.to_markdown()


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("a&b%c$d#e_f", r"a\&b\%c\$d\#e\_f"),
        ("~^<>|", r"\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}\textbar{}"),
        ("[2pt]*", "{[}2pt{]}{*}"),
        ("a--b---c", "a-{}-b-{}-{}-c"),
        ("``x'' ?`", "`{}`x'{}' ?{}`"),
        ("-0.5 to -0.1", "$-$0.5 to $-$0.1"),
        ("e5-base - bm25", "e5-base $-$ bm25"),
    ],
)
def test_no_character_is_a_command_of_latex(text, latex):
    assert escape(text) == latex


def test_pdflatex_is_told_what_to_show_for_characters_that_it_does_not_have():
    grid = Grid(("run",), (True,), ((Cell("é\u017f\u0180字"),),))
    lines = write(Layout(grids=(grid,)), "latex").splitlines()
    assert [line[-13:] for line in lines if "gdef" in line] == ["{[U+0180]}\\fi", "{[U+5B57]}\\fi"]


def test_a_label_has_no_character_that_means_something():
    assert LABEL.sub("-", "tab:my runs}\\x<é>") == "tab:my-runs-x-"


HOSTILE = (
    "<img/src=x/onerror=alert(1)>",
    "a|b",
    "x'onmouseover='alert(1)",
    '"); #panic("',
    "`*_[x](y)",
)


def test_hostile_names_are_text_in_html():
    runs = dict(zip(HOSTILE, [RUNS["best"], *[RUNS["poor"]] * 4], strict=True))
    board = rs.leaderboard(QRELS, runs, ["RR(rel=2)", "nDCG@2"], baseline=HOSTILE[1])
    for html in (board.to_html(), board._repr_html_(), rs.compare(QRELS, runs, "RR").table("html")):
        page = read_page(html)
        assert not page.find("img") + page.find("script")
        assert "onerror=alert(1)" in page.text


def test_markdown_cells_stay_cells_whatever_they_hold():
    grid = Grid(("run",), (True,), tuple((Cell(name),) for name in (*HOSTILE, "&lt;b&gt;", "$x$")))
    lines = write(Layout(grids=(grid,)), "markdown").splitlines()
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 2
    assert lines[-2:] == [r"| \&lt;b\&gt; |", r"| \$x\$ |"]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_title_notes_and_small_print_in_order(form):
    grid = Grid(("run",), (True,), ((Cell("bravo"),),), title="title", notes=("charlie",))
    text = write(Layout(above=("alpha",), grids=(grid,), small_print=("delta",)), form)
    parts = ["alpha", "bravo", "charlie", "delta"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "title" in text


NOTES = {"comments": 30, "n_run_only": 1, "tied_scores": 2}
MORE = "2 more lines: .small_print"


@pytest.mark.parametrize(
    ("lines", "notes", "width", "kept"),
    [
        ([], {}, None, []),
        (["a"], {}, None, ["a"]),
        (["a", "b"], {}, None, ["a", "b"]),
        ([*"abc"], {}, None, ["a", MORE]),
        (
            [*"abc"],
            NOTES,
            None,
            ["a", f"Notes: comments (30), n_run_only (1), tied_scores (2). {MORE}"],
        ),
        ([*"abc"], NOTES, 75, ["a", f"Notes: comments (30), n_run_only (1) and 1 more. {MORE}"]),
        ([*"abc"], NOTES, 74, ["a", f"Notes: comments (30) and 2 more. {MORE}"]),
        ([*"abc"], NOTES, 20, ["a", f"Notes: 3 kinds. {MORE}"]),
        (["x" * 80], {}, 80, ["x" * 80]),
        (["x" * 81], {}, 80, ["1 line of small print: .small_print"]),
    ],
)
def test_small_print_is_two_lines_at_most_and_names_or_counts_its_notes(lines, notes, width, kept):
    assert [*shorten(lines, notes, width=width)] == kept


LOG = pd.DataFrame(
    {
        "qid": [5, 5, 3, 3],
        "relevance": [1, 0, 0, 1],
        "score": [2.0, 1.0, 2.0, 1.0],
        "country": ["de", "de", None, None],
        "year": [2025, 2025, 2026, 2026],
    }
)
EXPORTED = {"q1": {"a": 1}, "q2": {"b": 1}}
EXPORTED_RUNS = {"old": {"q1": {"x": 2.0, "a": 1.0}, "q2": {"b": 1.0}}, "new": {"q1": {"a": 1.0}}}


def evaluate():
    return rs.evaluate(LOG, ["P@1", "RR"], by=["country", "year"])


def test_a_wide_frame_has_a_row_for_each_query():
    frame = evaluate().to_pandas(names="plain")
    assert [*frame] == ["qid", "country", "year", "p_at_1", "rr"]
    assert frame["qid"].tolist() == [5, 3]
    assert frame["country"].isna().tolist() == [False, True]
    assert frame["year"].dtype == "int64"
    assert frame["rr"].tolist() == [1.0, 0.5]


def test_a_long_frame_has_a_row_for_each_query_and_measure():
    frame = evaluate().to_polars(shape="long")
    assert frame.rows() == [
        (5, "de", 2025, "P@1", 1.0),
        (3, None, 2026, "P@1", 0.0),
        (5, "de", 2025, "RR", 1.0),
        (3, None, 2026, "RR", 0.5),
    ]
    assert frame.columns == ["qid", "country", "year", "measure", "value"]
    assert frame.schema["qid"] == pl.Int64
    by_measure = frame.pivot("measure", index="qid", values="value")  # noqa: PD010 - of Polars
    assert by_measure.rows() == [(5, 1.0, 1.0), (3, 0.0, 0.5)]


def test_arrow_has_the_same_frames():
    for shape in ("wide", "long"):
        found = evaluate().to_arrow(shape=shape)
        assert isinstance(found, pa.Table)
        assert found.to_pylist() == evaluate().to_polars(shape=shape).to_dicts()


def test_queries_that_are_left_out_have_no_number():
    left_out = rs.evaluate(EXPORTED, EXPORTED_RUNS["new"], "RR", policy="missing=skip")
    values = left_out.to_pandas(shape="long")["value"].tolist()
    assert values[0] == 1.0
    assert math.isnan(values[1])


def test_several_runs_are_in_one_frame():
    found = rs.evaluate(EXPORTED, EXPORTED_RUNS, ["P@1", "RR"])
    assert found.to_polars().rows() == [("old", 0.5, 0.75), ("new", 0.5, 0.5)]
    assert found.to_polars(names="plain").columns == ["run", "p_at_1", "rr"]
    wide = found.to_polars(shape="wide")
    assert wide.columns == ["run", "query_id", "P@1", "RR"]
    assert wide.rows()[:2] == [("old", "q1", 0.0, 0.5), ("old", "q2", 1.0, 1.0)]
    long = found.to_pandas(shape="long", names="plain")
    assert [*long] == ["run", "query_id", "measure", "value"]
    assert len(long) == 2 * 2 * 2
    means = long.groupby(["run", "measure"])["value"].mean()
    assert means["old", "rr"] == found["old"]["RR"]
    found = rs.evaluate(EXPORTED, EXPORTED_RUNS, "RR", interval=0.9)
    assert [*found.to_pandas(names="plain")] == ["run", "rr", "rr_lower", "rr_upper"]


def test_frames_with_two_columns_of_one_name_are_refused():
    log = LOG.rename(columns={"year": "value"})
    found = rs.evaluate(log, ["RR"], by="value")
    assert "value" in found.to_pandas()
    with pytest.raises(UsageError, match="'value' twice"):
        found.to_pandas(shape="long")
    with pytest.raises(UsageError, match="expected shape to be"):
        found.to_pandas(shape="tall")


NAMED_QRELS = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
NAMED_RUN = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d3": 0.7}}
MEASURES = ["nDCG@10", rs.nDCG(gain="exp2") @ 10, "P(rel=2)@5", "map"]


def test_means_have_canonical_or_plain_names():
    found = rs.evaluate(NAMED_QRELS, NAMED_RUN, MEASURES)
    assert found.means() == dict(found)
    names = ("ndcg_at_10", "ndcg_at_10_gain_exp2", "p_at_5_rel_2", "ap")
    plain = zip(names, found.values(), strict=True)
    assert [*found.means(names="plain").items()] == [*plain]
    with pytest.raises(UsageError, match="expected names to be"):
        found.means(names="short")
    found = rs.evaluate(NAMED_QRELS, {"old": NAMED_RUN, "new": {"q1": {"d1": 1.0}}}, MEASURES)
    assert found.means() == {run: dict(each) for run, each in found.items()}
    assert found.means(names="plain")["new"] == found["new"].means(names="plain")


def test_prometheus_accepts_every_plain_name():
    client = pytest.importorskip("prometheus_client")
    registry = client.CollectorRegistry()
    for name in TABLE:
        one = measure(name)
        for each in (one, one @ (0.5 if one.row.at == "recall" else 5)) if one.row.at else (one,):
            client.Gauge(each.plain_name, "A measure.", registry=registry)
    exposed = client.generate_latest(registry).decode()
    assert "\nndcg_at_5 0.0\n" in exposed


GOOD = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in QRELS}
BAD = {query: {"a": 1.0, "b": 2.0, "z": 3.0} for query in [*QRELS][:-1]} | {"other": {"a": 1.0}}
BOTH = {"bad": BAD, "good": GOOD}


def test_the_best_run_is_that_of_the_better_mean():
    found = rs.evaluate(QRELS, BOTH, ["RR", "OrderingLoss", "Unjudged@2"])
    assert found["good"]["OrderingLoss"] < found["bad"]["OrderingLoss"]
    assert [found.best(), found.best("mrr"), found.best("OrderingLoss")] == ["good"] * 3
    with pytest.raises(rs.errors.MeasureError, match="neither higher nor lower values are better"):
        found.best("Unjudged@2")
    with pytest.raises(rs.errors.MeasureError, match="AP was not evaluated"):
        found.best("AP")
    # The first of equal runs is the best, and NaN never is.
    assert rs.evaluate(QRELS, {"one": GOOD, "two": GOOD}, "RR").best() == "one"
    none = {query: {"a": 0} for query in QRELS}
    with pytest.raises(rs.errors.MeasureError, match="no run has a value of RR"):
        rs.evaluate(none, BOTH, "RR", policy="empty=skip").best()


def test_json_is_what_the_command_prints(tmp_path):
    qrels = write_qrels(tmp_path / "qrels", QRELS)
    bad, good = (write_run(tmp_path / name, BOTH[name]) for name in ("bad", "good"))
    words, measures = ["-m", "nDCG@10,AP", "--json"], ["nDCG@10", "AP"]
    limits = ["--max-drop", "AP=0.1", "--json"]
    gate = rs.gate(qrels, bad, good, {"AP": 0.1}, names=("bad", "good"))
    pairs = [
        (["eval", qrels, bad, *words], rs.evaluate(qrels, bad, measures)),
        (["compare", qrels, bad, good, *words], rs.compare(qrels, [bad, good], measures)),
        (["leaderboard", qrels, bad, good, *words], rs.leaderboard(qrels, [bad, good], measures)),
        (["gate", qrels, bad, good, *limits], gate),
    ]
    for command, result in pairs:
        assert json.loads(run_command(*command).stdout) == json.loads(result.to_json())
    whole = json.loads(run_command("eval", qrels, bad, good, *words, "-q").stdout)
    own = json.loads(rs.evaluate(qrels, [bad, good], measures).to_json(per_query=True))
    for each in whole["runs"]:
        each["run"] = each["run"].rpartition("/")[2]
    assert own == whole


def test_nan_is_null_and_one_line_is_possible():
    found = rs.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "RR", policy="empty=nan")
    text = found.to_json(indent=None)
    assert "\n" not in text
    assert json.loads(text)["measures"] == {"RR": None}


RESULTS = {
    "evaluate": lambda: rs.evaluate(QRELS, BAD, ["RR", "AP"], interval=0.95),
    "several": lambda: rs.evaluate(QRELS, BOTH, ["RR", "AP"], interval=0.95),
    "compare": lambda: rs.compare(QRELS, BOTH, ["RR", "AP"]),
    "gate": lambda: rs.gate(QRELS, GOOD, BAD | {"q0": {"a": 1.0}}, {"RR": 0.6, "AP": "90%"}),
    "diff": lambda: rs.diff(QRELS, BAD, GOOD, "nDCG@2"),
    "leaderboard": lambda: rs.leaderboard(QRELS, BOTH, ["RR", "AP"], baseline="bad"),
}
NUMBERS = {"evaluate": 3, "several": 3, "leaderboard": 3}
"""The lines above the small print, of results that put no empty line between."""


@pytest.mark.parametrize("name", RESULTS)
def test_two_lines_of_small_print_say_where_all_of_it_is(name):
    result = RESULTS[name]()
    lines = str(result).splitlines()
    blank = max((at for at, line in enumerate(lines) if not line), default=NUMBERS.get(name, 0) - 1)
    below = lines[blank + 1 :]
    grave = [line for line in result.small_print if line.endswith("[n_missing]")]
    shown = " ".join(line.strip() for line in below)
    assert all(line in shown for line in grave)
    assert 1 <= len(below) <= 2 + 2 * len(grave)
    is_printed = name in {"compare", "gate", "leaderboard"}  # by the command of this name
    assert below[-1].endswith(f": .small_print{', --small-print' if is_printed else ''}")
    assert len(result.small_print) > 2
    codes = {note.code for note in getattr(result, "notes", ())}
    assert all(code in shown for code in codes if name != "gate")
