"""Statements that the driver runs itself are within the transaction, and their errors are ours."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from rankscope.errors import DeadlineError, FileError
from rankscope.monitor.store.deadline import Deadline, limit_reads
from rankscope.monitor.store.log.tally import BLOCKS, FIND
from rankscope.monitor.store.sqlite.store import SQLiteStore, open_sqlite_reader
from rankscope.monitor.store.tables.statements import Prepared
from sqlalchemy import text

from tests.monitor.store.conformance.samples import make_ranking
from tests.refusals import refuses

ENDLESS = Prepared(
    text("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
)


def test_what_is_read_first_and_what_follows_are_of_one_moment(store: SQLiteStore) -> None:
    store.append("music", [make_ranking(1)])
    with store.engine.connect() as connection:
        before = FIND.fetch(connection, name=BLOCKS)
        store.append("music", [make_ranking(2)])
        assert FIND.fetch(connection, name=BLOCKS) == before
    with store.engine.connect() as connection:
        assert FIND.fetch(connection, name=BLOCKS) != before


def test_a_statement_of_the_driver_stops_at_the_deadline_of_a_read(store: SQLiteStore) -> None:
    with limit_reads(Deadline(0.05)), pytest.raises(DeadlineError):
        store.query(ENDLESS.fetch)
    assert store.projects() == []


def test_damage_that_the_driver_finds_is_an_error_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with SQLiteStore(path) as store:
        store.append("music", [make_ranking(1)])
    with sqlite3.connect(path) as opened:
        opened.execute("ALTER TABLE bodies RENAME TO others")
    with open_sqlite_reader(path) as reader, refuses(FileError, "store_damaged"):
        list(reader.read("music"))
