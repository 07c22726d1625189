"""How far unjudged documents and ties could change a difference, against `bounds` and formulas."""

from __future__ import annotations

import math

import pytest
import rankscope as rs
from rankscope.comparison.ranges import range_despite_ties, range_despite_unjudged

QRELS = {"q1": {"a": 3, "b": 1}, "q2": {"c": 1}, "q3": {"e": 2}}
BASELINE = {"q1": {"x": 3.0, "b": 2.0}, "q2": {"c": 2.0, "d": 1.0}, "q3": {"e": 1.0}}
RUN = {"q1": {"a": 2.0, "b": 2.0}, "q2": {"d": 2.0, "c": 1.0}, "q3": {"e": 1.0, "f": 1.0}}
SCOPE = (
    "These ranges are not confidence intervals: they cover unjudged documents and ties, not the "
    "choice of queries."
)


def rank(run: dict[str, dict[str, float]], ties: str = "doc_id") -> rs.Rankings:
    return rs.Rankings.from_run(QRELS, run, ties=ties)  # type: ignore[arg-type]  # one of the words


def test_the_range_despite_unjudged_documents_has_the_ends_of_the_bounds() -> None:
    run, baseline = rank(RUN), rank(BASELINE)
    found = range_despite_unjudged(run, baseline, "nDCG@3")
    bounds = run.bounds("nDCG@3", against=baseline)
    assert found is not None
    assert (found.if_unjudged_lowest, found.if_unjudged_highest) == (
        bounds.mean.lower,
        bounds.mean.upper,
    )
    # The document d is unjudged in both runs, and counts once.
    assert (found.documents, found.scale, found.is_exact) == (3, (0, 1, 2, 3), True)


@pytest.mark.parametrize("ties", ["doc_id", "average"])
def test_the_range_despite_ties_breaks_those_of_each_run_independently(ties: str) -> None:
    run, baseline = rank(RUN, ties), rank(BASELINE, ties)
    found = range_despite_ties(run, baseline, "RR(rel=2)")
    assert found is not None
    # Over q1 and q3, the reciprocal rank of the run is 1/2 or 1. It is 0 for q2 in both runs.
    assert found.if_ties_lowest == pytest.approx((1 / 2 - 0 + 1 / 2 - 1) / 3, abs=1e-15)
    assert found.if_ties_highest == pytest.approx((1 - 0 + 1 - 1) / 3, abs=1e-15)
    assert found.documents == 4
    assert found.winner_certain_despite_ties is False


def test_both_ranges_only_cover_queries_with_a_value_in_both_runs() -> None:
    policy = "missing=skip"
    run, baseline = rank({"q1": RUN["q1"], "q2": RUN["q2"]}), rank(BASELINE)
    assert range_despite_unjudged(run, baseline, "nDCG@3", policy) == range_despite_unjudged(
        run, rank({"q1": BASELINE["q1"], "q2": BASELINE["q2"]}), "nDCG@3", policy
    )
    found = range_despite_ties(run, baseline, "RR(rel=2)", policy)
    assert found is not None
    assert (found.if_ties_lowest, found.if_ties_highest) == (1 / 4, 1 / 2)
    assert found.winner_certain_despite_ties is True


@pytest.mark.parametrize(
    ("measure", "policy"), [("Bpref", None), ("nDCG", "aggregate=median"), ("GMAP", None)]
)
def test_a_measure_or_policy_without_bounds_has_no_range(measure: str, policy: str | None) -> None:
    assert range_despite_unjudged(rank(RUN), rank(BASELINE), measure, policy) is None


def test_values_that_are_not_averaged_have_no_range_despite_ties() -> None:
    assert range_despite_ties(rank(RUN), rank(BASELINE), "GMAP") is None


def test_runs_without_common_queries_have_ranges_of_nan() -> None:
    run, baseline = rank({"q1": RUN["q1"]}), rank({"q2": BASELINE["q2"]})
    found = range_despite_ties(run, baseline, "RR", "missing=skip")
    assert found is not None
    assert math.isnan(found.if_ties_lowest)
    assert math.isnan(found.if_ties_highest)


def test_what_is_printed_of_a_difference_names_both_ranges() -> None:
    difference = rs.diff(QRELS, BASELINE, RUN, "nDCG@3")
    assert difference.unjudged is not None
    assert difference.tied is not None
    unjudged, tied = difference.unjudged, difference.tied
    judged = f"{unjudged.if_unjudged_lowest:.4f} to +{unjudged.if_unjudged_highest:.4f}"
    ordered = f"{tied.if_ties_lowest:.4f} to {tied.if_ties_highest:+.4f}"
    first, second, third = difference.small_print[:3]
    assert first == f"unjudged documents: 3; if judged: {judged}; winner certain: no"
    assert second == f"tied documents: 4; in other orders: {ordered}; winner certain: no"
    assert third == SCOPE
    assert first in str(difference).splitlines()
