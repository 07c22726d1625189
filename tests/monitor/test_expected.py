"""Values that rankings are expected to have before their labels arrive."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from rankscope.errors import UsageError
from rankscope.monitor import Configuration, Monitor, define
from rankscope.monitor.expect.kinds import BITS, DOUBTS, REFUSALS, read_marks
from rankscope.monitor.expect.lists import Worth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

START = datetime(2026, 9, 1, tzinfo=UTC)
DAYS, PER_DAY, DOCUMENTS = 9, 180, 6
MUSIC = define(measures=["nDCG@4", "AP@4"], positive="click", window="24h")


def make_day(day: int, version: str, scale: float) -> tuple[list[Any], list[Any]]:
    """Rankings by score, of which the better ones get more clicks."""
    random = np.random.default_rng([5, day])
    rankings, labels = [], []
    for number in range(PER_DAY):
        time = START + timedelta(days=day, minutes=8 * number)
        scores = np.sort(random.normal(-1, 1, DOCUMENTS))[::-1]
        is_clicked = random.random(DOCUMENTS) < 1 / (1 + np.exp(-scores))
        named = [f"d{place}" for place in random.permutation(30)[:DOCUMENTS]]
        rankings.append(
            {
                "ranking_id": f"{day} {number}",
                "time": time.isoformat(),
                "model": "m",
                "version": version,
                "user_id": f"u{random.integers(100)}",
                "attributes": {"device": "tv" if number % 3 == 0 else "phone"},
                "doc_ids": named,
                "scores": (scale * scores).round(4).tolist(),
            }
        )
        labels += [
            {
                "ranking_id": f"{day} {number}",
                "doc_id": named[place],
                "label": "click",
                "time": (time + timedelta(minutes=5 * float(random.random()))).isoformat(),
            }
            for place in np.flatnonzero(is_clicked)
        ]
    return rankings, labels


@pytest.fixture(scope="module")
def monitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    """Seven days of version 3, one whose scores are twice as large, and one of version 4."""
    clock = [START]
    path: Path = tmp_path_factory.mktemp("expected") / "music.db"
    with Monitor.open(str(path), now=lambda: clock[-1], threads=1) as opened:
        opened.configure(Configuration(definition=MUSIC, attributes=("device",), baseline=None))
        for day in range(DAYS):
            rankings, labels = make_day(
                day, "4" if day == DAYS - 1 else "3", 2.0 if day == 7 else 1.0
            )
            clock.append(START + timedelta(days=day + 1, hours=5))
            assert opened.log_rankings(rankings).accepted == PER_DAY
            opened.log_labels(labels)
            opened.evaluate()
        yield opened


def test_a_version_has_forecasts_once_it_has_enough_final_rankings(monitor: Monitor) -> None:
    made = monitor.expected()
    assert [time.day for time in made.times] == [*range(1, DAYS + 1)]
    # Final at midnight with a window of a day: all but the last day before, 180 a day.
    assert [bool(names) and "version" in names for names in made.reasons] == [
        day < 5 or day == DAYS - 1 for day in range(DAYS)
    ]
    assert [math.isnan(value) for value in made.values] == [
        "version" in names for names in made.reasons
    ]


def test_what_is_refused_says_what_it_needs(monitor: Monitor) -> None:
    assert monitor.expected(version="4").problem == (
        "There is no forecast yet. A version needs 500 final rankings with a value, on 4 days or "
        "more."
    )
    assert "two attributes" in monitor.expected(slice=(("a", "b"), ("c", "d"))).problem


def test_final_values_of_days_like_those_before_are_near_their_forecasts(monitor: Monitor) -> None:
    made = monitor.expected()
    for day in (5, 6):
        half = (made.upper[day] - made.lower[day]) / 2
        assert abs(made.finals[day] - made.values[day]) < 2 * half < 0.2
    assert math.isnan(made.finals[-1])


def test_scores_on_another_scale_make_the_forecast_of_their_day_doubtful(monitor: Monitor) -> None:
    made = monitor.expected(version="3")
    assert made.is_doubtful[5:] == (False, False, True)
    assert "scores" in made.reasons[7]
    assert DOUBTS["scores"] in made.doubts


def test_hours_with_few_rankings_have_no_forecast(monitor: Monitor) -> None:
    # An hour has 7 or 8 rankings, and needs 10.
    made = monitor.expected(
        every="hour", since=START + timedelta(days=5), until=START + timedelta(days=6)
    )
    assert set(made.reasons) == {("few",)}
    assert made.problem == "A forecast needs at least 10 rankings in the window."


@pytest.mark.slow
def test_slices_have_forecasts_of_their_own(monitor: Monitor) -> None:
    for value, rankings in (("tv", 60), ("phone", 120)):
        made = monitor.expected(slice=(("device", value),), since=START + timedelta(days=5))
        assert made.lower[0] < made.values[0] < made.upper[0]
        assert made.rankings[0] == rankings


def test_a_forecast_is_never_recomputed(monitor: Monitor) -> None:
    before = monitor.expected()
    rankings, _ = make_day(6, "3", 1.0)
    late = [ranking | {"ranking_id": f"late {ranking['ranking_id']}"} for ranking in rankings]
    monitor.log_rankings(late)
    monitor.evaluate()
    after = monitor.expected()
    assert after.values[:-1] == pytest.approx(before.values[:-1], nan_ok=True, abs=0)
    assert after.rankings == before.rankings


def test_the_table_says_how_good_the_forecasts_were(monitor: Monitor) -> None:
    table = monitor.forecasts()
    rows = {(row[1], row[2]): dict(zip(table.names, row, strict=True)) for row in table.rows()}
    assert set(rows) == {("3", ""), ("3", "device=phone"), ("3", "device=tv")}
    whole, made = rows["3", ""], monitor.expected(version="3")
    known = [
        (value, final)
        for value, final in zip(made.values, made.finals, strict=True)
        if not (math.isnan(value) or math.isnan(final))
    ]
    assert whole["days"] == len(known)
    assert whole["bias"] == pytest.approx(sum(one - other for one, other in known) / len(known))


def test_only_ndcg_is_forecast(monitor: Monitor) -> None:
    assert monitor.forecast_measures == ("nDCG@4",)
    with pytest.raises(UsageError, match="expected an nDCG measure, found AP@4"):
        monitor.expected("AP@4")


def test_gains_and_discounts_are_those_of_the_measure() -> None:
    definition = define(measures=["nDCG(gain='exp2')@3"], positive="click", window="1h")
    worth = Worth.of(definition.measures[0], definition)
    assert worth.discounts == pytest.approx([1 / math.log2(rank + 1) for rank in (1, 2, 3)])
    found = worth.gain(np.array([0.0, 2.0, 1.0, math.nan, 3.0]))
    assert found == pytest.approx([0, 3, 1, 0, 7])


def test_each_mark_has_a_bit_and_words() -> None:
    assert read_marks(sum(BITS.values())) == (*DOUBTS, *REFUSALS)
    assert all(words.endswith(".") for words in (DOUBTS | REFUSALS).values())
