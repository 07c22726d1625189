from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from rankscope.errors import FileError, UsageError
from rankscope.monitor import backups
from rankscope.monitor.backup_places import BackupFolder, compute_checksum
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.notify.webhook import make_secret
from rankscope.monitor.store import open_reader
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import Webhook
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.store.conformance import make_label, make_ranking, read_back
from tests.monitor.store.processes import run_python
from tests.refusals import refused, refuses

NOW = 20_780 * DAY
CLICKS = Configuration(definition=define(positive="click", window="1h"), baseline=None)


@pytest.fixture
def store(tmp_path):
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        monitor = Monitor(opened, "music", clock=lambda: NOW)
        monitor.configure(CLICKS)
        opened.append("music", [make_ranking(number) for number in range(20)])
        opened.append("music", [make_label(number, number) for number in range(20)])
        monitor.evaluate()
        opened.append("music", [make_ranking(number) for number in range(20, 25)])
        yield opened


@pytest.fixture
def place(tmp_path):
    return tmp_path / "backups"


def make(store, place, now=NOW):
    return backups.make_backup(store, str(place), now=now)


def restore(place):
    return backups.restore_backup(str(place), place.with_name("restored.db"))


def test_what_is_restored_has_the_same_events_and_values(store, place):
    made = make(store, place)
    store.append("music", [make_ranking(99)])
    assert restore(place) == made == backups.find_backup(made.location)
    assert made.mark.seq == 45
    assert made.time == NOW
    assert made.size == sum(path.stat().st_size for path in place.rglob("*.db"))
    with SQLiteStore(place.with_name("restored.db")) as opened:
        opened.verify()
        there = read_back(store, "music", 100)
        del there["ranking-99"]
        assert read_back(opened, "music", 100) == there
        assert opened.cells("music", CLICKS.digest) == store.cells("music", CLICKS.digest)


def test_only_the_owner_may_read_a_backup(store, place, tmp_path):
    before = os.umask(0)
    try:
        make(store, place)
        restore(place)
    finally:
        os.umask(before)
    copies = [*place.rglob("*"), *tmp_path.glob("restored.db*")]
    for path in [place, *copies]:
        allowed = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == allowed, path


def test_a_backup_has_no_secret(store, place):
    secret = make_secret()
    webhook = Webhook("https://hooks.example.com/", secret, False, NOW)
    store.set_webhook("music", webhook, AuditEntry(NOW, "ann", "webhook.set", "music"))
    assert secret.reveal() in store.path.with_name("events.db.secrets").read_text()
    make(store, place)
    content = b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())
    assert secret.reveal().encode() not in content


def test_the_newest_backups_are_kept(store, place):
    made = [make(store, place, NOW + day * DAY) for day in range(3)]
    assert backups.prune_backups(str(place), 2, now=NOW + 2 * DAY) == 1
    assert {path.name for path in place.iterdir()} == {
        "_store",
        *(backup.name for backup in made[1:]),
    }


def test_what_a_killed_backup_left_is_removed_a_day_later(store, place):
    make(store, place)
    begun = place / "2026-11-24T00-00-00.000000Z"
    begun.mkdir()
    (begun / "begun").touch()
    start = backups._read_name(begun.name)
    backups.prune_backups(str(place), 1, now=start + DAY)
    assert (begun / "begun").exists()  # it may be being made
    backups.prune_backups(str(place), 1, now=start + DAY + 1)
    assert not begun.exists()
    restore(place)


