from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor import Configuration, Monitor, define
from rankscope.monitor.definition.calendar import Calendar, Period
from rankscope.monitor.definition.configuration import BaselineChoice
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.refresh import refresh
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.rules.data.counts import TOTAL, DataReader, Segment
from rankscope.monitor.rules.data.progress import DataProgress
from rankscope.monitor.rules.data.traffic import Traffic
from rankscope.monitor.rules.early.queries import Asked, QueryReader
from rankscope.monitor.rules.early.usual import SPANS
from rankscope.monitor.rules.kinds import DEFAULTS
from rankscope.monitor.signals.kinds import NAMES

from tests.monitor.rules.world import (
    BAD,
    CLICKS,
    CONFIGURATION,
    GOOD,
    PROJECT,
    SLICING,
    START,
    known_at,
    make_day,
    make_rule,
    make_scene,
    show,
)


def name(day):
    return f"{to_datetime(START) + timedelta(days=day):%Y-%m-%d}"


def leave_out(*days, baseline="none"):
    periods = [
        Period(name="Fair", first=name(first), last=name(last), baseline=baseline)
        for first, last in days
    ]
    return replace(CONFIGURATION, calendar=Calendar(tuple(periods)))


def test_days_that_are_left_out_are_no_evidence(world):
    configuration = leave_out((2, 4))
    world.put(make_rule())
    for day in range(6):
        world.pass_day(day, make_day(day, BAD if 2 <= day <= 4 else GOOD), configuration)
        state = world.state_of()
        assert state.state == "OK"
        told = "calendar: Fair is left out"
        assert (told in state.warnings) is (2 <= day <= 4)
    (stream,) = state.streams
    assert stream.periods == 3
    # Without the calendar, they are.
    world.put(make_rule(name="other"))
    world.advance(known_at(4))
    assert world.state_of("other").state == "ALERT"


def test_a_fall_that_lasts_is_found_after_the_period(world):
    configuration = leave_out((1, 2))
    world.put(make_rule())
    for day in range(6):
        world.pass_day(day, make_day(day, GOOD if not day else BAD), configuration)
    state = world.state_of()
    assert state.state == "ALERT"
    assert state.streams[0].since == to_datetime(START + 3 * DAY)


def test_early_values_of_such_days_are_no_evidence(world):
    chosen = BaselineChoice(kind="version")
    configuration = replace(
        leave_out((3, 3)), baseline=chosen, definition=replace(CLICKS, window=7200)
    )
    world.put(make_rule())
    for day in range(4):
        version = "1" if day < 3 else "2"
        world.log(make_day(day, BAD if day == 3 else GOOD, version=version))
    world.advance(known_at(3), configuration)
    assert world.state_of().state != "ALERT"
    world.put(make_rule(name="other"))
    world.advance(known_at(3), replace(configuration, calendar=Calendar()))
    assert world.state_of("other").state == "ALERT"


def test_baselines_have_no_such_days(world):
    chosen = BaselineChoice(
        kind="period", since=to_datetime(START), until=to_datetime(START + 3 * DAY)
    )
    configuration = replace(leave_out((1, 1)), baseline=chosen)
    world.put(make_rule())
    for day in range(4):
        world.log(make_day(day, BAD if day == 1 else GOOD))
    world.advance(known_at(3), configuration)
    (stream,) = world.state_of().streams
    assert (stream.baseline.value, stream.baseline.rankings) == (0.875, 80)
    refresh(world.store, PROJECT, configuration, now=known_at(3), threads=1)
    stored = world.store.progress(PROJECT, configuration.digest).baseline
    assert '"rankings": 80' in stored
    # Another calendar makes another baseline of the same windows.
    other = replace(configuration, calendar=Calendar())
    assert other.digest == configuration.digest
    refresh(world.store, PROJECT, other, now=known_at(3), threads=1)
    assert '"rankings": 120' in world.store.progress(PROJECT, other.digest).baseline


@pytest.mark.parametrize("before", [GOOD, BAD, None])
def test_a_period_is_compared_with_last_year_or_left_out_without_one(world, before):
    configuration = leave_out((-360, -358), (1, 3), baseline="last-year")
    for day in (-360, -359, -358) if before else ():
        world.log(make_day(day, before))
    world.put(make_rule())
    for day in range(4):
        world.pass_day(day, make_day(day, BAD if day else GOOD), configuration)
    state = world.state_of()
    assert state.state == ("ALERT" if before == GOOD else "OK")
    told = "compared with the one from" if before else "left out, because no earlier one"
    assert any(told in one for one in state.warnings)
    # What is usual on other days is as before.
    assert state.streams[0].final.usual.value.mean == pytest.approx(0.875, abs=0.01)
    assert state.streams[0].baseline.value == 0.875


