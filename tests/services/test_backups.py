"""Backups in a bucket, drills with a dump of PostgreSQL, and deletion there beside a service."""

from __future__ import annotations

import os
import shlex
import subprocess

import psycopg
import pytest
from rankscope._cli import main
from rankscope.errors import FileError, UsageError
from rankscope.monitor import Configuration, Monitor, define
from rankscope.monitor.backups import (
    BackupPlan,
    BackupSchedule,
    find_backup,
    make_backup,
    prune_backups,
    restore_backup,
)
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.setup.plan import delete_projects
from rankscope.monitor.store import open_store
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.postgres.dump import restore_dump
from rankscope.monitor.store.postgres.store import _count_key_changes
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.store.conformance import make_label, make_ranking, read_back
from tests.refusals import refuses
from tests.services.buckets import serve_bucket

NOW = 20_780 * DAY
PLACE = "s3://kept/backups"
CLICKS = Configuration(definition=define(positive="click", window="1h"), baseline=None)


@pytest.fixture
def bucket(monkeypatch):
    with serve_bucket(monkeypatch, "kept") as system:
        yield system


def fill(store):
    monitor = Monitor(store, "music", clock=lambda: NOW)
    monitor.configure(CLICKS)
    store.append("music", [make_ranking(number) for number in range(20)])
    store.append("music", [make_label(number, number) for number in range(20)])
    monitor.evaluate()


# Buckets.


@pytest.mark.usefixtures("bucket")
def test_a_backup_in_a_bucket_is_restored_and_older_ones_are_removed(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        fill(store)
        before = read_back(store, "music", 100)
        made = [make_backup(store, PLACE, now=NOW + day * DAY) for day in range(2)]
        assert find_backup(PLACE) == made[1]
        restored = restore_backup(made[0].location, tmp_path / "restored.db")
        assert restored == made[0]
        with SQLiteStore(tmp_path / "restored.db") as opened:
            opened.verify()
            assert read_back(opened, "music", 100) == before
        store.append("music", [make_ranking(99)])
        made.append(make_backup(store, PLACE, now=NOW + 2 * DAY))
        assert prune_backups(PLACE, 1, now=NOW + 2 * DAY) == 2
        with refuses(FileError, "backup_unreachable"):
            find_backup(made[0].location)
        restore_backup(PLACE, tmp_path / "again.db")
    with SQLiteStore(tmp_path / "again.db") as opened:
        opened.verify()
        assert "ranking-99" in read_back(opened, "music", 100)
    with (
        SQLiteStore(tmp_path / "other.db") as other,
        refuses(UsageError, "backup_place", match="backups of another store"),
    ):
        make_backup(other, PLACE, now=NOW)


def test_a_damaged_backup_in_a_bucket_is_refused(bucket, tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        fill(store)
        made = make_backup(store, PLACE, now=NOW)
    with bucket.open_output_stream(f"kept/backups/{made.database.path}") as file:
        file.write(b"SQLite format 3\0")
    with refuses(FileError, "backup_damaged", match="it is not the file that was written"):
        restore_backup(PLACE, tmp_path / "restored.db")
    assert not list(tmp_path.glob("restored*"))


def test_a_bucket_that_is_gone_is_reported_and_tried_again(tmp_path, monkeypatch):
    clock = [NOW]
    with SQLiteStore(tmp_path / "events.db") as store:
        plan = BackupPlan(PLACE, HOUR, 2)
        schedule = BackupSchedule(store, plan, now=lambda: clock[0])
        with serve_bucket(monkeypatch, "kept") as system:
            system.delete_dir("kept")
            with refuses(FileError, "backup_unreachable"):
                schedule.step()
            assert schedule.last is None
            system.create_dir("kept")
            clock[0] += HOUR
            schedule.step()
            assert schedule.last is not None
            assert schedule.last.time == clock[0]


# PostgreSQL.


def dump(url, file):
    """Make a backup as the error says."""
    with open_store(url) as store, pytest.raises(UsageError) as refused:
        make_backup(store, str(file.parent), now=NOW)
    assert refused.value.code == "store_backup"
    command = shlex.split(refused.value.hint.partition("`")[2].rpartition("`")[0])
    environment = os.environ | {"PGUSER": "postgres"}
    subprocess.run(command, env=environment, check=True, cwd=file.parent)


def test_a_dump_is_restored_and_verified(cluster, tmp_path, capfd):
    url = cluster.url("drilled")
    with open_store(url) as store:
        fill(store)
        before = read_back(store, "music", 100)
    dump(url, tmp_path / "rankings.dump")
    with psycopg.connect(url.partition("&schema")[0], autocommit=True) as connection:
        connection.execute("CREATE DATABASE drill ENCODING 'UTF8' TEMPLATE template0")
    target = url.replace("/postgres?", "/drill?")
    words = ("monitor", "restore", str(tmp_path / "rankings.dump"), target)
    assert main([*words, "--verify", "--against", url]) == 0
    assert capfd.readouterr().out.count(": equal\n") == 2
    with open_store(target) as store:
        assert read_back(store, "music", 100) == before
    assert main([*words]) == 2
    assert "has a schema drilled already" in capfd.readouterr().err
    (tmp_path / "text.dump").write_text("no dump")
    with refuses(FileError, "backup_damaged", match="cannot be restored"):
        restore_dump(str(tmp_path / "text.dump"), target.replace("drilled", "other"))
    damaged = bytearray((tmp_path / "rankings.dump").read_bytes())
    del damaged[len(damaged) // 2 :]
    (tmp_path / "half.dump").write_bytes(damaged)
    with psycopg.connect(url.partition("&schema")[0], autocommit=True) as connection:
        connection.execute("CREATE DATABASE empty ENCODING 'UTF8' TEMPLATE template0")
    empty = url.replace("/postgres?", "/empty?")
    with refuses(FileError, "backup_damaged"):
        restore_dump(str(tmp_path / "half.dump"), empty)
    with psycopg.connect(empty.partition("&schema")[0]) as connection:
        found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'drilled'")
        assert found.fetchone() is None


def test_another_process_forgets_the_numbers_of_a_project_that_is_deleted(cluster):
    url = cluster.url()
    with open_store(url) as one, open_store(url) as other:
        for store, numbers in ((one, range(20)), (other, range(20, 40))):
            store.append("music", [make_ranking(number) for number in numbers])
        one.append("books", [make_ranking(1)])
        one.add_key(make_key("music", ["admin"], name="k", now=NOW)[0], "ann")
        before = other.query(_count_key_changes)
        delete_projects(one, ["music"], now=NOW, actor="ann")
        one.add_key(make_key("books", ["admin"], name="k", now=NOW)[0], "ann")
        assert other.query(_count_key_changes) != before  # although there are as many keys
        assert other.projects() == ["books"]
        # Both know the context of these rankings from before.
        other.append("music", [make_ranking(number) for number in range(20)])
        one.append("music", [make_ranking(number) for number in range(20, 40)])
        for store in (one, other):
            assert len(read_back(store, "music", 100)) == 40
            assert [version.rankings for version in store.versions("music")] == [40]
            store.verify()
        assert len(read_back(one, "books")) == 1
        assert one.audit("music")[-1].action == "project.delete"