def test_a_place_belongs_to_one_store(store, place, tmp_path):
    make(store, place)
    with SQLiteStore(tmp_path / "other.db") as other:
        with refuses(UsageError, "backup_place", match="backups of another store"):
            make(other, place)
        full = tmp_path / "full"
        full.mkdir()
        (full / "letter.txt").touch()
        with refuses(UsageError, "backup_place", match="is not empty"):
            make(other, full)
        # Nor is a service started with it.
        with refuses(UsageError, "backup_place", match="is not empty"):
            backups.BackupSchedule(other, backups.BackupPlan(str(full), DAY, 1), now=lambda: NOW)


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("what", ["store.db", "backup.json"])
@pytest.mark.parametrize("how", [damage, Path.unlink], ids=["changed", "missing"])
def test_a_damaged_backup_is_refused_and_leaves_nothing(store, place, tmp_path, what, how):
    made = make(store, place)
    how(next(place.rglob(what)))
    error = refused(
        lambda: backups.restore_backup(made.location, tmp_path / "restored.db"),
        "backup_unreachable" if (what, how) == ("backup.json", Path.unlink) else "backup_damaged",
    )
    assert error.file.startswith(str(place))
    assert [path.name for path in tmp_path.glob("restored*")] == []


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("what", ["store.db", "backup.json"])
@pytest.mark.parametrize("how", [damage, truncate, Path.unlink])
def test_if_the_newest_backup_is_damaged_the_next_older_one_is_restored_and_this_is_reported(
    store, place, what, how
):
    older, newest = (make(store, place, NOW + day * DAY) for day in range(2))
    how(place / newest.name / what)
    restored = restore(place)
    assert (restored.location, restored.time) == (older.location, NOW)
    [error] = restored.skipped
    assert error.code == "backup_damaged"
    assert error.file in {newest.location, f"{newest.location}/{what}"}
    with SQLiteStore(place.with_name("restored.db")) as opened:
        opened.verify()


def test_a_backup_that_is_being_made_is_skipped_and_reported(store, place):
    made = make(store, place)
    begun = place / make(store, place, NOW + DAY).name
    (begun / "backup.json").rename(begun / "begun")
    restored = restore(place)
    assert restored.location == made.location
    assert [(error.file, error.message) for error in restored.skipped] == [
        (str(begun), "the backup is damaged: it is not finished")
    ]


def test_if_all_backups_are_damaged_the_error_names_each(store, place, tmp_path):
    made = [make(store, place, NOW + day * DAY) for day in range(3)]
    damage(place / made[0].name / "store.db")
    truncate(place / made[1].name / "store.db")
    (place / made[2].name / "backup.json").unlink()
    error = refused(
        lambda: restore(place),
        "backup_damaged",
        f"{made[2].name}: backup.json is missing; "
        f"{made[1].name}/store.db: it is not the file that was written; "
        f"{made[0].name}/store.db: it is not the file that was written",
    )
    assert error.file == str(place)
    assert list(tmp_path.glob("restored*")) == []


def test_a_backup_that_cannot_be_reached_is_not_skipped(store, place, tmp_path, monkeypatch):
    newest = [make(store, place, NOW + day * DAY) for day in range(2)][1]
    reads = BackupFolder.read

    def fail(place, path, most):
        if newest.name in path:
            raise FileError(newest.name, hint="wait", code="backup_unreachable")
        return reads(place, path, most)

    monkeypatch.setattr(BackupFolder, "read", fail)
    with refuses(FileError, "backup_unreachable", match=newest.name):
        restore(place)
    assert list(tmp_path.glob("restored*")) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"format": 2}',
        '{"format": 1, "store": "x", "last_seq": -1, "last_commit": 0, "database": {}}',
        '{"format": 1, "database": [1e999, ""]}',
        '{"format": 1, "database": [1, 2, 3]}',
        '{"format": 1, "database": [1, "zz"]}',
        "\ud800",
    ],
)
def test_a_list_that_is_none_is_refused(store, place, text):
    made = make(store, place)
    (place / made.name / "backup.json").write_text(text, errors="surrogatepass")
    with refuses(FileError, "backup_damaged", match="backup.json: "):
        restore(place)


