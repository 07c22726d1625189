"""Time the check of rules of a log of 30 days: `python -m dev.load.rules`."""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.store.sqlite.store import SQLiteStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankscope.monitor.events.event import Event

SEED = 20261122
PROJECT = "default"
START = 20_454 * DAY
"""When the log begins: a Thursday."""
DAYS = 30
RELEASES = (0, 10, 20)
"""The days on which versions begin."""
RANKINGS = 1_000_000
ROUNDS = 7
"""How many hours are added one by one."""
USERS = 40_000
MARKETS = tuple(f"market {number:02}" for number in range(16))
DEVICES = ("car", "phone", "tv", "web")
DOCUMENTS = tuple(f"item {number}" for number in range(10))
ITEMS = Items(DOCUMENTS, tuple(range(1, len(DOCUMENTS) + 1)))
SLICED = ("market", "device")
"""The attributes of the slices: 20 values together."""
CONFIGURATION = Configuration(
    definition=define(measures=["nDCG@5", "RR@5"], positive="click", window="24h"),
    attributes=SLICED,
    baseline=BaselineChoice(kind="version"),
)
RULES = (
    Rule(name="quality", measure="nDCG@5"),
    Rule(name="slices", measure="nDCG@5", slices=SLICED),
    Rule(name="first", measure="RR@5"),
)
CLOSED = START + (DAYS + 1) * DAY + HOUR
"""When all days of the log are final."""


def main() -> None:
    """Fill a store, and print how long the rounds of its evaluation take."""
    parser = argparse.ArgumentParser(prog="python -m dev.load.rules", description=__doc__)
    parser.add_argument("--rankings", type=int, default=RANKINGS, help="how many the log has")
    parser.add_argument("--store", type=Path, help="where the store is made, and stays")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rankscope-rules-") as folder:
        path = options.store or Path(folder) / "rules.db"
        if not path.exists():
            fill(path, options.rankings)
        for name, seconds in measure(path, options.rankings):
            print(f"{name:42}{seconds:8.2f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{'memory of this process, at most':42}{peak:8} MB")


def measure(path: Path, rankings: int) -> Iterator[tuple[str, float]]:
    """Evaluate a store that was filled, and yield what is done, and the seconds it takes.

    Args:
        path: The store.
        rankings: How many its log has.
    """
    clock = CLOSED
    with SQLiteStore(path) as store:
        monitor = Monitor(store, PROJECT, clock=lambda: clock)
        monitor.configure(CONFIGURATION)
        yield "the windows of 30 days", _time_round(monitor)
        for rule in RULES:
            Monitor(store, PROJECT, clock=lambda: START).set_rule(rule)
        yield "3 rules and the data, over 30 days", _time_round(monitor)
        idle, due = [], []
        for hour in range(ROUNDS):
            idle.append(_time_round(monitor))
            since, clock = clock, clock + HOUR
            store.append(PROJECT, list(draw_events(since, clock, rankings // (DAYS * 24), hour)))
            due.append(_time_round(monitor))
        yield "nothing due, half of the rounds within", statistics.median(idle)
        yield "one more hour, half of the rounds within", statistics.median(due)


def fill(path: Path, rankings: int) -> None:
    """Store the log.

    Args:
        path: The store, which is made.
        rankings: How many the log has.
    """
    hours = DAYS * 24
    with SQLiteStore(path) as store:
        for hour in range(hours):
            count = rankings * (hour + 1) // hours - rankings * hour // hours
            since = START + hour * HOUR
            store.append(PROJECT, list(draw_events(since, since + HOUR, count, hour)))


def draw_events(since: int, until: int, count: int, seed: int) -> Iterator[Event]:
    """Draw the rankings of a time, and their labels.

    Args:
        since: When it begins, in microseconds since 1970 in UTC.
        until: When it ends.
        count: How many rankings.
        seed: Where chance begins.
    """
    draw = np.random.default_rng([SEED, since // HOUR, seed])
    version = str(sum(since >= START + day * DAY for day in RELEASES))
    times = np.sort(draw.integers(since, until, size=count)).tolist()
    users = draw.integers(USERS, size=count).tolist()
    markets = draw.integers(len(MARKETS), size=count).tolist()
    devices = draw.integers(len(DEVICES), size=count).tolist()
    clicks = draw.random((count, len(DOCUMENTS))) < 0.5 / np.arange(1, len(DOCUMENTS) + 1)
    delays = draw.exponential(HOUR, size=clicks.shape).astype(np.int64) + MINUTE
    columns = zip(times, users, markets, devices, strict=True)
    for at, (moment, user, market, device) in enumerate(columns):
        name = f"{since // HOUR}-{at}"
        yield Ranking(
            name,
            name,
            moment,
            ITEMS,
            user_id=f"user {user}",
            model="search",
            version=version,
            attributes=(("device", DEVICES[device]), ("market", MARKETS[market])),
        )
        for place in np.flatnonzero(clicks[at]).tolist():
            yield Label(
                f"{name}-{place}",
                name,
                DOCUMENTS[place],
                moment + int(delays[at, place]),
                ("click",),
            )


def _time_round(monitor: Monitor) -> float:
    since = time.perf_counter()
    monitor.evaluate()
    return time.perf_counter() - since


if __name__ == "__main__":
    main()
