from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace

import pytest
from rankscope import UsageError
from rankscope.monitor.evaluate.stored_windows import MaturityCurve
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.links import Links
from rankscope.monitor.server.pages.channels import make_channel_page
from rankscope.monitor.server.pages.charts.lines import (
    Episode,
    Event,
    Level,
    Line,
    Point,
    TimeAxis,
    _draw_episodes,
    _draw_events,
    draw_lines,
)
from rankscope.monitor.server.pages.charts.others import draw_maturity, draw_waterfall
from rankscope.monitor.server.pages.incidents import IncidentView, choose_windows, read_incidents
from rankscope.monitor.server.pages.overview import Overview
from rankscope.monitor.server.pages.overview_range import Choice, Extent, choose_extent
from rankscope.monitor.server.pages.render import describe_marks
from rankscope.monitor.server.pages.sign_in import own_path
from rankscope.monitor.server.pages.slices import SlicesView
from rankscope.monitor.server.pages.trace import ShownTrace
from rankscope.monitor.store.records import Version

from tests.monitor.notify.notices import make_incident
from tests.monitor.server.pages.incidents import make_incident as make_one
from tests.monitor.server.pages.incidents import put_incidents
from tests.monitor.server.pages.site import check_page, get, open_monitor
from tests.refusals import refuses_if

NUMBER = re.compile(r"[\d.]+")


def microseconds(*date):
    return int(datetime(*date, tzinfo=UTC).timestamp()) * 1_000_000


def places(path):
    numbers = list(map(float, NUMBER.findall(path)))
    return list(zip(numbers[::2], numbers[1::2], strict=True))


@pytest.mark.parametrize("span", [HOUR, 5 * HOUR, DAY, 6 * DAY, 60 * DAY, 400 * DAY, 20_000 * DAY])
@pytest.mark.parametrize("since", [0, microseconds(2026, 2, 28, 23), microseconds(2024, 12, 31)])
def test_ticks_are_few_and_ascend_and_lie_where_their_moment_does(since, span):
    ticks = TimeAxis(since, since + span).ticks
    assert 1 <= len(ticks) <= 9
    assert all(one.place < other.place for one, other in pairwise(ticks))
    assert len({tick.text for tick in ticks}) == len(ticks) or span <= 8 * DAY


def test_months_begin_where_the_calendar_says_and_weeks_on_mondays():
    since, until = microseconds(2026, 1, 15), microseconds(2026, 7, 15)
    axis = TimeAxis(since, until)
    expected = [
        (axis.place(microseconds(2026, month, 1)), f"{datetime(2026, month, 1, tzinfo=UTC):%b %Y}")
        for month in range(2, 8)
    ]
    assert [(tick.place, tick.text) for tick in axis.ticks] == expected
    # 5 January 1970 was one.
    ticks = TimeAxis(0, 56 * DAY).ticks
    assert [tick.text for tick in ticks][:2] == ["5 Jan", "12 Jan"]


def test_a_gap_between_windows_and_a_window_without_a_value_are_gaps_in_the_line():
    points = [Point(at * HOUR, 0.5) for at in (0, 1, 2, 5, 6, 9)]
    [line] = draw_lines([Line("", tuple(points))], since=0, until=10 * HOUR, length=HOUR).lines
    assert line.final.count("M") == 2
    assert [x for x, _ in places(line.final)] == [5, 15, 25, 55, 65]
    assert [x for x, _ in line.alone] == [95]
    points = [Point(at * HOUR, value) for at, value in enumerate((0.5, math.nan, 0.5, 0.6))]
    [line] = draw_lines([Line("", tuple(points))], since=0, until=4 * HOUR, length=HOUR).lines
    assert [x for x, _ in places(line.final)] == [62.5, 87.5]
    assert [x for x, _ in line.alone] == [12.5]


