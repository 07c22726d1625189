"""What a window may not be."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs
from rankscope.errors import FormatError
from rankscope.trace.decomposition import decompose
from rankscope.trace.query_columns import TextColumn, read_losses

from tests.trace.windows import make_window


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
    with pytest.raises(FormatError) as caught:
        TextColumn(("tv",), np.array(codes))
    assert caught.value.code == "column_damaged"


def test_a_text_may_be_written_twice() -> None:
    twice = TextColumn(("tv", "tv"), np.array([0, 1], dtype=np.int8))
    window = make_window([1.0, 0.5], device=["tv", "tv"])
    other = rs.records.replace(window, attributes={"device": twice})
    found = decompose(window, other, "device")
    assert [each.queries for each in found.slices] == [(2, 2)]


def test_queries_that_the_policy_leaves_out_are_left_out() -> None:
    rankings = rs.Rankings.from_lists([[1, 0], [0, 0], [0, 1]])
    found = rankings.evaluate(["IDCG@2", "NumRel"], policy="empty=zero")
    columns = read_losses(
        rankings.losses("nDCG@2", policy="empty=skip"),
        ideal=found.per_query("IDCG@2"),
        relevant=found.per_query("NumRel"),
        cluster=TextColumn.of(["u", "v", None]),
        attributes={"device": TextColumn.of(["tv", "pc", "pc"])},
    )
    assert columns.value.tolist() == [1.0, rs.ndcg([0, 1])]
    assert columns.ideal.tolist() == [1.0, 1.0]
    assert columns.measure == "nDCG@2"
    assert columns.clusters.codes.tolist() == [0, -1]
    assert columns.attributes["device"].codes.tolist() == [0, 1]
    assert len(columns) == 2


def test_what_was_shown_alone_does_not_observe_retrieval() -> None:
    rankings = rs.Rankings.from_lists([[1, 0, 2]])
    found = rankings.evaluate(["IDCG@2", "NumRel"])
    columns = read_losses(
        rankings.losses("nDCG@2"),
        ideal=found.per_query("IDCG@2"),
        relevant=found.per_query("NumRel"),
    )
    assert (columns.retrieval is None) == (not rankings.losses("nDCG@2").observes_retrieval)
    assert columns.key.texts == tuple(map(str, rankings.query_ids))
