"""The mix of an attribute: the share of the rankings that has each value, by hour and day."""

from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from rankscope.errors import UsageError
from rankscope.monitor import Configuration, Monitor, define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankscope.monitor.ask.series import Every

FIRST = datetime(2026, 11, 1, tzinfo=UTC)
DAYS, A_DAY = 9, 40


def describe(day: int, number: int) -> dict[str, str | float]:
    """The last day has no cheap ones; every eighth has no price; there are many cities."""
    price = {} if number % 8 == 0 else {"price": number + (40 if day == DAYS - 1 else 0)}
    return {"city": f"c{min(number, 9)}", **price}


@pytest.fixture(scope="module")
def monitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    path = tmp_path_factory.mktemp("mix") / "x.db"
    now = FIRST + timedelta(days=DAYS, hours=2)
    with Monitor.open(str(path), now=lambda: now) as opened:
        opened.configure(
            Configuration(
                definition=define(positive="click", window="1h", measures=["nDCG@3"]),
                attributes=("city", "price"),
                pairs=(),
                most=8,
                baseline=None,
                bins={"price": (10, 30)},
            )
        )
        opened.log_rankings(
            [
                {
                    "ranking_id": f"{day} {number}",
                    "time": (FIRST + timedelta(days=day, hours=number % 24)).isoformat(),
                    "model": "m",
                    "version": "2" if number % 4 == 1 else "1",
                    "attributes": describe(day, number),
                    "doc_ids": ["a", "b"],
                }
                for day in range(DAYS)
                for number in range(A_DAY)
            ]
        )
        opened.evaluate()
        yield opened


def place(day: int, number: int) -> str:
    price = describe(day, number).get("price")
    if not isinstance(price, int):
        return "<missing>"
    return "below 10" if price < 10 else "10 to below 30" if price < 30 else "30 or more"


@pytest.mark.parametrize("version", [None, "2"])
@pytest.mark.parametrize("every", ["day", "hour"])
def test_bins_are_in_order_and_their_shares_are_counts_of_rankings(
    monitor: Monitor, every: Every, version: str | None
) -> None:
    mix = monitor.mix("price", every=every, model="m" if version else None, version=version)
    expected: dict[datetime, Counter[str]] = {}
    days: list[Counter[str]] = [Counter() for _ in range(DAYS)]
    for day in range(DAYS):
        for number in range(A_DAY):
            hours = number % 24 if every == "hour" else 0
            days[day][place(day, number)] += 1
            if version is None or number % 4 == 1:
                start = FIRST + timedelta(days=day, hours=hours)
                expected.setdefault(start, Counter())[place(day, number)] += 1
    # With version 2, no ranking lacks a price: number % 8 isn't 0 where number % 4 is 1.
    known = ("below 10", "10 to below 30", "30 or more", "<missing>")
    assert mix.values == (known if version is None else known[:3])
    assert list(mix.times) == sorted(expected)
    assert mix.rankings == tuple(expected[start].total() for start in mix.times)
    for value, shares, usual in zip(mix.values, mix.shares, mix.usual, strict=True):
        assert shares == tuple(
            expected[start][value] / expected[start].total() for start in mix.times
        )
        for start, share in zip(mix.times, usual, strict=True):
            day = (start - FIRST).days
            before = sum(days[max(0, day - 7) : day], Counter())
            if day == 0:
                assert math.isnan(share)
            else:
                assert share == before[value] / before.total()


def test_the_values_that_are_most_are_told_apart_and_the_others_are_one(monitor: Monitor) -> None:
    mix = monitor.mix("city")
    # Number 9 and all after it are in c9. Two of ten cities have no slice of their own.
    assert mix.values == ("c0", "c1", "c2", "c3", "c4", "<other>")
    assert [share[0] for share in mix.shares] == [1 / 40] * 5 + [35 / 40]
    late = monitor.mix("city", since=FIRST + timedelta(days=3), until=FIRST + timedelta(days=5))
    assert [time.day for time in late.times] == [4, 5]
    assert all(math.isfinite(share) for usual in late.usual for share in usual)


def test_an_attribute_that_the_project_is_not_sliced_by_has_no_mix(monitor: Monitor) -> None:
    with pytest.raises(UsageError, match="isn't sliced by the attribute 'device'") as caught:
        monitor.mix("device")
    assert (caught.value.code, caught.value.hint) == (
        "unknown_slice",
        "its attributes are city, price",
    )