def test_what_is_not_final_is_a_line_of_its_own_that_goes_on_from_the_last_final_point():
    points = tuple(Point(at, 0.1 * at, is_final=at < 3) for at in range(5))
    chart = draw_lines([Line("", points)], since=0, until=5, length=1)
    [line] = chart.lines
    assert chart.provisional == 60
    assert places(line.final)[-1] == places(line.provisional)[0]
    assert len(places(line.final)) == 3
    assert len(places(line.provisional)) == 3


def test_places_follow_from_the_axis():
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


def test_the_axis_shows_what_happens_and_can_be_and_has_room_for_the_floor():
    points = (Point(0, 0.5, 0.0, 1.0), Point(1, 0.6, 0.59, 0.61))
    axis = draw_lines([Line("", points)], since=0, until=2, length=1).axis
    assert axis.high - axis.low < 0.3
    points = (Point(0, 0.0, -0.5, 0.5), Point(1, 1.0, 0.5, 1.5))
    chart = draw_lines([Line("", points)], since=0, until=2, length=1, within=(0.0, 1.0))
    assert (chart.axis.low, chart.axis.high) == (0.0, 1.0)
    assert chart.rows[0] == (100, "0.0")
    assert chart.rows[-1] == (0, "1.0")
    points = (Point(0, 0.8), Point(1, 0.9))
    chart = draw_lines([Line("", points)], since=0, until=2, length=1, floor=0.5)
    assert chart.axis.low <= 0.5
    assert chart.floor == round(100 - chart.axis.place(0.5), 2)


def test_nothing_at_all_is_an_empty_chart_without_events_outside():
    chart = draw_lines([Line("", ())], since=0, until=2, length=1)
    assert chart.lines[0].last is None
    assert chart.provisional is None
    events = [Event(-1, "before"), Event(1, "a"), Event(2, "after")]
    chart = draw_lines([Line("", ())], since=0, until=2, length=1, events=events)
    assert [(each.x, each.name) for each in chart.events] == [(50.0, "a")]


def test_an_episode_lies_where_its_time_does_and_can_be_seen_however_short():
    episodes = [Episode(40, None, "b", "labels"), Episode(-10, 20, "a"), Episode(-10, 0, "before")]
    chart = draw_lines([Line("", ())], since=0, until=80, length=1, episodes=episodes)
    drawn = [(each.x, each.width, each.name, each.kind) for each in chart.episodes]
    assert drawn == [(0.0, 25.0, "a", "incident"), (50.0, 50.0, "b", "labels")]
    episodes = [Episode(999_999, 1_000_000, "a"), Episode(500_000, 500_001, "b")]
    chart = draw_lines([Line("", ())], since=0, until=1_000_000, length=1, episodes=episodes)
    for each in chart.episodes:
        assert each.width > 0.5
        assert each.x + each.width <= 100


def test_steps_lead_from_before_to_after():
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


def test_the_curve_of_labels_ends_at_their_share_by_the_last_age_if_there_are_any():
    counts = (3, 4, 2, 1)
    drawn = draw_maturity(MaturityCurve(AGES, counts))
    assert drawn is not None
    assert drawn.ages[-1].share == (3 + 4 + 2) / sum(counts)
    assert drawn.ages[0].x == 0
    assert drawn.ages[-1].x == 100
    assert draw_maturity(MaturityCurve(AGES, (0, 0, 0, 0))) is None


NOW = 20_000 * DAY


def make_versions(count, *, first=NOW - DAY, rankings=1):
    return tuple(
        Version("m", str(number), "production", first, NOW, rankings + number)
        for number in range(count)
    )


def see(view, name, **said):
    """A property of a view of which nothing else is known."""
    read = getattr(view, name)
    return read.fget(SimpleNamespace(**said))


@pytest.mark.parametrize("count", [7, 8, 9])
def test_the_newest_8_versions_can_be_chosen(count):
    versions = make_versions(count)
    for view in (Overview, SlicesView):
        assert see(view, "newest_versions", versions=versions) == versions[max(count - 8, 0) :]


@pytest.mark.parametrize("after", [-1, 0, 1])
def test_silence_is_told_after_three_hours(after):
    now = NOW + 3 * HOUR + after
    found = see(Overview, "quiet_for", newest=NOW, now=now)
    assert found == (None if after < 0 else now - NOW)


