"""No acknowledged transaction is lost in silence, and no damaged value is shown."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from rankscope import FileError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.doctor import examine, recompute_windows
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.notify.webhook import find_webhook
from rankscope.monitor.store.keys import AuditEntry, Secret, authenticate, make_key
from rankscope.monitor.store.log.removal import mark_deleted
from rankscope.monitor.store.records import OpenHour, Progress, RuleRow, Webhook
from rankscope.monitor.store.sqlite import startup as opening
from rankscope.monitor.store.sqlite.high_water import HighWater
from rankscope.monitor.store.sqlite.lock import InodeLock
from rankscope.monitor.store.sqlite.store import SQLiteStore, open_sqlite_reader
from rankscope.monitor.store.tables.outbox import set_webhook
from rankscope.monitor.store.tables.rules import save_rules
from rankscope.monitor.store.tables.windows import CELLS, HOURS, checksum_of

from tests.monitor.store.conformance.samples import make_label, make_ranking
from tests.monitor.store.copies import copy_store
from tests.monitor.test_refreshing import make_events
from tests.refusals import refused, refuses

MUSIC = Configuration(
    definition=define(
        measures=["nDCG@3", "RR@3"], positive={"click": 1, "buy": 3}, window=2 * 3600 + 1800
    ),
    attributes=("device", "country"),
)
NOW = 40 * HOUR
KEY, _ = make_key("music", ["read"], name="ann", now=1)
RULE = RuleRow(
    name="quality",
    rule="{}",
    progress="[]",
    state="OK",
    reason="",
    since=1,
    evaluated=1,
    silenced_until=None,
    revision=1,
)
AUDIT = AuditEntry(3, "ann", "webhook.set", "host")
HOOK = Webhook("https://example.com/hook", Secret("whsec_abc"), False, 3)


def put_progress(store):
    """Write how far windows are, and no event."""
    hour = OpenHour(0, 1, 1, is_behind=False)
    store.put_windows(
        "music",
        bytes(16),
        replaced={},
        cells=[],
        hours=[],
        open_hours=[hour],
        progress=Progress(1, 1, "{}", ""),
    )


WRITES = {
    "an event": lambda store: store.append("music", [make_ranking(9)]),
    "an event that was there, which is counted": lambda store: store.append(
        "music", [make_ranking(1)]
    ),
    "a rejected event, which is counted": lambda store: store.append("music", [], {"bad": 1}),
    "a new key": lambda store: store.add_key(
        make_key("music", ["read"], name="bob", now=1)[0], "me"
    ),
    "a revoked key": lambda store: store.revoke_key("music", KEY.key_id, 2, "me"),
    "a rule": lambda store: store.transact(
        partial(save_rules, project="music", rows=[RULE], audit=[AUDIT])
    ).result(),
    "a webhook": lambda store: store.transact(
        partial(set_webhook, project="music", webhook=HOOK, audit=AUDIT)
    ).result(),
    "a configuration": lambda store: store.configure("music", "{}", 2, "me"),
    "windows": put_progress,
    "dropped windows": lambda store: store.drop_windows("music", [b"none"]),
    "the mark of a retention": lambda store: store.transact(
        partial(mark_deleted, project="music", time=make_ranking(2).time)
    ).result(),
}


def copy_files(source, target, *endings):
    """Copy a store file by file, as a crash leaves it."""
    target.mkdir(exist_ok=True)
    for ending in endings or ("", "-wal", ".high-water", ".secrets"):
        file = source.with_name(source.name + ending)
        if file.exists():
            shutil.copy(file, target)
    return target / source.name


def cut(path, count=1):
    path.write_bytes(path.read_bytes()[:-count])


def read_all(folder):
    """The content of all files but the lock, and the index that SQLite makes of a log."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if not path.name.endswith((".lock", "-shm"))
    }


@pytest.fixture
def filled(tmp_path):
    """A store with a key, five events and windows, closed."""
    path = tmp_path / "filled" / "events.db"
    path.parent.mkdir()
    with SQLiteStore(path) as store:
        store.add_key(KEY, "me")
        store.append("music", [make_ranking(number) for number in range(5)])
        put_progress(store)
    return path


