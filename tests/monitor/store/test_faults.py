from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from rankscope import FileError
from rankscope.monitor.store import commits
from rankscope.monitor.store.log.deletion import BLOCKS
from rankscope.monitor.store.records import Deleted
from rankscope.monitor.store.sqlite import checkpoints as checkpointing
from rankscope.monitor.store.sqlite import high_water, lock
from rankscope.monitor.store.sqlite.checkpoints import measure_log
from rankscope.monitor.store.sqlite.files import refuse_network
from rankscope.monitor.store.sqlite.lock import LOCKS_ARE_APART, InodeLock
from rankscope.monitor.store.sqlite.store import SQLiteStore, open_sqlite_reader

from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back
from tests.monitor.store.copies import copy_store
from tests.monitor.store.processes import run_python
from tests.monitor.store.sender import BATCH
from tests.refusals import refuses

SENDER = Path(__file__).with_name("sender.py")
STRACE = shutil.which("strace")


def start(mode, folder, *numbers, before=()):
    """Run a sender until it ends; what it said, by lines and words."""
    done = run_python(SENDER, mode, folder, *numbers, before=before)
    assert "Traceback" not in done.stderr, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def acknowledged(said):
    return [int(number) for word, number in said if word == "acknowledged"]


@pytest.fixture
def left(tmp_path):
    """A folder with a store of ten events, all of them in its log, which nobody has closed."""
    folder = tmp_path / "left"
    folder.mkdir()
    assert acknowledged(start("leave", folder, 10)) == list(range(10))
    assert (folder / "events.db-wal").stat().st_size > 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "kills",
    [7, pytest.param(20, marks=pytest.mark.thorough(reason="21 processes take long to start"))],
)
def test_killed_many_times_no_acknowledged_event_is_lost_and_none_is_there_twice(tmp_path, kills):
    said = start("be_killed", tmp_path, kills, 5)
    kept, sent = acknowledged(said), [int(number) for word, number in said if word == "sent"]
    assert len(kept) >= kills
    with SQLiteStore(tmp_path / "events.db") as store:
        store.verify()
        found = read_back(store, "music", 1000)
        rankings = {number for first in kept for number in range(first, first + 10)}
        for number in rankings:
            ranking, label = make_ranking(number, 20), make_label(number, number)
            assert store.find_ranking("music", ranking.ranking_id) == ranking
            assert store.find_labels("music", ranking.ranking_id) == [label]
        # What was sent and not acknowledged is there once, or not at all.
        possible = {f"ranking-{number}" for first in sent for number in range(first, first + 10)}
        assert found.keys() <= possible
        assert store.counters("music") == {
            "accepted": len(found) + sum(len(events) - 1 for events in found.values())
        }
        again = [make_ranking(number, 20) for number in rankings]
        assert {outcome.status for outcome in store.append("music", again)} == {"duplicate"}


def test_an_event_that_is_sent_again_after_the_answer_was_lost_is_there_once(tmp_path):
    assert acknowledged(start("die_before_the_answer", tmp_path)) == [1]
    with SQLiteStore(tmp_path / "events.db") as store:
        assert store.append("music", [make_ranking(2)])[0].status == "duplicate"
        assert len(read_back(store, "music")) == 2


def test_killed_while_it_deletes_whole_pieces_are_gone_and_it_goes_on(tmp_path):
    # One block for each batch, and fewer than are joined.
    pieces, piece = 2, BLOCKS * BATCH
    count = 3 * piece
    start("die_while_deleting", tmp_path, count, pieces)
    end = make_ranking(count).time
    with SQLiteStore(tmp_path / "events.db") as store:
        store.verify()
        assert len(read_back(store, "music")) == count - pieces * piece
        assert store.deleted_before("music") == end
        left = count - pieces * piece
        assert store.delete_before("music", end) == Deleted(rankings=left, labels=count)
        store.verify()
        counted = store.counters("music")
        assert (counted["deleted_rankings"], counted["deleted_labels"]) == (count, count)


