"""What judges decide at the limits: just below, at and just above each of them."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
import rankscope as rs
from rankscope.errors import InputError, LimitError
from rankscope.judges.agreement import measure_agreement
from rankscope.judges.judged_evaluation import group_judges
from rankscope.judges.model_judge import find_range
from rankscope.measures.parse import parse

from tests.refusals import refuses_if


@pytest.mark.parametrize(("queries", "is_refused"), [(19, True), (20, False), (21, False)])
def test_an_estimate_without_limits_needs_20_human_queries(
    queries: int, *, is_refused: bool
) -> None:
    human = {f"q{at}": {"d1": at % 2, "d2": 1} for at in range(queries)}
    model = {f"q{at}": {"d1": at % 3 // 2, "d2": 1} for at in range(30)}
    run = {f"q{at}": {"d1": 2.0, "d2": 1.0} for at in range(30)}
    with refuses_if(is_refused, InputError, match=r"expected 20 or more queries .* found 19"):
        found = rs.evaluate_with_model_judge(human, model, run, "DCG@1")["DCG@1"]
        assert (found.human_queries, found.queries, found.method) == (queries, 30, "dense")


@pytest.mark.parametrize(("top", "is_limit"), [(3, True), (4, False)])
def test_a_model_on_another_scale_does_not_limit_gains(top: int, *, is_limit: bool) -> None:
    model = {f"q{at}": {"d1": top * (at % 2)} for at in range(30)}
    run = {f"q{at}": {"d1": 2.0} for at in range(30)}
    # One gain says next to nothing, so that only the limit counts.
    upper = rs.estimate_dcg({"q0": {"d1": 2}}, model, run, "DCG@1").means[0].upper
    assert upper == 2 if not is_limit else 2.9 < upper < 3


@pytest.mark.parametrize("judges", [49, 50, 51])
def test_more_than_50_judges_are_left_out_in_groups(judges: int) -> None:
    groups = group_judges(judges)
    assert len(groups) == min(judges, 50)
    assert sorted(chain.from_iterable(groups)) == [*range(judges)]


@pytest.mark.parametrize(("count", "is_refused"), [(999, False), (1000, False), (1001, True)])
def test_judges_give_at_most_1_000_different_grades(count: int, *, is_refused: bool) -> None:
    grades = np.arange(float(count))[:, None]
    with refuses_if(is_refused, LimitError, match="at most 1,000 different grades, found 1,001"):
        assert len(measure_agreement(["ann"], grades).grades) == count


def test_a_difference_of_values_from_0_to_1_is_from_minus_1_to_1() -> None:
    measure, none = parse("nDCG@10"), np.zeros(0)
    assert find_range(measure, none, is_difference=False) == (0.0, 1.0)
    assert find_range(measure, none, is_difference=True) == (-1.0, 1.0)
