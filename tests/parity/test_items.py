"""Measures of recommended items have the values of RecTools.

It subtracts no logarithms but takes that of a quotient, and its sums are those of pandas, so values
are equal up to rounding.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import rankscope
from rankscope.measures import parse

from dev.parity import items

GOLDEN = Path(__file__).parent / "golden" / "items" / "rectools.json"
CASES = items.generate()
ANSWERS = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_rectools(case: str) -> None:
    given, answers = CASES[case], ANSWERS[case]
    found = rankscope.evaluate(
        given.relevant,
        given.recommended,
        list(answers),
        history=given.history,
        items=given.items,
        policy="empty=nan",
    )
    for name, expected in answers.items():
        if parse(name).row.level == "run":
            assert found[name] == expected, name
            continue
        values = dict(zip(found.query_ids, found.per_query_list(name), strict=True))
        if name == "ILD(distance='hamming')@1":
            # RecTools says that a list of one item has the diversity 0; here it is undefined.
            assert set(expected.values()) == {0.0}
            assert all(value != value for value in values.values())  # noqa: PLR0124 - NaN
            continue
        assert values == pytest.approx(expected, rel=1e-14, abs=1e-15), name
