"""One description of a table, and its writers: marks, digits, order, and hostile names."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
import rankscope as rs
from rankscope.output.layout.description import Cell, Grid, Layout, shorten
from rankscope.output.layout.latex import _clean_label, escape
from rankscope.output.layout.means import MeasureColumn, lay_out_means, order_runs
from rankscope.output.layout.writers import FORMATS, write

NAN = float("nan")
QRELS = {f"q{number}": {"a": 2, "b": 1, "c": 0} for number in range(12)}
ORDERS = {"best": "abc", "good": "acb", "poor": "cba"}
RUNS = {name: {query: [*order] for query in QRELS} for name, order in ORDERS.items()}


def mark(values: list[float], direction: str = "higher", digits: int = 4) -> str:
    """Return B, s or - for each value: the best, the second best, or neither."""
    column = MeasureColumn(name="AP", direction=direction, values=values)  # type: ignore[arg-type]
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
def test_the_best_printed_value_is_bold_and_the_next_one_underlined(
    values: list[float], direction: str, marks: str
) -> None:
    assert mark(values, direction) == marks


def test_runs_without_a_value_are_last_in_every_direction() -> None:
    assert order_runs([NAN, 0.1, 0.3, 0.1], "higher") == [2, 1, 3, 0]
    assert order_runs([NAN, 0.1, 0.3, 0.1], "lower") == [1, 3, 2, 0]


def read_numbers(text: str) -> list[str]:
    return re.findall(r"\b[01]\.\d+\b", text)


@pytest.mark.parametrize("digits", [0, 1, 3, 15])
def test_all_formats_have_the_same_cells(digits: int) -> None:
    found = rs.evaluate(QRELS, RUNS, ["nDCG@2", "RR(rel=2)"])
    written = [
        write(digits=digits, sort="RR(rel=2)") for write in (found.to_latex, found.to_markdown)
    ]
    expected = [
        f"{found[run][name]:.{digits}f}"
        for run in ("best", "good", "poor")
        for name in ("nDCG@2", "RR(rel=2)")
    ]
    for text in written:
        if digits:
            assert read_numbers(text)[: len(expected)] == expected


@pytest.mark.parametrize("digits", [-1, 16, 2.0, True, "3"])
def test_digits_are_refused_below_0_above_15_and_if_no_whole_number(digits: object) -> None:
    with pytest.raises(rs.UsageError, match="expected digits"):
        rs.evaluate(QRELS, RUNS["best"], "RR").to_latex(digits=digits)


def test_latex_is_a_table_with_caption_label_and_what_it_needs() -> None:
    compared = rs.compare(QRELS, RUNS, ["nDCG@2", "RR(rel=2)"])
    lines = compared.to_latex(
        caption="50% of_runs", label="tab:a b}", baseline=["good", "poor"]
    ).splitlines()
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
    for fact in (
        "permutation test",
        r"p \textless{} 0.05",
        "Holm over 6 comparisons",
        "12 queries",
    ):
        assert fact in text


def test_a_sign_stands_only_where_the_corrected_difference_is_significant() -> None:
    compared = rs.compare(QRELS, RUNS, ["nDCG@2", "RR(rel=2)"], baseline="good")
    lines = compared.to_latex().splitlines()
    # RR(rel=2) of good and best is 1 for all queries.
    assert compared["RR(rel=2)", "best"].p == 1
    [best] = [line for line in lines if line.startswith("best")]
    assert best.count("dagger") == 1
    assert compared["nDCG@2", "best"].better == "best"


def test_two_runs_are_marked_against_the_first() -> None:
    two = rs.compare(QRELS, {name: RUNS[name] for name in ("best", "poor")}, "RR(rel=2)")
    assert "▼ significantly worse than best." in two.to_markdown()


def test_a_baseline_that_was_not_compared_is_refused() -> None:
    compared = rs.compare(QRELS, RUNS, "RR", baseline="good")
    with pytest.raises(rs.UsageError, match="compared with 'good' only"):
        compared.to_latex(baseline="best")
    with pytest.raises(rs.UsageError, match="did you mean 'best'"):
        compared.to_latex(baseline="bets")


def test_runs_without_tests_have_no_baseline() -> None:
    with pytest.raises(rs.UsageError, match="have no tests against a baseline"):
        rs.evaluate(QRELS, RUNS, "RR").to_latex(baseline="best")


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
def test_no_character_is_a_command_of_latex(text: str, latex: str) -> None:
    assert escape(text) == latex


def test_pdflatex_is_told_what_to_show_for_characters_that_it_does_not_have() -> None:
    grid = Grid(("run",), (True,), ((Cell("é\u017f\u0180字"),),))
    lines = write(Layout(grids=(grid,)), "latex").splitlines()
    assert [line[-13:] for line in lines if "gdef" in line] == ["{[U+0180]}\\fi", "{[U+5B57]}\\fi"]


def test_a_label_has_no_character_that_means_something() -> None:
    assert _clean_label("tab:my runs}\\x<é>") == "tab:my-runs-x-"


class Seen(HTMLParser):
    """Collects tags and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