@pytest.mark.parametrize("write", WRITES)
def test_a_log_cut_by_one_byte_is_noticed_whatever_it_had_written(filled, tmp_path, write):
    with SQLiteStore(filled) as store:
        WRITES[write](store)
        crashed = copy_files(filled, tmp_path / "crashed")
    SQLiteStore(copy_files(crashed, tmp_path / "whole")).close()
    cut(crashed.with_name("events.db-wal"))
    before = read_all(crashed.parent)
    for _ in range(2):
        with refuses(FileError, "store_lost", match="is lost") as refused:
            SQLiteStore(crashed)
        assert "accept_loss=True" in refused.value.hint
        # What could be saved of it is still there.
        left = read_all(crashed.parent)
        assert {name: left[name] for name in before} == before
    assert KEY.revoked is None
    with SQLiteStore(crashed, accept_loss=True) as store:
        assert store.lost_commits() == 1
        assert store.lost_events() == (write == "an event")
        WRITES["a configuration"](store)
    with SQLiteStore(crashed) as store:
        assert store.configuration("music") == "{}"
        assert store.lost_commits() == 1


def test_a_key_that_was_revoked_stays_so(filled, tmp_path):
    key, secret = make_key("music", ["read"], name="bob", now=1)
    with SQLiteStore(filled) as store:
        store.add_key(key, "me")
        store.revoke_key("music", key.key_id, 2, "me")
        crashed = copy_files(filled, tmp_path / "crashed")
    assert authenticate(open_sqlite_reader(crashed).find_key, secret.reveal(), 3) is None
    cut(crashed.with_name("events.db-wal"))
    with pytest.raises(FileError, match="1 acknowledged transaction is lost"):
        SQLiteStore(crashed)


def test_a_group_is_one_transaction_with_one_number_and_one_sync(tmp_path, monkeypatch):
    written = []
    write = HighWater.write

    def count(self, mark, *closed):
        written.append(mark)
        write(self, mark, *closed)

    with SQLiteStore(tmp_path / "events.db", group_seconds=60, group_events=300) as store:
        monkeypatch.setattr(HighWater, "write", count)
        answers = [store.submit("music", [make_ranking(number)]) for number in range(300)]
        assert [answer.result()[0].seq for answer in answers] == list(range(1, 301))
        assert [mark.seq for mark in written] == [300]
        # What changes nothing has no number.
        assert not store.transact(lambda _: None, size=300).result()
        assert len(written) == 1


def test_a_backup_has_a_mark_that_fits(filled, tmp_path):
    with SQLiteStore(filled) as store:
        store.configure("music", "{}", 2, "me")
        copy_store(store, tmp_path / "copy.db")
    with SQLiteStore(tmp_path / "copy.db") as copy:
        assert copy.configuration("music") == "{}"
        copy.configure("music", "{ }", 3, "me")


def test_a_backup_put_beside_its_mark_is_recognized(filled):
    copy = filled.with_name("copy.db")
    with SQLiteStore(filled) as store:
        copy_store(store, copy)
        store.append("music", [make_ranking(8)])
    shutil.copy(copy, filled)  # the backup without its mark
    with pytest.raises(FileError, match="1 acknowledged event is lost") as refused:
        SQLiteStore(filled)
    assert "copy.db.high-water" in refused.value.hint
    assert "accept_loss" not in refused.value.hint
    shutil.copy(copy.with_name("copy.db.high-water"), filled.with_name("events.db.high-water"))
    SQLiteStore(filled).close()


def test_a_log_that_was_left_behind_is_named(filled, tmp_path):
    with SQLiteStore(filled) as store:
        store.append("music", [make_ranking(8)])
        moved = copy_files(filled, tmp_path / "moved", "", ".high-water")
        for _ in range(2):
            with pytest.raises(FileError, match="1 acknowledged event is lost") as refused:
                SQLiteStore(moved)
            assert "put back its log events.db-wal" in refused.value.hint
            assert "accept_loss" not in refused.value.hint
        shutil.copy(filled.with_name("events.db-wal"), moved.parent)
    with SQLiteStore(moved) as store:
        assert store.last_seq == 6


def test_a_mark_of_another_store_is_named(filled, tmp_path):
    other = tmp_path / "other.db"
    with SQLiteStore(other) as store:
        store.append("music", [make_ranking(8)])
    shutil.copy(other.with_name("other.db.high-water"), filled.with_name("events.db.high-water"))
    with pytest.raises(
        FileError, match="this is not the store that acknowledged 1 event"
    ) as refused:
        SQLiteStore(filled)
    assert "accept_loss" not in refused.value.hint


