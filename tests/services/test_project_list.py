"""The list of projects in PostgreSQL: rows are those of SQLite."""

from __future__ import annotations

import pytest
from rankscope.monitor.server.pages.projects import list_projects
from rankscope.monitor.store import open_store
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.many_projects import (
    copy_project,
    evaluate,
    log_days,
    make_fall,
    put_incidents,
)
from tests.monitor.server.service import NOW


def fill(store):
    assert store.take_evaluation()
    log_days(store, "music", days=9, values=2)
    evaluate(store, "music")
    copy_project(store, "music", "films")
    put_incidents(store, "films", make_fall(1))


@pytest.mark.slow
def test_rows_are_the_same_whatever_the_database(cluster, tmp_path):
    with open_store(cluster.url()) as one, SQLiteStore(tmp_path / "a.db") as other:
        for store in (one, other):
            fill(store)
        rows = [list_projects(store, store.projects(), NOW) for store in (one, other)]
        assert [str(row) for row in rows[0]] == [str(row) for row in rows[1]]
        assert [row.project for row in rows[0]] == ["films", "music"]
