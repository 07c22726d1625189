"""Signals over time: means, what is usual, and what isn't a mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rankscope import Interval
from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate.means import estimate_mean
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.signals.kinds import NAMES

FIRST = datetime(2026, 11, 1, tzinfo=UTC)
DAYS, A_DAY = 10, 8
LAST = FIRST + timedelta(days=DAYS - 1)
END = LAST + timedelta(days=1)


def show(day: int, number: int, **said: Any) -> dict[str, Any]:  # noqa: ANN401 - as events are
    """A ranking: lists have four documents, and on the last day every fourth one has two."""
    is_short = day == DAYS - 1 and number % 4 == 0
    docs = "abcd"[: 2 if is_short else 4]
    return {
        "ranking_id": f"r{day}-{number}",
        "time": (FIRST + timedelta(days=day, hours=3 * number)).isoformat(),
        "user_id": f"u{number % 4}",
        "model": "m",
        "version": "4" if day == DAYS - 1 and number % 2 else "3",
        "attributes": {"device": "tv" if is_short else "phone"},
        "doc_ids": list(docs),
        **said,
    }


@pytest.fixture(scope="module")
def monitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    """A project whose lists are shorter on its last day, when there are two versions."""
    now = LAST + timedelta(days=1, hours=2)
    path = tmp_path_factory.mktemp("signals") / "x.db"
    with Monitor.open(str(path), now=lambda: now) as opened:
        opened.configure(
            Configuration(
                definition=define(positive="click", window="1h"),
                attributes=("device",),
                baseline=BaselineChoice(),
            )
        )
        opened.log_rankings([show(day, number) for day in range(DAYS) for number in range(A_DAY)])
        # What comes next tells that the last day is complete.
        opened.log_rankings([show(DAYS, 0)])
        opened.evaluate()
        yield opened


def test_a_day_is_the_mean_of_its_rankings_and_usual_is_that_of_the_days_before(
    monitor: Monitor,
) -> None:
    series = monitor.signals(every="day", until=END)["length"]
    assert series.times[-1] == LAST
    assert series.rankings == (A_DAY,) * DAYS
    assert (series.values[-1], series.usual[-1]) == ((6 + 2 * 0.5) / 8, 1.0)
    # Nothing lies before the first day.
    assert math.isnan(series.values[0])
    assert math.isnan(series.usual[0])
    values = np.array([0.5, 1, 1, 1, 0.5, 1, 1, 1])
    # A user counts once an hour.
    mean = estimate_mean(values, np.arange(A_DAY), Interval(method="t"))
    assert series.lower[-1] == pytest.approx(mean.lower, abs=1e-12)
    assert series.upper[-1] == 1.0 < mean.upper


@pytest.mark.slow
def test_hours_are_compared_with_the_days_before_theirs(monitor: Monitor) -> None:
    series = monitor.signals(every="hour", until=END, since=LAST)["length"]
    assert len(series) == A_DAY
    assert series.values == (0.5, 1, 1, 1, 0.5, 1, 1, 1)
    assert series.usual == (1.0,) * A_DAY
    # Only where there is nothing before the span there is nothing to compare with.
    later = monitor.signals(every="hour", until=END, since=LAST + timedelta(hours=5))["length"]
    assert later.usual == (1.0,) * (A_DAY - 2)


def test_a_version_and_a_slice_are_parts_of_the_same(monitor: Monitor) -> None:
    [whole, old, new] = monitor.all_signals(
        [(None, None), ("m", "3"), ("m", "4")], every="day", until=END
    )
    assert old["length"].values[-1] == (2 + 2 * 0.5) / 4
    assert (new["length"].times, new["length"].values) == ((LAST,), (1.0,))
    # What is usual for a version that is new is what the model showed.
    assert new["length"].usual == (1.0,)
    assert whole["length"].rankings[-1] == sum(part["length"].rankings[-1] for part in (old, new))
    tv = monitor.signals(every="day", until=END, slice=(("device", "tv"),))["length"]
    assert (tv.times, tv.values, tv.rankings) == ((LAST,), (0.5,), (2,))


def test_what_is_not_logged_is_not_known(monitor: Monitor) -> None:
    for name in ("tied", "score_rank", "overlap"):
        assert monitor.signals(every="day", until=END)[name].find_newest() is None


def test_a_project_without_rankings_has_empty_series(tmp_path: Path) -> None:
    with Monitor.open(str(tmp_path / "x.db")) as opened:
        opened.configure(Configuration(definition=define(positive="click", window="1h")))
        for _ in range(2):
            series = opened.signals()
            assert tuple(series) == NAMES
            assert {len(each) for each in series.values()} == {0}
            opened.evaluate()


def test_json_has_no_nan_and_says_what_people_call_it(monitor: Monitor) -> None:
    said = monitor.signals(every="day", until=END)["length"].to_dict()
    assert said["label"] == "List length"
    assert said["values"][0] is None
    assert len(said["starts"]) == len(said["usual"]) == DAYS


def test_windows_that_are_not_stored_are_refused(monitor: Monitor) -> None:
    with pytest.raises(UsageError, match="expected every='hour' or 'day', found 'week'"):
        monitor.signals(every="week")  # type: ignore[arg-type]