@pytest.mark.parametrize("count", [5, 6, 7])
def test_six_versions_have_lines_those_with_most_rankings(count):
    versions = make_versions(count)
    extent = Extent("7d", "hour", NOW - 7 * DAY, NOW, None, None, versions)
    assert extent.lines == versions[max(count - 6, 0) :]


@pytest.mark.parametrize("rankings", [99, 100, 101])
def test_hours_are_shown_if_they_have_100_rankings(rankings):
    first = NOW - 30 * DAY
    version = Version("m", "1", "production", first, NOW, rankings * 30 * 24)
    found = choose_extent(Choice(), [version], NOW)
    assert (found.range, found.every) == (("7d", "hour") if rankings >= 100 else ("30d", "day"))


@pytest.mark.parametrize("days", [89, 90, 91])
def test_hours_are_shown_over_at_most_90_days(days):
    versions = make_versions(1, first=NOW - days * DAY)
    choice = Choice("all", "hour")
    with refuses_if(days > 90, UsageError, match="at most 90 days"):
        assert choose_extent(choice, versions, NOW).since == NOW - days * DAY
    # Days may begin in the middle of one.
    extent = Extent("all", "day", NOW - (days + 1) * DAY, NOW, None, None, versions)
    assert extent.has_hours == (days <= 90)


@pytest.mark.parametrize(
    ("name", "days"), [("1d", 1), ("7d", 7), ("30d", 30), ("90d", 90), ("1y", 366)]
)
def test_ranges_have_as_many_days_as_they_say(name, days):
    found = choose_extent(Choice(name, "day"), (), NOW)
    assert (found.since, found.until) == (NOW - days * DAY, NOW)


def test_the_newest_500_incidents_are_shown():
    asked = []

    def list_incidents(state, *, rule, limit=None):
        asked.append((state, rule, limit))
        return ()

    monitor = SimpleNamespace(incidents=list_incidents)
    assert read_incidents(monitor) == ()
    assert asked == [("open", None, None), ("all", None, 500)]


@pytest.mark.parametrize("count", [9, 10, 11])
def test_ten_queries_that_fell_are_shown(count):
    queries = [{"query_key": str(number)} for number in range(count)]
    assert see(IncidentView, "fallen", cause={"queries": queries}) == queries[:10]


@pytest.mark.parametrize("count", [49, 50, 51])
def test_50_slices_of_a_trace_are_shown(count):
    table = SimpleNamespace(names=["rank"], rows=lambda: [(at,) for at in range(count)])
    trace = SimpleNamespace(slices=table)
    assert len(ShownTrace(trace).slices) == min(count, 50)


@pytest.mark.parametrize("hours", [-1, 0, 1])
def test_a_chart_of_traffic_has_hours_for_two_weeks(hours):
    lasted = 7 * DAY + hours * HOUR
    incident = make_incident(kind="volume", began=to_datetime(NOW - lasted))
    every, since, _ = choose_windows(incident, NOW)
    assert every == ("hour" if hours <= 0 else "day")
    # As much before it as in it, a week at least.
    shown = lasted + max(lasted, 7 * DAY)
    assert since == (NOW - shown if hours <= 0 else NOW - 15 * DAY)


@pytest.mark.parametrize("days", [59, 60, 61])
def test_a_chart_of_an_incident_has_at_most_60_days_before_and_in_it(days):
    incident = make_incident(began=to_datetime(NOW - days * DAY))
    assert choose_windows(incident, NOW) == ("day", NOW - 2 * min(days, 60) * DAY, NOW)


@pytest.mark.parametrize("count", [5, 6, 7])
def test_six_marks_of_a_chart_are_told(count):
    events = [SimpleNamespace(name=str(number)) for number in range(count)]
    chart = SimpleNamespace(events=events, episodes=[])
    more = " and 1 more" if count == 7 else ""
    named = ", ".join(map(str, range(min(count, 6))))
    assert describe_marks(chart) == f" New versions: {named}{more}."