def make_traffic(world, moment, configuration):
    scene = make_scene(
        world.store,
        configuration=configuration,
        slicing=SLICING,
        versions=world.store.versions(PROJECT),
        now=moment,
    )
    return Traffic(DataReader(scene), DEFAULTS["data"], DataProgress.begin("", START, 0), moment)


def test_lower_traffic_in_a_period_is_no_incident_but_silence_is(world):
    quiet = {27, 28}
    for day in range(32):
        users = 240 if day not in quiet else 40
        events = []
        for number in range(users):
            at = START + day * DAY + number * DAY // users
            if day < 30 or at < START + 30 * DAY + HOUR:
                events += show(f"{day} {number}", at, 1, user=f"{number}", device="tv")
        world.log(events)
    configuration = leave_out((27, 30))
    for each in (CONFIGURATION, configuration):
        refresh(world.store, PROJECT, each, now=START + 40 * DAY, threads=1)
    during = START + 29 * DAY
    assert make_traffic(world, during, CONFIGURATION).find_fall(TOTAL) is not None
    assert make_traffic(world, during, configuration).find_fall(TOTAL) is None
    assert make_traffic(world, during, configuration).find_silence(TOTAL) is None
    # Nothing at all comes from the 31st day on.
    assert make_traffic(world, START + 30 * DAY + 20 * HOUR, configuration).find_silence(TOTAL)
    # What is usual isn't learned from the period.
    usual = make_traffic(world, START + 31 * DAY, configuration).usual()
    assert usual.daily == pytest.approx(240, rel=0.01)


MIDNIGHT = datetime(2026, 6, 1, tzinfo=UTC)
BROKEN = 9


def make_asked(queries, values, hours=None, shares=None):
    times = np.array(hours or [0] * len(queries))
    usual = np.array(shares or [0.0] * len(queries))
    return Asked(times, np.array(queries), usual, np.tile(values, (len(NAMES), 1)))


@given(size=st.integers(1, 9), values=st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_lists_that_are_the_same_for_a_query_count_as_one(size, values):
    values = [round(each, 3) for each in values]
    queries = np.repeat(np.arange(len(values)), size).tolist()
    asked = make_asked(queries, np.repeat(values, size).tolist())
    assert asked.find_design_effect("overlap", 0) == pytest.approx(
        size if len(set(values)) > 1 else 1
    )


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_queries_that_are_asked_once_count_each(values):
    asked = make_asked([*range(len(values))], values)
    assert asked.find_design_effect("overlap", 0) == pytest.approx(1)


def test_known_values_since_the_time_count_and_one_query_among_many_by_hand():
    # 3 rankings of one query at 1, and 6 of others at 0: the mean is 1 / 3.
    asked = make_asked([0, 0, 0, 1, 2, 3, 4, 5, 6], [1.0] * 3 + [0.0] * 6)
    together, alone = (3 * 2 / 3) ** 2 + 6 / 9, 3 * 4 / 9 + 6 / 9
    assert asked.find_design_effect("tied", 0) == pytest.approx(together / alone)
    values = [0.0, 0.0, 0.0, np.nan, 1.0]
    asked = make_asked([0, 0, 0, 0, 1], values, [0, 0, HOUR, HOUR, HOUR])
    assert asked.find_design_effect("tied", HOUR) == 1.0
    assert asked.find_design_effect("tied", 2 * HOUR) == 1.0
    assert asked.find_design_effect("tied", 0) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("usual", "beyond"), [(0.0, 1.0), (0.25, 0.5), (0.49, 0.02), (0.5, 0.0), (0.9, 0.0)]
)
def test_what_a_query_has_usually_is_not_drawn_together(usual, beyond):
    # Half of the 8 rankings are of one query, at 1; the others are at 0.
    asked = make_asked(
        [0] * 4 + [1, 2, 3, 4], [1.0] * 4 + [0.0] * 4, shares=[usual] * 4 + [0.0] * 4
    )
    together, alone = (4 / 2) ** 2, 4 / 4
    expected = (beyond**2 * together + (1 - beyond**2) * alone + 1) / 2
    assert asked.find_design_effect("tied", 0) == pytest.approx(expected)


