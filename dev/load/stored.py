"""What it takes to evaluate a store that is full, and to look at it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import TYPE_CHECKING

from rankscope.monitor.store.sqlite.store import SQLiteStore

from dev.load.configuration import PROJECT
from dev.load.searches import make_batch

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.events.outcome import Outcomes

PATHS = ("/", "/v1/series?measure=nDCG@10&every=day", "/v1/series?measure=nDCG@10&every=hour")
ASKED = 100
AT_ONCE = 5
"""Batches that are stored together."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How soon a page is there.

    Args:
        path: Its address.
        status: What was answered.
        size: How many bytes.
        delays: How long each answer took, in seconds.
    """

    path: str
    status: int
    size: int
    delays: list[float]


def fill(path: Path, batches: int) -> float:
    """Store batches without the service, and give how many seconds that took.

    Args:
        path: The store; it is made.
        batches: How many batches.
    """
    begin = time.perf_counter()
    waiting: list[Future[Outcomes]] = []
    with SQLiteStore(path) as store:
        for first in range(0, batches, AT_ONCE):
            some = [make_batch(number) for number in range(first, min(first + AT_ONCE, batches))]
            events: list[Event] = []
            for batch in some:
                events += batch.list_rankings()
                events += batch.list_labels()
            waiting.append(store.submit(PROJECT, events))
            if len(waiting) > 4:
                waiting.pop(0).result()
        for one in waiting:
            one.result()
    return time.perf_counter() - begin


def ask(port: int, key: str) -> list[Asked]:
    """Ask for pages, one request after the other.

    Args:
        port: Where the service listens.
        key: What lets requests in.
    """
    return [_ask(port, key, path) for path in PATHS]


def _ask(port: int, key: str, path: str) -> Asked:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    delays = []
    status = size = 0
    for _ in range(ASKED):
        begin = time.perf_counter()
        connection.request("GET", path, headers={"authorization": f"Bearer {key}"})
        response = connection.getresponse()
        size = len(response.read())
        delays.append(time.perf_counter() - begin)
        status = response.status
    connection.close()
    return Asked(path, status, size, delays)
