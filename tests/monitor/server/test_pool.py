"""Questions to monitors: some at a time, and no more than are bearable wait."""

from __future__ import annotations

import asyncio
import threading

import pytest
from rankscope import UsageError
from rankscope.monitor.links import Links
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.access.authenticator import Principal
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.routing.endpoint import Call
from rankscope.monitor.server.routing.pool import MonitorPool
from rankscope.monitor.store.keys import SCOPES
from starlette.requests import Request

from tests.monitor.server.service import NOW, Service

PRINCIPAL = Principal({"music": SCOPES}, "test", project="music")


def make_pool(service: Service, **settings: int) -> MonitorPool:
    return MonitorPool(service.store, Settings(**settings), lambda: NOW)  # type: ignore[arg-type]


def test_more_than_may_wait_have_to_come_back(service: Service) -> None:
    pool = make_pool(service, readers=2, waiting_reads=5)
    running: list[int] = []
    most: list[int] = []
    lock, gate = threading.Lock(), threading.Event()

    def work(_monitor: Monitor) -> None:
        with lock:
            running.append(1)
            most.append(len(running))
        gate.wait(300)
        with lock:
            running.pop()

    async def ask() -> list[object]:
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
    # Whoever comes back is answered.
    assert asyncio.run(pool.run(PRINCIPAL, lambda _: 1)) == 1


def make_call(path: str, project: str = "music", query: bytes = b"") -> Call:
    scope = {"type": "http", "path": path, "query_string": query, "headers": []}
    request = Request(scope | {"state": {"links": Links()}})
    principal = Principal({project: SCOPES}, "test", project=project)
    return Call(request, principal, {}, {}, {})


def test_who_waits_for_the_same_gets_the_same_answer(service: Service) -> None:
    pool = make_pool(service, readers=1, waiting_reads=10)
    started, gate = threading.Event(), threading.Event()
    begun: list[str] = []

    def work(monitor: Monitor) -> tuple[str, int]:
        begun.append(monitor.project)
        started.set()
        gate.wait(300)
        return monitor.project, len(begun)

    async def ask() -> list[tuple[str, int]]:
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


def test_what_was_refused_may_be_asked_again(service: Service) -> None:
    pool = make_pool(service, readers=1, waiting_reads=0)
    with pytest.raises(RefusedRequestError):
        asyncio.run(pool.read(make_call("/a"), lambda _: 1))
    pool._most = 1
    assert asyncio.run(pool.read(make_call("/a"), lambda _: 1)) == 1

    def fail(_monitor: Monitor) -> None:
        raise UsageError("expected a, found b", hint="say a", code="bad_rule")

    for _ in range(2):
        with pytest.raises(RefusedRequestError):
            asyncio.run(pool.read(make_call("/a"), fail))
