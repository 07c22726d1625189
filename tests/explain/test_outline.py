"""An explanation says what its numbers do not."""

from __future__ import annotations

import pytest
import rankscope as rs

NEGATIVE = "A negative grade has no gain (negative=nonrelevant)."


@pytest.mark.parametrize(
    ("grades", "policy", "is_said"),
    [
        ([-1, 2], "", True),
        ([-1, 2], "negative=gain", False),
        ([-1, 2], "negative=minmax", False),
        ([1, 2], "", False),
        ([2, -1], "", True),
    ],
)
def test_a_negative_grade_without_gain_is_explained(
    grades: list[int], policy: str, *, is_said: bool
) -> None:
    shown = rs.Rankings.from_lists([grades])
    explained = shown.explain(shown.query_ids[0], "nDCG@2", policy=policy)
    assert (NEGATIVE in str(explained)) is is_said