@pytest.fixture(scope="session")
def windows_once(tmp_path_factory):
    """The folder of a project with windows of a day and a half."""
    folder = tmp_path_factory.mktemp("windows")
    with open_windows(folder) as monitor:
        monitor.configure(MUSIC)
        monitor.store.append("default", make_events(1))
        monitor.evaluate()
    return folder


@pytest.fixture
def windows(windows_once, tmp_path):
    """That project, to be changed."""
    shutil.copytree(windows_once, tmp_path, dirs_exist_ok=True)
    with open_windows(tmp_path) as monitor:
        yield monitor


def open_windows(folder):
    return Monitor.open(f"{folder}/windows.db", now=lambda: to_datetime(NOW), threads=1)


def read_windows(monitor):
    digest = MUSIC.digest
    store = monitor.store
    return [
        *store.cells("default", digest),
        *store.cells("default", digest, length=DAY),
        *store.hours("default", digest),
    ]


def path_of(monitor):
    return Path(monitor.store.url.removeprefix("sqlite:///"))


@pytest.mark.slow
@pytest.mark.parametrize(("table", "columns"), [("cells", CELLS.names), ("hours", HOURS.names)])
def test_every_byte_of_windows_that_changes_is_noticed(windows, table, columns):
    asked = ", ".join(columns)
    with closing(sqlite3.connect(path_of(windows), isolation_level=None)) as connection:
        rows = connection.execute(
            f"SELECT rowid, checksum, project_id, digest, {asked} FROM {table} "  # noqa: S608
            "ORDER BY start LIMIT 1"
        ).fetchall()
        tried = 0
        for rowid, checksum, *values in rows:
            assert checksum_of(values) == checksum
            for name, value in zip(("project_id", "digest", *columns), values, strict=True):
                for changed in change_bytes(value):
                    connection.execute(
                        f"UPDATE {table} SET {name} = ? WHERE rowid = ?",  # noqa: S608
                        (changed, rowid),
                    )
                    with refuses(FileError, "store_damaged"):
                        windows.store.verify()
                    if name not in {"project_id", "digest", "length"}:
                        # Where the row is still found, it is not shown either.
                        with pytest.raises(FileError, match="is damaged"):
                            read_windows(windows)
                    tried += 1
                connection.execute(f"UPDATE {table} SET {name} = ? WHERE rowid = ?", (value, rowid))  # noqa: S608
    assert tried > 50
    windows.store.verify()


def change_bytes(value):
    """Yield a value with each of its bytes changed."""
    if isinstance(value, int):
        yield from (value ^ 1, value + 256)
        return
    raw = value.encode() if isinstance(value, str) else bytes(value)
    for at in range(len(raw)):
        changed = bytearray(raw)
        changed[at] ^= 0x01
        yield changed.decode() if isinstance(value, str) else bytes(changed)


def test_a_damaged_window_is_named(windows):
    with closing(sqlite3.connect(path_of(windows), isolation_level=None)) as connection:
        connection.execute(
            "UPDATE cells SET sums = zeroblob(length(sums)) WHERE rowid IN "
            "(SELECT rowid FROM cells WHERE length = ? AND version = '3' AND slice = '[]' "
            "AND environment = 'production' AND digest = ? ORDER BY start LIMIT 1)",
            (HOUR, windows.configuration.digest),
        )
    with refuses(FileError, "store_damaged") as damaged:
        windows.series("nDCG@3", every="hour")
    for said in ("1970-01-01T00:00:00", "version '3'", "slice '[]'", "environment 'production'"):
        assert said in damaged.value.message
    found = {one.name: one for one in examine(windows, path_of(windows)) if not one.is_good}
    assert found.keys() >= {"store", "windows"}
    assert "a stored cell is damaged" in found["windows"].told


def test_the_doctor_ends_its_checks_where_all_events_are_damaged(windows):
    with closing(sqlite3.connect(path_of(windows), isolation_level=None)) as connection:
        assert connection.execute("UPDATE bodies SET body = zeroblob(length(body))").rowcount
    found = examine(windows, path_of(windows), is_complete=True)
    assert {one.name for one in found if "is damaged" in one.told} == {"store", "windows"}
    assert found[-1].name == "notifications"