def test_a_database_that_is_not_as_its_list_says_is_refused(store, place):
    folder = place / make(store, place).name
    database, listed = folder / "store.db", folder / "backup.json"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE meta SET value = '7' WHERE name = 'last_commit'")
    (folder / "store.db-wal").unlink(missing_ok=True)
    said = json.loads(listed.read_text())
    said["database"] = database.stat().st_size, compute_checksum(database).hex()
    listed.write_text(json.dumps(said))
    with refuses(FileError, "backup_damaged"):
        restore(place)


def test_a_store_is_restored_to_a_new_place_only(store, place, tmp_path):
    make(store, place)
    for ending in ("", "-wal", ".high-water", ".secrets"):
        there = tmp_path / f"there{ending}"
        there.touch()
        with refuses(FileError, "io", match=r"exists already"):
            backups.restore_backup(str(place), tmp_path / "there")
        there.unlink()
    with refuses(FileError, "io", match="the folder does not exist"):
        backups.restore_backup(str(place), tmp_path / "none" / "restored.db")
    with refuses(UsageError, "no_backup"):
        backups.restore_backup(str(tmp_path / "empty"), tmp_path / "restored.db")


KILLED = """
import os, signal, sys
from pathlib import Path
from rankscope.monitor import backups
from rankscope.monitor import backup_places as files
from rankscope.monitor.store import open_reader
steps = int(sys.argv[3])
inner = files._publish
def publish(*given):
    global steps
    inner(*given)
    steps -= 1
    if not steps:
        os.kill(os.getpid(), signal.SIGKILL)
files._publish = publish
with open_reader(sys.argv[1]) as store:
    backups.make_backup(store, sys.argv[2], now=int(sys.argv[4]))
"""


@pytest.mark.parametrize("steps", range(1, 5))
def test_a_backup_that_is_killed_is_none_and_the_one_before_stays(store, place, tmp_path, steps):
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    url = f"sqlite:///{store.path}"
    done = run_python(script, url, place, steps, NOW)
    assert done.returncode == -signal.SIGKILL, done.stderr
    # Its owner, a note, the database, the list: only the last one makes it a backup.
    assert (backups.find_backup(str(place)) is None) == (steps < 4)
    made = make(store, place, NOW + DAY)
    backups.prune_backups(str(place), 1, now=NOW + 2 * DAY)
    assert [path.name for path in place.iterdir() if path.name[0] == "2"] == [made.name]
    restore(place)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_makes_no_backup(store, place, monkeypatch):
    def fill(_source, target):
        with Path("/dev/full").open("wb", buffering=0) as full:
            full.write(b"x")
        target.touch()

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", fill)
        with refuses(FileError, "store_full", match="No space left"):
            make(store, place)
    assert backups.find_backup(str(place)) is None
    make(store, place, NOW + 1)


def test_backups_are_made_when_they_are_due_whenever_the_service_is_started(
    store, place, monkeypatch
):
    clock = [NOW]

    def schedule():
        return backups.BackupSchedule(
            store, backups.BackupPlan(str(place), DAY, 2), now=lambda: clock[0]
        )

    def list_backups():
        return sorted(path.name for path in place.iterdir() if path.name[0] == "2")

    running = schedule()
    running.step()
    assert running.last.time == NOW
    for later, count in ((DAY - 1, 1), (DAY, 2), (2 * DAY - 1, 2)):
        clock[0] = NOW + later
        running = schedule()
        running.step()
        running.step()
        assert len(list_backups()) == count
    clock[0] = NOW + 2 * DAY
    with monkeypatch.context() as patched:
        patched.setattr(backups, "make_backup", lambda *_given, **_named: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            running.step()
        running.step()  # not again at once
        assert running.last.time == NOW + DAY
    clock[0] += backups.RETRY
    running.step()
    assert len(list_backups()) == 2
    assert backups.find_backup(str(place)).time == clock[0]


def test_a_store_of_another_process_can_be_backed_up(store, place):
    with open_reader(f"sqlite:///{store.path}") as reader:
        assert backups.make_backup(reader, str(place), now=NOW).mark.seq == store.last_seq
