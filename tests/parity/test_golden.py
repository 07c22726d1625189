"""Under the convention of a library our numbers are those that the library itself gave."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import rankscope
from rankscope.conventions import find

from parity import cases as generator
from tests.parity.golden import read_cases, read_golden

if TYPE_CHECKING:
    from tests.parity.golden import Answer, Case, Golden

CASES = read_cases()
GOLDEN = read_golden()
# Peers add up in other orders than we do, and some in single precision.
TOLERANCE = {"float64": 1e-12, "float32": 1e-6}


def test_the_cases_are_those_of_the_generator() -> None:
    assert generator.render(generator.generate()) == generator.PATH.read_text(encoding="utf-8")


@pytest.mark.parametrize("convention", GOLDEN)
def test_the_version_that_was_run_is_that_of_the_row(convention: str) -> None:
    assert find(convention).version == GOLDEN[convention].version


@pytest.mark.parametrize(
    ("convention", "case"),
    [(convention, case) for convention, golden in GOLDEN.items() for case in golden.cases],
)
def test_values_are_those_of_the_library(convention: str, case: str) -> None:
    golden = GOLDEN[convention]
    for measure, answer in golden.cases[case].items():
        compare(golden, case, measure, answer)


def compare(golden: Golden, name: str, measure: str, answer: Answer) -> None:
    """Fail at the first query in which values differ."""
    case, tolerance = CASES[name], TOLERANCE[golden.precision]
    ours = rankscope.evaluate(
        case.qrels,
        case.run,
        measure,
        convention=golden.convention,
        policy=golden.options.get(name),
    )
    values = dict(zip(case.qrels, ours.per_query_list(measure), strict=True))
    chance = {query for query, row in case.run.items() if golden.is_arbitrary(row)}
    limits = bounds(case, ours) if chance else {}
    per_query = answer.per_query or [None] * len(case.qrels)
    for query, theirs in zip(case.qrels, per_query, strict=True):
        where = f"{measure} of {query}: ours {values[query]!r}, theirs {theirs!r}"
        if theirs is None:
            is_out = golden.refuses(name, measure, query) or math.isnan(values[query])
            assert is_out or answer.per_query is None, where
        elif query in chance:
            worst, best = limits[query]
            assert worst - tolerance <= theirs <= best + tolerance, where
        else:
            assert values[query] == pytest.approx(theirs, rel=tolerance, abs=tolerance), where
    if answer.mean is not None and not chance:
        assert ours[measure] == pytest.approx(answer.mean, rel=tolerance, abs=tolerance)


def bounds(case: Case, ours: rankscope.Evaluation) -> dict[str, tuple[float, float]]:
    """The values of each query in the worst and the best order of equal scores."""
    found = []
    for ties in ("worst", "best"):
        policy = rankscope.Policy(**{**ours.policy.to_dict(), "ties": ties})
        evaluation = rankscope.evaluate(case.qrels, case.run, ours.measures, policy=policy)
        found.append(evaluation.per_query_list(ours.measures[0]))
    return dict(zip(case.qrels, zip(*found, strict=True), strict=True))
