from __future__ import annotations

import json
import random
import re
import sqlite3
import threading
from functools import partial

import pyarrow.parquet as pq
import pytest
from rankscope import UsageError
from rankscope.errors import DeadlineError, FileError
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.intake import ingestion
from rankscope.monitor.intake.ingestion import Ingestion, StoreSink
from rankscope.monitor.store.ahead import read_ahead
from rankscope.monitor.store.deadline import Deadline, limit_reads
from rankscope.monitor.store.export import export_parquet
from rankscope.monitor.store.log.tally import BLOCKS, FIND
from rankscope.monitor.store.records import Chosen, Exported
from rankscope.monitor.store.sqlite.connection import driver_of
from rankscope.monitor.store.sqlite.store import SQLiteStore, open_sqlite_reader
from rankscope.monitor.store.tables.outbox import list_due
from rankscope.monitor.store.tables.statements import Prepared
from sqlalchemy import event, text

from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back
from tests.monitor.store.test_deleting import EVENTS
from tests.refusals import refuses

ASKED = {
    "a window": lambda store: list(store.read("music", 10, 20)),
    "a window with ids": lambda store: list(store.read("music", 10, 20, event_ids=True)),
    "a ranking": lambda store: store.find_ranking("music", "ranking-1"),
    "its labels": lambda store: store.find_labels("music", "ranking-1"),
    "what was touched": lambda store: store.touched("music", 5),
    "an open window": lambda store: list(store.read("music", 10)),
    "pending labels": lambda store: store.count_pending("music"),
    "versions": lambda store: store.versions("music"),
    "all": lambda store: list(store.read("music")),
    "old rankings": lambda store: store.delete_before("music", 3),
    "the rankings of a user": lambda store: store.erase("music", Chosen(user_id="ann")),
    "late rankings": lambda store: store.count_late(
        "music", model=None, since=0, until=20, after=40, upto=60
    ),
    "notifications that are due": lambda store: store.query(partial(list_due, now=5, limit=9)),
    "notifications": lambda store: store.list_notifications("music", limit=9),
    "incidents": lambda store: store.list_incidents("music", limit=9),
    "incidents that last": lambda store: store.list_incidents("music", states={"open"}),
    "the history of an incident": lambda store: store.list_changes("music", "i1"),
    "labels that wait": lambda store: store.find_labels("music", "none"),
    "a batch": lambda store: store.append("music", [make_ranking(500), make_label(500, 1)]),
}


@pytest.fixture
def asked(tmp_path):
    """Gives the plans of the statements by which something is asked of a store."""
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", [make_ranking(number) for number in range(50)])
        store.append("music", [make_label(number, number) for number in range(50)])
        statements = []

        def trace(raw, _record):
            raw.set_trace_callback(statements.append)

        event.listen(store.engine, "connect", trace)
        driver_of(store._connection).set_trace_callback(statements.append)

        def plans(name):
            statements.clear()
            ASKED[name](store)
            event.remove(store.engine, "connect", trace)
            found = []
            with store.engine.connect() as connection:
                for text in [*statements]:
                    if text.startswith(("SELECT", "DELETE", "UPDATE")):
                        rows = driver_of(connection).execute(f"EXPLAIN QUERY PLAN {text}")
                        found.append(f"{text}\n" + "\n".join(row[3] for row in rows))
            return found

        yield plans


@pytest.mark.parametrize("name", ASKED)
def test_no_table_of_events_is_read_from_end_to_end(asked, name):
    # The labels that wait are few: all of a project are looked at to find old ones.
    whole = re.compile(
        r"^(SCAN (bodies|ids|pending|outbox|incidents|incident_changes)\b"
        r"|SEARCH (bodies|ids)\b.*\(project_id=\?\)$)",
        re.MULTILINE,
    )
    plans = asked(name)
    assert plans
    assert [plan for plan in plans if whole.search(plan)] == []


USED = {
    "a window": "blocks_by_start (project_id=? AND start>? AND start<?)",
    "what was touched": "blocks_by_seq (project_id=? AND last_seq>?)",
    "late rankings": "blocks_by_seq (project_id=? AND last_seq>?)",
    "a ranking": "SEARCH ids USING PRIMARY KEY (high=?)",
    "labels that wait": "pending_by_ranking (project_id=? AND ranking_id=?)",
    "a batch": "blocks_by_start (project_id=? AND start=? AND kind=? AND environment=?)",
    "its labels": "SEARCH bodies USING INTEGER PRIMARY KEY (rowid=?)",
}


@pytest.mark.parametrize("name", USED)
def test_the_log_is_searched_by_its_indexes(asked, name):
    assert USED[name] in "\n".join(asked(name))


