"""The events of an hour are as in a store: of those with one id, the first counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("pyarrow", reason="tables of an hour are of PyArrow")
pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from rankscope._core import EventBatch
from rankscope.errors import FormatError
from rankscope.monitor.events.batch import pack_events
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.intake.ingestion import Ingestion
from rankscope.spark.windows import Collector, decode_events, settle_hour

START = datetime(2026, 11, 20, tzinfo=UTC)
HOUR = int(START.timestamp()) * 1_000_000
NOW = int((START + timedelta(days=1)).timestamp()) * 1_000_000

ids = st.one_of(
    st.sampled_from(["a", "b", "c", "item-0001", "é", "a" * 20, "b" + "a" * 19]),
    st.text(max_size=3),
    st.none(),
)
numbers = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 0.5, float("nan"), float("inf")]), st.none())
times = st.integers(0, 3).map(lambda hours: START + timedelta(hours=hours))
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
        ("time", pa.timestamp("us", "UTC")),
        ("label", pa.list_(pa.string())),
        ("value", pa.float64()),
        ("kind", pa.string()),
    ]
)


class Recorder:
    """Records the events of a table one by one."""

    takes_prepared = False

    def __init__(self):
        self.events = []

    def take(self, reading):
        self.events += reading.events
        return ["accepted"] * len(reading.answers)


def ingest(sink, table):
    Ingestion(sink, "labels", now=lambda: NOW, is_strict=False).take_table(table)
    return sink


def show(ranking_id, time, version="1", event_id=""):
    items = Items(("a", "b"), (1, 2))
    return Ranking(event_id or ranking_id, ranking_id, HOUR + time, items, "", "", "", version)


def click(event_id, ranking_id, time=9):
    return Label(event_id, ranking_id, "a", HOUR + time, ("click",))


def test_labels_of_a_ranking_that_does_not_count_are_of_none():
    shown = [
        show("r1", 1),
        click("logged 1", "r1"),
        show("r2", 2, event_id="r1"),  # in conflict with the first
        click("logged 2", "r2"),
    ]
    told = [click("1", "r1"), click("1", "r1"), click("1", "r1", time=10), click("2", "r2")]
    contents, chunk = settle_hour(HOUR, pack_events(shown), pack_events(told), {})
    assert contents == [("", "1", "production", ())]
    assert chunk.contexts.tolist() == [0]
    assert len(chunk.labels.codes) == 2


@given(st.lists(labels, max_size=12))
@settings(max_examples=50)
def test_labels_are_joined_once_and_in_the_order_in_which_they_count(rows):
    table = pa.Table.from_pylist(rows, LABELS)
    events, batches = ingest(Recorder(), table).events, ingest(Collector(), table).batches
    shown = [show("r2", 0), show("r1", 60)]
    _, chunk = settle_hour(HOUR, pack_events(shown), EventBatch.join(batches), {})
    # Of labels with one id the first counts, as in a store, also where its ranking isn't there.
    first = {one.event_id: one for one in reversed(events)}
    theirs = [one for one in first.values() if one.ranking_id in {"r1", "r2"}]
    columns = chunk.labels.rankings, chunk.labels.times
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == sorted(
        (int(one.ranking_id == "r1"), one.time) for one in theirs
    )


def test_labels_may_come_for_years_and_have_to_be_good():
    rows = {"ranking_id": ["r"], "doc_id": ["a"], "time": [START + timedelta(days=2900)]}
    assert len(decode_events("labels", pa.table(rows | {"labels": ["click"]}), HOUR)) == 1
    assert len(decode_events("labels", pa.table(rows | {"labels": ["click"]}).slice(1), HOUR)) == 0
    with pytest.raises(FormatError, match=r"\(invalid events of this hour: 1\)"):
        decode_events("labels", pa.table(rows), HOUR)
