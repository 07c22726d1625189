"""The bot report: facts about users who are unlike people, and who is left out."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

import json
from datetime import UTC, datetime, timedelta

from rankscope.cli import main
from rankscope.errors import UsageError
from rankscope.monitor.ask import bots
from rankscope.monitor.ask.bots import LEAST_RATE, MOST_FOUND, MOST_HOURS
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.monitor import Monitor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NIGHT = datetime(2026, 11, 2, tzinfo=UTC)
NOW = NIGHT + timedelta(days=6)
HOSTILE = "=1+1<img src=x>\u202e"


def search(
    user: str, minute: float, query: str, labels: dict[int, float] | None = None
) -> dict[str, object]:
    """A search at a minute since the start, with grades by rank."""
    return {
        "ranking_id": f"{user} {minute}",
        "user_id": user,
        "query_key": query,
        "time": (NIGHT + timedelta(minutes=minute)).isoformat(),
        "doc_ids": ["a", "b", "c"],
        "relevance": [float((labels or {}).get(rank, 0)) for rank in (1, 2, 3)],
    }


def make_people() -> Iterator[dict[str, object]]:
    """A hundred people with a few searches of their own a day, who click on what they like."""
    for user in range(100):
        for day in range(5):
            for number in range(3):
                minute = day * 1440 + 540 + (user * 37 + number * 211 + day * 17) % 700
                query = f"{user} {day} {number}"
                yield search(f"person {user}", minute, query, {1 + (user + number) % 3: 1.0})


@pytest.fixture
def monitor(tmp_path: Path) -> Monitor:
    """A monitor of people."""
    opened = Monitor.open(str(tmp_path / "events.db"), now=lambda: NOW)
    music = define(measures=["nDCG@3"], positive="click", window="1h")
    opened.configure(Configuration(definition=music))
    opened.log_rankings(list(make_people()))
    return opened


def tell(monitor: Monitor) -> dict[str, tuple[str, ...]]:
    """The facts of each user that was found."""
    return {one.user_id: one.facts for one in monitor.find_bots().found}


def test_nothing_is_odd_about_people(monitor: Monitor) -> None:
    report = monitor.find_bots()
    assert (report.found, report.users, report.rankings) == ((), 100, 1500)


def test_a_rate_that_nobody_has(monitor: Monitor) -> None:
    for user, count in (("below", LEAST_RATE - 1), ("at", LEAST_RATE)):
        gaps = [(number * number) % 59 for number in range(count)]
        monitor.log_rankings(
            [search(user, 600 + gap + number / 1000, "q") for number, gap in enumerate(gaps)]
        )
    assert tell(monitor) == {"at": (f"{LEAST_RATE} rankings in one hour; most users have 1",)}


def test_a_day_without_sleep(monitor: Monitor) -> None:
    for user, hours in (("below", MOST_HOURS - 1), ("at", MOST_HOURS)):
        monitor.log_rankings(
            [search(user, hour * 60 + hour * hour % 50, "q") for hour in range(hours)]
        )
    assert tell(monitor) == {"at": (f"rankings in {MOST_HOURS} of 24 hours on 2 Nov 2026",)}


def test_times_that_are_regular(monitor: Monitor) -> None:
    monitor.log_rankings([search("clock", 600 + 5 * number, "q") for number in range(31)])
    monitor.log_rankings([search("short", 600 + 5 * number, "q") for number in range(30)])
    assert tell(monitor) == {"clock": ("one ranking every 300 seconds, 31 times",)}


def test_the_same_queries_in_the_same_order(monitor: Monitor) -> None:
    for user in range(4):
        order = ["a", "b", "c", "d", "e"] if user < 3 else ["e", "d", "c", "b", "a"]
        monitor.log_rankings(
            [search(f"bot {user}", 700 + user + 100 * at, each) for at, each in enumerate(order)]
        )
    told = ("the same queries in the same order as 2 other users",)
    assert tell(monitor) == {f"bot {user}": told for user in range(3)}


def test_labels_on_everything_or_on_a_fixed_rank(monitor: Monitor) -> None:
    minutes = [540 + 7 * number + number * number % 11 for number in range(30)]
    everything = {1: 1.0, 2: 1.0, 3: 1.0}
    for user, labels in (("all", everything), ("third", {3: 1.0}), ("first", {1: 1.0})):
        monitor.log_rankings([search(user, minute, "q", labels) for minute in minutes])
    assert tell(monitor) == {
        "all": ("labels on 90 of 90 documents",),
        "third": ("all of 30 labels are at rank 3",),
    }


def test_what_is_read_has_limits(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    for days in (0, 32):
        with pytest.raises(UsageError, match="from 1 to 31 days"):
            monitor.find_bots(days)
    monkeypatch.setattr(bots, "MOST_RANKINGS", 300)
    report = monitor.find_bots()
    # Whole hours are read, the newest first.
    assert 300 <= report.rankings < 600
    assert report.since > NIGHT + timedelta(days=3)


def test_users_are_left_out_and_taken_back(monitor: Monitor) -> None:
    monitor.log_rankings([search(HOSTILE, 600 + 5 * number, "q") for number in range(40)])
    monitor.evaluate()
    before = monitor.series("nDCG@3", every="day")
    monitor.leave_out([HOSTILE, "gone"])
    monitor.evaluate()
    left = monitor.series("nDCG@3", every="day")
    assert left.rankings[0] == before.rankings[0] - 40
    report = monitor.find_bots()
    assert (report.left_out, report.left_out_rankings) == (2, 40)
    assert [(one.user_id, one.is_left_out) for one in report.found] == [
        (HOSTILE, True),
        ("gone", True),
    ]
    monitor.leave_out([], take_back=[HOSTILE, "gone"])
    monitor.evaluate()
    assert monitor.series("nDCG@3", every="day").rankings == before.rankings
    assert len(report.found) <= MOST_FOUND


def test_the_command_lists_and_leaves_out(
    tmp_path: Path, monitor: Monitor, capsys: pytest.CaptureFixture[str]
) -> None:
    monitor.log_rankings([search(HOSTILE, 600 + 5 * number, "q") for number in range(40)])
    monitor.close()
    store = str(tmp_path / "events.db")
    at = ["--as-of", NOW.isoformat()]
    assert main(["monitor", "bots", store, *at]) == 0
    said = capsys.readouterr().out
    assert "one ranking every 300 seconds, 40 times" in said
    assert "\u202e" not in said
    assert main(["monitor", "bots", store, "--leave-out", HOSTILE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"left_out": [HOSTILE]}
    assert main(["monitor", "bots", store, *at, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out_rankings"] == 40
    assert main(["monitor", "bots", store, "--take-back", HOSTILE]) == 0
    assert "0 users are left out" in capsys.readouterr().out
