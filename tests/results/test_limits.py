"""What results print at their limits: just below, at and just above each of them."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs
from rankscope._compare.gate.checks import Settings, check_budget
from rankscope._compare.promise import MeasureValues
from rankscope._explain.bounds import _read_scale
from rankscope._reconcile.causes import list_levels
from rankscope._reconcile.compute import Target
from rankscope._reconcile.result import _is_close
from rankscope._show.diagnostics import describe, gather
from rankscope._show.table import Table
from rankscope.judges import CombinedJudgments
from rankscope.measures.parse import parse

from tests.refusals import refuses_if


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


def test_values_that_differ_by_a_billionth_reconcile():
    for value in (0.0, 4.0):
        scale = max(value, 1.0)
        assert _is_close(value, value + 0.995e-9 * scale)
        assert not _is_close(value, value + 1.005e-9 * scale)


@pytest.mark.parametrize("count", [59, 60, 61])
def test_a_table_of_more_than_60_rows_shows_50(count):
    written = Table({"query": [f"q{at}" for at in range(count)]}).write_html()
    assert written.count("<td") == (count if count <= 60 else 50)
    assert ("and 11 more rows" in written) == (count > 60)


@pytest.mark.parametrize(("count", "named"), [(2, True), (3, True), (4, False)])
def test_a_note_names_three_runs_and_counts_more(count, *, named):
    note = describe("n_missing", 1, {"missing": "zero"})
    notes = {f"run{at}": [note] for at in range(count)} | {"other": []}
    (found,) = gather(notes)
    names = ", ".join(f"run{at}" for at in range(count))
    assert found.file == (names if named else f"{count} of {count + 1} runs")


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