def test_the_doctor_recomputes_windows_from_the_events(windows):
    done = recompute_windows(windows.store, "default", MUSIC, is_complete=True, threads=1)
    assert done.wrong == ()
    assert done.hours == done.total > 24
    sampled = recompute_windows(windows.store, "default", MUSIC, threads=1)
    assert (sampled.hours, sampled.total, sampled.wrong) == (24, done.total, ())


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (
            "UPDATE cells SET sums = other.sums FROM cells AS other WHERE {one} AND {two}",
            "the hour",
        ),
        ("DELETE FROM cells WHERE {one}", "the hour"),
        ("DELETE FROM cells WHERE length = {day} AND slice = '[]' AND version = '3'", "the day"),
        ("DELETE FROM hours WHERE start = 0", "the hour"),
    ],
)
def test_the_doctor_finds_values_that_are_not_those_of_the_events(windows, change, wrong):
    theirs = "FROM cells WHERE length = {hour} AND slice = '[]' AND digest = x'{digest}'"
    of_windows = theirs.format(hour=HOUR, digest=windows.configuration.digest.hex())
    first, last = (f"(SELECT {end}(rowid) {of_windows})" for end in ("min", "max"))
    named = {"day": DAY, "one": f"cells.rowid = {first}", "two": f"other.rowid = {last}"}
    with closing(sqlite3.connect(path_of(windows), isolation_level=None)) as connection:
        assert connection.execute(change.format(**named)).rowcount
        # As if they had been stored like this: checksums show nothing.
        connection.create_function("checksum_of", -1, lambda *values: checksum_of(values))
        connection.execute(f"UPDATE cells SET checksum = checksum_of({', '.join(CELLS.checked)})")  # noqa: S608
    windows.store.verify()
    done = recompute_windows(windows.store, "default", MUSIC, is_complete=True, threads=1)
    assert any(one.startswith(wrong) for one in done.wrong)
    found = examine(windows, path_of(windows), is_complete=True)
    (finding,) = (one for one in found if one.name == "windows")
    assert not finding.is_good
    assert wrong in finding.told


def test_hours_to_which_events_came_are_left_out(windows):
    total = recompute_windows(windows.store, "default", MUSIC, threads=1).total
    windows.store.append("default", make_events(2)[:1])
    done = recompute_windows(windows.store, "default", MUSIC, is_complete=True, threads=1)
    assert done.wrong == ()
    assert done.total in {total, total - 1}
    windows.delete_before(to_datetime(10 * HOUR))
    kept = recompute_windows(windows.store, "default", MUSIC, is_complete=True, threads=1)
    assert kept.wrong == ()
    assert kept.total < total


