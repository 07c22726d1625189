"""Spans that are read by themselves cover the time of all blocks once, in order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.store.log.blocks import RANKINGS, Block
from rankscope.monitor.store.log.spans import AT_ONCE, PARTS, divide

from tests.generated import examples


def block_of(first: int, last: int, rankings: int) -> Block:
    return Block(0, 1, 0, RANKINGS, 0, 0, first, last, rankings, 0, "[]", 0, b"")


@examples(40)
@given(
    st.lists(
        st.builds(
            lambda first, length, rankings: block_of(first, first + length, rankings),
            st.integers(-(2**50), 2**50) | st.integers(0, 5),
            st.integers(0, 2**40) | st.integers(0, 3),
            st.integers(1, 3 * AT_ONCE),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_spans_cover_all_blocks_once_in_order(blocks: Sequence[Block]) -> None:
    spans = list(divide(blocks))
    assert spans[0][0] == min(block.first for block in blocks)
    assert spans[-1][1] == max(block.last for block in blocks) + 1
    assert all(start < end for start, end in spans)
    assert all(one[1] == other[0] for one, other in pairwise(spans))


def test_nothing_is_divided_into_nothing() -> None:
    assert list(divide([])) == []


def test_as_many_rankings_as_are_sorted_at_once_are_one_span() -> None:
    half = AT_ONCE // 2
    assert list(divide([block_of(3, 5, half), block_of(4, 9, half)])) == [(3, 10)]
    assert len(list(divide([block_of(0, 5, half), block_of(4, 9, half + 1)]))) > 1


def test_spans_have_about_as_many_rankings_as_are_sorted_at_once() -> None:
    # Evenly spread over as many microseconds as there are parts, so that edges are whole numbers.
    assert list(divide([block_of(0, PARTS - 1, 4 * AT_ONCE)])) == [
        (at * PARTS // 4, (at + 1) * PARTS // 4) for at in range(4)
    ]


def test_many_rankings_of_one_moment_are_one_span() -> None:
    assert list(divide([block_of(7, 7, 5 * AT_ONCE)])) == [(7, 8)]
