"""History files in a bucket: the same promises, and errors that lose nothing."""

from __future__ import annotations

import os
from functools import partial

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from rankscope.cli import main
from rankscope.errors import FileError, UsageError
from rankscope.monitor import Monitor
from rankscope.monitor.doctor import examine
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store import open_store
from rankscope.monitor.store.log import bucket as buckets
from rankscope.monitor.store.log.bucket import RETIRED, HistoryBucket
from rankscope.monitor.store.records import Chosen
from rankscope.monitor.store.sqlite.store import SQLiteStore, open_sqlite_reader
from rankscope.records import replace

from tests.monitor.store.conformance import read_back
from tests.monitor.store.conformance.history import COUNT, LABELS, RANKINGS, HistoryConformance
from tests.monitor.store.copies import copy_store
from tests.monitor.test_refreshing import NOW, make_events, open_monitor, spell_out
from tests.refusals import refuses
from tests.services.buckets import serve_bucket
from tests.services.postgres import Cluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, TypeAlias

    from tests.monitor.store.conformance.events import Open

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

PLACE = "s3://kept/music"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Foreign]:
    with serve_bucket(monkeypatch, "kept") as system:
        yield system


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


class TestBesideFile(HistoryConformance):
    """The history of a store in a file."""

    @pytest.fixture
    def opened(self, tmp_path: Path) -> Open:
        return lambda: SQLiteStore(tmp_path / "events.db", group_seconds=0)

    @pytest.fixture
    def place(self, bucket: Foreign) -> str:
        assert bucket
        return PLACE


class TestBesidePostgres(TestBesideFile):
    """The history of a store in PostgreSQL."""

    @pytest.fixture
    def opened(self, cluster: Cluster) -> Open:
        url = cluster.url()
        return lambda: open_store(url)


@pytest.fixture
def store(tmp_path: Path, bucket: Foreign) -> Iterator[SQLiteStore]:
    """A store with three hours in the bucket."""
    assert bucket
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        opened.set_history(PLACE)
        opened.append("music", [*RANKINGS, *LABELS])
        opened.archive("music", DAY)
        yield opened


def list_keys(bucket: Foreign) -> list[str]:
    """The keys of all objects."""
    infos = bucket.get_file_info(pa.fs.FileSelector("kept", recursive=True))
    return sorted(info.path for info in infos if info.type == pa.fs.FileType.File)


def test_each_hour_is_one_object_that_others_can_read(store: SQLiteStore, bucket: Foreign) -> None:
    owner, *keys = list_keys(bucket)
    assert owner == "kept/music/_store"
    assert [key.rpartition("/")[0] for key in keys] == [
        f"kept/music/music/rankings/date=1970-01-01/hour={hour:02}" for hour in range(3)
    ]
    tables = [pq.read_table(key, filesystem=bucket) for key in keys]
    assert sum(len(table) for table in tables) == COUNT
    assert not store.path.with_name("events.db.d").exists()


def test_windows_are_the_same_from_the_tables_and_from_a_bucket(
    tmp_path: Path, bucket: Foreign
) -> None:
    assert bucket
    # Each hour is an object, and the second half comes to hours that are objects already.
    events = [event for event in make_events(3) if event.time < 6 * HOUR]
    times = [NOW]
    with (
        open_monitor(tmp_path, "plain", times) as plain,
        open_monitor(tmp_path, "archived", times) as archived,
    ):
        for half in (events[::2], events[1::2]):
            for monitor in (plain, archived):
                monitor.writer.append("default", half)
                monitor.evaluate()
            archived.archive(history=PLACE)
        times.append(NOW + HOUR)
        for monitor in (plain, archived):
            monitor.evaluate()
        assert spell_out(archived) == spell_out(plain)
        path = tmp_path / "archived.db"
        assert all(one.is_good for one in examine(archived, path, is_complete=True)[:4])


