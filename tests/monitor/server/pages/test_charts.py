"""Where the marks of charts lie, as places that anybody can compute."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from rankscope.monitor.evaluate.stored_windows import MaturityCurve
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.server.pages.charts.lines import (
    Episode,
    Event,
    Level,
    Line,
    Point,
    TimeAxis,
    draw_lines,
)
from rankscope.monitor.server.pages.charts.others import draw_maturity, draw_waterfall

NUMBER = re.compile(r"[\d.]+")


def microseconds(*date: int) -> int:
    """A moment in UTC."""
    return int(datetime(*date, tzinfo=UTC).timestamp()) * 1_000_000  # type: ignore[misc]  # a date


def places(path: str) -> list[tuple[float, float]]:
    """The points of a path."""
    numbers = list(map(float, NUMBER.findall(path)))
    return list(zip(numbers[::2], numbers[1::2], strict=True))


@pytest.mark.parametrize("span", [HOUR, 5 * HOUR, DAY, 6 * DAY, 60 * DAY, 400 * DAY, 20_000 * DAY])
@pytest.mark.parametrize("since", [0, microseconds(2026, 2, 28, 23), microseconds(2024, 12, 31)])
def test_ticks_are_few_and_ascend_and_lie_where_their_moment_does(since: int, span: int) -> None:
    ticks = TimeAxis(since, since + span).ticks
    assert 1 <= len(ticks) <= 9
    assert all(one.place < other.place for one, other in pairwise(ticks))
    assert len({tick.text for tick in ticks}) == len(ticks) or span <= 8 * DAY


def test_months_begin_where_the_calendar_says() -> None:
    since, until = microseconds(2026, 1, 15), microseconds(2026, 7, 15)
    axis = TimeAxis(since, until)
    expected = [
        (axis.place(microseconds(2026, month, 1)), f"{datetime(2026, month, 1, tzinfo=UTC):%b %Y}")
        for month in range(2, 8)
    ]
    assert [(tick.place, tick.text) for tick in axis.ticks] == expected


def test_a_gap_between_windows_is_a_gap_in_the_line() -> None:
    points = [Point(at * HOUR, 0.5) for at in (0, 1, 2, 5, 6, 9)]
    [line] = draw_lines([Line("", tuple(points))], since=0, until=10 * HOUR, length=HOUR).lines
    assert line.final.count("M") == 2
    assert [x for x, _ in places(line.final)] == [5, 15, 25, 55, 65]
    assert [x for x, _ in line.alone] == [95]


def test_a_window_without_a_value_is_a_gap_too() -> None:
    values = (0.5, math.nan, 0.5, 0.6)
    points = tuple(Point(at * HOUR, value) for at, value in enumerate(values))
    [line] = draw_lines([Line("", points)], since=0, until=4 * HOUR, length=HOUR).lines
    assert [x for x, _ in places(line.final)] == [62.5, 87.5]
    assert [x for x, _ in line.alone] == [12.5]


def test_what_is_not_final_is_a_line_of_its_own_that_goes_on_from_the_last_final_point() -> None:
    points = tuple(Point(at, 0.1 * at, is_final=at < 3) for at in range(5))
    chart = draw_lines([Line("", points)], since=0, until=5, length=1)
    [line] = chart.lines
    assert chart.provisional == 60
    assert places(line.final)[-1] == places(line.provisional)[0]
    assert len(places(line.final)) == 3
    assert len(places(line.provisional)) == 3


def test_places_follow_from_the_axis() -> None:
    points = tuple(
        Point(at, value, value - 0.1, value + 0.1) for at, value in enumerate((0.2, 0.4))
    )
    chart = draw_lines(
        [Line("", points)], since=0, until=2, length=1, level=Level("set", 0.3, 0.25, 0.35)
    )
    [line] = chart.lines
    heights = [round(100 - chart.axis.place(value), 2) for value in (0.2, 0.4)]
    assert [y for _, y in places(line.final)] == heights
    corners = [round(100 - chart.axis.place(value), 2) for value in (0.3, 0.5, 0.3, 0.1)]
    assert [y for _, y in places(line.band)] == corners
    assert chart.level is not None
    assert chart.level.top < chart.level.y < chart.level.top + chart.level.height


def test_a_wide_interval_does_not_flatten_what_happens() -> None:
    points = (Point(0, 0.5, 0.0, 1.0), Point(1, 0.6, 0.59, 0.61))
    axis = draw_lines([Line("", points)], since=0, until=2, length=1).axis
    assert axis.high - axis.low < 0.3


def test_the_axis_does_not_leave_what_can_be() -> None:
    points = (Point(0, 0.0, -0.5, 0.5), Point(1, 1.0, 0.5, 1.5))
    chart = draw_lines([Line("", points)], since=0, until=2, length=1, within=(0.0, 1.0))
    assert (chart.axis.low, chart.axis.high) == (0.0, 1.0)
    assert chart.rows[0] == (100, "0.0")
    assert chart.rows[-1] == (0, "1.0")


def test_nothing_at_all_is_an_empty_chart() -> None:
    chart = draw_lines([Line("", ())], since=0, until=2, length=1)
    assert chart.lines[0].last is None
    assert chart.provisional is None


def test_events_outside_are_left_out() -> None:
    events = [Event(-1, "before"), Event(1, "a"), Event(2, "after")]
    chart = draw_lines([Line("", ())], since=0, until=2, length=1, events=events)
    assert [(each.x, each.name) for each in chart.events] == [(50.0, "a")]


def test_an_episode_lies_where_its_time_does_and_one_that_lasts_goes_to_the_end() -> None:
    episodes = [Episode(40, None, "b", "labels"), Episode(-10, 20, "a"), Episode(-10, 0, "before")]
    chart = draw_lines([Line("", ())], since=0, until=80, length=1, episodes=episodes)
    drawn = [(each.x, each.width, each.name, each.kind) for each in chart.episodes]
    assert drawn == [(0.0, 25.0, "a", "incident"), (50.0, 50.0, "b", "labels")]


def test_a_short_episode_can_be_seen_and_stays_within_the_chart() -> None:
    episodes = [Episode(999_999, 1_000_000, "a"), Episode(500_000, 500_001, "b")]
    chart = draw_lines([Line("", ())], since=0, until=1_000_000, length=1, episodes=episodes)
    for each in chart.episodes:
        assert each.width > 0.5
        assert each.x + each.width <= 100


def test_the_axis_has_room_for_the_floor() -> None:
    points = (Point(0, 0.8), Point(1, 0.9))
    chart = draw_lines([Line("", points)], since=0, until=2, length=1, floor=0.5)
    assert chart.axis.low <= 0.5
    assert chart.floor == round(100 - chart.axis.place(0.5), 2)


def test_steps_lead_from_before_to_after() -> None:
    parts = {"mix": 0.05, "retrieval": None, "ordering": -0.35, "entered": -0.01}
    before = 0.9
    after = before + sum(amount for amount in parts.values() if amount is not None)
    drawn = draw_waterfall(before, after, parts)
    start = drawn.before
    for step in drawn.steps:
        assert {step.start, round(step.start + step.width, 3)} == {start, step.end}
        start = step.end
    assert start == drawn.after


AGES = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def test_the_curve_ends_at_the_share_that_was_there_by_the_last_age() -> None:
    counts = (3, 4, 2, 1)
    drawn = draw_maturity(MaturityCurve(AGES, counts))
    assert drawn is not None
    assert drawn.ages[-1].share == (3 + 4 + 2) / sum(counts)
    assert drawn.ages[0].x == 0
    assert drawn.ages[-1].x == 100


def test_without_labels_there_is_no_curve() -> None:
    assert draw_maturity(MaturityCurve(AGES, (0, 0, 0, 0))) is None
