"""SQLite finds what is read by the right index: nothing grows with what is not asked for."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from rankscope.monitor.store.records import Chosen
from rankscope.monitor.store.sqlite.connection import driver_of
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.store.tables.outbox import list_due
from sqlalchemy import event

from tests.monitor.store.conformance.samples import make_label, make_ranking

ASKED: dict[str, Callable[[SQLiteStore], object]] = {
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
def asked(tmp_path: Path) -> Iterator[Callable[[str], list[str]]]:
    """Gives the plans of the statements by which something is asked of a store."""
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", [make_ranking(number) for number in range(50)])
        store.append("music", [make_label(number, number) for number in range(50)])
        statements: list[str] = []

        def trace(raw: sqlite3.Connection, _record: object) -> None:
            raw.set_trace_callback(statements.append)

        event.listen(store.engine, "connect", trace)
        driver_of(store._connection).set_trace_callback(statements.append)

        def plans(name: str) -> list[str]:
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
def test_no_table_of_events_is_read_from_end_to_end(
    asked: Callable[[str], list[str]], name: str
) -> None:
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
def test_the_log_is_searched_by_its_indexes(asked: Callable[[str], list[str]], name: str) -> None:
    assert USED[name] in "\n".join(asked(name))
