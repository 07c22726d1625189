from __future__ import annotations

import json
import pickle
import struct
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankscope import _core
from rankscope.monitor.events.batch import add_event, digest, pack_events
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.store.log.ids import RANKING, Entry, compute_checksum

from tests.monitor.test_sending import labels, rankings

SHOWN = Ranking("e", "r", 5, Items(("a", "b"), (1, 2), (0.5, None)), attributes=(("tv", "1"),))
CLICK = Label("l", "r", "a", 7, ("click", "buy"))


def number(value):
    return float("nan") if value is None else value + 0.0


def identify(event):
    """What identifies an event, as stores have it since the first release."""
    parts: list[bytes]
    head: list[Any]
    if isinstance(event, Label):
        head = ["label", event.ranking_id, event.doc_id, event.time, event.labels, event.kind]
        parts = [struct.pack("<d", number(event.value))]
    else:
        items = event.items
        head = ["ranking", event.ranking_id, event.time, event.query_key, event.user_id]
        head += [event.model, event.version, event.environment, event.attributes]
        head += [len(items), len(items.scores)]
        numbers = [number(value) for value in (*items.scores, *items.relevance)]
        parts = [
            "\0".join(items.doc_ids).encode(),
            struct.pack(f"<{len(items)}q", *items.ranks),
            struct.pack(f"<{len(numbers)}d", *numbers),
        ]
    text = json.dumps(head, separators=(",", ":")).encode()
    return blake2b(b"\0".join((text, *parts)), digest_size=16).digest()


@settings(max_examples=60)
@given(st.one_of(rankings(), labels()))
def test_the_digest_of_an_event_is_that_of_its_content(event):
    assert digest(event) == identify(event)
    assert digest(replace(event, event_id="other")) == digest(event)


def test_a_batch_is_the_same_in_another_process_and_in_parts():
    batch = pack_events([CLICK, SHOWN])
    assert pickle.loads(pickle.dumps(batch)) == batch  # noqa: S301 - of our own
    assert pack_events([SHOWN, CLICK]) != batch
    batch = pack_events([SHOWN, CLICK, replace(SHOWN, version="2"), replace(CLICK, time=8)])
    assert batch.cut(1, 3) == pack_events([CLICK, replace(SHOWN, version="2")]).cut(0, 2)
    assert [batch.event_id(at) for at in range(4)] == ["e", "l", "e", "l"]
    assert len(batch.cut(3, 9)) == 1


def test_the_names_of_labels_and_of_attributes_in_production_are_counted():
    other = replace(SHOWN, attributes=())
    trained = replace(SHOWN, environment="training")
    batch = pack_events([SHOWN, CLICK, other, trained, SHOWN, replace(CLICK, labels=()), CLICK])
    assert batch.count_labels() == [('["click","buy"]', 2), ("[]", 1)]
    assert batch.count_attributes() == [((("tv", "1"),), 2), ((), 1)]
    assert batch.first_labels(2) == [("r", "a")] * 2


def test_an_object_is_a_duplicate_if_all_its_events_are_and_a_conflict_if_one_is():
    builder = _core.BatchBuilder()
    for events in ([SHOWN, CLICK], [], [CLICK], [SHOWN, CLICK]):
        for event in events:
            add_event(builder, event)
        builder.end_object()
    batch = builder.finish()
    assert (len(batch), batch.objects, batch.tell(bytes([1, 0, 1, 2, 0]))) == (5, 4, b"\0\3\1\2")


ITEMS = Items(("a", "bé"), (1, 2), (0.1, None))
RANKINGS = (
    Ranking("own", "r1", 7, ITEMS),
    Ranking("r0", "r0", 9, ITEMS),
    Ranking("ü", "r3", -5, ITEMS),
)
LABELS = (Label("e1", "r1", "a", 12, ("click",)), Label("e0", "r0", "a", 10, ("click",)))


def numbers(column):
    return np.frombuffer(memoryview(column), column.typecode).tolist()


def pack_rankings():
    settled = pack_events(RANKINGS).hash_ids(5).settle([], 0)
    return _core.RankingBlock.join([block for _, _, block in settled.rankings([10])])


def pack_labels():
    known = []
    for ranking in RANKINGS:
        (key,) = _core.hash_ids(5, [ranking.ranking_id])
        shown = Entry(9, 9, ranking.time, RANKING)
        known.append((*key, *shown, compute_checksum(key, shown)))
    settled = pack_events(LABELS).hash_ids(5).settle(known, 0)
    return _core.LabelBlock.join([block for _, _, block in settled.labels([])[0]])


@pytest.mark.parametrize("row", [-1, 3])
def test_a_row_that_is_not_there_is_refused(row):
    for block in (pack_rankings(), pack_labels()):
        with pytest.raises(IndexError, match="row"):
            block.take(np.array([row]))


def test_rankings_and_labels_are_joined_in_their_order_alone():
    rankings, labels = pack_rankings(), pack_labels()
    positions, rows = map(numbers, _core.join_labels(rankings, labels))
    assert (positions, rows) == ([1, 2], [0, 1])
    with pytest.raises(ValueError, match="order"):
        _core.join_labels(rankings.take(np.array([1, 0])), labels)
    with pytest.raises(ValueError, match="order"):
        _core.join_labels(rankings, labels.take(np.array([1, 0])))


@pytest.mark.parametrize("kind", [_core.RankingBlock, _core.LabelBlock])
def test_bytes_that_are_no_block_are_refused(kind):
    body = kind.join([]).encode()
    assert len(kind.decode(body)) == 0
    for other in (b"", body[:-1], body + b"\0"):
        with pytest.raises(ValueError, match=r"^damaged$"):
            kind.decode(other)


def test_what_does_not_fit_is_refused():
    batch = pack_events(RANKINGS)
    settled = batch.hash_ids(1).settle([], 1)
    for numbers in ([], [1, 2]):
        with pytest.raises(ValueError, match="a number for each context"):
            settled.rankings(numbers)
    with pytest.raises(ValueError, match="a status for each event"):
        batch.tell(b"")
    with pytest.raises(IndexError, match="a place for each object"):
        batch.merge(batch, [0, 1])
    with pytest.raises(ValueError, match="columns of one length"):
        pack_events([replace(RANKINGS[0], items=Items(("a",), (1, 2)))])


def hash_id(project, text):
    content = project.to_bytes(8, "little", signed=True) + text.encode()
    found = blake2b(content, digest_size=16).digest()
    first, second = (int.from_bytes(half, "little", signed=True) for half in (found[:8], found[8:]))
    return first, second


def test_keys_are_halves_of_a_hash_of_the_project_and_the_id():
    ids = ["", "r1", "straße"]
    for project in (0, 1, 2**63 - 1):
        assert _core.hash_ids(project, ids) == [hash_id(project, text) for text in ids]
        assert _core.hash_other_ids(project, ids) == [hash_id(project, f"{text}\0") for text in ids]
    block, labels = pack_rankings(), pack_labels()
    keys = [*zip(*map(numbers, block.keys(5)), strict=True)]
    named = [("r3", "ü"), ("r1", "own"), ("r0", "r0")]
    assert keys == [hash_id(5, one) + hash_id(5, other) for one, other in named]
    keys = [*zip(*map(numbers, labels.keys(5)), strict=True)]
    assert keys == [hash_id(5, "e1"), hash_id(5, "e0")]
