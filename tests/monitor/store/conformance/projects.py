"""What every store guarantees for keys, configurations and windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from rankscope.errors import UsageError
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.keys import AuditEntry, authenticate, make_key
from rankscope.monitor.store.records import CellRow, HourRow, OpenHour, Progress
from rankscope.monitor.store.store import Store

from tests.monitor.store.conformance.events import Open
from tests.refusals import refuses


class ProjectConformance:
    """Tests of what a project has besides events."""

    def test_a_key_opens_its_project_until_it_is_revoked(self, opened: Open) -> None:
        key, shown = make_key("music", ["read", "ingest"], name="search", now=7)
        with opened() as store:
            store.add_key(key, "root")
            key = replace(key, creator="root")
            assert authenticate(store.find_key, shown.reveal(), 8) == key
        with opened() as store:
            assert (store.keys("music"), store.keys("films")) == ([key], [])
            assert not store.revoke_key("films", key.key_id, 8, "root")
            assert authenticate(store.find_key, shown.reveal(), 8) == key
            assert store.revoke_key("music", key.key_id, 9, "root")
            assert not store.revoke_key("music", key.key_id, 10, "root")
            assert authenticate(store.find_key, shown.reveal(), 9) is None
            assert store.keys("music") == [replace(key, revoked=9)]
            made = '{"name": "search", "scopes": ["ingest", "read"]}'
            assert store.audit("music") == [
                AuditEntry(7, "root", "key.create", key.key_id, "", made),
                AuditEntry(9, "root", "key.revoke", key.key_id),
            ]
            assert (store.audit("films"), store.projects()) == ([], ["music"])

    def test_a_project_keeps_a_key_that_makes_others(self, store: Store) -> None:
        ann, _ = make_key("music", ["admin"], name="ann", now=1)
        ben, _ = make_key("music", ["admin"], name="ben", now=2)
        log, _ = make_key("music", ["ingest"], name="log", now=3)
        with refuses(UsageError, "no_administrator"):
            store.add_key(log, "root", keeps_admin=True)
        assert (store.keys("music"), store.audit("music")) == ([], [])
        for key in (ann, log, ben):
            store.add_key(key, "root", keeps_admin=True)
        assert store.revoke_key("music", ann.key_id, 4, "root", keeps_admin=True)
        with pytest.raises(UsageError):
            store.revoke_key("music", ben.key_id, 5, "root", keeps_admin=True)
        assert store.revoke_key("music", log.key_id, 6, "root", keeps_admin=True)
        assert [key.revoked for key in store.keys("music")] == [4, None, 6]

    def test_the_last_configuration_is_current(self, opened: Open) -> None:
        with opened() as store:
            assert store.configuration("music") is None
            store.configure("music", '{"a": 1}', 5, "me")
            store.configure("music", '{"a": 2}', 6, "you")
            store.configure("films", '{"a": 3}', 7, "me")
        with opened() as store:
            assert store.configuration("music") == '{"a": 2}'
            assert store.audit("music") == [
                AuditEntry(5, "me", "configuration.set", "music", "", '{"a": 1}'),
                AuditEntry(6, "you", "configuration.set", "music", '{"a": 1}', '{"a": 2}'),
            ]

    def test_new_windows_replace_those_of_the_same_time(self, opened: Open) -> None:
        one, other = bytes(16), bytes([1] * 16)
        cell = CellRow(HOUR, 0, "[]", "production", "m", "3", False, b"1", b"2", b"3", b"")
        mature, day = cell._replace(is_mature=True), cell._replace(length=DAY)
        tv = mature._replace(slice='[["device", "tv"]]', spread=b"4")
        later = cell._replace(start=9)
        hours = [HourRow(0, b"5", 6, 7, "[8]"), HourRow(9, b"", 0, 0, "[]")]
        done = Progress(8, 9, "{}", "")

        def put(
            store: Store,
            digest: bytes,
            replaced: dict[int, list[int]],
            cells: list[CellRow],
            progress: Progress,
            *,
            project: str = "music",
            open_hours: Sequence[OpenHour] = (),
        ) -> None:
            found = [hour for hour in hours if hour.start in replaced.get(HOUR, [])]
            store.put_windows(
                project,
                digest,
                replaced=replaced,
                cells=cells,
                hours=found,
                open_hours=open_hours,
                progress=progress,
            )

        with opened() as store:
            assert store.progress("music", one) is None
            early, late = OpenHour(0, 8, 2, is_behind=False), OpenHour(9, 8, 1, is_behind=True)
            starts = {HOUR: [0, 9], DAY: [0]}
            put(store, one, starts, [cell, later, day], done, open_hours=[early, late])
            put(store, other, {HOUR: [0]}, [cell], done)
            put(store, one, {HOUR: [0]}, [cell], done, project="films")
            assert store.open_hours("music", one) == [early, late]
            put(store, one, {HOUR: [0]}, [tv, mature], replace(done, seq=10))
            assert store.open_hours("music", one) == [late]
            up_to_date = late._replace(is_behind=False)
            put(store, one, {}, [], replace(done, seq=10), open_hours=[up_to_date])
        with opened() as store:
            assert store.cells("music", one) == [tv, mature, later]
            assert store.cells("music", one, length=DAY) == [day]
            assert store.cells("music", one, 0, 9, slice="[]") == [mature]
            assert store.hours("music", one) == hours
            assert store.hours("music", one, 1) == hours[1:]
            assert store.open_hours("music", one) == [up_to_date]
            assert store.progress("music", one) == replace(done, seq=10)
            store.drop_windows("music", keep=[one, other])
            assert store.cells("music", other) == [cell]
            store.drop_windows("music", keep=[one])
            assert (store.cells("music", other), store.hours("music", other)) == ([], [])
            assert store.progress("music", other) is None
            assert store.open_hours("music", other) == []
            assert store.cells("films", one) == [cell]
            assert len(store.cells("music", one)) == 3
