"""Stores of earlier versions open, with everything that they had."""

from __future__ import annotations

import re
import sqlite3
import tarfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope import FileError
from rankscope.monitor import Monitor
from rankscope.monitor.store.sqlite import upgrade as upgrading
from rankscope.monitor.store.sqlite.store import SQLiteStore, open_sqlite_reader
from rankscope.monitor.store.tables.migrations import STEPS
from rankscope.monitor.store.tables.schema import OLDEST, VERSION
from rankscope.records import replace

FIXTURES = Path(__file__).with_name("fixtures")
STORED = sorted(FIXTURES.glob("version-*.tar.gz"))
START = datetime(2026, 11, 1, tzinfo=UTC)
BY_STATUS = "SELECT status, count(*) FROM outbox GROUP BY status ORDER BY status"


def unpack(fixture: Path, folder: Path) -> Path:
    """Unpack a stored store, and return its path."""
    with tarfile.open(fixture) as tar:
        tar.extractall(folder, filter="data")
    return folder / "events.db"


@pytest.fixture(params=STORED, ids=lambda path: path.name)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A store of an earlier version."""
    return unpack(request.param, tmp_path)


def read_schema(path: Path) -> dict[str, object]:
    """The tables of a store with their columns and keys, and its indexes with theirs."""
    with closing(sqlite3.connect(path)) as connection:
        found: dict[str, object] = {}
        for kind, name, table in connection.execute(
            "SELECT type, name, tbl_name FROM sqlite_master"
        ):
            if kind == "table":
                columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
                keys = connection.execute(f"PRAGMA foreign_key_list({name})").fetchall()
                found[name] = sorted((*row[1:4], row[5]) for row in columns), sorted(keys)
            elif not name.startswith("sqlite_"):
                indexed = connection.execute(f"PRAGMA index_info({name})").fetchall()
                found[name] = table, [row[2] for row in indexed]
        return found


def count_rows(path: Path, *tables: str) -> list[int]:
    """How many rows tables have."""
    with closing(sqlite3.connect(path)) as connection:
        return [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables]  # noqa: S608


def test_every_version_has_a_step_and_every_one_but_the_first_is_stored() -> None:
    assert [*STEPS] == [*range(OLDEST + 1, VERSION + 1)]
    stored = [int(re.findall(r"version-(\d+)", path.name)[0]) for path in STORED]
    assert {*range(OLDEST + 1, VERSION)} <= {*stored}


def test_a_store_that_was_migrated_has_the_tables_of_a_new_one(old: Path, tmp_path: Path) -> None:
    SQLiteStore(old).close()
    SQLiteStore(tmp_path / "new.db").close()
    assert read_schema(old) == read_schema(tmp_path / "new.db")


def test_nothing_that_was_stored_is_lost(old: Path) -> None:
    tables = ("events", "rankings", "labels", "cells", "keys", "outbox", "webhooks", "alerts")
    before = count_rows(old, *tables)
    with closing(sqlite3.connect(old)) as connection:
        statuses = connection.execute(BY_STATUS).fetchall()
    with SQLiteStore(old) as store:
        store.verify()
        assert {*store.projects()} == {"films", "music"}
        assert [key.name for key in store.keys("music")] == ["for the tests"]
        webhook = store.find_webhook("music")
        assert webhook is not None
        secret = store.find_secret(webhook.secret_id)
        assert secret is not None
        assert secret.reveal().startswith("whsec_")
        assert store.count_notifications("music") == dict(statuses)
    assert count_rows(old, *tables) == before
    # Opened once more, it is as it was.
    SQLiteStore(old).close()
    assert count_rows(old, *tables) == before


def test_events_of_an_earlier_version_are_known_when_they_are_sent_again(old: Path) -> None:
    with SQLiteStore(old) as store:
        shown = store.find_ranking("music", "production 0 phone 0")
        assert shown is not None
        assert shown.event_id == shown.ranking_id
        labels = store.find_labels("music", shown.ranking_id)
        new = replace(shown, event_id="new", ranking_id="new")
        sent = [shown, *labels, replace(shown, time=shown.time + 1), new]
        found = [outcome.status for outcome in store.append("music", sent)]
        assert found == ["duplicate", *["duplicate"] * len(labels), "conflict", "accepted"]
        assert store.append("music", [new])[0].status == "duplicate"


def test_a_reader_names_the_version_and_changes_nothing(
    old: Path, request: pytest.FixtureRequest
) -> None:
    fixture: Path = request.node.callspec.params["old"]
    version = int(re.findall(r"\d+", fixture.name)[0])
    before = old.read_bytes()
    if version < VERSION:
        with pytest.raises(FileError, match=f"version {version}; this release uses version"):
            open_sqlite_reader(old)
    assert old.read_bytes() == before


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unpack(FIXTURES / "version-2.tar.gz", tmp_path)
    before = read_schema(path)

    def fail(*_args: object, **_more: object) -> None:
        raise FileError("expected a disk, found none", code="store_full")

    with monkeypatch.context() as broken:
        broken.setattr(upgrading, "write_facts", fail)
        with pytest.raises(FileError):
            SQLiteStore(path)
    assert read_schema(path) == before
    SQLiteStore(path).close()
    assert read_schema(path) != before


class TestVersion3:
    """What alerts of version 2 become."""

    @pytest.fixture
    def music(self, tmp_path: Path) -> Monitor:
        path = unpack(FIXTURES / "version-2.tar.gz", tmp_path)
        with Monitor.open(str(path), "music", now=lambda: START + timedelta(days=6)) as monitor:
            yield monitor

    def test_each_stream_of_a_rule_in_alert_is_an_open_incident(self, music: Monitor) -> None:
        incidents = {one.slice: one for one in music.incidents()}
        assert incidents.keys() == {(), (("device", "tv"),)}
        for incident in incidents.values():
            assert (incident.rule, incident.kind, incident.state) == (
                "by device",
                "quality",
                "open",
            )
            # The alert came two hours after the third day, on which the drop began.
            assert incident.opened == START + timedelta(days=3, hours=2)
            assert incident.began == START + timedelta(days=2)
            assert [(one.event, one.channel) for one in incident.notified] == [
                ("opened", "log"),
                ("opened", "webhook"),
            ]
            _, history = music.incident(incident.incident_id)
            assert [change.action for change in history] == ["opened"]
        tv = incidents[("device", "tv"),]
        assert (tv.evidence["value"], round(tv.evidence["floor"], 4)) == (0.375, 0.7849)
        assert len({incident.group for incident in incidents.values()}) == 1

    def test_rules_keep_their_channels_and_their_silence(self, music: Monitor) -> None:
        channels = {rule.name: rule.channels for rule in music.rules()}
        assert channels == {"by device": None, "quiet": ("log",), "value": None}
        states = {state.rule.name: state for state in music.check()}
        assert states["quiet"].silenced_until == START + timedelta(days=90)
        assert states["by device"].state == "ALERT"
        assert states["value"].state == "OK"

    def test_evidence_that_was_collected_stays_valid(self, music: Monitor) -> None:
        before = {one.incident_id for one in music.incidents()}
        assert {event for event, _ in music.evaluate().events} == {"reminded"}
        assert {one.incident_id for one in music.incidents()} == before
        states = {state.rule.name: state.state for state in music.check()}
        assert states["by device"] == "ALERT"
        assert not [entry for entry in music.store.audit("music") if entry.action == "rule.restart"]

    def test_a_project_without_rules_has_no_incidents(self, music: Monitor) -> None:
        assert music.store.list_incidents("films") == []
        assert music.store.list_rules("films") == []
