"""Batches of events say what their events say."""

from __future__ import annotations

import json
import pickle
import struct
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rankscope._core import BatchBuilder
from rankscope.monitor.events.batch import add_event, digest, pack_events
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.records import replace

from tests.monitor.test_posting import labels, rankings

if TYPE_CHECKING:
    from rankscope.monitor.events.event import Event

SHOWN = Ranking("e", "r", 5, Items(("a", "b"), (1, 2), (0.5, None)), attributes=(("tv", "1"),))
CLICK = Label("l", "r", "a", 7, ("click", "buy"))


def number(value: float | None) -> float:
    return float("nan") if value is None else value + 0.0


def identify(event: Event) -> bytes:
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
def test_the_digest_of_an_event_is_that_of_its_content(event: Event) -> None:
    assert digest(event) == identify(event)
    assert digest(replace(event, event_id="other")) == digest(event)


def test_a_batch_is_the_same_in_another_process() -> None:
    batch = pack_events([CLICK, SHOWN])
    assert pickle.loads(pickle.dumps(batch)) == batch  # noqa: S301 - of our own
    assert pack_events([SHOWN, CLICK]) != batch


def test_the_names_of_labels_and_of_attributes_in_production_are_counted() -> None:
    other = replace(SHOWN, attributes=())
    trained = replace(SHOWN, environment="training")
    batch = pack_events([SHOWN, CLICK, other, trained, SHOWN, replace(CLICK, labels=()), CLICK])
    assert batch.count_labels() == [('["click","buy"]', 2), ("[]", 1)]
    assert batch.count_attributes() == [((("tv", "1"),), 2), ((), 1)]
    assert batch.first_labels(2) == [("r", "a")] * 2


def test_a_part_of_a_batch_has_its_events_alone() -> None:
    batch = pack_events([SHOWN, CLICK, replace(SHOWN, version="2"), replace(CLICK, time=8)])
    assert batch.cut(1, 3) == pack_events([CLICK, replace(SHOWN, version="2")]).cut(0, 2)
    assert [batch.event_id(at) for at in range(4)] == ["e", "l", "e", "l"]
    assert len(batch.cut(3, 9)) == 1


def test_an_object_is_a_duplicate_if_all_its_events_are_and_a_conflict_if_one_is() -> None:
    builder = BatchBuilder()
    for events in ([SHOWN, CLICK], [], [CLICK], [SHOWN, CLICK]):
        for event in events:
            add_event(builder, event)
        builder.end_object()
    batch = builder.finish()
    assert (len(batch), batch.objects, batch.tell(bytes([1, 0, 1, 2, 0]))) == (5, 4, b"\0\3\1\2")