def test_a_bucket_that_cannot_be_reached_loses_nothing(
    tmp_path: Path, bucket: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bucket
    events = make_events(5)
    times = [NOW]
    with open_monitor(tmp_path, "kept", times) as kept:
        kept.writer.append("default", events[:40])
        kept.archive(history=PLACE)
    # Opened again, it has no copies of what it wrote.
    with open_monitor(tmp_path, "kept", times) as kept:
        there = os.environ["AWS_ENDPOINT_URL"]
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        buckets.open_filesystem.cache_clear()
        asks = {
            "evaluate": kept.evaluate,
            "archive": kept.archive,
            "delete": partial(kept.delete, rankings=events[0].ranking_id),
            "read": lambda: list(kept.store.read("default")),
        }
        before = kept.store.counters("default")
        for name, ask in asks.items():
            with pytest.raises(FileError) as refused:
                ask()
            assert refused.value.code == "history_unreachable", name
            assert refused.value.file.startswith(PLACE), name
        # What was archived is known without its file.
        assert kept.writer.append("default", events[:1])[0].status == "duplicate"
        # Rankings and labels that are new are taken, of hours that are archived as well.
        kept.writer.append("default", [replace(RANKINGS[0], event_id="n", ranking_id="n")])
        assert kept.store.counters("default")["accepted"] == before["accepted"] + 1
        monkeypatch.setenv("AWS_ENDPOINT_URL", there)
        buckets.open_filesystem.cache_clear()
        kept.evaluate()
        kept.store.verify()
        with open_monitor(tmp_path, "plain", times) as plain:
            plain.writer.append("default", events[:40])
            plain.writer.append("default", [replace(RANKINGS[0], event_id="n", ranking_id="n")])
            plain.evaluate()
            if kept.delete(user="v").rankings:
                plain.delete(user="v")
            for monitor in (kept, plain):
                monitor.evaluate()
            assert spell_out(kept) == spell_out(plain)


def test_a_changed_object_is_noticed(store: SQLiteStore, bucket: Foreign) -> None:
    key = list_keys(bucket)[1]
    with bucket.open_input_stream(key) as opened:
        content = bytearray(opened.read())
    content[300] ^= 255
    with bucket.open_output_stream(key) as opened:
        opened.write(bytes(content))
    again = open_sqlite_reader(store.path)
    for ask in (lambda: list(again.read("music")), store.verify):
        with pytest.raises(FileError) as refused:
            ask()
        assert refused.value.code == "history_damaged"
        assert refused.value.file == f"s3://{key}"
    again.close()


def test_an_upload_that_is_not_stored_as_it_was_sent_is_refused(
    tmp_path: Path, bucket: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch = HistoryBucket._fetch

    def fetch_other(self: HistoryBucket, path: str, target: Path) -> tuple[int, bytes]:
        size, checksum = fetch(self, path, target)
        return size, bytes(reversed(checksum))

    with SQLiteStore(tmp_path / "events.db") as store:
        store.set_history(PLACE)
        store.append("music", RANKINGS)
        monkeypatch.setattr(HistoryBucket, "_fetch", fetch_other)
        with refuses(FileError, "history_damaged"):
            store.archive("music", DAY)
        assert list_keys(bucket) == ["kept/music/_store"]
        monkeypatch.undo()
        assert len(read_back(store, "music")) == COUNT


def test_what_is_not_needed_is_removed_after_a_while(store: SQLiteStore, bucket: Foreign) -> None:
    (old,) = [key for key in list_keys(bucket) if "hour=02" in key]
    store.append("music", [replace(LABELS[0], event_id="late", ranking_id="ranking-50")])
    store.archive("music", DAY)
    assert {old, f"{old}{RETIRED}"} < set(list_keys(bucket))
    left = "kept/music/music/rankings/date=1970-01-01/hour=02/0.parquet"
    for name in (left, f"{left}.part", f"{left}x{RETIRED}"):
        with bucket.open_output_stream(name) as opened:
            opened.write(b"PAR1")
    history = store.require_history()
    known = {key.removeprefix("kept/music/") for key in list_keys(bucket) if "hour=0" in key}
    known -= {one for one in known if one.endswith((RETIRED, ".part", "/0.parquet"))}
    known.discard(old.removeprefix("kept/music/"))
    history.clean(known)
    assert old in list_keys(bucket)  # a read may still need it
    history.clean(known, kept_seconds=-60)
    # What has no note gets one first, and is removed later.
    assert not {old, f"{old}{RETIRED}", f"{left}.part", f"{left}x{RETIRED}"} & set(
        list_keys(bucket)
    )
    assert f"{left}{RETIRED}" in list_keys(bucket)
    history.clean(known, kept_seconds=-60)
    assert {key.removeprefix("kept/music/") for key in list_keys(bucket)} == known | {"_store"}
    store.verify()


def test_deletion_removes_what_it_replaces_at_once(store: SQLiteStore, bucket: Foreign) -> None:
    before = set(list_keys(bucket))
    store.erase("music", Chosen(user_id="odd"))
    assert before & set(list_keys(bucket)) == {"kept/music/_store"}
    store.delete_before("music", DAY)
    assert list_keys(bucket) == ["kept/music/_store"]


def test_a_backup_has_the_files_beside_it(store: SQLiteStore, tmp_path: Path) -> None:
    before = read_back(store, "music")
    copy_store(store, tmp_path / "copy.db")
    store.delete_before("music", DAY)
    with SQLiteStore(tmp_path / "copy.db") as copy:
        copy.verify()
        assert read_back(copy, "music") == before
        assert copy.append("music", RANKINGS[:1])[0].status == "duplicate"


def test_copies_are_removed_when_there_is_no_room_for_all(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "CACHED_BYTES", 1)
    monkeypatch.setattr(buckets, "USED_SECONDS", 0.0)
    history = store.require_history()
    assert isinstance(history, HistoryBucket)
    for _ in range(2):
        assert len(read_back(store, "music")) == COUNT
    assert len(list(history._copies.folder().iterdir())) == 1


def test_each_store_has_a_place_of_its_own(
    store: SQLiteStore, bucket: Foreign, tmp_path: Path
) -> None:
    assert store.require_history()
    with bucket.open_output_stream("kept/films/notes.txt") as opened:
        opened.write(b"mine")
    with SQLiteStore(tmp_path / "other.db") as other:
        for place in (PLACE, "s3://kept/films"):
            with refuses(UsageError, "history_place"):
                other.set_history(place)
        with pytest.raises(UsageError):
            other.set_history("ftp://kept/films")
        with refuses(FileError, "history_unreachable"):
            other.set_history("s3://there-is-no-such-bucket/films")
        other.set_history("s3://kept/other")


def test_the_commands_find_the_place_again(
    store: SQLiteStore, bucket: Foreign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert store.require_history()
    path = str(tmp_path / "new.db")
    times = [NOW]
    with open_monitor(tmp_path, "new", times) as monitor:
        monitor.writer.append("default", make_events(3, count=3))
    assert main(["monitor", "archive", path, "--history", "s3://kept/new"]) == 0
    assert main(["monitor", "archive", path]) == 0
    assert [key for key in list_keys(bucket) if key.startswith("kept/new/default/")]
    assert main(["monitor", "archive", path, "--history", "s3://kept/newer"]) == 2
    assert "s3://kept/new" in capsys.readouterr().err
    with Monitor.open(path, writes=False) as monitor:
        monitor.store.verify()