def show_asked(monitor, day, bots=0, *, is_one_query=True, home=0, is_broken=False):
    """Log 96 lists of a day, and those of bots, whose scores are all the same.

    Of five lists, `home` are of one query, and may be broken, too.
    """
    rankings = []
    for number in range(96 + bots):
        is_bot = number >= 96
        minutes = (number - 96) * 1440 // bots if is_bot else 15 * number
        query = f"q{number % 32}"
        if is_bot:
            query = f"bot {day}" if is_one_query else f"bot {day} {number}"
        elif number % 5 < home:
            query = "home"
        has_ties = is_bot or (is_broken and query == "home")
        rankings.append(
            {
                "ranking_id": f"{day}-{number}",
                "time": (MIDNIGHT + timedelta(days=day, minutes=minutes)).isoformat(),
                "model": "gbdt",
                "version": "4",
                "user_id": f"u{number}",
                "query_key": query,
                "attributes": {"device": "tv" if number % 3 == 0 else "phone"},
                "doc_ids": [f"d{number % 32}-{at}" for at in range(6)],
                "scores": [0.5] * 6 if has_ties else [9, 8, 7, 6, 5, 4],
            }
        )
    monitor.log_rankings(rankings)


@pytest.fixture
def clock():
    return [MIDNIGHT]


@pytest.fixture
def monitor(tmp_path, clock, request):
    opened = Monitor.open(f"{tmp_path}/a.db", now=lambda: clock[-1])
    definition = define(measures=["nDCG@4"], positive="click", window="24h")
    opened.configure(Configuration(definition=definition, attributes=("device",), baseline=None))
    clock.append(MIDNIGHT + timedelta(days=BROKEN, hours=1))
    for day in range(BROKEN):
        show_asked(opened, day, home=getattr(request, "param", 0))
    opened.evaluate()
    clock.append(MIDNIGHT + timedelta(days=BROKEN + 1, hours=1))
    return opened


def make_reader(monitor):
    slicing = Slicing(values=(("device", ("phone", "tv")),))
    return QueryReader(monitor.store, monitor.project, monitor.configuration, slicing)


@pytest.mark.slow
@pytest.mark.parametrize("is_one_query", [True, False])
def test_bots_that_ask_one_query_all_day_are_no_warning(monitor, is_one_query):
    show_asked(monitor, BROKEN, 32, is_one_query=is_one_query)
    opened = [each for event, each in monitor.evaluate().events if each.rule == "early"]
    # The same lists for many queries are one: scores may be broken.
    assert bool(opened) == (not is_one_query)


@pytest.mark.parametrize("monitor", [4], indirect=True)
def test_one_query_that_most_rankings_always_have_is_a_warning(monitor):
    show_asked(monitor, BROKEN, home=4, is_broken=True)
    [opened] = [each for event, each in monitor.evaluate().events if each.rule == "early"]
    assert {"constant", "tied"} <= {fact["signal"] for fact in opened.evidence["facts"]}
    day = to_micros(MIDNIGHT + timedelta(days=BROKEN))
    asked = make_reader(monitor).read(Segment("gbdt"), day, day + DAY)
    assert asked.find_design_effect("constant", day) == pytest.approx(1, abs=0.3)
    unusual = asked._replace(shares=np.zeros(len(asked.shares)))
    assert unusual.find_design_effect("constant", day) > 10


def test_rankings_of_a_stream_are_read_with_their_queries(monitor):
    show_asked(monitor, BROKEN, 32)
    reader = make_reader(monitor)
    until = to_micros(MIDNIGHT + timedelta(days=BROKEN + 1))
    since = until - max(SPANS) * HOUR
    whole = reader.read(Segment("gbdt"), since, until)
    assert len(whole.queries) == 3 * 96 + 32
    assert np.sort(np.bincount(whole.queries)).tolist() == [9] * 32 + [32]
    constant = whole.values[NAMES.index("constant")]
    assert constant.sum() == 32
    assert len({*whole.queries[constant == 1].tolist()}) == 1
    assert whole.shares[constant == 1].tolist() == [0.0] * 32
    # Each of the 32 queries has had a 32nd of the rankings.
    assert np.unique(whole.shares[constant == 0]) == pytest.approx(1 / 32)
    of_tv = reader.read(Segment("gbdt", "", (("device", "tv"),)), since, until)
    assert len(of_tv.queries) == 3 * 32 + 11
    assert not len(reader.read(Segment("gbdt", "5"), since, until).queries)
    assert not len(reader.read(Segment("other"), since, until).queries)
    assert not len(reader.read(Segment("gbdt"), until, until + HOUR).queries)
