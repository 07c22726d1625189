"""Chunks become tables of Arrow and come back, and chunks of several places become one order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import FormatError
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.store.columns import read_chunk, write_labels, write_rankings
from rankscope.monitor.store.merging import concatenate, merge_chunks, split
from rankscope.monitor.store.records import Context
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.testing.store.samples import texts_of

from tests.generated import examples
from tests.monitor.store.logs import events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.store.records import Chunk

UTC = pa.timestamp("us", "UTC")
EVENTS: list[Event] = [
    Ranking(
        "e1",
        "r1",
        5,
        Items(("a", "日本"), (1, 4), (0.5, None), (None, 2.0)),
        "jazz",
        "u",
        "m",
        "4",
        "training",
        (("country", "de"), ("device", "tv")),
    ),
    Ranking("e2", "r2", 6, Items(("b",), (1,)), attributes=(("device", "tv"),)),
    Ranking("e3", "r3", 7, Items((), ())),
    Label("l1", "r1", "a", 9, ("click", "buy")),
    Label("l2", "r1", "a", 8, kind="retraction"),
    Label("l3", "r2", "b", 7, value=3.0, kind="correction"),
    Label("l4", "r2", "b", 7, ("click",)),
]


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


def read(store: SQLiteStore, size: int = 100) -> list[Chunk]:
    """The rankings of the project, with the ids of events."""
    return list(store.read("music", size=size, event_ids=True))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    """A store with some events."""
    with SQLiteStore(tmp_path / "events.db") as opened:
        opened.append("music", EVENTS)
        yield opened


@pytest.mark.parametrize("is_encoded", [False, True])
def test_a_chunk_comes_back_from_its_tables(store: SQLiteStore, is_encoded: bool) -> None:
    (chunk,) = read(store)
    contexts = store.contexts("music")
    rankings = pa.Table.from_batches([write_rankings(chunk, contexts)])
    labels = pa.Table.from_batches([write_labels(chunk)])
    if is_encoded:
        for name in ("ranking_id", "query_key", "model", "environment", "event_id"):
            at = rankings.schema.get_field_index(name)
            rankings = rankings.set_column(at, name, rankings.column(name).dictionary_encode())
        at = labels.schema.get_field_index("kind")
        labels = labels.set_column(at, "kind", labels.column("kind").dictionary_encode())
    numbers = {context: number for number, context in contexts.items()}
    found = read_chunk(rankings, labels.take([3, 1, 0, 2]), numbers.__getitem__, event_ids=True)
    assert plain(found) == plain(chunk)
    # A part of a table has offsets that do not begin at 0.
    later = read_chunk(rankings.slice(1), labels, numbers.__getitem__, event_ids=True)
    assert texts_of(later.ranking_ids) == ["r2", "r3"]
    assert later.labels.rankings.tolist() == [0, 0]
    assert later.contexts.tolist() == chunk.contexts[1:].tolist()


def test_what_a_table_leaves_out_has_defaults() -> None:
    rankings = pa.table(
        {
            "ranking_id": [7, 8],
            "time": pa.array([1_000, 2_000], pa.timestamp("ns", "Europe/Paris")),
            "doc_id": [["b", "a"], None],
        }
    )
    seen: list[Context] = []
    chunk = read_chunk(rankings, None, lambda context: seen.append(context) or 3)
    assert texts_of(chunk.ranking_ids) == ["7", "8"]
    assert chunk.times.tolist() == [1, 2]
    assert chunk.items.ranks.tolist() == [1, 2]
    assert np.isnan(chunk.items.scores).all()
    assert texts_of(chunk.query_keys) == ["", ""]
    assert chunk.contexts.tolist() == [3, 3]
    assert seen == [Context("", "", "production", ())]
    assert (len(chunk.labels.times), chunk.event_ids, chunk.labels.event_ids) == (0, None, None)


def test_a_list_that_is_missing_in_some_rows_is_told_from_one_of_another_length() -> None:
    table = {
        "ranking_id": ["p", "q"],
        "time": pa.array([1, 2], UTC),
        "doc_id": [["b", "a"], ["c", "d"]],
        "rank": [None, [2, 5]],
    }
    chunk = read_chunk(pa.table(table), None, lambda _: 1)
    assert chunk.items.ranks.tolist() == [1, 2, 2, 5]
    with pytest.raises(FormatError) as refused:
        read_chunk(pa.table(table | {"rank": [[1], [2, 5]]}), None, lambda _: 1)
    assert refused.value.code == "length_mismatch"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"time": pa.array([1], pa.timestamp("us"))}, "time_zone"),
        ({"time": [1]}, "time_format"),
        ({"ranking_id": [1.5]}, "id_type"),
        ({"doc_id": ["a"]}, "input_type"),
        ({"rank": [["x"]]}, "input_type"),
        ({"score": [["x"]]}, "input_type"),
        ({"environment": ["staging"]}, "environment"),
        (
            {"attributes": pa.array([[("a", "1"), ("a", "2")]], pa.map_(pa.string(), pa.string()))},
            "attribute_conflict",
        ),
    ],
)
def test_a_column_of_another_type_is_named(changed: dict[str, Any], code: str) -> None:
    good = {"ranking_id": ["r"], "time": pa.array([1], UTC), "doc_id": [["a"]]}
    with pytest.raises(FormatError) as refused:
        read_chunk(pa.table(good | changed), None, lambda _: 1)
    assert refused.value.code == code
    assert next(iter(changed)) in str(refused.value)


def test_a_missing_column_and_an_unknown_kind_are_named() -> None:
    with pytest.raises(FormatError, match="'ranking_id'") as refused:
        read_chunk(pa.table({"time": [1]}), None, lambda _: 1)
    assert refused.value.code == "columns"
    good = {"ranking_id": ["r"], "time": pa.array([1], UTC), "doc_id": [["a"]]}
    label = {"ranking_id": ["r"], "time": pa.array([1], UTC), "doc_id": ["a"], "kind": ["like"]}
    with pytest.raises(FormatError, match="like") as refused:
        read_chunk(pa.table(good), pa.table(label), lambda _: 1)
    assert refused.value.code == "label_kind"


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
        chunks = read(store)
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
