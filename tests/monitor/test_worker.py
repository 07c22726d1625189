from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from functools import partial
from operator import methodcaller

import pytest
from rankscope import FileError, UsageError
from rankscope.monitor.evaluate import refresh as refreshing
from rankscope.monitor.evaluate.worker import Worker, run_in_order
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.round import evaluate_project
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.test_refreshing import MUSIC, NOW, make_events, open_monitor, spell_out
from tests.monitor.works import (
    double,
    end_process,
    shout,
    tell_modesty,
    tell_process,
    wait_for_ever,
)
from tests.refusals import refuses

PARENT = """
import sys
from threading import Thread
from tests.monitor.works import tell_process, wait_for_ever
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.evaluate.worker import Worker
with SQLiteStore(sys.argv[1]) as store, Worker(store) as worker:
    print(worker.run(tell_process), flush=True)
    Thread(target=worker.run, args=[wait_for_ever], daemon=True).start()
    print("waits", flush=True)
    sys.stdin.read()
"""
PATIENCE = 60.0


@pytest.fixture
def store(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as made:
        yield made


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    """A worker that lives on: no test that asks for it ends it."""
    path = tmp_path_factory.mktemp("worker") / "events.db"
    with SQLiteStore(path) as made, Worker(made) as worker:
        yield worker


def has_ended(process):
    try:
        opened = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([opened], [], [], PATIENCE)[0])
    finally:
        os.close(opened)


def test_it_is_another_process_and_stays(store):
    with Worker(store) as worker:
        number = worker.run(tell_process)
        assert number != os.getpid()
        assert worker.run(tell_process) == number
    assert has_ended(number)


def test_all_others_go_first_if_it_is_modest(store):
    with Worker(store, is_modest=True) as modest, Worker(store) as other:
        assert modest.run(tell_modesty) == 19
        assert other.run(tell_modesty) == os.getpriority(os.PRIO_PROCESS, 0)


def test_evaluated_apart_windows_and_alerts_are_the_same(tmp_path):
    with (
        open_monitor(tmp_path, "here", [NOW]) as here,
        open_monitor(tmp_path, "apart", [NOW]) as apart,
        Worker(apart.store) as worker,
    ):
        for monitor in (here, apart):
            monitor.store.append("default", make_events(3))
        expected = here.evaluate()
        found = worker.run(partial(evaluate_project, project="default", now=NOW, threads=1))
        assert found == expected
        assert spell_out(apart) == spell_out(here)


@pytest.mark.slow
def test_days_summed_by_many_processes_are_the_same(tmp_path, monkeypatch):
    events = [
        Ranking(f"e{at}", f"r{at}", at * HOUR, Items(("a", "b"), (1, 2)))
        for day in range(7)
        for at in range(24 * day, 24 * day + 24, 1 + day % 5)
    ]
    clicks = [
        Label(f"l{each.ranking_id}", each.ranking_id, "ab"[place % 2], each.time + 1, ("click",))
        for place, each in enumerate(events)
    ]
    now = 8 * 24 * HOUR
    with (
        open_monitor(tmp_path, "one", [now]) as one,
        Monitor.open(f"{tmp_path}/many.db", now=lambda: to_datetime(now), threads=3) as many,
    ):
        many.configure(MUSIC)
        for monitor in (one, many):
            monitor.store.append("default", events)
            monitor.store.append("default", clicks)
        one.evaluate()
        monkeypatch.setattr(refreshing, "MANY", 1)
        assert many.evaluate().rankings == len(events)
        assert spell_out(many) == spell_out(one)


def test_what_work_raises_is_raised(worker):
    with refuses(UsageError, "not_configured", match="is not configured"):
        worker.run(partial(evaluate_project, project="default", now=NOW))
    assert worker.run(methodcaller("projects")) == []


def test_what_cannot_be_written_is_told_to_the_work(tmp_path):
    with open_monitor(tmp_path, "full", [NOW]) as monitor, Worker(monitor.store) as worker:
        monitor.store.append("default", make_events(3))
        worker.run(tell_process)
        monitor.store.close()
        with refuses(FileError, "store_closed"):
            worker.run(partial(evaluate_project, project="default", now=NOW))


def test_what_is_printed_or_cannot_be_sent_does_no_harm(worker):
    assert worker.run(shout) == ""
    assert worker.run(partial(double, number=4)) == 8
    with pytest.raises((AttributeError, TypeError), match=r"[Pp]ickle|local"):
        worker.run(lambda _: None)
    assert worker.run(partial(double, number=4)) == 8


def test_a_process_that_was_killed_is_told_of_and_replaced_also_while_it_waited(store):
    with Worker(store) as worker:
        before = worker.run(tell_process)
        with refuses(FileError, "worker_ended", match="ended before its work was done"):
            worker.run(end_process)
        assert worker.run(tell_process) != before
    with Worker(store) as worker:
        before = worker.run(tell_process)
        os.kill(before, signal.SIGKILL)
        # Waited for, but not reaped: that is for who has started it.
        os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)
        with pytest.raises(FileError, match="ended before its work was done"):
            worker.run(tell_process)
        assert worker.run(tell_process) != before


def test_closing_ends_what_is_being_done(store):
    worker = Worker(store)
    raised = []
    number = worker.run(tell_process)

    def wait():
        try:
            worker.run(wait_for_ever)
        except FileError as error:
            raised.append(error.code)

    waiting = threading.Thread(target=wait)
    waiting.start()
    worker.close()
    waiting.join(PATIENCE)
    assert has_ended(number)
    assert raised in (["worker_ended"], ["store_closed"])
    with pytest.raises(FileError, match="the worker is closed"):
        worker.run(tell_process)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux tells when other processes end")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_the_process_that_has_started_it(tmp_path, end):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "events.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as parent:
        number = int(parent.stdout.readline())
        assert parent.stdout.readline() == "waits\n"
        parent.send_signal(end)
    assert has_ended(number)


def test_results_come_in_the_order_of_the_works_until_one_fails(store):
    works = [partial(double, number=number) for number in range(20, 60)]
    assert list(run_in_order(store, works, 3)) == list(range(40, 120, 2))
    works = (partial(double, number=number) for number in range(100))
    done = run_in_order(store, works, 2)
    with pytest.raises(UsageError, match="found 7"):
        list(done)