@pytest.mark.parametrize("length", [2047, 2048, 2049])
def test_a_path_to_go_on_to_has_at_most_2_048_characters(length):
    path = "/" + "x" * (length - 1)
    assert own_path(path, Links()) == (path if length <= 2048 else "/")


@pytest.mark.parametrize("hours", [1, 2, 3, 6, 12, 24, 48, 168, 336])
def test_an_axis_has_at_most_8_steps(hours):
    for more in (-1, 0, 1):
        step = TimeAxis(0, 8 * hours * HOUR + more).step
        assert (step == hours * HOUR) == (more <= 0)
        assert step is None or step >= hours * HOUR


@pytest.mark.parametrize("months", [1, 2, 3, 6, 12, 24, 60, 120, 1200])
def test_an_axis_of_months_has_at_most_8_steps_of_30_days(months):
    def list_years(span):
        axis = TimeAxis(-NOW, span - NOW)
        return [(tick.place / 100 * span) / (30 * DAY) for tick in axis._list_months(span)]

    at, above = (list_years(8 * months * 30 * DAY + more) for more in (0, 1))
    assert at[1] - at[0] == pytest.approx(months, rel=0.05)
    assert len(above) < 2 or above[1] - above[0] > 1.2 * months


def test_a_name_takes_16_parts_and_stands_to_the_left_beyond_55():
    axis = TimeAxis(0, 1000)

    def draw(*times):
        events = [Event(time, "") for time in times]
        return [(one.is_named, one.is_left) for one in _draw_events(events, axis)]

    assert draw(100, 259) == [(True, False), (False, False)]
    assert draw(100, 260) == [(True, False), (True, False)]
    assert draw(100, 261) == [(True, False), (True, False)]
    assert draw(549) == draw(550) == [(True, False)]
    assert draw(551) == [(True, True)]
    # To the left of 600, it takes the place from 440 on.
    assert draw(279, 600) == draw(280, 600) == [(True, False), (True, True)]
    assert draw(281, 600) == [(True, False), (False, True)]


@pytest.mark.parametrize("length", [5, 6, 7])
def test_an_episode_is_at_least_six_thousandths_wide(length):
    (drawn,) = _draw_episodes([Episode(100, 100 + length, "")], TimeAxis(0, 1000))
    assert drawn.width == max(length, 6) / 10


@pytest.mark.parametrize(
    ("age", "is_written"), [(3_466_889, False), (3_467_368, True), (3_467_848, True)]
)
def test_ages_are_written_nine_parts_of_the_axis_apart(age, *, is_written):
    # The axis goes from a second to a million: 0.54 powers of ten are 9 % of it.
    ages = tuple(timedelta(microseconds=one) for one in (10**6, age, 10**12))
    chart = draw_maturity(MaturityCurve(ages, (1, 1, 1, 0)))
    assert chart is not None
    assert [one.is_written for one in chart.ages] == [True, is_written, True]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_two_active_groups_are_shown_in_full(site, count):
    open_monitor(site.store)
    put_incidents(site, *(make_one(number) for number in range(count)))
    assert ("1 more active" in check_page(get(site, "/incidents")).text) == (count > 2)
    assert ("1 more" in check_page(get(site, "/")).text) == (count > 2)


@pytest.mark.parametrize("others", [2, 3, 4])
def test_three_other_incidents_of_a_group_are_listed(site, others):
    open_monitor(site.store)
    put_incidents(site, *(make_one(number, group="a") for number in range(1 + others)))
    text = check_page(get(site, "/incidents")).text
    assert f"and {others} more" in text
    assert (" 1 more " in text) == (others > 3)


@pytest.mark.parametrize("count", [49, 50, 51])
def test_50_notifications_are_listed(count):
    routes = SimpleNamespace(states=lambda _: ())
    told = [*range(count)]
    monitor = SimpleNamespace(clock=lambda: NOW, notifications=lambda most: told[:most])
    view = make_channel_page(routes)[0].view(monitor, routes)
    assert len(view["notifications"]) == min(count, 50)
