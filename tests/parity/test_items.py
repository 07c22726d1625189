"""Measures of recommended items have the values of other libraries, or differ as a row says.

Others subtract no logarithms but take that of a quotient, and have sums of their own, so values are
equal up to rounding.
"""

from __future__ import annotations

import json
import math
from itertools import chain
from pathlib import Path

import pytest
import rankscope
from rankscope.measures import parse

from dev.parity import items
from tests.parity.counterparts import COUNTERPARTS, EVERY, Counterpart

FOLDER = Path(__file__).parent / "golden" / "items"
CASES = items.generate()
ANSWERS = {
    answers["library"]: answers["cases"]
    for answers in (json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json"))
}


def compute(case: items.Case, each: Counterpart, k: int) -> dict[str, float] | float:
    """Return our values of users, or the value of all lists."""
    offered = [*case.items]
    if each.catalogue == "history":
        offered = sorted({*chain(*case.history.values())})
    measure = parse(f"{each.ours}@{k}")
    found = rankscope.evaluate(
        case.relevant,
        case.recommended,
        measure,
        history=case.pairs(case.history),
        items=case.items,
        catalogue=offered,
        policy="empty=nan",
    )
    if measure.row.level == "run":
        return found[measure]
    return dict(zip(found.query_texts, found.per_query_list(measure), strict=True))


def are_equal(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-14)


def name_of(each: Counterpart) -> str:
    return f"{each.tool} {each.theirs}"


@pytest.mark.parametrize("each", COUNTERPARTS, ids=name_of)
@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_a_library_or_differ_as_a_row_says(
    each: Counterpart, case: str
) -> None:
    given = CASES[case]
    answers = {k: ANSWERS[each.tool][case].get(f"{each.theirs}@{k}") for k in items.cutoffs(given)}
    assert any(theirs is not None for theirs in answers.values())
    for k, theirs in answers.items():
        if theirs is None:  # a list of RecBole is as long as the cutoff
            continue
        ours = compute(given, each, k)
        if not isinstance(theirs, dict) and isinstance(ours, dict):
            known = [value for value in ours.values() if not math.isnan(value)]
            ours = sum(known) / len(known) if known else math.nan
        if isinstance(theirs, dict) and isinstance(ours, dict):
            assert ours.keys() == theirs.keys()
            is_same = all(are_equal(ours[user], value) for user, value in theirs.items())
        else:
            assert isinstance(ours, float)
            is_same = are_equal(ours, theirs)
        depth = max(map(len, given.recommended.values()))
        differs = case in each.in_cases and (not each.only_at or k in each.only_at)
        differs = differs and (not each.only_beyond or k > depth)
        assert is_same != differs, (k, ours, theirs)


def test_every_value_of_a_library_has_a_counterpart() -> None:
    asked = {
        (library, name.rpartition("@")[0])
        for library, cases in ANSWERS.items()
        for values in cases.values()
        for name in values
    }
    assert asked == {(each.tool, each.theirs) for each in COUNTERPARTS}
    assert {*CASES} == EVERY
    for each in COUNTERPARTS:
        assert bool(each.differs) == bool(each.in_cases)
