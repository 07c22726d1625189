"""Time reads of a log with a version per request: `python -m dev.load.many_versions`."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.app import make_app
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.sqlite.store import SQLiteStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankscope.monitor.events.event import Event

NOW = 1_795_284_000_000_000
PROJECT = "music"
CONFIGURATION = Configuration(
    definition=define(positive="click", window=3600), attributes=("device",), baseline=None
)
VERSIONS = (100, 500, 2_000, 20_000)
PATHS = ("/", "/metrics")
BATCH = 2_000
RELEASED = 10
"""Rankings of a real release in every hour."""
ITEMS = Items(("a", "b", "c"), (1, 2, 3))


def main() -> None:
    """Measure reads of stores with several numbers of versions, and print the medians."""
    parser = argparse.ArgumentParser(prog="python -m dev.load.many_versions", description=__doc__)
    parser.add_argument("versions", type=int, nargs="*", default=VERSIONS, metavar="VERSIONS")
    parser.add_argument("--hours", type=int, default=24, help="over how many hours they are spread")
    parser.add_argument("--repeat", type=int, default=5, help="how often each path is asked")
    options = parser.parse_args()
    print("versions", "evaluation", *(f"GET {path}" for path in PATHS), sep="\t")
    for versions in options.versions:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "events.db"
            seconds = [*measure(path, versions, options.hours, options.repeat)]
        print(versions, *(f"{one:.3f} s" for one in seconds), sep="\t", flush=True)


def measure(path: Path, versions: int, hours: int, repeat: int) -> Iterator[float]:
    """Fill a store, and yield the seconds of its evaluation, and the median of each path."""
    with SQLiteStore(path) as store:
        monitor = Monitor(store, PROJECT, clock=lambda: NOW)
        monitor.configure(CONFIGURATION)
        events = list(_make_events(versions, hours))
        for at in range(0, len(events), BATCH):
            store.append(PROJECT, events[at : at + BATCH])
        since = time.perf_counter()
        monitor.evaluate()
        yield time.perf_counter() - since
        key, secret = make_key(PROJECT, ["read"], name="load", now=NOW)
        store.add_key(key, "load")
        app = make_app(store, now=lambda: NOW, write_log=lambda _: None)
        for asked in PATHS:
            yield statistics.median(
                asyncio.run(_ask(app, asked, secret.reveal())) for _ in range(repeat)
            )


async def _ask(app: object, path: str, key: str) -> float:
    transport = httpx.ASGITransport(app)  # type: ignore[arg-type]  # an application of ASGI
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        since = time.perf_counter()
        answer = await client.get(path, headers={"authorization": f"Bearer {key}"}, timeout=600)
        answer.raise_for_status()
        return time.perf_counter() - since


def _make_events(versions: int, hours: int) -> Iterator[Event]:
    start = NOW - NOW % HOUR - (hours + 2) * HOUR
    for number in range(versions):
        yield from _show(number, f"request-{number}", start + number * hours * HOUR // versions)
    for number in range(hours * RELEASED):
        yield from _show(versions + number, "4", start + number * HOUR // RELEASED)


def _show(number: int, version: str, time: int) -> Iterator[Event]:
    shown = Ranking(
        f"e{number}",
        f"r{number}",
        time,
        ITEMS,
        query_key=f"q{number % 7}",
        user_id=f"u{number % 11}",
        model="search",
        version=version,
        attributes=(("device", "tv"),),
    )
    yield shown
    yield Label(f"l{number}", f"r{number}", "abc"[number % 3], time, ("click",))


if __name__ == "__main__":
    main()