def flip(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    path.write_bytes(content)


def cut(path, at):
    path.write_bytes(path.read_bytes()[:at])


DAMAGES = {
    "a byte in the middle of the log": lambda log: flip(log, log.stat().st_size // 2),
    "the first byte of the log": lambda log: flip(log, 0),
    "the log, cut in the middle": lambda log: cut(log, log.stat().st_size // 2),
    "the log, without its last byte": lambda log: cut(log, -1),
    "the log, deleted": Path.unlink,
    "the store, deleted": lambda log: [
        path.unlink() for path in log.parent.glob("events.db*") if "high" not in path.name
    ],
    "the mark, deleted": lambda log: log.with_name("events.db.high-water").unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_lost_is_noticed(left, damage):
    DAMAGES[damage](left / "events.db-wal")
    named = r"lost: .* acknowledged them up to 10" if "last byte" in damage else None
    for _ in range(2):  # opening it once does not hide it
        with refuses(FileError, "store_lost", match=named) as refused:
            SQLiteStore(left / "events.db")
        # A log that is missing may lie where the store was before: nothing is given up for it.
        is_explained = damage == "the log, deleted"
        assert ("accept_loss" in refused.value.hint) is not is_explained
        assert ("events.db-wal" in refused.value.hint) is is_explained
    with SQLiteStore(left / "events.db", accept_loss=True) as store:
        assert store.lost_events() == 10 - len(read_back(store, "music"))
        # No number is given to two events.
        assert store.append("music", [make_ranking(100)])[0].seq == 11
    with SQLiteStore(left / "events.db") as store:
        assert store.last_seq == 11


def test_only_what_was_not_acknowledged_may_be_torn(tmp_path):
    start("die_before_the_answer", tmp_path)
    cut(tmp_path / "events.db-wal", -100)
    with SQLiteStore(tmp_path / "events.db") as store:
        assert read_back(store, "music").keys() == {"ranking-1"}


def test_what_follows_the_log_does_no_harm(left):
    with (left / "events.db-wal").open("ab") as log:
        log.write(os.urandom(5000))
    with SQLiteStore(left / "events.db") as store:
        assert len(read_back(store, "music")) == 10


def test_a_flipped_byte_in_the_tables_is_noticed_when_it_is_read(tmp_path):
    path = tmp_path / "events.db"
    with SQLiteStore(path) as store:
        for number in (3, 4):
            store.append("music", [make_ranking(number)])
    with closing(sqlite3.connect(path)) as connection:
        ((body,),) = connection.execute("SELECT body FROM bodies WHERE block_id = 1")
    flip(path, path.read_bytes().index(body) + len(body) // 2)
    with SQLiteStore(path) as store:
        with refuses(FileError, "store_damaged"):
            store.verify()
        with pytest.raises(FileError, match="damaged"):
            store.find_ranking("music", "ranking-3")
        assert store.find_ranking("music", "ranking-4") == make_ranking(4)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE contexts SET rankings = rankings + 1",
        "UPDATE contexts SET first = first + 1",
        "UPDATE projects SET pending = pending - 1",
    ],
)
def test_a_number_that_is_not_what_it_says_is_noticed(tmp_path, change):
    path = tmp_path / "events.db"
    with SQLiteStore(path) as store:
        store.append("music", [make_ranking(number) for number in range(10)])
        store.append("music", [make_label(1, 3), make_label(2, 77)])
        store.verify()
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(change)
        with refuses(FileError, "store_damaged", match=r"the number of .* is wrong"):
            store.verify()


def test_a_store_whose_pages_are_damaged_is_refused(tmp_path):
    path = tmp_path / "events.db"
    with SQLiteStore(path) as store:
        store.append("music", [make_ranking(number) for number in range(1000)])
    content = bytearray(path.read_bytes())
    content[4096 * 20 : 4096 * 40] = bytes(4096 * 20)
    path.write_bytes(content)
    with refuses(FileError, "store_damaged"):
        SQLiteStore(path)


def test_either_copy_of_the_mark_is_enough(left):
    mark = left / "events.db.high-water"
    flip(mark, 10)
    flip(mark, 512 + 10)
    with refuses(FileError, "high_water"):
        SQLiteStore(left / "events.db")
    flip(mark, 512 + 10)
    SQLiteStore(left / "events.db").close()


def test_a_full_disk_refuses_events_until_there_is_room(tmp_path):
    said = start("fill", tmp_path)
    code, count = said[0]
    assert code == "store_full"
    assert int(count) > 0
    assert said[1:] == [["store_full", count]] * 2 + [["stored", str(int(count) + 1)]]
    with SQLiteStore(tmp_path / "events.db") as store:
        store.verify()
        assert len(read_back(store, "music", 1000)) == int(count) + 1


@pytest.fixture
def locked(tmp_path):
    """A store, and a connection that is not its own and keeps it from writing."""
    with SQLiteStore(tmp_path / "events.db", busy_seconds=0.05, queue_events=3) as store:
        other = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        yield store, other
        other.close()


def test_a_locked_store_says_so_and_loses_nothing(locked):
    store, other = locked
    with refuses(FileError, "store_busy"):
        store.append("music", [make_ranking(1)])
    assert read_back(store, "music") == {}
    other.execute("ROLLBACK")
    assert store.append("music", [make_ranking(1)])[0].status == "accepted"
    assert store.last_seq == 1


def test_no_more_events_wait_than_may(tmp_path):
    with SQLiteStore(tmp_path / "events.db", queue_events=3) as store:
        entered, go_on = threading.Event(), threading.Event()
        store.transact(lambda _: (entered.set(), go_on.wait()))
        entered.wait()
        waiting = [store.submit("music", [make_ranking(number)]) for number in range(3)]
        with pytest.raises(FileError) as refused:
            store.submit("music", [make_ranking(3)])
        assert (refused.value.code, store.waiting) == ("store_overloaded", 3)
        go_on.set()
        assert [answer.result()[0].status for answer in waiting] == ["accepted"] * 3
        assert store.append("music", [make_ranking(3)])[0].status == "accepted"


def test_a_mark_that_cannot_be_synced_stops_the_store(tmp_path, monkeypatch):
    refuse = Mock(side_effect=OSError(5, "Input/output error"))
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", [make_ranking(1)])
        monkeypatch.setattr(high_water, "sync_data", refuse)
        for number in range(2, 4):
            with refuses(FileError, "store_failed"):
                store.append("music", [make_ranking(number)])
        assert store.failure is not None
        assert refuse.call_count == 1
        assert "ranking-1" in read_back(store, "music")
        monkeypatch.undo()
    with SQLiteStore(tmp_path / "events.db") as store:
        assert store.append("music", [make_ranking(3)])[0].status == "accepted"


@pytest.fixture(scope="module")
def trace():
    """A command that traces system calls into a file, where that can be done."""
    if STRACE is None:
        pytest.skip("strace is not installed")
    tried = subprocess.run([STRACE, "-f", "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("processes may not be traced here")
    return lambda file, *options: (STRACE, "-f", "-y", "-o", str(file), *options)


def test_log_and_mark_are_synced_before_the_answer(tmp_path, trace):
    log = tmp_path / "trace"
    calls = "trace=pwrite64,fdatasync,fsync,write"
    assert acknowledged(start("leave", tmp_path, 3, before=trace(log, "-e", calls))) == [0, 1, 2]
    kinds = {
        "W": r"pwrite64\(\d+<[^>]*-wal>",
        "w": r"(?:fdatasync|fsync)\(\d+<[^>]*-wal>",
        "M": r"pwrite64\(\d+<[^>]*high-water>",
        "m": r"(?:fdatasync|fsync)\(\d+<[^>]*high-water>",
        "A": r'write\(1<[^>]*>, "acknowledged',
    }
    found = ""
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        found += next((kind for kind, pattern in kinds.items() if re.search(pattern, line)), "")
    answers = found.split("A")
    assert len(answers) == 4
    assert all(re.search(r"W+w+Mm$", before) for before in answers[:3]), found


def test_after_a_failed_sync_nothing_more_is_acknowledged(tmp_path, trace):
    SQLiteStore(tmp_path / "events.db").close()
    # The fifth sync of the writing thread fails: opening has less of them.
    inject = ("-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=5")
    log = tmp_path / "trace"
    said = start("fail", tmp_path, 6, before=trace(log, *inject))
    count = sum(words[0] == "acknowledged" for words in said)
    assert 0 < count < 6
    assert said[1:-1] == [
        *(["acknowledged", str(number)] for number in range(count)),
        *(["store_failed", str(number)] for number in range(count, 6)),
    ]
    assert said[0] == ["opened"]
    assert int(said[-1][1]) >= count
    # It is not tried again: what the disk has is not known any more.
    syncs = [line for line in log.read_text(encoding="utf-8").splitlines() if "sync(" in line]
    assert "(INJECTED)" in syncs[-1]
    with SQLiteStore(tmp_path / "events.db") as store:
        kept = {f"ranking-{number}" for number in range(count)}
        assert kept <= read_back(store, "music").keys()


def test_the_log_is_cut_once_no_reader_needs_it(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpointing, "AFTER_BYTES", 1 << 17)
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        store.append("music", [make_ranking(number) for number in range(-2, 0)])
        reading = store.read("music", size=1)
        next(reading)
        for number in range(100):
            store.append("music", [make_ranking(number)])
        assert store.log_bytes > 2 << 17
        # What a reader sees is of the moment at which it began.
        assert sum(len(chunk.seqs) for chunk in reading) == 1
        sent = 100
        while store.log_bytes > 2 << 17 and sent < 1000:
            store.append("music", [make_ranking(sent)])
            sent += 1
        assert sent < 1000
        assert len(read_back(store, "music", 1000)) == sent + 2


def test_how_much_of_a_log_is_in_use_is_what_sqlite_says(tmp_path):
    path, log = tmp_path / "events.db", tmp_path / "events.db-wal"
    assert measure_log(log) == 0
    with closing(sqlite3.connect(path, isolation_level=None)) as written:
        size = written.execute("PRAGMA page_size").fetchone()[0] + 24

        def measure():
            _, pages, _ = written.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            return measure_log(log), 32 + pages * size

        written.execute("PRAGMA journal_mode=WAL")
        written.execute("PRAGMA wal_autocheckpoint=0")
        written.execute("CREATE TABLE rows (content)")
        for rows in (1, 50, 7):
            written.executemany("INSERT INTO rows VALUES (?)", [("a" * 3000,)] * rows)
            found, expected = measure()
            assert found == expected
            written.execute("PRAGMA wal_checkpoint(RESTART)")
        assert found < log.stat().st_size
        written.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert measure_log(log) == 0


class DoneThread:
    """A thread that has done its work once it was started."""

    def __init__(self, target, name):
        self.start = target
        self.name = name

    def is_alive(self):
        return False

    def join(self):
        pass


def test_the_log_begins_anew_in_the_same_file(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpointing, "AFTER_BYTES", 1 << 17)
    monkeypatch.setattr(checkpointing, "threading", SimpleNamespace(Thread=DoneThread))
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        used = before = sent = 0
        # A log that a reader has made long is cut instead.
        while not used < before <= store.log_bytes and sent < 1000:
            store.append("music", [make_ranking(sent)])
            sent += 1
            before, used = used, measure_log(tmp_path / "events.db-wal")
        assert used < before <= store.log_bytes
        store.append("music", [make_ranking(sent)])
        with closing(open_sqlite_reader(tmp_path / "events.db").engine.connect()) as reader:
            assert reader.exec_driver_sql("SELECT sum(rankings) FROM blocks").scalar() == sent + 1


@pytest.mark.skipif(not LOCKS_ARE_APART, reason="the writer syncs what the thread has copied")
def test_the_writer_does_not_wait_for_the_disk_to_have_what_the_thread_has_copied(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(checkpointing, "AFTER_BYTES", 1 << 22)
    monkeypatch.setattr(checkpointing, "threading", SimpleNamespace(Thread=DoneThread))
    done = []
    sync, finish = InodeLock.sync, checkpointing.Checkpointer._finish

    def note_sync(lock):
        done.append("sync")
        sync(lock)

    def note_finish(checkpointer):
        done.append("finish")
        finish(checkpointer)

    monkeypatch.setattr(InodeLock, "sync", note_sync)
    monkeypatch.setattr(checkpointing.Checkpointer, "_finish", note_finish)
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        sent = 0
        while "finish" not in done and sent < 10_000:
            store.append("music", [make_ranking(sent + more) for more in range(500)])
            sent += 500
    assert done[-2:] == ["sync", "finish"]


@pytest.mark.skipif(not LOCKS_ARE_APART, reason="the writer syncs what the thread has copied")
def test_after_a_failed_sync_of_the_database_nothing_more_is_acknowledged(tmp_path, monkeypatch):
    refuse = Mock(side_effect=OSError(5, "Input/output error"))
    monkeypatch.setattr(checkpointing, "AFTER_BYTES", 1 << 17)
    monkeypatch.setattr(checkpointing, "FEW_PAGES", 1)
    monkeypatch.setattr(checkpointing, "threading", SimpleNamespace(Thread=DoneThread))
    monkeypatch.setattr(lock, "sync_data", refuse)
    sent = []

    def send(store, most):
        while len(sent) < most:
            store.append("music", [make_ranking(len(sent))])
            sent.append(len(sent))

    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        for _ in range(2):
            with refuses(FileError, "store_failed"):
                send(store, 1000)
        assert refuse.call_count == 1
    monkeypatch.undo()
    with SQLiteStore(tmp_path / "events.db") as store:
        assert len(read_back(store, "music", 1000)) == len(sent)


def test_the_writer_copies_what_the_disk_is_too_slow_for(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpointing, "AFTER_BYTES", 1 << 17)
    monkeypatch.setattr(checkpointing, "AGAIN_BYTES", 1 << 15)
    monkeypatch.setattr(checkpointing, "LARGEST_BYTES", 1 << 20)

    def copy_nothing(checkpointer):
        checkpointer._left = sys.maxsize

    monkeypatch.setattr(checkpointing.Checkpointer, "_copy", copy_nothing)
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        most = sent = 0
        while store.log_bytes >= most and sent < 1000:
            most = store.log_bytes
            store.append("music", [make_ranking(sent)])
            sent += 1
        assert store.log_bytes < most
        assert most > 1 << 20
        assert len(read_back(store, "music", 1000)) == sent


def test_the_next_group_waits_as_long_as_one_took(monkeypatch):
    monkeypatch.setattr(commits, "LONGEST", 600.0)
    clock = [0.0]
    monkeypatch.setattr(commits, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    sizes = []

    def commit(works):
        sizes.append(len(works))
        clock[0] += 600.0
        return [None] * len(works)

    committer = commits.GroupCommitter(
        commit, lambda: None, group_seconds=0, group_events=2, queue_events=10
    )
    committer.submit(lambda _: None, 1).result()
    first = committer.submit(lambda _: None, 1)
    committer.submit(lambda _: None, 1).result()
    first.result()
    committer.close()
    assert sizes == [1, 2]


def test_one_process_writes_and_all_may_read(tmp_path):
    path = tmp_path / "events.db"
    with SQLiteStore(path) as store:
        store.append("music", [make_ranking(1)])
        with refuses(FileError, "store_locked", match=f"another process .*: process {os.getpid()}"):
            SQLiteStore(path)
        assert read_back(open_sqlite_reader(path), "music") == read_back(store, "music")
        store.append("music", [make_ranking(2)])
        assert len(read_back(open_sqlite_reader(path), "music")) == 2
    with pytest.raises(FileError, match="there is no store"):
        open_sqlite_reader(tmp_path / "other.db")
    with pytest.raises(FileError, match="the folder of the store does not exist"):
        SQLiteStore(tmp_path / "no folder" / "events.db")


def test_a_child_neither_writes_nor_holds_the_lock(tmp_path):
    assert sorted(start("fork", tmp_path)) == [["opened"], ["store_closed"]]


@pytest.mark.slow
def test_a_copy_made_during_ingest_holds_the_first_of_the_events(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        sent = threading.Event()

        def send():
            for number in range(300):
                store.append("music", [make_ranking(number)])
                if number == 20:
                    sent.set()

        thread = threading.Thread(target=send)
        thread.start()
        sent.wait()
        seq = copy_store(store, tmp_path / "copy.db")
        thread.join()
    assert 20 <= seq <= 300
    with SQLiteStore(tmp_path / "copy.db") as copy:
        assert copy.last_seq == seq
        assert read_back(copy, "music", 100).keys() == {f"ranking-{n}" for n in range(seq)}


@pytest.mark.parametrize(
    ("changed", "code", "message", "hint"),
    [
        ("UPDATE alembic_version SET version_num = '9999'", "store_version", "9999, which", "use"),
        ("UPDATE meta SET value = '9998' WHERE name = 'oldest'", "", "", ""),
        ("DROP TABLE alembic_version", "store_version", "before the first release", "ingest the"),
        ("DELETE FROM alembic_version", "store_damaged", "has 0 revisions", "restore"),
        ("INSERT INTO alembic_version VALUES ('0002')", "store_damaged", "has 2 rev", "restore"),
        ("DELETE FROM meta WHERE name = 'oldest'", "store_damaged", "'oldest'", "restore"),
    ],
)
def test_a_store_of_another_revision_is_left_alone(tmp_path, changed, code, message, hint):
    path = tmp_path / "events.db"
    SQLiteStore(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        if "9999" in changed:
            connection.execute("UPDATE meta SET value = '9999' WHERE name = 'oldest'")
        connection.execute(changed)
    before = path.read_bytes()
    if not code:  # the fact only matters to releases that don't know the revision
        SQLiteStore(path).close()
        return
    for opens in (SQLiteStore, open_sqlite_reader):
        with refuses(FileError, code, match=message) as refused:
            opens(path)
        assert hint in refused.value.hint
    assert path.read_bytes() == before


def test_what_is_no_store_is_left_alone(tmp_path):
    text = tmp_path / "text.db"
    text.write_text("not a database, and long enough to be seen as none. " * 50)
    with refuses(FileError, "store_damaged"):
        SQLiteStore(text)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE songs (name TEXT)")
    connection.close()
    with refuses(FileError, "store_version", match="its tables are songs"):
        SQLiteStore(other)


def test_a_network_is_no_place_for_a_store(tmp_path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "21 1 8:1 / / rw - ext4 /dev/sda rw\n"
        "22 21 0:4 / /mnt/far\\040away rw - nfs4 server:/ rw\n"
        "23 22 8:2 / /mnt/far\\040away/near rw - xfs /dev/sdb rw\n"
    )
    refuse_network(Path("/data/events.db"), mounts)
    refuse_network(Path("/mnt/far away/near/events.db"), mounts)
    refuse_network(Path("/data/events.db"), tmp_path / "none")
    with refuses(FileError, "store_network", match="nfs4"):
        refuse_network(Path("/mnt/far away/events.db"), mounts)
