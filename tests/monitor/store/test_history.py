"""Archived hours are read as if they had never left the store, and by other tools as well."""

from __future__ import annotations

import random
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope import FileError, UsageError
from rankscope.monitor.archiving import archive_project
from rankscope.monitor.backups import find_backup
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.doctor import examine
from rankscope.monitor.evaluate.worker import Worker
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.export import export_parquet
from rankscope.monitor.store.log.blocks import FILE, list_blocks
from rankscope.monitor.store.log.files import name_hour
from rankscope.monitor.store.log.users import may_have_user
from rankscope.monitor.store.records import Archived, Deleted
from rankscope.monitor.store.sqlite.store import SQLiteStore, open_sqlite_reader
from rankscope.records import replace

from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back
from tests.monitor.store.copies import copy_store
from tests.monitor.store.values_files import read_files
from tests.monitor.test_refreshing import MUSIC, NOW, make_events, open_monitor, spell_out
from tests.refusals import refuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any


FULL = Ranking(
    "an event of its own",
    "r1",
    HOUR + 5,
    Items(("a", "日本", "c"), (1, 4, 9), (0.5, None, 1e300), (None, 2.0, None)),
    "=SUM(1)",
    "u",
    "m",
    "4",
    "production",
    (("country", "de"), ("device", "tv")),
)
EVENTS = [
    FULL,
    Ranking("r2", "r2", HOUR + 6, Items(("b", "a"), (1, 2))),
    Ranking("r3", "r3", HOUR + 7, Items((), ())),
    Label("l1", "r1", "a", HOUR + 9, ("click", "buy")),
    Label("l2", "r1", "a", HOUR + 8, kind="retraction"),
    Label("l3", "r2", "b", HOUR + 7, value=3.0, kind="correction"),
    Label("l4", "r2", "never shown", HOUR + 7, ("click",)),
    Label("waits", "r9", "b", HOUR + 8, ("click",)),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    """A store with an archived hour."""
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        opened.append("music", EVENTS)
        opened.archive("music", 3 * HOUR)
        yield opened


def find_file(store: SQLiteStore) -> Path:
    """The one file of the history."""
    (path,) = store.history.path.rglob("*.parquet")
    return path


def test_only_final_hours_leave_the_tables(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", [*EVENTS, replace(FULL, event_id="x", ranking_id="x", time=2 * HOUR)])
        assert store.archive("music", 2 * HOUR - 1) == Archived(0, 0, 0, 0)
        assert not store.history.path.exists()
        done = store.archive("music", 2 * HOUR)
        assert (done.hours, done.rankings, done.labels) == (1, 3, 4)
        assert done.bytes == find_file(store).stat().st_size
        assert store.archive("music", 2 * HOUR) == Archived(0, 0, 0, 0)
        assert store.archive("films", 2 * HOUR) == Archived(0, 0, 0, 0)


def test_events_that_are_archived_come_back_as_they_were(store: SQLiteStore) -> None:
    for ranking in EVENTS[:3]:
        assert store.find_ranking("music", ranking.ranking_id) == ranking
    assert store.find_labels("music", "r1") == [EVENTS[4], EVENTS[3]]
    assert store.find_labels("music", "r2") == EVENTS[5:7]
    assert store.count_pending("music") == 1
    store.verify()


def test_an_archived_event_is_known_when_it_is_sent_again(store: SQLiteStore) -> None:
    statuses = lambda *events: [one.status for one in store.append("music", events)]  # noqa: E731
    assert statuses(*EVENTS) == ["duplicate"] * len(EVENTS)
    assert [one.seq for one in store.append("music", EVENTS)] == list(range(1, len(EVENTS) + 1))
    # Under another event id, with another time, or as another kind of event.
    assert statuses(replace(FULL, event_id="other")) == ["duplicate"]
    assert statuses(replace(FULL, time=DAY), replace(FULL, event_id="other", time=DAY)) == [
        "conflict",
        "conflict",
    ]
    assert statuses(replace(EVENTS[3], time=DAY), replace(EVENTS[3], event_id="r2")) == [
        "conflict",
        "conflict",
    ]
    assert statuses(Ranking("l1", "new", 5, Items((), ()))) == ["conflict"]
    with refuses(UsageError, "set_conflict"):
        store.replace_set("music", "validation", [replace(FULL, environment="validation")])


@pytest.mark.slow
def test_an_hour_that_the_log_lost_is_told_by_the_doctor_and_stops_a_backup(
    tmp_path: Path,
) -> None:
    with open_monitor(tmp_path, "music", [NOW]) as monitor:
        monitor.writer.append("default", make_events(30))
        monitor.evaluate()
        monitor.archive()
        path = tmp_path / "music.db"
        copy_store(monitor.store, tmp_path / "whole.db")
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("DELETE FROM blocks WHERE kind = ? AND start = 0", [FILE])
        [store, *_] = examine(monitor, path)
        assert not store.is_good
        assert "blocks instead of" in store.told
        with refuses(FileError, "store_damaged"):
            monitor.backup(str(tmp_path / "backups"))
        assert find_backup(str(tmp_path / "backups")) is None
    with Monitor.open(str(tmp_path / "whole.db"), writes=False) as restored:
        assert examine(restored, tmp_path / "whole.db")[0].is_good


@pytest.mark.slow
def test_the_doctor_finds_the_newest_ranking_where_all_are_archived(tmp_path: Path) -> None:
    with open_monitor(tmp_path, "music", [NOW]) as monitor:
        events = make_events(30)
        monitor.writer.append("default", events)
        monitor.archive()
        found = {one.name: one for one in examine(monitor, tmp_path / "music.db")}
    newest = max(event.time for event in events if isinstance(event, Ranking))
    told = describe_time(newest - newest % HOUR)
    assert found["flow"].told == f"the newest production ranking is from the hour of {told}"


def test_labels_that_come_later_belong_to_their_archived_ranking(store: SQLiteStore) -> None:
    late = Label("late", "r1", "c", HOUR + 8, ("click",))
    seq = store.last_seq
    assert store.append("music", [late])[0].status == "accepted"
    assert store.count_pending("music") == 1
    assert store.touched("music", seq, HOUR).times.tolist() == [HOUR]
    assert store.touched("music", seq).times.tolist() == [FULL.time]
    assert store.touched("music", store.last_seq, HOUR).times.tolist() == []
    labels = [EVENTS[4], late, EVENTS[3]]
    for _ in range(2):
        assert sorted(store.find_labels("music", "r1"), key=lambda one: one.event_id) == sorted(
            labels, key=lambda one: one.event_id
        )
        (chunk,) = store.read("music", event_ids=True)
        assert chunk.labels.times[:3].tolist() == [HOUR + 8, HOUR + 8, HOUR + 9]
        (plain,) = store.read("music")
        assert (plain.event_ids, plain.labels.event_ids, plain.labels.seqs) == (None, None, None)
        assert plain.labels.times.tolist() == chunk.labels.times.tolist()
        store.verify()
        store.archive("music", 3 * HOUR)
    assert store.archive("music", 3 * HOUR).hours == 0


@pytest.mark.slow
def test_windows_are_the_same_from_the_tables_and_from_files(tmp_path: Path) -> None:
    events = make_events(3)
    drawn = random.Random(3)
    times = [NOW]
    slower = replace(MUSIC, definition=replace(MUSIC.definition, window=3600))
    with (
        open_monitor(tmp_path, "plain", times) as plain,
        open_monitor(tmp_path, "archived", times) as archived,
    ):
        for start in range(0, len(events), 60):
            some = events[start : start + 60]
            for monitor in (plain, archived):
                monitor.writer.append("default", some)
                monitor.evaluate()
            archived.writer.archive("default", drawn.randrange(NOW))
        assert archived.archive().hours > 0
        times.append(NOW + HOUR)
        for monitor in (plain, archived):
            monitor.evaluate()
        assert spell_out(archived) == spell_out(plain)
        # Under another definition, all values come from the files.
        for monitor in (plain, archived):
            monitor.configure(slower)
            monitor.evaluate()
        found = [monitor.store.cells("default", slower.digest) for monitor in (plain, archived)]
        assert found[0] == found[1] != []
        path = tmp_path / "archived.db"
        assert all(one.is_good for one in examine(archived, path, is_complete=True)[:4])


@pytest.mark.slow
def test_everything_that_is_asked_has_the_same_answer(tmp_path: Path) -> None:
    events = make_events(8)
    with (
        SQLiteStore(tmp_path / "plain.db", group_seconds=0) as plain,
        SQLiteStore(tmp_path / "archived.db", group_seconds=0) as archived,
    ):
        drawn = random.Random(8)
        for start in range(0, len(events), 40):
            for store in (plain, archived):
                store.append("music", events[start : start + 40])
            archived.archive("music", drawn.randrange(40) * HOUR)
        for store in (plain, archived):
            assert store.delete_before("music", 5 * HOUR + 20 * MINUTE).rankings > 0
        kept = {event.event_id for event in events}
        assert kept
        for since, until in (
            (0, 2 * DAY),
            (7 * HOUR, 9 * HOUR),
            (8 * HOUR + 1, 20 * HOUR + MINUTE),
        ):
            ask = partial(ask_all, since=since, until=until)
            assert ask(archived) == ask(plain)
        assert read_back(archived, "music", 7) == read_back(plain, "music", 7)
        for folder, store in (("one", plain), ("other", archived)):
            export_parquet(store, "music", tmp_path / folder)
        for name in ("rankings.parquet", "labels.parquet"):
            one, other = (read_rows(tmp_path / folder / name) for folder in ("one", "other"))
            assert one == other


def ask_all(store: SQLiteStore, since: int, until: int) -> list[Any]:
    """All that a store says of a span."""
    chunks = list(store.read("music", since, until, 7))
    return [
        [time for chunk in chunks for time in chunk.times.tolist()],
        sorted(store.count_by_hour("music", since, until)),
        store.has_labels("music", since, until, until),
        store.has_labels("music", since, until, since),
        [
            store.count_late("music", model=model, since=since, until=until, after=after, upto=200)
            for model in (None, "m", "n")
            for after in (0, 50, 150)
        ],
        [store.touched("music", after, HOUR).times.tolist() for after in (0, 20, 100, 1000)],
        [store.touched("music", after, DAY).times.tolist() for after in (0, 20, 100, 1000)],
        store.touched("music", 100).times.tolist(),
        store.versions("music"),
        store.counters("music"),
        store.count_pending("music"),
    ]


def read_rows(path: Path) -> list[Any]:
    import pyarrow.parquet as pq  # noqa: PLC0415

    rows: list[Any] = pq.read_table(path).to_pylist()
    return rows


def test_other_tools_read_the_columns(store: SQLiteStore) -> None:
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    path = find_file(store)
    rows = duckdb.sql(
        "SELECT ranking_id, coalesce(event_id, ranking_id), epoch_us(time), query_key, user_id, "
        "model, version, environment, attributes['device'], doc_id, rank, score, relevance "
        "FROM read_parquet($path) ORDER BY time",
        params={"path": str(path)},
    ).fetchall()
    assert rows[0] == (
        "r1",
        "an event of its own",
        HOUR + 5,
        "=SUM(1)",
        "u",
        "m",
        "4",
        "production",
        "tv",
        ["a", "日本", "c"],
        [1, 4, 9],
        [0.5, None, 1e300],
        [None, 2.0, None],
    )
    # Ranks from 1 on, scores and grades that there are not, take no room.
    assert rows[1][9:] == (["b", "a"], None, None, None)
    assert rows[2][9:] == ([], None, None, None)
    labels = duckdb.sql(
        "SELECT ranking_id, coalesce(doc_id[one.position], one.doc_id), one.kind, one.labels, "
        "one.value, one.event_id FROM (SELECT ranking_id, doc_id, unnest(labels) AS one "
        "FROM read_parquet($path)) ORDER BY one.event_id",
        params={"path": str(path)},
    ).fetchall()
    assert labels == [
        ("r1", "a", "label", ["click", "buy"], None, "l1"),
        ("r1", "a", "retraction", [], None, "l2"),
        ("r2", "b", "correction", [], 3.0, "l3"),
        ("r2", "never shown", "label", ["click"], None, "l4"),
    ]
    frame = polars.read_parquet(path)
    assert frame["doc_id"].to_list() == [["a", "日本", "c"], ["b", "a"], []]
    assert frame["labels"].list.len().to_list() == [2, 2, 0]
    assert path.relative_to(store.history.path).parent.as_posix() == name_hour("music", HOUR)


@pytest.mark.parametrize("place", [10, 300, -40, -5])
def test_a_damaged_file_is_named_and_never_read_around(store: SQLiteStore, place: int) -> None:
    path = find_file(store)
    content = bytearray(path.read_bytes())
    content[place] ^= 255
    path.write_bytes(content)
    again = open_sqlite_reader(store.path)
    asks = {
        "read": lambda: list(again.read("music")),
        "find": lambda: again.find_ranking("music", "r1"),
        "labels": lambda: again.find_labels("music", "r1"),
        "verify": again.verify,
        "backup": lambda: copy_store(again, store.path.with_name("copy.db")),
    }
    for ask in asks.values():
        with pytest.raises(FileError) as refused:
            ask()
        assert refused.value.code == "history_damaged"
        assert str(path) in str(refused.value)
    assert not store.path.with_name("copy.db").exists()
    again.close()


def test_a_missing_file_is_named_and_its_events_are_known_without_it(store: SQLiteStore) -> None:
    path = find_file(store)
    path.unlink()
    for ask in (
        lambda: list(store.read("music")),
        lambda: store.delete_before("music", HOUR + 6),
    ):
        with pytest.raises(FileError) as refused:
            ask()
        assert refused.value.code == "history_missing"
        assert str(path) in str(refused.value)
    again = store.append("music", [FULL, replace(FULL, time=HOUR)])
    assert [one.status for one in again] == ["duplicate", "conflict"]


def test_a_backup_has_the_archived_hours(store: SQLiteStore, tmp_path: Path) -> None:
    before = read_back(store, "music")
    copy_store(store, tmp_path / "copy.db")
    store.delete_before("music", DAY)
    with SQLiteStore(tmp_path / "copy.db") as copy:
        copy.verify()
        assert read_back(copy, "music") == before
        assert copy.append("music", [FULL])[0].status == "duplicate"
    assert (tmp_path / "copy.db.d").stat().st_mode & 0o777 == 0o700


def test_only_the_owner_may_read_the_history(store: SQLiteStore) -> None:
    modes = {
        stat.S_IMODE(path.stat().st_mode): path.is_dir()
        for path in [store.history.path, *store.history.path.rglob("*")]
    }
    assert modes == {0o700: True, 0o600: False}
    find_file(store).chmod(0o644)
    with Monitor.open(str(store.path), "music", writes=False) as monitor:
        told = {one.name: one for one in examine(monitor, store.path)}["files"].told
    assert f"{find_file(store).name} (644)" in told


def test_deletion_rewrites_files_and_forgets_what_was_in_them(store: SQLiteStore) -> None:
    old = find_file(store)
    store.append("music", [Label("late", "r1", "c", HOUR + 8, ("click",))])
    assert store.delete_before("music", HOUR + 6) == Deleted(1, 3)
    assert not old.exists()
    assert read_back(store, "music").keys() == {"r2", "r3"}
    store.verify()
    assert [one.status for one in store.append("music", EVENTS[:2])] == ["accepted", "duplicate"]
    assert store.delete_before("music", DAY) == Deleted(3, 3)
    store.verify()
    assert not store.history.path.exists()
    assert store.counters("music")["deleted_rankings"] == 4


def test_a_file_that_was_replaced_stays_for_readers_and_is_removed_later(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.engine.connect() as connection:
        source = store.open_source(connection, "music")
        (before,) = source.read(None, None, 10, event_ids=False)
        store.append("music", [Label("late", "r1", "c", HOUR + 8, ("click",))])
        store.archive("music", DAY)
        assert len(list(store.history.path.rglob("*.parquet"))) == 2
        (chunk,) = source.read(None, None, 10, event_ids=False)
        assert len(chunk.labels.codes) == len(before.labels.codes) == 4
    part = find_part(store)
    place = store.history
    monkeypatch.setattr(place, "clean", partial(place.clean, kept_seconds=0))
    store.archive("music", DAY)
    assert not part.exists()
    find_file(store)
    store.verify()


def find_part(store: SQLiteStore) -> Path:
    """A file of the history as a crash leaves it."""
    part = store.history.path / name_hour("music", HOUR) / ".0123.part"
    part.write_bytes(b"PAR1")
    return part


def test_an_hour_that_changes_while_it_is_written_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        store.append("music", EVENTS)
        publish = store.history.publish
        changes = [
            lambda: store.delete_before("music", HOUR + 6),
            lambda: store.append("music", [Label("between", "r2", "a", HOUR + 8, ("click",))]),
            lambda: store.append("music", [replace(FULL, event_id="n", ranking_id="n")]),
        ]

        def change_first(part: Path) -> object:
            if changes:
                changes.pop(0)()
            return publish(part)

        monkeypatch.setattr(store.history, "publish", change_first)
        store.archive("music", DAY)
        store.archive("music", DAY)
        store.verify()
        assert not changes
        assert read_back(store, "music").keys() == {"n", "r2", "r3"}
        assert {one.event_id for one in store.find_labels("music", "r2")} == {"l3", "l4", "between"}
        assert store.count_pending("music") == 1


@pytest.mark.slow
def test_what_belongs_to_a_user_is_deleted_from_tables_and_files(tmp_path: Path) -> None:
    events = make_events(4)
    rest = {one.ranking_id for one in events if isinstance(one, Ranking) and one.user_id == "v"}
    kept = [one for one in events if one.ranking_id not in rest]
    times = [NOW]
    with (
        open_monitor(tmp_path, "never", times) as never,
        open_monitor(tmp_path, "deleted", times) as deleted,
    ):
        never.writer.append("default", kept)
        deleted.writer.append("default", events)
        for monitor in (never, deleted):
            monitor.evaluate()
        deleted.writer.archive("default", 20 * HOUR)
        before = set(tmp_path.glob("deleted.db.d/**/*.parquet"))
        done = deleted.delete(user="v")
        assert (done.rankings, done.labels) == (len(rest), len(events) - len(kept) - len(rest))
        # Files that had nothing of the user stay, and no file has anything of them left.
        after = set(tmp_path.glob("deleted.db.d/**/*.parquet"))
        assert 0 < len(before & after) < len(before)
        deleted.writer.verify()
        deleted.evaluate()
        assert spell_out(deleted) == spell_out(never)
        assert read_back(deleted.store, "default") == read_back(never.store, "default")
        assert deleted.delete(user="nobody") == Deleted(0, 0)


def test_deletion_reads_only_the_files_that_it_touches(tmp_path: Path) -> None:
    shown = [
        replace(FULL, event_id=f"{at}", ranking_id=f"{at}", time=at * HOUR, user_id=user)
        for at, user in enumerate(("ada", "ben", "ada", ""))
    ]
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        store.append("music", shown)
        store.archive("music", DAY)
        for at in (1, 3):
            (path,) = (store.history.path / name_hour("music", at * HOUR)).iterdir()
            path.write_bytes(b"damaged")
        monitor = Monitor(store, "music")
        assert monitor.delete(rankings=["2"]) == Deleted(1, 0)
        assert monitor.delete(user="ada") == Deleted(1, 0)
        assert monitor.delete(user="nobody") == Deleted(0, 0)
        with pytest.raises(FileError, match="damaged"):
            monitor.delete(user="ben")


def test_users_of_a_file_are_listed_when_it_is_written_again(store: SQLiteStore) -> None:
    def may_have(user: str) -> bool:
        (block,) = store.query(partial(list_blocks, project="music", kinds=(FILE,)))
        return store.query(partial(may_have_user, block=block, user_id=user))

    assert [may_have(user) for user in ("nobody", "u")] == [False, True]
    store.append("music", [Label("late", "r1", "c", HOUR + 8, ("click",))])
    store.archive("music", DAY)
    assert [may_have(user) for user in ("nobody", "u")] == [False, True]
    assert Monitor(store, "music").delete(user="u") == Deleted(1, 3)


def test_rankings_are_deleted_by_id_and_by_time(store: SQLiteStore) -> None:
    monitor = Monitor(store, "music")
    assert monitor.delete(rankings="r9") == Deleted(0, 1)
    assert monitor.delete(rankings=["r1", "r2"], user="u") == Deleted(1, 2)
    since = datetime(1970, 1, 1, 1, tzinfo=UTC) + timedelta(microseconds=7)
    assert monitor.delete(since=since) == Deleted(1, 0)
    assert read_back(store, "music").keys() == {"r2"}
    assert store.counters("music")["erased_rankings"] == 2
    wrong: list[dict[str, Any]] = [{}, {"user": ""}, {"since": since, "until": since}]
    for given in wrong:
        with pytest.raises(UsageError):
            monitor.delete(**given)
    store.verify()


def test_sets_stay_in_the_tables(tmp_path: Path) -> None:
    judged = replace(FULL, event_id="v", ranking_id="v", environment="validation")
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", [judged, *EVENTS])
        assert store.archive("music", DAY).rankings == 3
        assert store.replace_set("music", "validation", [replace(judged, time=HOUR)]).rankings == 1
        found = [time for chunk in store.read("music") for time in chunk.times.tolist()]
        assert found == [HOUR, HOUR + 5, HOUR + 6, HOUR + 7]
        store.verify()


@pytest.mark.slow
def test_the_process_that_evaluates_can_archive(tmp_path: Path) -> None:
    clicks = define(measures=["RR@3"], positive="click", window="1h")
    with Monitor.open(f"{tmp_path}/e.db", "music", now=lambda: to_datetime(DAY)) as monitor:
        monitor.configure(Configuration(definition=clicks))
        store = monitor.writer
        store.append("music", [make_ranking(number) for number in range(50)])
        store.append("music", [make_label(number, number) for number in range(50)])
        before = read_back(store, "music", 20)
        with Worker(store) as worker:
            done = worker.run(partial(archive_project, project="music", now=2 * HOUR, older_than=0))
        assert (done.hours, done.rankings, done.labels, done.values) == (1, 50, 50, 1)
        assert len(read_files(store, "music", clicks.hash)[0]) == 50
        assert read_back(store, "music", 20) == before
        with pytest.raises(UsageError, match="negative"):
            monitor.archive(to_datetime(0) - to_datetime(5))


def test_a_project_may_have_any_name(tmp_path: Path) -> None:
    names = ["..", "a/b", "日本" * 60, "x" * 128, "CON", "a b"]
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        for name in names:
            store.append(name, EVENTS)
            assert store.archive(name, DAY).rankings == 3
        store.verify()
        assert {path.parent.name for path in tmp_path.glob("events.db.d/*")} == {"events.db.d"}
        assert len(list(tmp_path.glob("events.db.d/*"))) == len(names)
        for name in names:
            assert store.find_ranking(name, "r1") == FULL


def test_a_chunk_is_no_larger_than_what_was_asked_for(store: SQLiteStore) -> None:
    sizes = [len(chunk.seqs) for chunk in store.read("music", size=2)]
    assert (sum(sizes), max(sizes)) == (3, 2)
    times = np.concatenate([chunk.times for chunk in store.read("music", HOUR + 6, HOUR + 7)])
    assert times.tolist() == [HOUR + 6]