ENDLESS = Prepared(
    text("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
)


def test_what_is_read_first_and_what_follows_are_of_one_moment(store):
    store.append("music", [make_ranking(1)])
    with store.engine.connect() as connection:
        before = FIND.fetch(connection, name=BLOCKS)
        store.append("music", [make_ranking(2)])
        assert FIND.fetch(connection, name=BLOCKS) == before
    with store.engine.connect() as connection:
        assert FIND.fetch(connection, name=BLOCKS) != before


def test_a_statement_of_the_driver_stops_at_the_deadline_of_a_read(store):
    with limit_reads(Deadline(0.05)), pytest.raises(DeadlineError):
        store.query(ENDLESS.fetch)
    assert store.projects() == []


def test_damage_that_the_driver_finds_is_an_error_of_the_store(tmp_path):
    path = tmp_path / "events.db"
    with SQLiteStore(path) as store:
        store.append("music", [make_ranking(1)])
    with sqlite3.connect(path) as opened:
        opened.execute("ALTER TABLE bodies RENAME TO others")
    with open_sqlite_reader(path) as reader, refuses(FileError, "store_damaged"):
        list(reader.read("music"))


def count(made, until):
    """Numbers, each noted when it is made, and -1 when no more will be."""
    try:
        for number in range(until):
            made.append(number)
            yield number
    finally:
        made.append(-1)


def test_one_piece_is_made_while_another_is_worked_on():
    is_made = threading.Event()

    def make():
        yield 1
        is_made.set()
        yield 2

    pieces = read_ahead(make())
    assert next(pieces) == 1
    assert is_made.wait(300)
    assert list(pieces) == [2]


def test_a_reader_that_stops_early_releases_the_rest():
    made = []
    for number in read_ahead(count(made, 1000)):
        if number == 3:
            break
    else:
        pytest.fail("it did not stop")
    assert made in ([*range(4), -1], [*range(5), -1])


def test_what_goes_wrong_is_told():
    def fail():
        yield 1
        raise ValueError("damaged")

    pieces = read_ahead(fail())
    assert next(pieces) == 1
    with pytest.raises(ValueError, match="damaged"):
        next(pieces)


EXPORTED = [*EVENTS[:3], EVENTS[4], EVENTS[3], *EVENTS[5:7]]
"""In the order of files; the last label waits for its ranking."""


def rows_of(path):
    rows = pq.read_table(path).to_pylist()
    for row in rows:
        if "attributes" in row:
            row["attributes"] = dict(row["attributes"])
    return rows


@pytest.mark.parametrize("size", [1, 100])
def test_what_is_exported_is_read_as_the_same_events(tmp_path, size, monkeypatch):
    read = SQLiteStore.read
    monkeypatch.setattr(
        SQLiteStore, "read", lambda self, *given, **named: read(self, *given, size=size, **named)
    )
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", EVENTS)
        assert export_parquet(store, "music", tmp_path / "out") == Exported(3, 4)
    reader = EventReader()
    rankings = reader.read_rankings(rows_of(tmp_path / "out" / "rankings.parquet"), now=DAY)
    labels = reader.read_labels(rows_of(tmp_path / "out" / "labels.parquet"), now=DAY)
    assert [*rankings.events, *labels.events] == EXPORTED
    assert rankings.unknown == labels.unknown == {}


def test_a_span_of_time_is_exported_that_begins_before_it_is_over(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", EVENTS)
        found = export_parquet(store, "music", tmp_path, since=HOUR, until=HOUR + 6)
        assert found == Exported(1, 2)
    with SQLiteStore(tmp_path / "events.db") as store, refuses(UsageError, "bad_period"):
        export_parquet(store, "music", tmp_path / "out", since=DAY, until=DAY)
    assert not (tmp_path / "out").exists()


def test_what_is_there_is_not_overwritten(tmp_path):
    (tmp_path / "labels.parquet").write_text("mine")
    with SQLiteStore(tmp_path / "events.db") as store, refuses(FileError, "io"):
        export_parquet(store, "music", tmp_path)
    assert (tmp_path / "labels.parquet").read_text() == "mine"
    assert not list(tmp_path.glob(".export-*"))
    (tmp_path / "file").write_text("")
    with SQLiteStore(tmp_path / "events.db") as store, pytest.raises(FileError):
        export_parquet(store, "music", tmp_path / "file")


def make_batches(seed):
    """Make batches with duplicates, conflicts, and labels before and after their rankings."""
    chance = random.Random(seed)
    batches = []
    for _ in range(40):
        batch = []
        # Few ids, so that some are sent again; many, so that most batches have none of these.
        most = chance.choice((5, 100_000))
        for _ in range(chance.choice((0, 1, 7))):
            number, time = chance.randrange(most), chance.randrange(3)
            name = f"r{chance.randrange(most)}"
            batch.append(
                Label(f"l{number}", name, "ä", time, ("click",))
                if chance.random() < 0.5
                else Ranking(
                    chance.choice((f"e{number}", name)),
                    name,
                    time,
                    Items(("ä", "b"), (1, 2)),
                    version=str(chance.randrange(2)),
                )
            )
        batches.append(batch)
    return batches


def store_all(path, batches):
    with SQLiteStore(path, group_seconds=0) as store:
        outcomes = [outcome for batch in batches for outcome in store.append("music", batch)]
        store.verify()
        found = [
            read_back(store, "music"),
            [store.find_labels("music", event.ranking_id) for batch in batches for event in batch],
            store.count_pending("music"),
            store.counters("music"),
            store.versions("music"),
        ]
    return outcomes, found


@pytest.mark.parametrize("seed", range(4))
def test_a_batch_is_stored_as_its_events_one_by_one(tmp_path, seed):
    batches = make_batches(seed)
    one_by_one = [[event] for batch in batches for event in batch]
    found = store_all(tmp_path / "batches.db", batches)
    assert found == store_all(tmp_path / "events.db", one_by_one)
    assert {outcome.status for outcome in found[0]} == {"accepted", "duplicate", "conflict"}


def test_batches_that_are_stored_together_are_counted_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("rankscope.monitor.intake.files.AT_ONCE", 7)
    lines = [
        {"ranking_id": f"r{number % 50}", "time": number % 100, "doc_ids": ["a"], "size": 1}
        for number in range(100)
    ]
    lines[33] = {"time": 0}
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    def ingest(most):
        monkeypatch.setattr(ingestion, "MOST_EVENTS", most)
        with SQLiteStore(tmp_path / f"{most}.db", group_seconds=0) as store:
            made = Ingestion(StoreSink(store, "music"), "rankings", now=lambda: 0)
            made.take(str(log))
        return made.ingested

    assert ingest(1) == ingest(30) == ingest(20_000)
