"""Under the convention of a library our numbers are those that the library itself gave."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import rankscope
from rankscope.conventions import find

from parity import cases as generator
from tests.parity.bugs import KNOWN_BUGS
from tests.parity.golden import read_cases, read_golden

if TYPE_CHECKING:
    from tests.parity.bugs import KnownBug
    from tests.parity.golden import Answer, Case, Golden

CASES = read_cases()
GOLDEN = read_golden()
# Peers add up in other orders than we do, and some in single precision.
TOLERANCE = {"float64": 1e-12, "float32": 1e-6}


def test_the_cases_are_those_of_the_generator() -> None:
    assert generator.render(generator.generate()) == generator.PATH.read_text(encoding="utf-8")


@pytest.mark.parametrize("said", GOLDEN)
def test_the_version_that_was_run_is_that_of_the_row(said: str) -> None:
    assert find(GOLDEN[said].convention).version == GOLDEN[said].version


@pytest.mark.parametrize(
    ("said", "name"), [(said, name) for said, golden in GOLDEN.items() for name in golden.cases]
)
def test_values_are_those_of_the_library(said: str, name: str) -> None:
    golden, case = GOLDEN[said], CASES[name]
    for measure, answer in golden.cases[name].items():
        ours = evaluate(golden, name, measure)
        chance = {query for query, row in case.run.items() if golden.is_arbitrary(measure, row)}
        bugs = {query for query in case.qrels if is_touched(said, measure, case, query)}
        for query, theirs in by_query(case, answer).items():
            where = f"{measure} of {query}: ours {ours[query]!r}, theirs {theirs!r}"
            if theirs is None:
                assert math.isnan(ours[query]) or golden.refuses(name, measure, query), where
            elif query not in chance | bugs:
                assert is_close(golden, ours[query], theirs), where
        if answer.mean is not None and not chance | bugs:
            mean = average(golden, case, ours)
            assert is_close(golden, mean, answer.mean), f"{measure}: ours {mean!r}, {answer}"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (said, name)
        for said, golden in GOLDEN.items()
        for name in golden.cases
        if golden.arbitrary_above and name in {"tied", "binary_tied", "matrix", "tiny"}
    ],
)
def test_an_order_of_ties_that_is_left_to_chance_is_between_the_worst_and_the_best(
    said: str, name: str
) -> None:
    golden, case = GOLDEN[said], CASES[name]
    for measure, answer in golden.cases[name].items():
        # Over those that were found, AP falls where one more is found further down.
        if (said, measure.partition("@")[0]) == ("torchmetrics", "AP"):
            continue
        worst, best = (evaluate(golden, name, measure, ties=ties) for ties in ("worst", "best"))
        for query, theirs in by_query(case, answer).items():
            if golden.is_arbitrary(measure, case.run.get(query, {})) and theirs is not None:
                where = f"{measure} of {query}: {theirs!r}"
                assert worst[query] <= theirs or is_close(golden, worst[query], theirs), where
                assert theirs <= best[query] or is_close(golden, best[query], theirs), where


@pytest.mark.parametrize(("said", "bug"), [(said, bug) for bug in KNOWN_BUGS for said in bug.said])
def test_a_bug_that_is_not_repeated_shows_in_the_numbers_of_the_library(
    said: str, bug: KnownBug
) -> None:
    golden = GOLDEN[said]
    assert bug.name in {known.name for known in find(golden.convention).bugs}
    shown = [
        (name, measure, query)
        for name, answers in golden.cases.items()
        for measure, answer in answers.items()
        for query, theirs in by_query(CASES[name], answer).items()
        if theirs is not None
        and bug.changes(measure, CASES[name], query)
        and not is_close(golden, evaluate(golden, name, measure)[query], theirs)
    ]
    assert shown


def evaluate(golden: Golden, name: str, measure: str, *, ties: str = "") -> dict[str, float]:
    """Our values of a case under the convention, or with equal scores in another order."""
    case = CASES[name]
    ours = rankscope.evaluate(
        case.qrels,
        case.run,
        measure,
        convention=golden.convention,
        policy=golden.options.get(name),
    )
    if ties:
        policy = rankscope.Policy(**{**ours.policy.to_dict(), "ties": ties})
        ours = rankscope.evaluate(case.qrels, case.run, ours.measures, policy=policy)
        (measure,) = (mine.name for mine in ours.measures)
    return dict(zip(case.qrels, ours.per_query_list(measure), strict=True))


def average(golden: Golden, case: Case, values: dict[str, float]) -> float:
    """The mean of our values, over the queries of which the library takes it."""
    if golden.mean_over == "run":
        return math.fsum(values[query] for query in case.qrels if query in case.run) / len(case.run)
    known = [value for value in values.values() if not math.isnan(value)]
    return math.fsum(known) / len(known)


def by_query(case: Case, answer: Answer) -> dict[str, float | None]:
    """What the library said of each query; nothing where it gives means only."""
    if answer.per_query is None:
        return {}
    return dict(zip(case.qrels, answer.per_query, strict=True))


def is_touched(said: str, measure: str, case: Case, query: str) -> bool:
    """Whether a bug that is not repeated can change the value of a query."""
    bugs = (bug for bug in KNOWN_BUGS if said in bug.said)
    return any(bug.changes(measure, case, query) for bug in bugs)


def is_close(golden: Golden, ours: float, theirs: float) -> bool:
    """Whether two values are equal but for the order in which terms were added."""
    tolerance = TOLERANCE[golden.precision]
    return math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance)
