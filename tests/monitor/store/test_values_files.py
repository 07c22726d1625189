"""Archived hours have files with the values of their rankings, which add up to the windows."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope import FileError
from rankscope.monitor.archiving import archive_project
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate import values_files
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.log.rewriting import clean_place
from rankscope.monitor.store.log.values import list_values
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from tests.monitor.store.copies import copy_store
from tests.monitor.store.values_files import compare_files, read_files
from tests.monitor.test_refreshing import MUSIC, NOW, make_events, open_monitor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CLICKS = Configuration(
    definition=define(measures=["nDCG@1", "RR@3"], positive="click", window="1h"), grace="1h"
)
EVENTS = [
    Ranking("r1", "r1", 5, Items(("a", "b"), (1, 2)), "query", "ada", "gbdt", "7"),
    Ranking("r2", "r2", 6, Items(("a", "b"), (1, 2)), "query", "ben", "gbdt", "8"),
    Ranking("r3", "r3", 7, Items(("a",), (1,)), "other", "ben", "gbdt", "8"),
    Label("l1", "r1", "a", 8, ("click",)),
    Label("l2", "r2", "b", 8, ("click",)),
]


@pytest.fixture
def monitor(tmp_path: Path) -> Iterator[Monitor]:
    """A monitor with an archived hour."""
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        opened = Monitor(store, "music", clock=lambda: DAY, threads=1)
        opened.configure(CLICKS)
        store.append("music", EVENTS)
        assert opened.archive().values == 1
        yield opened


def read(
    monitor: Monitor, definition: str = CLICKS.definition.hash
) -> dict[str, dict[str, object]]:
    """The rows of all files of a definition, by the ids of rankings."""
    files = read_files(monitor.writer, "music", definition)
    return {row["ranking_id"]: row for rows in files.values() for row in rows}


def test_a_ranking_has_its_values_and_losses(monitor: Monitor) -> None:
    rows = read(monitor)
    names = [*name_columns(CLICKS.definition), "relevant", "documents", "labelled"]
    assert [names[0], *names[1:5]] == [
        "nDCG@1", *(f"nDCG@1 {part}" for part in ("truncation", "ordering", "undefined", "ideal"))
    ]  # fmt: skip
    found = {name: [row[column] for column in names] for name, row in rows.items()}
    assert found == {
        "r1": [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1, 2, True],
        "r2": [0.0, 1.0, 0.0, 0.0, 1.0, 0.5, 1, 2, True],
        # The mean skips a ranking without relevant documents.
        "r3": [None, None, None, None, 0.0, None, 0, 1, False],
    }
    assert [rows["r2"][name] for name in ("query_key", "user_id", "model", "version")] == [
        "query",
        "ben",
        "gbdt",
        "8",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.thorough(reason="another seed of the same"))]
)
def test_sums_of_files_are_those_of_windows_to_the_bit(seed: int, tmp_path: Path) -> None:
    events = make_events(seed)
    drawn = random.Random(seed)
    other = replace(
        MUSIC, definition=define(measures=["nDCG@2", "AP@3"], positive="click", window="2h")
    )
    times = [NOW + DAY]
    with open_monitor(tmp_path, "events", times) as monitor:
        for start in range(0, len(events), 60):
            monitor.writer.append("default", events[start : start + 60])
            archive_project(monitor.writer, "default", now=drawn.randrange(NOW))
        monitor.evaluate()
        assert monitor.archive().hours > 0
        archived = len(read_files(monitor.writer, "default", MUSIC.definition.hash))
        assert compare_files(monitor.writer, "default", MUSIC) >= archived > 0
        # A changed definition has other values, in files of their own.
        monitor.configure(other)
        monitor.evaluate()
        done = monitor.archive()
        assert (done.hours, done.rankings, done.values) == (0, 0, archived)
        assert compare_files(monitor.writer, "default", other) >= archived
        assert not read_files(monitor.writer, "default", MUSIC.definition.hash)
        monitor.store.verify()


def test_late_labels_change_the_values_when_the_hour_is_archived_again(monitor: Monitor) -> None:
    monitor.writer.append("music", [Label("late", "r3", "a", 9, ("click",))])
    assert monitor.archive().values == 1
    assert read(monitor)["r3"]["RR@3"] == 1.0
    assert monitor.archive().values == 0


def test_the_files_that_are_listed_have_each_ranking_once(monitor: Monitor) -> None:
    monitor.writer.append("music", [Label("late", "r3", "a", 9, ("click",))])
    monitor.archive()
    for kind in ("rankings", "values"):
        listed = monitor.store.list_history("music", kind)
        tables = [pq.read_table(file, partitioning=None) for file in listed]
        ids = [one for table in tables for one in table.column("ranking_id").to_pylist()]
        assert sorted(ids) == ["r1", "r2", "r3"]
        folders = {Path(file).parents[2].name for file in listed}
        assert folders == {kind}
        everything = list(Path(listed[0]).parents[2].rglob("*.parquet"))
        assert len(everything) > len(listed)  # the file that was replaced is still there


def test_hours_that_are_open_under_a_longer_window_keep_their_values(monitor: Monitor) -> None:
    longer = replace(CLICKS, definition=replace(CLICKS.definition, window=2 * 86_400))
    monitor.configure(longer)
    assert monitor.archive().values == 0
    assert len(read(monitor)) == 3
    assert read(monitor, longer.definition.hash) == {}


def test_values_of_deleted_rankings_are_in_no_file(monitor: Monitor, tmp_path: Path) -> None:
    assert monitor.delete(user="ben").rankings == 2
    assert [*read(monitor)] == ["r1"]
    (path,) = (tmp_path / "events.db.d").rglob("values/*/*/*.parquet")
    assert pq.read_table(path, partitioning=None).column("ranking_id").to_pylist() == ["r1"]
    monitor.evaluate()
    assert compare_files(monitor.writer, "music", CLICKS) == 1
    assert monitor.delete(user="ada").rankings == 1
    assert not list((tmp_path / "events.db.d").rglob("*.parquet"))
    monitor.store.verify()


def test_values_of_an_hour_that_is_deleted_meanwhile_are_not_listed(
    monitor: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = values_files.write_values
    monitor.writer.append("music", [Label("late", "r3", "a", 9, ("click",))])
    monitor.writer.archive("music", DAY)

    def write_and_delete(*given: object) -> None:
        write(*given)  # type: ignore[arg-type]
        monitor.delete_before("1970-01-01T01:00:00Z")

    monitor.evaluate()
    monkeypatch.setattr(values_files, "write_values", write_and_delete)
    assert monitor.archive().values == 0
    assert not list((tmp_path / "events.db.d").rglob("*.parquet"))


@pytest.mark.parametrize("is_missing", [False, True])
def test_a_damaged_or_missing_file_is_named(
    monitor: Monitor, tmp_path: Path, *, is_missing: bool
) -> None:
    (values,) = monitor.store.query(list_values)
    path = tmp_path / "events.db.d" / values.path
    if is_missing:
        path.unlink()
    else:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    for work in (monitor.store.verify, partial(copy_store, monitor.store, tmp_path / "copy.db")):
        with pytest.raises(FileError, match="values") as failed:
            work()
        assert failed.value.code == ("history_missing" if is_missing else "history_damaged")
        assert failed.value.file == str(path)


def test_a_backup_has_the_values(monitor: Monitor, tmp_path: Path) -> None:
    copy_store(monitor.store, tmp_path / "copy.db")
    with SQLiteStore(tmp_path / "copy.db") as copy:
        copy.verify()
        assert read_files(copy, "music", CLICKS.definition.hash) == read_files(
            monitor.writer, "music", CLICKS.definition.hash
        )


def test_values_that_were_replaced_stay_for_readers_and_are_removed_later(
    monitor: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor.writer.append("music", [Label("late", "r3", "a", 9, ("click",))])
    monitor.archive()
    found = (tmp_path / "events.db.d").rglob
    assert len(list(found("values/*/*/*.parquet"))) == 2
    place = monitor.writer.require_history()
    monkeypatch.setattr(place, "clean", partial(place.clean, kept_seconds=0))
    clean_place(monitor.writer, place)
    assert len(list(found("values/*/*/*.parquet"))) == 1
    assert len(read(monitor)) == 3
