"""Chunks of several places become one order."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.store.merging import concatenate, merge_chunks, split
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.generated import examples
from tests.monitor.store.conformance.samples import texts_of
from tests.monitor.store.logs import events

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest
    from rankscope.monitor.events.event import Event
    from rankscope.monitor.store.records import Chunk


def plain(chunk: Chunk) -> list[Any]:
    """All that a chunk says, except for the numbers of its rankings and lists of labels."""
    items, labels = chunk.items, chunk.labels
    texts = (
        chunk.ranking_ids,
        chunk.query_keys,
        chunk.user_ids,
        chunk.event_ids,
        items.doc_ids,
        labels.doc_ids,
        labels.event_ids,
    )
    numbers = (
        chunk.times,
        chunk.contexts,
        items.offsets,
        items.ranks,
        items.scores,
        items.relevance,
        labels.rankings,
        labels.times,
        labels.kinds,
        labels.values,
    )
    return [
        *(None if one is None else texts_of(one) for one in texts),
        *(repr(one.tolist()) for one in numbers),
        [labels.names[code] for code in labels.codes],
    ]


@given(
    batch=st.lists(events, max_size=30),
    owners=st.lists(st.integers(0, 2), min_size=30, max_size=30),
    sizes=st.lists(st.integers(1, 4), min_size=3, max_size=3),
)
@examples(25)
def test_chunks_of_several_places_are_merged_into_the_order_of_a_store(
    tmp_path_factory: pytest.TempPathFactory,
    batch: list[Event],
    owners: list[int],
    sizes: list[int],
) -> None:
    with SQLiteStore(tmp_path_factory.mktemp("merged") / "events.db", group_seconds=0) as store:
        store.append("music", batch)
        chunks = list(store.read("music", event_ids=True))
    ones = [one for chunk in chunks for one in split(chunk, 1)]
    streams = []
    for place, size in enumerate(sizes):
        theirs = [one for one, owner in zip(ones, owners, strict=False) if owner == place]
        whole = [concatenate(theirs)] if theirs else []
        streams.append(iter([piece for one in whole for piece in split(one, size)]))
    merged = list(merge_chunks(streams, 4))
    assert all(0 < len(one.seqs) <= 4 for one in merged)
    assert len(merged) == 0 or plain(concatenate(merged)) == plain(concatenate(chunks))
    assert sum(len(one.seqs) for one in merged) == len(ones)
