"""Tables of a lake are read as events that are sent: the same rankings, labels, codes and notes."""

from __future__ import annotations

import pickle
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="a lake needs PyArrow")
pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from rankscope import _core
from rankscope.monitor.events.batch import pack_events
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.intake.ingestion import Ingestion
from rankscope.monitor.store.chunks import buffer_texts, make_label_events
from rankscope.monitor.store.lake.events import DecodedTable, LabelDecoder, RankingDecoder
from rankscope.monitor.store.lake.hour import settle
from rankscope.monitor.store.lake.reader import ALWAYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events.rejection import Reading
    from rankscope.monitor.intake.ingestion import Kind

START = datetime(2026, 11, 20, tzinfo=UTC)
NOW = int((START + timedelta(days=1)).timestamp()) * 1_000_000
TIME = pa.timestamp("us", "UTC")

ids = st.one_of(
    st.sampled_from(["a", "b", "c", "item-0001", "item-0002", "é", "a" * 20, "b" + "a" * 19]),
    st.text(max_size=3),
    st.none(),
)
numbers = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 0.5, float("nan"), float("inf")]), st.none())
ranks = st.one_of(st.integers(-1, 4), st.none())
texts = st.one_of(st.sampled_from(["", "x", "y\0", "z" * 600]), st.none())
times = st.integers(0, 3).map(lambda hours: START + timedelta(hours=hours))


@st.composite
def rankings(draw: st.DrawFn) -> dict[str, Any]:
    """A row that holds a whole ranking, often a usual one."""
    size = draw(st.integers(0, 4))
    usual = draw(st.booleans())

    def column(values: st.SearchStrategy[object]) -> object:
        if draw(st.integers(0, 3)) == 0:
            return None
        length = size if usual or draw(st.booleans()) else draw(st.integers(0, 4))
        return draw(st.lists(values, min_size=length, max_size=length))

    usual_ids = draw(st.permutations(["a", "b", "c", "d"]))[:size]
    return {
        "event_id": draw(st.one_of(st.none(), st.sampled_from(["e1", "e2", ""]))),
        "ranking_id": draw(st.sampled_from(["r1", "r2", "r3"])) if usual else draw(ids),
        "time": draw(times),
        "query_key": draw(texts),
        "user_id": draw(st.sampled_from(["u", None])),
        "model": draw(st.sampled_from(["m", None])),
        "version": draw(texts),
        "environment": draw(st.sampled_from([None, "", "production", "TRAINING", "elsewhere"])),
        "device": draw(st.sampled_from(["tv", None, "z" * 2000])),
        "tags": draw(st.sampled_from([None, [], [("a", "b")], [("device", "tv"), ("x", None)]])),
        "doc_ids": usual_ids if usual else column(ids),
        "rank": draw(st.sampled_from([list(range(1, size + 1)), list(range(size))]))
        if usual and draw(st.booleans())
        else column(ranks),
        "score": column(st.floats(0, 1) if usual else numbers),
        "relevance": column(st.integers(0, 3).map(float) if usual else numbers),
        "labels": None if usual else column(st.sampled_from([["click"], [], None])),
    }


SCHEMA = pa.schema(
    [
        ("event_id", pa.string()),
        ("ranking_id", pa.string()),
        ("time", TIME),
        ("query_key", pa.large_string()),
        ("user_id", pa.dictionary(pa.int32(), pa.string())),
        *((name, pa.string()) for name in ("model", "version", "environment", "device")),
        ("tags", pa.map_(pa.string(), pa.string())),
        ("doc_ids", pa.list_(pa.string())),
        ("rank", pa.list_(pa.int32())),
        ("score", pa.list_(pa.float64())),
        ("relevance", pa.large_list(pa.float32())),
        ("labels", pa.list_(pa.list_(pa.string()))),
    ]
)


