"""A query that the run doesn't have is left out of bounds where the policy leaves it out."""

from __future__ import annotations

import math

import pytest
import rankscope as rs

QRELS = {"there": {"a": 1, "b": 1}, "gone": {"a": 1}}
RUN = {"there": {"x": 3.0, "a": 2.0}}


@pytest.mark.parametrize("measure", ["P@2", "AP", "nDCG@2"])
def test_a_missing_query_has_bounds_only_where_it_counts(measure: str) -> None:
    rankings = rs.Rankings.from_run(QRELS, RUN)
    counted = rankings.bounds(measure, scale=[0, 1]).to_dict()
    skipped = rankings.bounds(measure, scale=[0, 1], policy="missing=skip").to_dict()
    assert (counted["gone"]["lower"], counted["gone"]["upper"]) == (0.0, 0.0)
    assert math.isnan(skipped["gone"]["lower"])
    assert math.isnan(skipped["gone"]["upper"])
    assert skipped["there"] == counted["there"]


def test_bounds_of_a_difference_leave_out_what_either_run_lacks() -> None:
    both = {**RUN, "gone": {"a": 1.0}}
    old, new = (rs.Rankings.from_run(QRELS, run) for run in (RUN, both))
    for one, other in ((old, new), (new, old)):
        found = one.bounds("P@2", scale=[0, 1], against=other, policy="missing=skip").to_dict()
        assert math.isnan(found["gone"]["lower"])
        assert math.isnan(found["gone"]["upper"])
        assert not math.isnan(found["there"]["lower"])
