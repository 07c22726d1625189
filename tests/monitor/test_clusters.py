"""The clusters of rankings are numbered by columns as they are one by one."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.ask.growing import GrowingColumn
from rankscope.monitor.evaluate.clusters import ClusterCodes, number_clusters
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.store.records import Chunk

from tests.generated import examples
from tests.monitor.chunks import make_chunk

NAMES = st.lists(st.tuples(st.sampled_from(["", "a", "é"]), st.sampled_from(["", "a", "b"])))


def make(names: list[tuple[str, str]]) -> tuple[Chunk, list[bytes]]:
    """Rankings of users and queries, and the cluster of each, said plainly."""
    shown = [
        Ranking(f"r{at}", f"r{at}", at, Items(("d",), (1,)), query, user)
        for at, (user, query) in enumerate(names)
    ]
    wanted = [
        (f"u{user}" if user else f"q{query}" if query else f"rr{at}").encode()
        for at, (user, query) in enumerate(names)
    ]
    return make_chunk(shown)[0], wanted


@given(NAMES)
@examples(60)
def test_numbers_are_made_of_names(names: list[tuple[str, str]]) -> None:
    chunk, wanted = make(names)
    digests = [blake2b(name, digest_size=8).digest() for name in wanted]
    found = number_clusters(chunk, np.arange(len(names)))
    assert found.tolist() == [int.from_bytes(each, "big", signed=True) for each in digests]


@given(NAMES)
@examples(60)
def test_codes_are_in_the_order_of_names(names: list[tuple[str, str]]) -> None:
    chunk, wanted = make(names)
    codes = ClusterCodes()
    half = len(names) // 2
    found = [
        codes.number(chunk, np.arange(begin, end)) for begin, end in ((half, len(names)), (0, half))
    ]
    ordered = sorted(set(wanted))
    expected = [ordered.index(name) for name in wanted[half:] + wanted[:half]]
    assert codes.sort()[np.concatenate(found)].tolist() == expected


@given(st.lists(st.lists(st.integers(0, 70_000), max_size=5)), st.data())
@examples(60)
def test_a_column_holds_its_pieces(pieces: list[list[int]], data: st.DataObject) -> None:
    column = GrowingColumn()
    wanted: list[int] = []
    for piece in pieces:
        column.extend(np.array(piece, dtype=np.min_scalar_type(max(piece, default=0))))
        wanted += piece
        if data.draw(st.booleans()):
            kept = np.arange(len(wanted)) % 3 > 0
            column.keep(kept)
            wanted = [each for each, is_kept in zip(wanted, kept.tolist(), strict=True) if is_kept]
        assert len(column) == len(wanted)
        assert column.values.tolist() == wanted
    assert column.finish().tolist() == wanted
    assert not len(column)