HOSTILE = (
    "<img/src=x/onerror=alert(1)>",
    "a|b",
    "x'onmouseover='alert(1)",
    '"); #panic("',
    "`*_[x](y)",
)


def test_hostile_names_are_text_in_html() -> None:
    runs = dict(zip(HOSTILE, [RUNS["best"], *[RUNS["poor"]] * 4], strict=True))
    board = rs.leaderboard(QRELS, runs, ["RR(rel=2)", "nDCG@2"], baseline=HOSTILE[1])
    for html in (board.to_html(), board._repr_html_(), rs.compare(QRELS, runs, "RR").table("html")):
        seen = Seen()
        seen.feed(html)
        assert not {"img", "script"} & {*seen.tags}
        assert "onerror=alert(1)" in "".join(seen.text)


def test_markdown_cells_stay_cells_whatever_they_hold() -> None:
    grid = Grid(("run",), (True,), tuple((Cell(name),) for name in (*HOSTILE, "&lt;b&gt;", "$x$")))
    lines = write(Layout(grids=(grid,)), "markdown").splitlines()
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 2
    assert lines[-2:] == [r"| \&lt;b\&gt; |", r"| \$x\$ |"]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_title_notes_and_small_print_in_order(form: str) -> None:
    grid = Grid(("run",), (True,), ((Cell("bravo"),),), title="title", notes=("charlie",))
    text = write(Layout(above=("alpha",), grids=(grid,), small_print=("delta",)), form)
    parts = ["alpha", "bravo", "charlie", "delta"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "title" in text


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ([], []),
        (["a"], ["a"]),
        (["a", "b"], ["a", "b"]),
        (["a", "b", "c"], ["a", "2 more lines: .small_print"]),
    ],
)
def test_small_print_is_two_lines_at_most(lines: list[str], kept: list[str]) -> None:
    assert [*shorten(lines)] == kept


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (None, "Notes: n_missing (3), n_run_only (1), tied_scores (2). "),
        (75, "Notes: n_missing (3), n_run_only (1) and 1 more. "),
        (74, "Notes: n_missing (3) and 2 more. "),
        (20, "Notes: 3 kinds. "),
    ],
)
def test_notes_are_named_or_counted_where_their_lines_are_left_out(
    width: int | None, said: str
) -> None:
    notes = {"n_missing": 3, "n_run_only": 1, "tied_scores": 2}
    where = "2 more lines: .small_print"
    assert shorten(["a", "b", "c"], notes, width=width) == ("a", f"{said}{where}")


@pytest.mark.parametrize(("size", "count"), [(80, 0), (81, 1)])
def test_a_line_that_would_wrap_is_left_out(size: int, count: int) -> None:
    line = "x" * size
    where = "1 line of small print: .small_print"
    assert shorten([line], width=80) == ((where,) if count else (line,))