class Recorder:
    """Records what ingestion would store."""

    takes_prepared = False

    def __init__(self) -> None:
        self.readings: list[Reading] = []

    def take(self, reading: Reading) -> list[str]:
        self.readings.append(reading)
        return ["accepted"] * len(reading.answers)


def ingest(kind: Kind, table: pa.Table, attributes: tuple[str, ...] = ()) -> tuple[list[Any], ...]:
    """The events, codes and notes of a table that is ingested."""
    recorder = Recorder()
    ingestion = Ingestion(recorder, kind, now=lambda: NOW, attributes=attributes, is_strict=False)
    ingestion.take_table(table)
    events = [event for one in recorder.readings for event in one.events]
    codes = Counter(each.code for one in recorder.readings for each in one.rejections)
    notes = sum((Counter(one.notes) for one in recorder.readings), Counter())
    return events, codes, notes


def decode(table: pa.Table, attributes: tuple[str, ...] = ()) -> tuple[Any, ...]:
    """The same, as a lake reads it."""
    decoder = RankingDecoder({}, attributes)
    found = decoder.decode(table, decoder.plan(table.schema), np.arange(table.num_rows))
    return list_events(found.batch), found.rejected, found.notes


def make_ranking(ranking_id: str, time: datetime) -> Ranking:
    shown = int(time.timestamp()) * 1_000_000
    return Ranking(ranking_id, ranking_id, shown, Items(("a",), (1,)), "", "", "", "", "production")


def list_events(batch: _core.EventBatch) -> list[bytes]:
    """What each event says, to the last bit."""
    return [pickle.dumps(batch.cut(at, at + 1)) for at in range(len(batch))]


def check(table: pa.Table, attributes: tuple[str, ...] = ()) -> None:
    """Compare what a lake reads with what ingestion stores."""
    events, codes, notes = ingest("rankings", table, attributes)
    assert decode(table, attributes) == (list_events(pack_events(events)), codes, notes)


@given(st.lists(rankings(), max_size=6))
def test_rows_with_lists_are_read_as_if_they_were_sent(rows: list[dict[str, Any]]) -> None:
    check(pa.Table.from_pylist(rows, SCHEMA), ("device",))


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "ranking_id": st.sampled_from(["r1", "r2"]),
                "time": times,
                "items": st.one_of(
                    st.none(),
                    st.lists(
                        st.one_of(
                            st.none(),
                            st.fixed_dictionaries({"item_id": ids, "rank": ranks, "gain": numbers}),
                        ),
                        max_size=3,
                    ),
                ),
            }
        ),
        max_size=4,
    )
)
def test_rows_with_lists_of_objects_are_read_as_if_they_were_sent(rows: list[Any]) -> None:
    kinds = [("item_id", pa.string()), ("rank", pa.int64()), ("gain", pa.float64())]
    schema = [("ranking_id", pa.string()), ("time", TIME), ("items", pa.list_(pa.struct(kinds)))]
    check(pa.Table.from_pylist(rows, pa.schema(schema)))


def test_objects_of_documents_and_of_attributes_have_fields_of_their_own() -> None:
    document = {"item_id": "a", "rank": 1, "colors": ["red"]}
    features = {"country": "de", "rank": "first"}
    row = {"ranking_id": "r", "time": START, "items": [document], "features": features}
    (ranking,), _, _ = ingest("rankings", pa.Table.from_pylist([row]))
    assert ranking.attributes == (("country", "de"), ("rank", "first"))
    found, *_ = decode(pa.Table.from_pylist([row]))
    assert found == list_events(pack_events([ranking]))


documents = st.fixed_dictionaries(
    {
        "ranking_id": st.one_of(st.sampled_from(["r1", "r2", "r3"]), st.none()),
        "time": st.sampled_from([START, START, START, START + timedelta(hours=1)]),
        "doc_id": st.one_of(st.sampled_from(list("abcdefgh")), ids),
        "rank": st.one_of(st.integers(0, 9), st.none()),
        "score": st.one_of(st.floats(0, 1), numbers),
        "relevance": numbers,
        "version": st.sampled_from(["1", "1", "1", "2", None]),
        "country": st.sampled_from(["de", "de", "de", None]),
    }
)


