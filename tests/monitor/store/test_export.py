"""What is written as Parquet can be read as the same events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rankscope import FileError, UsageError
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.store.export import export_parquet
from rankscope.monitor.store.records import Exported
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.store.test_deleting import EVENTS
from tests.refusals import refuses

EXPORTED = [*EVENTS[:3], EVENTS[4], EVENTS[3], *EVENTS[5:7]]
"""In the order of files; the last label waits for its ranking."""


def rows_of(path: Path) -> list[dict[str, Any]]:
    rows = pq.read_table(path).to_pylist()
    for row in rows:
        if "attributes" in row:
            row["attributes"] = dict(row["attributes"])
    return rows


@pytest.mark.parametrize("size", [1, 100])
def test_what_is_exported_is_read_as_the_same_events(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_span_of_time_is_exported(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", EVENTS)
        found = export_parquet(store, "music", tmp_path, since=HOUR, until=HOUR + 6)
        assert found == Exported(1, 2)


def test_a_span_that_is_over_before_it_begins_is_refused(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "events.db") as store, refuses(UsageError, "bad_period"):
        export_parquet(store, "music", tmp_path / "out", since=DAY, until=DAY)
    assert not (tmp_path / "out").exists()


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "labels.parquet").write_text("mine")
    with SQLiteStore(tmp_path / "events.db") as store, refuses(FileError, "io"):
        export_parquet(store, "music", tmp_path)
    assert (tmp_path / "labels.parquet").read_text() == "mine"
    assert not list(tmp_path.glob(".export-*"))
    (tmp_path / "file").write_text("")
    with SQLiteStore(tmp_path / "events.db") as store, pytest.raises(FileError):
        export_parquet(store, "music", tmp_path / "file")
