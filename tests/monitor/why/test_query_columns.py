"""What a window may not be."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs
from rankscope.errors import FormatError
from rankscope.monitor.why.query_columns import TextColumn

from tests.monitor.why.windows import decompose, make_window
from tests.refusals import refuses


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"values": [0.5, 0.5], "ideal": [1.0]}, "length_mismatch"),
        ({"values": [0.5, 0.5], "key": ["a"]}, "length_mismatch"),
        ({"values": [0.5, 0.5], "cluster": ["a"]}, "length_mismatch"),
        ({"values": [0.5, 0.5], "device": ["a"]}, "length_mismatch"),
        ({"values": [float("nan")]}, "bad_losses"),
        ({"values": [0.5], "ideal": [float("inf")]}, "bad_losses"),
        ({"values": [0.5], "losses": {"ordering": [0.4]}}, "bad_losses"),
        ({"values": [0.5], "losses": {"retrieval": [1e-8]}}, "bad_losses"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: dict[str, object], code: str) -> None:
    with pytest.raises(FormatError) as caught:
        make_window(**columns)
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.parametrize("codes", [[0, 1], [-2]])
def test_codes_without_a_text_are_refused(codes: list[int]) -> None:
    with refuses(FormatError, "column_damaged"):
        TextColumn(("tv",), np.array(codes))


def test_a_text_may_be_written_twice() -> None:
    twice = TextColumn(("tv", "tv"), np.array([0, 1], dtype=np.int8))
    window = make_window([1.0, 0.5], device=["tv", "tv"])
    other = rs.records.replace(window, attributes={"device": twice})
    found = decompose(window, other, "device")
    assert [each.queries for each in found.slices] == [(2, 2)]