@pytest.mark.slow
def test_damage_anywhere_in_the_file_changes_no_value_in_silence(windows, tmp_path):
    expected = read_windows(windows)
    windows.close()
    source = path_of(windows)
    content = source.read_bytes()
    folder = tmp_path / "damaged"
    noticed = 0
    for at in range(101, len(content), len(content) // 75):
        path = copy_files(source, folder, ".high-water").with_name(source.name)
        changed = bytearray(content)
        changed[at] ^= 0x10
        path.write_bytes(changed)
        found = verify_and_read(path)
        assert found in (expected, "store_damaged")
        noticed += found == "store_damaged"
    assert noticed > 10


def verify_and_read(path):
    """Read all windows of a store that is whole; the code of the error of another one."""
    try:
        with Monitor.open(str(path), writes=False) as monitor:
            monitor.store.verify()
            return read_windows(monitor)
    except FileError as error:
        return error.code


def test_a_symbolic_link_leads_to_the_one_lock_and_the_one_mark(filled, tmp_path):
    link = tmp_path / "link.db"
    link.symlink_to(filled)
    with SQLiteStore(link) as store:
        store.append("music", [make_ranking(8)])
        assert store.url.endswith(str(filled))
        refused(lambda: SQLiteStore(filled), "store_locked")
    with SQLiteStore(filled) as store:
        refused(lambda: SQLiteStore(link), "store_locked")
        assert open_sqlite_reader(link).last_seq == store.last_seq == 6
    assert [path.name for path in tmp_path.glob("link.db*")] == ["link.db"]


def test_a_hard_link_is_refused_for_writing_and_for_reading(filled, tmp_path):
    other = tmp_path / "other" / "events.db"
    other.parent.mkdir()
    with SQLiteStore(filled) as store:
        store.append("music", [make_ranking(8)])
        os.link(filled, other)
        for opens in (SQLiteStore, open_sqlite_reader):
            with refuses(FileError, "store_links", match="2 hard links"):
                opens(other)
        # What goes on is not disturbed, and nothing was made beside the other name.
        store.append("music", [make_ranking(9)])
    assert list(other.parent.iterdir()) == [other]
    other.unlink()
    with SQLiteStore(filled) as store:
        assert store.last_seq == 7


@pytest.mark.skipif(sys.platform != "linux", reason="the lock on the inode is of Linux")
def test_a_store_that_was_moved_while_it_is_written_has_one_writer(filled, tmp_path):
    moved = tmp_path / "moved" / "events.db"
    moved.parent.mkdir()
    with SQLiteStore(filled):
        filled.rename(moved)
        with refuses(FileError, "store_locked", match="under another name"):
            SQLiteStore(moved)
        moved.rename(filled)
    SQLiteStore(filled).close()


EXCLUDE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
connection.execute("PRAGMA locking_mode=EXCLUSIVE")
try:
    connection.execute("BEGIN EXCLUSIVE")
    print("alone")
except sqlite3.OperationalError as error:
    print(error)
"""


def ask_to_be_alone(path):
    """Let another process try to lock out all others, which SQLite refuses while one reads."""
    done = subprocess.run(
        [sys.executable, "-c", EXCLUDE, str(path)], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="the lock on the inode is of Linux")
def test_releasing_the_lock_takes_none_from_those_who_read(filled):
    store = SQLiteStore(filled)
    with open_sqlite_reader(filled).engine.connect() as reading:
        reading.exec_driver_sql("SELECT * FROM meta").fetchall()
        with pytest.raises(FileError, match="under another name"):
            InodeLock(filled)
        assert ask_to_be_alone(filled) == "database is locked"
        store.close()
        # The descriptor of the lock waits for the reader: to close it would unlock the file.
        assert ask_to_be_alone(filled) == "database is locked"
    assert ask_to_be_alone(filled) == "alone"
    SQLiteStore(filled).close()


def test_opening_a_store_ends_in_time_whatever_sqlite_does(filled, monkeypatch):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

    def check(connection, _path):
        connection.exec_driver_sql(endless)

    monkeypatch.setattr(opening, "_check_pages", check)
    monkeypatch.setattr(opening, "OPENING_SECONDS", 0.2)
    SQLiteStore(filled).close()  # as it was closed, it is not checked
    os.utime(filled)
    before = read_all(filled.parent)
    with refuses(FileError, "store_slow", match="could not be checked within") as refused:
        SQLiteStore(filled)
    assert refused.value.file == str(filled)
    monkeypatch.undo()
    SQLiteStore(filled).close()
    assert read_all(filled.parent).keys() == before.keys()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE meta SET value = 'x' WHERE name = 'last_seq'",
        "UPDATE meta SET value = 'x' WHERE name = 'store'",
        "UPDATE meta SET value = x'ff' WHERE name = 'last_seq'",
        "UPDATE alembic_version SET version_num = x'ff'",
        "DELETE FROM meta WHERE name = 'last_commit'",
        "DROP TABLE keys",
        "UPDATE keys SET name = CAST(x'ff' AS TEXT)",
    ],
)
def test_a_damaged_store_is_no_traceback(filled, damage):
    with closing(sqlite3.connect(filled, isolation_level=None)) as connection:
        connection.execute(damage)
    refused(lambda: open_sqlite_reader(filled).keys("music"), "store_damaged")


def test_a_webhook_lost_with_the_log_is_not_taken_for_none(filled, tmp_path):
    with SQLiteStore(filled) as store:
        WRITES["a webhook"](store)
        crashed = copy_files(filled, tmp_path / "crashed")
    cut(crashed.with_name("events.db-wal"))
    with SQLiteStore(crashed, accept_loss=True) as store:
        assert find_webhook(store, "music") is None
    # Its secret went with it.
    assert b"whsec" not in crashed.with_name("events.db.secrets").read_bytes()


def test_labels_are_numbered_with_their_transaction(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", [make_ranking(1), make_label(1, 1)])
        marks = HighWater(tmp_path / "events.db.high-water").read()
    assert (marks.seq, marks.commit) == (2, 2)  # the first one made the tables
