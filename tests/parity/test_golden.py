"""Under the convention of a library our numbers are those that the library itself gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rankscope.conventions import find
from rankscope.errors import FormatError

from dev.parity import cases as generator
from tests.parity.bugs import KNOWN_BUGS
from tests.parity.comparison import (
    by_query,
    compare,
    compare_chance,
    evaluate,
    is_close,
    is_touched,
)
from tests.parity.golden import read_cases, read_golden

if TYPE_CHECKING:
    from tests.parity.bugs import KnownBug
    from tests.parity.golden import Golden

CASES = read_cases()
GOLDEN = read_golden()


def test_the_cases_are_those_of_the_generator() -> None:
    assert generator.render(generator.generate()) == generator.PATH.read_text(encoding="utf-8")


@pytest.mark.parametrize("said", GOLDEN)
def test_the_version_that_was_run_is_that_of_the_row(said: str) -> None:
    assert find(GOLDEN[said].convention).version == GOLDEN[said].version


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (said, name)
        for said, golden in GOLDEN.items()
        for name in sorted(golden.cases.keys() - generator.UNUSUAL_GRADES)
    ],
)
def test_values_are_those_of_the_library(said: str, name: str) -> None:
    compare(GOLDEN[said], name, CASES[name])


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
    compare_chance(GOLDEN[said], name, CASES[name])


@pytest.mark.parametrize("name", generator.UNUSUAL_GRADES)
@pytest.mark.parametrize("said", GOLDEN)
def test_a_grade_is_refused_where_the_library_refuses_it(said: str, name: str) -> None:
    golden, case = GOLDEN[said], CASES[name]
    ordinary = {
        (refusal.error, refusal.message)
        for refusal in golden.refusals
        if refusal.case not in generator.UNUSUAL_GRADES
    }
    refused = {
        measure
        for refusal in golden.refusals
        if refusal.case == name and (refusal.error, refusal.message) not in ordinary
        for measure in refusal.measures
    }
    answered = golden.cases.get(name, {}).keys()
    assert refused or answered
    for measure in refused - answered:
        with pytest.raises(FormatError) as caught:
            evaluate(golden, name, case, measure)
        assert caught.value.code == "convention_grades"
        assert "rejects" in str(caught.value)


@pytest.mark.parametrize("name", generator.UNUSUAL_GRADES)
@pytest.mark.parametrize("said", GOLDEN)
def test_a_grade_that_the_library_takes_has_its_value(said: str, name: str) -> None:
    golden, case = GOLDEN[said], CASES[name]
    for measure, answer in golden.cases.get(name, {}).items():
        if said_to_be_other(golden, name, measure):
            continue
        ours = evaluate(golden, name, case, measure)
        for query, theirs in by_query(case, answer).items():
            if theirs is not None and not is_touched(said, measure, case, query):
                assert is_close(golden, ours[query], theirs), (measure, ours, theirs)


def said_to_be_other(golden: Golden, name: str, measure: str) -> bool:
    """Whether the row says that the library makes of the grade what we do not."""
    try:
        evaluate(golden, name, CASES[name], measure)
    except FormatError as error:
        # A row has one limit, although a library may refuse a grade for some measures only.
        refuses = any(refusal.case == name for refusal in golden.refusals)
        return error.code == "convention_grades" and (refuses or "rejects" not in str(error))
    return False


@pytest.mark.parametrize(("said", "bug"), [(said, bug) for bug in KNOWN_BUGS for said in bug.said])
def test_a_bug_that_is_not_repeated_shows_in_the_numbers_of_the_library(
    said: str, bug: KnownBug
) -> None:
    golden = GOLDEN[said]
    assert bug.name in {known.name for known in find(golden.convention).bugs}
    shown = [
        (name, measure, query)
        for name in sorted(golden.cases.keys() - generator.UNUSUAL_GRADES)
        for measure, answer in golden.cases[name].items()
        for query, theirs in by_query(CASES[name], answer).items()
        if theirs is not None
        and bug.changes(measure, CASES[name], query)
        and not is_close(golden, evaluate(golden, name, CASES[name], measure)[query], theirs)
    ]
    assert shown
