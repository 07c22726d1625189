"""The documents of rankings go into bytes and come back."""

from __future__ import annotations

import math
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import FileError
from rankscope.monitor.events.event import Items
from rankscope.monitor.store.tables.documents import pack, unpack, unpack_columns
from rankscope.testing.store.samples import make_ranking, texts_of

from tests.monitor.store.logs import items


@given(items())
def test_what_is_packed_comes_back(packed: Items) -> None:
    assert unpack(pack(packed)) == packed


@given(st.lists(items()))
def test_many_pieces_are_columns(packed: list[Items]) -> None:
    columns = unpack_columns([pack(one) for one in packed])
    doc_ids = texts_of(columns.doc_ids)
    assert columns.offsets.tolist()[-1] == sum(map(len, packed))
    for one, (start, end) in zip(packed, pairwise(columns.offsets.tolist()), strict=True):
        assert tuple(doc_ids[start:end]) == one.doc_ids
        assert tuple(columns.ranks[start:end].tolist()) == one.ranks
        for column, given_numbers in (
            (columns.scores, one.scores),
            (columns.relevance, one.relevance),
        ):
            numbers = [None if math.isnan(number) else number for number in column[start:end]]
            assert tuple(numbers) == (given_numbers or (None,) * len(one))


@pytest.mark.parametrize(
    ("packed", "size"),
    [
        (Items((), ()), 12),
        (Items(("a", "b"), (1, 2)), 12 + 2),
        (Items(("a", "bc"), (1, 2)), 12 + 2 * 2 + 3),
        (Items(("a", "b"), (1, 3)), 12 + 2 * 4 + 2),
        (Items(("a", "b"), (1, 2), (0.5, None)), 12 + 2 * 4 + 2),
        (Items(("a", "b"), (1, 2), (0.1, None)), 12 + 2 * 8 + 2),
        (Items(("a", "b"), (1, 2), (0.1, 1e300), (3.0, 0.0)), 12 + 2 * (8 + 4) + 2),
    ],
)
def test_nothing_is_packed_that_goes_without_saying(packed: Items, size: int) -> None:
    assert len(pack(packed)) == size
    assert unpack(pack(packed)) == packed


@pytest.mark.parametrize("at", range(0, 60, 7))
def test_a_flipped_byte_is_noticed(at: int) -> None:
    piece = bytearray(pack(make_ranking(1).items))
    piece[at % len(piece)] ^= 1
    with pytest.raises(FileError) as damaged:
        unpack_columns([pack(Items((), ())), bytes(piece)])
    assert damaged.value.code in {"store_damaged", "store_version"}
    assert damaged.value.line == 2


def test_a_piece_that_is_cut_is_noticed() -> None:
    piece = pack(make_ranking(1).items)
    for end in range(len(piece)):
        with pytest.raises(FileError, match="damaged"):
            unpack(piece[:end])


def test_a_later_version_is_refused() -> None:
    from zlib import crc32  # noqa: PLC0415 - what the format is made of

    shape = struct.pack("<BBHI", 2, 0, 0, 0)
    with pytest.raises(FileError, match="has version 2; this release reads version 1"):
        unpack(shape + struct.pack("<I", crc32(shape)))