@given(st.lists(documents, min_size=1, max_size=8), st.booleans())
def test_rows_of_documents_are_read_as_if_they_were_sent(rows: list[Any], is_ranked: bool) -> None:
    schema = pa.schema(
        [
            ("ranking_id", pa.string()),
            ("time", TIME),
            ("doc_id", pa.string()),
            *([("rank", pa.int64())] if is_ranked else []),
            ("score", pa.float64()),
            ("relevance", pa.float64()),
            ("version", pa.string()),
            ("country", pa.string()),
        ]
    )
    table = pa.Table.from_pylist(rows, schema)
    # Ingestion sorts the rows of a table by ranking; a lake keeps the order of first rows.
    events, codes, notes = ingest("rankings", table, ("country",))
    found, *counts = decode(table, ("country",))
    assert sorted(found) == sorted(list_events(pack_events(events)))
    assert counts == [codes, notes]


labels = st.fixed_dictionaries(
    {
        "event_id": st.sampled_from([None, None, "e1", "e2", ""]),
        "ranking_id": st.one_of(st.sampled_from(["r1", "r2"]), ids),
        "doc_id": st.one_of(st.sampled_from(["a", "b"]), ids),
        "time": times,
        "label": st.sampled_from([None, ["click"], ["click", "buy"], [], ["x" * 200]]),
        "value": numbers,
        "kind": st.sampled_from([None, None, "label", "correction", "retraction", "other"]),
    }
)
LABELS = pa.schema(
    [
        *((name, pa.string()) for name in ("event_id", "ranking_id", "doc_id")),
        ("time", TIME),
        ("label", pa.list_(pa.string())),
        ("value", pa.float64()),
        ("kind", pa.string()),
    ]
)


@given(st.lists(labels, max_size=8))
def test_labels_are_read_as_if_they_were_sent(rows: list[Any]) -> None:
    table = pa.Table.from_pylist(rows, LABELS)
    events, codes, notes = ingest("labels", table)
    found = decode_labels(table)
    assert (found.rejected, found.notes) == (codes, notes)
    assert list_events(found.batch) == list_events(pack_events(events))


def decode_labels(table: pa.Table) -> DecodedTable:
    decoder = LabelDecoder({})
    return decoder.decode(table, decoder.plan(table.schema), np.arange(table.num_rows))


@given(st.lists(labels, max_size=12))
@settings(max_examples=50)
def test_labels_are_joined_once_and_in_the_order_in_which_they_count(rows: list[Any]) -> None:
    table = pa.Table.from_pylist(rows, LABELS)
    events, _, _ = ingest("labels", table)
    shown = [make_ranking("r2", START), make_ranking("r1", START + timedelta(minutes=1))]
    rankings = pack_events(shown)
    index = _core.LabelIndex(decode_labels(table).batch)
    chosen = _core.choose_labels([index], buffer_texts(rankings.ranking_ids()), *ALWAYS)
    settled = settle(shown[0].time, rankings, chosen, [])
    chunk = settled.make_chunk({("", "", "production", ()): 1}, {}, event_ids=True)
    theirs = [event for event in events if event.ranking_id in {"r1", "r2"}]
    # Of labels with one id the first counts, as in a store.
    first = {one.event_id: one for one in reversed(theirs)}
    found = [label for place in range(2) for _, label in make_label_events(chunk, place)]
    assert {label.event_id: label for label in found} == first
    order = [(label.ranking_id == "r1", label.time, label.event_id.encode()) for label in found]
    assert order == sorted(order)
    assert settled.count_matched() == settled.labels.total() == len(theirs)
    assert settled.labels["accepted"] == len(found)
