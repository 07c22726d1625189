from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import numpy as np
import pytest
from rankscope import FileError, UsageError
from rankscope.monitor.backups import find_backup
from rankscope.monitor.doctor import examine
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import describe_time
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.log import deletion
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back
from tests.monitor.store.copies import copy_store
from tests.monitor.test_refreshing import NOW, make_events, open_monitor, spell_out
from tests.refusals import refuses

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
def store(tmp_path):
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        opened.append("music", EVENTS)
        yield opened


def test_an_hour_that_the_log_lost_is_told_by_the_doctor_and_stops_a_backup(tmp_path):
    with open_monitor(tmp_path, "music", [NOW]) as monitor:
        monitor.writer.append("default", make_events(30))
        monitor.evaluate()
        path = tmp_path / "music.db"
        copy_store(monitor.store, tmp_path / "whole.db")
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("DELETE FROM blocks WHERE start = 0")
        [store, *_] = examine(monitor, path)
        assert not store.is_good
        assert "blocks instead of" in store.told
        with refuses(FileError, "store_damaged"):
            monitor.backup(str(tmp_path / "backups"))
        assert find_backup(str(tmp_path / "backups")) is None
    with Monitor.open(str(tmp_path / "whole.db"), writes=False) as restored:
        assert examine(restored, tmp_path / "whole.db")[0].is_good


def test_the_doctor_finds_the_newest_ranking(tmp_path):
    with open_monitor(tmp_path, "music", [NOW]) as monitor:
        events = make_events(30)
        monitor.writer.append("default", events)
        found = {one.name: one for one in examine(monitor, tmp_path / "music.db")}
    newest = max(event.time for event in events if isinstance(event, Ranking))
    told = describe_time(newest - newest % HOUR)
    assert found["flow"].told == f"the newest production ranking is from the hour of {told}"


def test_what_belongs_to_a_user_is_deleted_as_if_it_had_never_been_there(tmp_path):
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
        done = deleted.delete(user="v")
        assert (done.rankings, done.labels) == (len(rest), len(events) - len(kept) - len(rest))
        deleted.writer.verify()
        deleted.evaluate()
        assert spell_out(deleted) == spell_out(never)
        assert read_back(deleted.store, "default") == read_back(never.store, "default")
        assert deleted.delete(user="nobody") == Deleted(0, 0)


def test_rankings_are_deleted_by_id_and_by_time(store):
    monitor = Monitor(store, "music")
    assert monitor.delete(rankings="r9") == Deleted(0, 1)
    assert monitor.delete(rankings=["r1", "r2"], user="u") == Deleted(1, 2)
    since = datetime(1970, 1, 1, 1, tzinfo=UTC) + timedelta(microseconds=7)
    assert monitor.delete(since=since) == Deleted(1, 0)
    assert read_back(store, "music").keys() == {"r2"}
    assert store.counters("music")["erased_rankings"] == 2
    wrong = [{}, {"user": ""}, {"since": since, "until": since}]
    for given in wrong:
        with pytest.raises(UsageError):
            monitor.delete(**given)
    store.verify()


def test_a_project_may_have_any_name(tmp_path):
    names = ["..", "a/b", "日本" * 60, "x" * 128, "CON", "a b"]
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        for name in names:
            store.append(name, EVENTS)
        store.verify()
        for name in names:
            assert store.find_ranking(name, "r1") == FULL


def test_a_chunk_is_no_larger_than_what_was_asked_for(store):
    sizes = [len(chunk.seqs) for chunk in store.read("music", size=2)]
    assert (sum(sizes), max(sizes)) == (3, 2)
    times = np.concatenate([chunk.times for chunk in store.read("music", HOUR + 6, HOUR + 7)])
    assert times.tolist() == [HOUR + 6]


class StoppedError(Exception):
    """A process ends here."""


def ask_all(store, since, until):
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


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Two stores with rankings of an hour, some labels, and one of a validation set."""
    monkeypatch.setattr(deletion, "BLOCKS", 1)
    with (
        SQLiteStore(tmp_path / "plain.db", group_seconds=0) as plain,
        SQLiteStore(tmp_path / "stopped.db", group_seconds=0) as stopped,
    ):
        for opened in (plain, stopped):
            judged = replace(make_ranking(22), environment="validation", time=HOUR + 5)
            opened.append("music", [judged, *map(ranking_of, range(11)), label_of(22)])
            opened.append("music", [ranking_of(number) for number in range(11, 22)])
            for number in range(0, 22, 6):
                opened.append("music", [label_of(number)])
        yield plain, stopped


def ranking_of(number):
    return replace(make_ranking(number), time=HOUR + number * MINUTE)


def label_of(number):
    return replace(make_label(number, number), time=HOUR + number * MINUTE + 1)


def stop_after(store, work, steps):
    """Do some work, and raise an error after so many of its transactions."""
    transact, done = store.transact, count(1)

    def transact_and_stop(some, size=1):
        result = transact(some, size)
        result.result()
        if next(done) == steps:
            raise StoppedError
        return result

    store.transact = transact_and_stop
    try:
        work()
    finally:
        store.transact = transact


DELETIONS = {
    "what is old": lambda store: store.delete_before("music", HOUR + 12 * MINUTE),
    "a whole hour": lambda store: store.delete_before("music", DAY),
    "some rankings": lambda store: store.erase(
        "music", Chosen(ranking_ids=("ranking-3", "ranking-20"))
    ),
    "a span": lambda store: store.erase("music", Chosen(since=HOUR + 10 * MINUTE)),
}


@pytest.mark.parametrize("name", DELETIONS)
def test_a_deletion_that_was_interrupted_anywhere_is_finished_later(pair, name):
    plain, stopped = pair
    assert DELETIONS[name](plain).rankings > 0
    for steps in count(1):
        try:
            stop_after(stopped, lambda: DELETIONS[name](stopped), steps)
        except StoppedError:
            assert steps < 100
            stopped.verify()
        else:
            break
    assert steps >= 2
    for since, until in ((0, DAY), (HOUR, 2 * HOUR), (HOUR + 7 * MINUTE, DAY)):
        assert ask_all(stopped, since, until) == ask_all(plain, since, until)
    assert read_back(stopped, "music", 4) == read_back(plain, "music", 4)
    stopped.verify()
