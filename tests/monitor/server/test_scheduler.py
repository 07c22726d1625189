from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter

import pytest
from rankscope import FileError, UsageError
from rankscope.monitor.events.limits import HOUR, SECOND
from rankscope.monitor.events.times import format_time
from rankscope.monitor.links import Links
from rankscope.monitor.server.access.authenticator import Principal
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.routing.endpoint import Call
from rankscope.monitor.server.routing.pool import MonitorPool
from rankscope.monitor.server.run.schedule import Repeater, Scheduler
from rankscope.monitor.server.telemetry import Telemetry
from rankscope.monitor.store.keys import SCOPES
from starlette.requests import Request

from tests.monitor.server.music import START, log_music
from tests.monitor.server.service import NOW


class World:
    def __init__(self, *projects, **failing):
        self.failing = failing
        self.counts = Counter()
        self.order = []
        self.told = []
        self.now = 0
        self.seconds = 0
        self.telemetry = Telemetry()
        self.scheduler = Scheduler(
            lambda: projects,
            self.evaluate,
            now=lambda: self.now,
            report=self.report,
            telemetry=self.telemetry,
        )

    def evaluate(self, project):
        self.counts[project] += 1
        self.order.append(project)
        self.now += self.seconds * SECOND
        if project in self.failing:
            raise self.failing[project]

    def report(self, event, fields):
        self.told.append((event, dict(fields)))


def test_each_project_has_its_turn():
    world = World("a", "b", "c")
    world.scheduler.run_round()
    world.scheduler.run_round()
    assert world.order == ["a", "b", "c"] * 2


def test_a_project_that_fails_stops_no_other_and_is_told_of_once():
    world = World("a", "b", "c", a=FileError("secret", code="store_busy"), b=KeyError("secret"))
    for _ in range(3):
        world.scheduler.run_round()
    assert world.counts == {"a": 3, "b": 3, "c": 3}
    assert world.told == [
        ("evaluation.failed", {"project": "a", "problem": "store_busy"}),
        ("evaluation.failed", {"project": "b", "problem": "KeyError"}),
    ]
    assert world.scheduler.failing == {"a": "store_busy", "b": "KeyError"}
    world.failing = {"b": ValueError()}
    world.scheduler.run_round()
    assert world.told[2:] == [("evaluation.failed", {"project": "b", "problem": "ValueError"})]
    assert world.scheduler.failing == {"b": "ValueError"}


def test_what_is_not_configured_is_not_wrong():
    world = World("a", a=UsageError("none", code="not_configured"))
    world.scheduler.run_round()
    assert (world.told, world.scheduler.failing) == ([], {})
    assert world.telemetry.collect("a") == []


def test_rounds_are_timed_and_failures_counted_by_project():
    world = World("a", "b", b=FileError("secret", code="store_busy"))
    world.seconds = 2
    for _ in range(3):
        world.scheduler.run_round()
    for project, failures in (("a", 0), ("b", 3)):
        samples = {
            (sample.name, sample.labels.get("le")): sample.value
            for metric in world.telemetry.collect(project)
            for sample in metric.samples
        }
        assert samples["rankscope_round_failures_total", None] == failures
        assert samples["rankscope_round_duration_seconds_sum", None] == 2 * 3
        assert samples["rankscope_round_duration_seconds_bucket", "1.0"] == 0
        assert samples["rankscope_round_duration_seconds_bucket", "3.0"] == 3


def test_a_round_that_takes_too_long_is_known():
    world = World("a")
    world.scheduler.run_round()
    world.now = 31 * SECOND
    assert (world.scheduler.lag, world.scheduler.is_late) == (31.0, True)
    world.scheduler.run_round()
    assert (world.scheduler.finished, world.scheduler.is_late) == (31 * SECOND, False)
    world.now = 0  # a clock may be put back
    assert world.scheduler.lag == 0


def test_threads_begin_and_end():
    goes, ends = threading.Event(), threading.Event()

    class Slow:
        def step(self):
            ends.wait(300)
            return 0

    world = World("a", "b")
    scheduler = Scheduler(
        lambda: ["a", "b"],
        lambda project: goes.set() if project == "b" else None,
        deliverer=Slow(),
        seconds=0.001,
        now=lambda: 0,
        report=world.report,
    )
    scheduler.start()
    # That the webhook hangs keeps no project from its turn.
    for _ in range(3):
        goes.clear()
        assert goes.wait(300)
    assert not scheduler.stop(0.01)
    ends.set()
    assert scheduler.stop()


def test_what_is_raised_is_told_and_the_next_time_comes():
    seen = threading.Semaphore(0)
    told = []

    def fail():
        seen.release()
        raise OSError

    repeater = Repeater(fail, seconds=0, name="test", complain=told.append)
    repeater.start()
    assert all(seen.acquire(timeout=300) for _ in range(3))
    assert repeater.stop()
    assert len(told) >= 3


def test_the_cores_are_left_to_others_for_longer_than_a_round_took():
    repeater = Repeater(int, seconds=10, name="test", complain=print, rest=3)
    assert [repeater.choose_rest(took) for took in (0, 2, 5)] == [10, 10, 15]


def test_a_round_is_late_by_how_long_rounds_take():
    world = World("a")
    assert not world.scheduler.is_late

    def take_a_minute(_project):
        world.now += 60 * SECOND

    world.scheduler = Scheduler(
        lambda: "a", take_a_minute, now=lambda: world.now, report=world.report
    )
    world.scheduler.run_round()
    world.now += 5 * 60 * SECOND
    assert not world.scheduler.is_late
    world.now += 15 * 60 * SECOND
    assert world.scheduler.is_late


