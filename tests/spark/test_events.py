"""Tables of an hour are read as events that are sent: the same rankings, labels and notes."""

from __future__ import annotations

import pickle
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("pyarrow", reason="tables of an hour are of PyArrow")
pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from rankscope import FormatError
from rankscope.monitor.events.batch import pack_events
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.intake.ingestion import Ingestion
from rankscope.spark.events import decode_labels, decode_rankings, settle_hour

START = datetime(2026, 11, 20, tzinfo=UTC)
HOUR = int(START.timestamp()) * 1_000_000
NOW = int((START + timedelta(days=1)).timestamp()) * 1_000_000
TIME = pa.timestamp("us", "UTC")

ids = st.one_of(
    st.sampled_from(["a", "b", "c", "item-0001", "é", "a" * 20, "b" + "a" * 19]),
    st.text(max_size=3),
    st.none(),
)
numbers = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 0.5, float("nan"), float("inf")]), st.none())
ranks = st.one_of(st.integers(-1, 4), st.none())
texts = st.one_of(st.sampled_from(["", "x", "y\0", "z" * 600]), st.none())
times = st.integers(0, 3).map(lambda hours: START + timedelta(hours=hours))


@st.composite
def rankings(draw):
    """A row that holds a whole ranking, often a usual one."""
    size = draw(st.integers(0, 4))
    usual = draw(st.booleans())

    def column(values):
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
        "version": draw(texts),
        "environment": draw(st.sampled_from([None, "", "production", "TRAINING", "elsewhere"])),
        "attributes": draw(
            st.sampled_from([None, [], [("a", "b")], [("device", "tv"), ("x", None)]])
        ),
        "doc_ids": usual_ids if usual else column(ids),
        "rank": draw(st.sampled_from([list(range(1, size + 1)), list(range(size))]))
        if usual and draw(st.booleans())
        else column(ranks),
        "score": column(st.floats(0, 1) if usual else numbers),
        "relevance": column(st.integers(0, 3).map(float) if usual else numbers),
    }


SCHEMA = pa.schema(
    [
        ("event_id", pa.string()),
        ("ranking_id", pa.string()),
        ("time", TIME),
        ("query_key", pa.large_string()),
        ("user_id", pa.dictionary(pa.int32(), pa.string())),
        *((name, pa.string()) for name in ("version", "environment")),
        ("attributes", pa.map_(pa.string(), pa.string())),
        ("doc_ids", pa.list_(pa.string())),
        ("rank", pa.list_(pa.int32())),
        ("score", pa.list_(pa.float64())),
        ("relevance", pa.large_list(pa.float32())),
    ]
)
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


class Recorder:
    """Records what ingestion would store."""

    takes_prepared = False

    def __init__(self):
        self.readings = []

    def take(self, reading):
        self.readings.append(reading)
        return ["accepted"] * len(reading.answers)


def ingest(kind, table):
    """The events, codes and notes of a table that is ingested."""
    recorder = Recorder()
    ingestion = Ingestion(recorder, kind, now=lambda: NOW, is_strict=False)
    ingestion.take_table(table)
    events = [event for one in recorder.readings for event in one.events]
    codes = Counter(each.code for one in recorder.readings for each in one.rejections)
    notes = sum((Counter(one.notes) for one in recorder.readings), Counter())
    return events, codes, notes


def list_events(batch):
    """What each event says, to the last bit."""
    return [pickle.dumps(batch.cut(at, at + 1)) for at in range(len(batch))]


def check(kind, table, found):
    """Compare what was decoded with what ingestion stores."""
    events, codes, notes = ingest(kind, table)
    assert list_events(found.batch) == list_events(pack_events(events))
    assert Counter(each.code for each in found.rejections) == codes
    assert Counter(found.notes) == notes


@given(st.lists(rankings(), max_size=6))
def test_rankings_are_read_as_if_they_were_sent(rows):
    table = pa.Table.from_pylist(rows, SCHEMA)
    check("rankings", table, decode_rankings(table))


def test_rankings_with_a_list_of_objects_are_read_as_if_they_were_sent():
    documents = [{"item_id": "a", "rank": 1, "colors": ["red"]}]
    rows = [{"ranking_id": "r", "time": START, "items": items} for items in (documents, None)]
    table = pa.Table.from_pylist(rows)
    check("rankings", table, decode_rankings(table))


@given(st.lists(labels, max_size=8))
def test_labels_are_read_as_if_they_were_sent(rows):
    table = pa.Table.from_pylist(rows, LABELS)
    check("labels", table, decode_labels(table))


def test_columns_that_are_missing_or_hold_no_lists_are_named():
    with pytest.raises(FormatError, match=r"expected columns of time, doc_id; found ranking_id"):
        decode_rankings(pa.table({"ranking_id": ["r"]}))
    rows = {"ranking_id": ["r"], "time": [START], "doc_id": ["a"]}
    with pytest.raises(FormatError, match=r"a list of documents in each row of 'doc_id'"):
        decode_rankings(pa.table(rows))
    with pytest.raises(FormatError, match="expected columns of labels or value"):
        decode_labels(pa.table(rows))


def show(ranking_id, time, version="1", event_id=""):
    items = Items(("a", "b"), (1, 2))
    return Ranking(event_id or ranking_id, ranking_id, HOUR + time, items, "", "", "", version)


def click(event_id, ranking_id, time=9):
    return Label(event_id, ranking_id, "a", HOUR + time, ("click",))


def settle(shown, told=()):
    return settle_hour(HOUR, pack_events(shown), pack_events(told), {})


def test_labels_of_a_ranking_that_does_not_count_are_of_none():
    shown = [
        show("r1", 1),
        click("logged 1", "r1"),
        show("r2", 2, event_id="r1"),  # in conflict with the first
        click("logged 2", "r2"),
    ]
    told = [click("1", "r1"), click("1", "r1"), click("1", "r1", time=10), click("2", "r2")]
    hour = settle(shown, told)
    assert hour.contents == [("", "1", "production", ())]
    assert hour.chunk.contexts.tolist() == [0]
    assert len(hour.chunk.labels.codes) == 2


@given(st.lists(labels, max_size=12))
@settings(max_examples=50)
def test_labels_are_joined_once_and_in_the_order_in_which_they_count(rows):
    table = pa.Table.from_pylist(rows, LABELS)
    events, _, _ = ingest("labels", table)
    shown = [show("r2", 0), show("r1", 60)]
    found = settle_hour(HOUR, pack_events(shown), decode_labels(table).batch, {})
    # Of labels with one id the first counts, as in a store, also where its ranking isn't there.
    first = {one.event_id: one for one in reversed(events)}
    theirs = [one for one in first.values() if one.ranking_id in {"r1", "r2"}]
    columns = found.chunk.labels.rankings, found.chunk.labels.times
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == sorted(
        (int(one.ranking_id == "r1"), one.time) for one in theirs
    )
