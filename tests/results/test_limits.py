"""What results print at their limits: just below, at and just above each of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import rankscope as rs
from rankscope._compare.gate.checks import Settings, check_budget
from rankscope._compare.gate.summary import _choose, _shorten
from rankscope._compare.layout import _make_pairs
from rankscope._compare.notes import _describe_correction, _list, _say_power
from rankscope._compare.promise import MeasureValues
from rankscope._diff.difference import _left_out, _most_moved
from rankscope._discounts import _are_alike
from rankscope._explain.bounds import _read_scale
from rankscope._reconcile.causes import list_levels
from rankscope._reconcile.result import _answer, _is_close
from rankscope._reconcile.target import Target
from rankscope._show.diagnostics import describe, gather
from rankscope._show.html import _name_class, _write_text
from rankscope._show.table import Table
from rankscope.judges import CombinedJudgments
from rankscope.measures.parse import parse
from rankscope.monitor.why.decomposition_result import ALL
from rankscope.monitor.why.text import _head, _list_regrets

from tests.refusals import refuses_if


@pytest.mark.parametrize(
    ("count", "text"),
    [(2, "r0 and r1"), (3, "r0, r1 and r2"), (4, "r0, r1 and 2 others")],
)
def test_a_verdict_names_three_runs_and_counts_more(count, text):
    runs = [f"r{at}" for at in range(count)]
    assert _list(runs) == text


@pytest.mark.parametrize(
    ("needed", "text"),
    [
        (99, "about 99"),
        (101, "about 110"),
        (990_001, "about 1,000,000"),
        (1_000_000, "about 1,000,000"),
        (1_000_001, "more than 1,000,000"),
        (None, "more than 1,000,000"),
    ],
)
def test_a_verdict_counts_the_queries_that_are_needed_up_to_a_million(needed, text):
    pair = SimpleNamespace(
        n=50,
        clusters=None,
        smallest_p=0.001,
        minimum_detectable=0.1,
        difference=0.01,
        queries_needed=needed,
    )
    comparison = SimpleNamespace(settings=SimpleNamespace(power=0.8, alpha=0.05))
    assert f"single t test, {text} queries are needed" in _say_power(comparison, pair)


@pytest.mark.parametrize(
    ("smallest", "text"),
    [
        (0.000_099_9, ""),
        (0.0001, ""),
        (0.000_100_1, " The smallest p-value possible here is 0.0001."),
    ],
)
def test_the_smallest_p_value_is_told_above_one_in_ten_thousand(smallest, text):
    compared = SimpleNamespace(correction="none", smallest_p=smallest)
    assert _describe_correction([compared]) == text


@pytest.mark.parametrize(("count", "left"), [(9, 0), (10, 0), (11, 1)])
def test_ten_combined_judgments_are_printed(count, left):
    found = CombinedJudgments(
        {"doc_id": [f"d{at:02}" for at in range(count)], "range": np.zeros(count)},
        judges=("ann", "bob"),
        how="mean",
        majority_ties=0,
        left_out=0,
    )
    text = str(found)
    assert text.count("\nd") - text.count("\ndo") == min(count, 10)
    assert ("and 1 more documents" in text) == bool(left)


@pytest.mark.parametrize(("moved", "left"), [(9, []), (10, []), (11, ["and 1 more queries"])])
def test_ten_queries_of_a_difference_are_printed(moved, left):
    queries = Table({"query_id": [f"q{at}" for at in range(20)]})
    difference = SimpleNamespace(
        queries=queries, wins=4, losses=moved - 4, says=lambda name: name == "query_id"
    )
    assert len(_most_moved(difference)) == min(moved, 10)
    assert _left_out(difference) == left


@pytest.mark.parametrize(("count", "left"), [(9, False), (10, False), (11, True)])
def test_a_reconciliation_lists_ten_causes(count, *, left):
    class Cause(SimpleNamespace):
        def __str__(self):
            return str(self.name)

    causes = [
        Cause(name=f"cause {at:02}", command="", tried=at + 1, by_chance=0.1) for at in range(count)
    ]
    found = SimpleNamespace(got="0.5", matches=False, causes=causes, reckonings=[])
    lines = _answer(found)
    shown = [line.strip() for line in lines if line.strip().startswith("cause ")]
    assert shown == [str(cause) for cause in causes[:10]]
    assert ("  and 1 more" in lines) == left


def test_values_that_differ_by_a_billionth_reconcile():
    for value in (0.0, 4.0):
        scale = max(value, 1.0)
        assert _is_close(value, value + 0.995e-9 * scale)
        assert not _is_close(value, value + 1.005e-9 * scale)


def test_discounts_that_differ_by_a_trillionth_are_alike():
    for off, are_alike in ((0.995e-12, True), (1.005e-12, False)):
        one, other = (SimpleNamespace(weights=(each,)) for each in (1.0, 1.0 + off))
        assert _are_alike(one, other) == are_alike


@pytest.mark.parametrize(("length", "is_long"), [(31, False), (32, False), (33, True)])
def test_a_text_of_more_than_32_characters_may_break(length, *, is_long):
    assert ("long" in _name_class("x" * length, is_left=True)) == is_long


@pytest.mark.parametrize("length", [999, 1000, 1001])
def test_a_text_of_more_than_1_000_characters_is_cut(length):
    cut = f"<bdi>{'x' * 1000}… (1,001 characters)</bdi>"
    expected = "x" * length if length <= 1000 else cut
    assert _write_text("x" * length) == expected


@pytest.mark.parametrize("count", [59, 60, 61])
def test_a_table_of_more_than_60_rows_shows_50(count):
    written = Table({"query": [f"q{at}" for at in range(count)]}).write_html()
    assert written.count("<td") == (count if count <= 60 else 50)
    assert ("and 11 more rows" in written) == (count > 60)


@pytest.mark.parametrize(
    ("change", "is_told"), [(0.000_049_9, False), (0.000_05, True), (0.000_050_1, True)]
)
def test_a_trace_tells_a_change_that_shows_in_four_decimal_places(change, *, is_told):
    for sign in (-1, 1):
        trace = SimpleNamespace(
            measure="nDCG",
            decomposition=SimpleNamespace(means=(0.5, 0.5 + sign * change)),
            change=sign * change,
            causes=(),
            shifts=(),
        )
        assert ("did not change" in _head(trace)) != is_told


@pytest.mark.parametrize("count", [4, 5, 6])
def test_five_values_of_documents_are_shown(count):
    table = Table({"value": [f"v{at}" for at in range(count)], "adds": [-0.5] * count})
    regret = SimpleNamespace(slice=ALL, attribute="genre", total=-0.5, table=table)
    trace = SimpleNamespace(regrets=(regret,))
    assert str(_list_regrets(trace)[-1]).count("v") == 1 + min(count, 5)


@pytest.mark.parametrize(("count", "named"), [(2, True), (3, True), (4, False)])
def test_a_note_names_three_runs_and_counts_more(count, *, named):
    note = describe("n_missing", 1, {"missing": "zero"})
    notes = {f"run{at}": [note] for at in range(count)} | {"other": []}
    (found,) = gather(notes)
    names = ", ".join(f"run{at}" for at in range(count))
    assert found.file == (names if named else f"{count} of {count + 1} runs")


@pytest.mark.parametrize("count", [19, 20, 21])
def test_a_summary_lists_20_checks_with_one_verdict(count):
    result = SimpleNamespace(checks=[SimpleNamespace(verdict="broken") for _ in range(count)])
    rows, left_out = _choose(result)
    assert len(rows) == min(count, 20)
    assert left_out == (("Checks that are not listed: 1 broken.",) if count > 20 else ())


@pytest.mark.parametrize("length", [59, 60, 61])
def test_a_name_of_more_than_60_characters_is_cut_in_a_summary(length):
    assert _shorten("x" * length) == ("x" * length if length <= 60 else "x" * 59 + "…")


@pytest.mark.parametrize(("times", "is_told"), [(0.998, False), (1.002, True)])
@pytest.mark.parametrize("method", ["dense", "bounded"])
def test_a_budget_a_thousandth_of_the_deviation_says_how_many_queries_it_needs(
    times, method, *, is_told
):
    differences = np.tile([-0.1, 0.1], 25)
    values = np.array([np.full(50, 0.5), 0.5 + differences])
    measure = MeasureValues(name="RR", low=0.0, high=1.0, values=values)
    budget = rs.Budget("RR", max_drop=times * float(differences.std(ddof=1)) / 1000)
    settings = Settings(interval=rs.Interval(method=method))
    (check,) = check_budget(budget, measure, settings=settings)
    assert (check.queries_needed is not None) == is_told
    # (z of 97.5 % + z of 80 %)^2 times a million.
    expected = pytest.approx(7_849_000 / 1.002**2, rel=5e-3)
    assert check.queries_needed is None or check.queries_needed == expected


@pytest.mark.parametrize(("length", "has_ranges"), [(20, False), (8, True)])
def test_letters_stand_for_long_pairs_of_names(length, *, has_ranges):
    for count in (length - 1, length, length + 1):
        run = "x" * (count - 4)
        pair = _compare("b", run, has_ranges=has_ranges)
        grid = _make_pairs(pair, pair.comparisons, {"b": "A", run: "B"})
        expected = f"{run} - b" if count <= length else "B - A"
        assert expected in str(grid.rows)


def _compare(baseline, run, *, has_ranges):
    qrels = {f"q{at}": {"a": 1, "b": 0} for at in range(4)}
    runs = {
        baseline: {query: {"a": 1.0, "b": 2.0} for query in qrels},
        run: {query: {"a": 2.0, "x" if has_ranges else "b": 1.0} for query in qrels},
    }
    return rs.compare(qrels, runs, ["P@2"])


@pytest.mark.parametrize(("highest", "is_refused"), [(98, False), (99, False), (100, True)])
def test_a_scale_that_is_not_given_has_100_grades_at_most(highest, *, is_refused):
    present = [0.0, float(highest)]
    with refuses_if(is_refused, rs.UsageError, match="expected the scale of the grades"):
        assert len(_read_scale(None, present, allows_negative=False)) == highest + 1


@pytest.mark.parametrize("count", [9, 10, 11])
def test_a_reconciliation_tries_the_ten_lowest_grades_as_levels(count):
    grades = [float(grade) for grade in range(count + 1)]
    # The lowest one is what the measure has.
    assert list_levels(parse("P(rel=1)@10"), grades) == grades[2 : min(count, 10) + 1]


def test_a_number_to_reconcile_has_200_characters_at_most():
    for length in (199, 200):
        assert Target.of_number("0.".ljust(length, "5")).text == "0.".ljust(length, "5")
    with pytest.raises(rs.UsageError):
        Target.of_number("0.".ljust(201, "5"))