def ask(service, path, body, *scopes):
    key = service.make_key("music", *(scopes or ("admin",)))
    return service.ask("POST", path, json.dumps(body).encode(), key=key)


def count(monitor):
    return sum(one.rankings for one in monitor.store.versions("music"))


def test_rankings_are_deleted_by_id_or_by_user_whom_the_audit_log_does_not_name(service):
    monitor = log_music(service)
    before = count(monitor)
    body = {"rankings": ["r0", "r95"], "until": format_time(START + HOUR)}
    assert ask(service, "/v1/deletions", body).json() == {"rankings": 1, "labels": 1}
    assert count(monitor) == before - 1
    before = count(monitor)
    theirs = sum(number % 11 == 3 for number in [*range(96), *range(100, 140)])
    answer = ask(service, "/v1/deletions", {"user": "u3"})
    assert answer.status_code == 200
    assert answer.json() == {"rankings": theirs, "labels": theirs}
    assert count(monitor) == before - theirs
    entry = monitor.store.audit("music")[-1]
    assert (entry.action, entry.subject) == ("events.delete", "rankings of one user")
    assert entry.actor != "local"
    assert ask(service, "/v1/deletions", {"user": "u3"}).json() == {"rankings": 0, "labels": 0}


def test_nothing_is_deleted_by_a_request_that_is_wrong_or_of_who_may_not(service):
    monitor = log_music(service)
    before = count(monitor)
    for body in (
        {},
        {"user": ""},
        {"rankings": []},
        {"rankings": ["r"] * 1001},
        {"since": "2026-11-21"},
        {"users": "u3"},
        {"user": "u3", "since": format_time(NOW), "until": format_time(START)},
    ):
        assert ask(service, "/v1/deletions", body).status_code == 422, body
    for scopes in (("read",), ("edit",), ("ingest",)):
        assert ask(service, "/v1/deletions", {"user": "u3"}, *scopes).status_code == 403
    assert count(monitor) == before


def test_old_events_are_deleted_and_their_values_stay(service):
    monitor = log_music(service)
    before = monitor.series("nDCG@5", every="hour").values
    answer = ask(service, "/v1/retention", {"before": format_time(START + 6 * HOUR)})
    assert answer.json()["rankings"] >= 24
    monitor.evaluate()
    assert monitor.series("nDCG@5", every="hour").values == before
    refused = ask(service, "/v1/retention", {"before": format_time(NOW)})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "open_windows")


PRINCIPAL = Principal({"music": SCOPES}, "test", project="music")


def make_pool(service, **settings):
    return MonitorPool(service.store, Settings(**settings), lambda: NOW)


def test_more_than_may_wait_have_to_come_back(service):
    pool = make_pool(service, readers=2, waiting_reads=5)
    running = []
    most = []
    lock, gate = threading.Lock(), threading.Event()

    def work(_monitor):
        with lock:
            running.append(1)
            most.append(len(running))
        gate.wait(300)
        with lock:
            running.pop()

    async def ask():
        asked = [asyncio.ensure_future(pool.run(PRINCIPAL, work)) for _ in range(20)]
        await asyncio.sleep(0)
        refused = [one for one in asked if one.done()]
        gate.set()
        told = await asyncio.gather(*asked, return_exceptions=True)
        assert len(refused) == 15
        return list(told)

    told = asyncio.run(ask())
    problems = [one for one in told if isinstance(one, RefusedRequestError)]
    assert {(one.status, one.code, one.headers["retry-after"]) for one in problems} == {
        (503, "busy", "1")
    }
    assert (len(problems), told.count(None)) == (15, 5)
    assert max(most) <= 2
    # A client that comes back gets an answer.
    assert asyncio.run(pool.run(PRINCIPAL, lambda _: 1)) == 1


def make_call(path, project="music", query=b""):
    scope = {"type": "http", "path": path, "query_string": query, "headers": []}
    request = Request(scope | {"state": {"links": Links()}})
    principal = Principal({project: SCOPES}, "test", project=project)
    return Call(request, principal, {}, {}, {})


def test_who_waits_for_the_same_gets_the_same_answer(service):
    pool = make_pool(service, readers=1, waiting_reads=10)
    started, gate = threading.Event(), threading.Event()
    begun = []

    def work(monitor):
        begun.append(monitor.project)
        started.set()
        gate.wait(300)
        return monitor.project, len(begun)

    async def ask():
        first = asyncio.ensure_future(pool.read(make_call("/first"), work))
        await asyncio.to_thread(started.wait, 30)
        asked = [make_call("/a")] * 30
        asked += [make_call("/b"), make_call("/a", "films"), make_call("/a", query=b"b=1")]
        others = [asyncio.ensure_future(pool.read(one, work)) for one in asked]
        # What was begun has not seen what is stored meanwhile.
        again = asyncio.ensure_future(pool.read(make_call("/first"), work))
        await asyncio.sleep(0)
        gate.set()
        return list(await asyncio.gather(first, *others, again))

    first, *others, again = asyncio.run(ask())
    assert first == ("music", 1)
    assert others == [("music", 2)] * 30 + [("music", 3), ("films", 4), ("music", 5)]
    assert again == ("music", 6)


def test_what_was_refused_may_be_asked_again(service):
    pool = make_pool(service, readers=1, waiting_reads=0)
    with pytest.raises(RefusedRequestError):
        asyncio.run(pool.read(make_call("/a"), lambda _: 1))
    pool._most = 1
    assert asyncio.run(pool.read(make_call("/a"), lambda _: 1)) == 1

    def fail(_monitor):
        raise UsageError("expected a, found b", hint="say a", code="bad_rule")

    for _ in range(2):
        with pytest.raises(RefusedRequestError):
            asyncio.run(pool.read(make_call("/a"), fail))
