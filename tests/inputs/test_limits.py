"""What inputs may be at the limits: just below, at and just above each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope._inputs.column_names import ROLES, list_names, no_role
from rankscope._inputs.doubles import read_python, to_doubles
from rankscope._inputs.item_attributes import _note_scales, are_names
from rankscope.engine.memory import read_size

from tests.refusals import refuses_if


@pytest.mark.parametrize("count", [49, 50, 51])
def test_an_error_about_a_table_lists_50_columns(count: int) -> None:
    text = list_names([f"c{at:02}" for at in range(count)])
    assert text.count("c") == min(count, 50)
    assert text.endswith(", and 1 more") == (count > 50)


@pytest.mark.parametrize(("size", "is_noted"), [(9.99, False), (10.0, True), (10.01, True)])
def test_numbers_that_are_ten_times_as_large_as_most_are_noted(
    size: float, *, is_noted: bool
) -> None:
    notes: list[Any] = []
    _note_scales({str(number): np.array([number]) for number in (1.0, -1.0, size)}, notes)
    assert bool(notes) == is_noted


@pytest.mark.parametrize(("texts", "least"), [(19, 20), (20, 18), (100, 90), (1000, 900)])
def test_20_texts_of_which_nine_of_ten_differ_are_names(texts: int, least: int) -> None:
    for different in range(least - 1, texts + 1):
        assert are_names(texts, different) == (different >= least)


def test_integers_are_exact_up_to_2_to_the_53() -> None:
    for number in (2**53 - 1, 2**53, -(2**53), 2**53 + 2):
        assert to_doubles(np.array([number]), "scores").tolist() == [float(number)]
        assert read_python([number], "scores").tolist() == [float(number)]
    for number in (2**53 + 1, -(2**53) - 1):
        with pytest.raises(rs.InputError, match=str(number)):
            to_doubles(np.array([number]), "scores")
        with pytest.raises(rs.InputError, match=str(number)):
            read_python([number], "scores")


@pytest.mark.parametrize(("judges", "is_refused"), [(999, False), (1000, False), (1001, True)])
def test_at_most_1_000_judges_are_combined(judges: int, *, is_refused: bool) -> None:
    table = pd.DataFrame(
        {"query": "q", "doc": "d", "grade": 1, "rater": [f"r{at}" for at in range(judges)]}
    )
    with refuses_if(is_refused, rs.UsageError, match="at most 1,000 judges, found 1,001 in rater"):
        assert rs.combine_judges(table, judge="rater").judges == tuple(sorted(table.rater))


@pytest.mark.parametrize(
    ("given", "is_refused"), [(2**20 - 1, True), (2**20, False), (2**20 + 1, False)]
)
def test_an_evaluation_has_a_mebibyte_of_memory_at_least(given: int, *, is_refused: bool) -> None:
    with refuses_if(is_refused, rs.UsageError, match="at least 1MiB"):
        assert read_size(given) == given


@pytest.mark.parametrize(
    ("role", "count", "more"), [("rank", 4, ""), ("subtopic", 5, ""), ("query", 5, ", …")]
)
def test_an_error_about_a_missing_column_lists_five_usual_names(
    role: str, count: int, more: str
) -> None:
    usual = ", ".join([*ROLES[role]][:count])
    assert f"({usual}{more})" in str(no_role(["x"], role))
