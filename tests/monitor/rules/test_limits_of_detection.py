from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest
from rankscope import UsageError
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents import management
from rankscope.monitor.rules.drop import check
from rankscope.monitor.rules.drop.check import Period, _add_hour, check_labels, compare_grades
from rankscope.monitor.rules.drop.feed import _follow, _may_inherit, feed
from rankscope.monitor.rules.drop.findings import decide
from rankscope.monitor.rules.drop.floors import Floor, Floors, _fit_length, _Wanted
from rankscope.monitor.rules.drop.periods import PeriodReader, Step
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.rules.drop.rule import DropRule
from rankscope.monitor.rules.drop.sample import Cells, Sample, _discount
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.rules.stream import ALL, Evidence, Inherited, Stream
from rankscope.monitor.store.records import Context, Version

from tests.monitor.rules.world import CONFIGURATION, make_scene
from tests.refusals import refuses_if

WEEK = 7 * DAY
START = 2857 * WEEK
MICROSECOND = timedelta(microseconds=1)
RULE = DropRule(name="quality", measure="RR@3", slices=("device",))


def make_sample(contexts, *, times=START):
    count = np.arange(contexts)
    ones = np.ones(contexts)
    return Sample(
        contexts=count,
        times=np.full(contexts, times),
        clusters=count,
        is_labelled=ones > 0,
        labels=ones.astype(np.int64),
        gains=ones,
        discounts=ones,
        values={"RR@3": ones},
        grades={},
    )


def make_cells(count):
    values = [f"{number:03}" for number in range(count)]
    contexts = {
        number: Context("m", "1", "production", (("device", value),))
        for number, value in enumerate(values)
    }
    return Cells(contexts, Slicing((("device", tuple(values)),)))


@pytest.mark.parametrize("known", [398, 399, 400])
def test_a_rule_watches_400_streams(known):
    streams = tuple(
        Stream(model="m", version=ALL, slice=(("device", f"{number:03}"),))
        for number in range(known)
    )
    floors = SimpleNamespace(
        reader=SimpleNamespace(cells=make_cells(1), scene=make_scene()),
        has_anchor=False,
        refer=lambda _: None,
        find=lambda *_: Floor(lane=Evidence()),
    )
    step = Step(due=START + DAY, start=START, until=START + DAY)
    after = feed(
        RuleProgress(basis="", first=START, following=START, streams=streams),
        Period(RULE, step, make_sample(1), floors),
    )
    # All rankings of the version, and those of its only device.
    assert len(after.streams) == min(known + 2, 400)
    assert after.unwatched == max(known + 2 - 400, 0)


def test_the_values_of_an_attribute_make_60_cells():
    for count in (59, 60, 61):
        found = make_cells(count).choose_mix(RULE, (), make_sample(count), np.arange(count))
        assert found == (("device",) if count <= 60 else ())


@pytest.mark.parametrize("count", [99, 100, 101])
def test_100_grades_are_counted(count):
    grades = np.arange(1.0, count + 1)
    each = SimpleNamespace(
        chunk=SimpleNamespace(
            items=SimpleNamespace(offsets=np.array([0, count]), ranks=np.arange(1, count + 1)),
            times=[START],
        ),
        graded=SimpleNamespace(relevance=grades),
        values=SimpleNamespace(is_refused=np.array([False])),
    )
    *_, found = _discount(each, np.array([0]))
    assert found == dict.fromkeys(grades[:100].tolist(), 1)


def test_the_gains_of_an_hour_are_those_of_the_day_before():
    step = Step(due=START, start=START, until=START + HOUR)
    new = START // HOUR, 2, 2.0
    for back in (23, 24, 25):
        old = START // HOUR - back, 5, 2.5
        found = _add_hour(Evidence(recent=(old,)), step, np.ones(2))
        assert found == ((old, new) if back < 24 else (new,))


def test_a_baseline_of_production_has_about_600_000_rankings():
    # One ranking a microsecond.
    span = 600_000
    for rankings in (599_999, 600_000, 600_001):
        length = _fit_length(START, START + span - 1, rankings)
        assert length == span * 600_000 // rankings


def make_floors():
    versions = [Version("m", "1", "production", START - 30 * WEEK, START, 100)]
    store = SimpleNamespace(contexts=lambda _: {0: Context("m", "1", "production", ())})
    return Floors(PeriodReader(make_scene(store, versions=versions, now=START), ()))


def test_baselines_and_periods_of_600_000_rankings_are_held():
    for more in (-1, 0, 1):
        floors = make_floors()
        floors._samples = {
            (_Wanted(at, at, None, ()), 0): SimpleNamespace(times=range(300_000 + at * more))
            for at in range(2)
        }
        floors._forget()
        assert len(floors._samples) == (2 if more <= 0 else 1)
    reader = PeriodReader(make_scene(), ())
    for sizes in ([299_999, 1], [300_000, 0], [300_000, 1]):
        samples = [SimpleNamespace(times=range(size)) for size in sizes]
        reader._held = [SimpleNamespace(sample=sample) for sample in samples]
        # Another one may be as large as the largest.
        assert reader._has_room(1) == (sum(sizes) + max(sizes) <= 600_000)


def test_a_long_term_baseline_is_made_anew_every_week():
    names = []
    for start in (START, START + DAY, START + WEEK - DAY, START + WEEK):
        wanted = make_floors()._want_history("m", start, HOUR)
        names.append(wanted.name)
    assert names[0] == names[1] == names[2] != names[3]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_three_streams_are_named(count):
    streams = [
        Stream(
            model="m",
            version=str(number),
            state="STALE",
            reason="no rankings",
            last=to_datetime(START),
        )
        for number in range(count)
    ]
    progress = RuleProgress(basis="", first=START, following=START, streams=tuple(streams))
    told = [f"model=m, version={number}: no rankings" for number in range(min(count, 3))]
    more = ["and 1 more"] if count == 4 else []
    assert decide(RULE, progress, [], START).reason == "; ".join([*told, *more])
    alerts = tuple(replace(one, state="ALERT") for one in streams)
    found = decide(RULE, replace(progress, streams=alerts), [], START)
    assert found.state == "ALERT"
    assert found.reason.count("version=") == min(count, 3)
    assert found.reason.endswith("; and 1 more") == (count == 4)


@pytest.mark.parametrize("count", [999, 1000, 1001])
def test_a_project_has_at_most_1_000_rules(count, monkeypatch):
    def write(*said, **_):
        said[3](None)

    monkeypatch.setattr(management, "_write", write)
    store = SimpleNamespace(last_seq=0, list_rules=lambda _: [None] * count)
    with refuses_if(count >= 1000, UsageError, match="at most 1000 rules"):
        management.set_rule(store, "music", CONFIGURATION, RULE, now=START, actor="ada")


def test_the_value_of_a_period_has_the_interval_of_95_in_100(monkeypatch):
    gaps = SimpleNamespace(gap=[0.1], value=0.5, error=0.1, floor=0.4, expected=0.6)
    monkeypatch.setattr(check, "judge_lane", lambda *_, **__: SimpleNamespace(gaps=gaps, judged=""))
    detector = SimpleNamespace(periods=1, starts=(1,))
    monkeypatch.setattr(check, "advance", lambda *_: detector)
    monkeypatch.setattr(check, "_count_users", lambda _: 1)
    usual = SimpleNamespace(discount=None)
    seen = SimpleNamespace(value=[0.5])
    step = Step(due=START + HOUR, start=START, until=START + HOUR)
    period = Period(RULE, step, make_sample(1), make_floors())
    lane = Evidence(usual=usual)
    found = check._detect(lane, period, np.arange(1), seen, is_usual=True).value
    half = NormalDist().inv_cdf((1 + 0.95) / 2) * 0.1
    assert found.level == 0.95
    # Up to the rounding of the quantile.
    assert (found.lower, found.upper) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-12)


def follow(*, silent, absent, is_served, longest=timedelta(), length=DAY):
    """A stream after a final period without rankings of its own."""
    until = to_datetime(START + length)
    stream = Stream(
        model="m", version="1", state="OK", last=until - silent, absent=absent, longest=longest
    )
    step = Step(start=START, until=START + length, due=START + 2 * length)
    return _follow(stream, step, shown={("m", "1")} if is_served else {("m", "2")}, has=False)


def test_a_version_that_is_absent_for_less_than_two_days_by_a_moment_is_watched():
    day = timedelta(days=1)
    assert follow(silent=day, absent=day - MICROSECOND, is_served=False) is not None
    assert follow(silent=day, absent=day, is_served=False) is None


@pytest.mark.parametrize(
    ("silent", "state"),
    [
        (timedelta(days=2) - MICROSECOND, "OK"),
        (timedelta(days=2), "STALE"),
        (timedelta(days=28) - MICROSECOND, "STALE"),
        (timedelta(days=28), None),
    ],
)
def test_a_silent_slice_is_stale_after_two_days_and_forgotten_after_four_weeks(silent, state):
    for length in (HOUR, DAY):
        found = follow(silent=silent, absent=timedelta(), is_served=True, length=length)
        assert (found and found.state) == state


def test_a_slice_that_paused_before_is_stale_after_twice_as_long():
    pause = timedelta(days=2)
    for silent, state in ((2 * pause - MICROSECOND, "OK"), (2 * pause, "STALE")):
        found = follow(silent=silent, absent=timedelta(), is_served=True, longest=pause)
        assert found.state == state


def test_grades_are_compared_from_100_documents_on_and_differ_beyond_chance():
    for count in (99, 100, 101):
        assert bool(compare_grades({1.0: count}, 1000, {2.0: 100}, 1000)) == (count >= 100)
        assert bool(compare_grades({1.0: 100}, 1000, {2.0: count}, 1000)) == (count >= 100)
    # Chance is sqrt(2 * 2 / count) for two grades and as many documents on each side.
    count = 2_000_000
    limit = count * (0.2 + math.sqrt(2 * 2 / count))
    for moved in (math.floor(limit), math.ceil(limit)):
        other = {1.0: count - moved, 2.0: moved}
        assert bool(compare_grades({1.0: count}, 2000, other, 2000)) == (moved > limit)
    count = 1_000_000
    for lists in (499_999, 500_000, 500_001):
        found = compare_grades({1.0: count}, lists, {1.0: count}, count)
        assert bool(found) == (count / lists > 2)


def test_labels_are_known_after_a_week_and_what_lasts_two_weeks_is_usual():
    for days in (6, 7, 8):
        known = tuple((day, 100, 100, True) for day in range(days))
        assert Stream(model="m", version="1", label_days=known).knows_labels == (days >= 7)
        found = check_labels(known, day=days, rankings=100, labels=1)
        assert (found.state == "lost") == (days >= 7)
    for unusual in (12, 13, 14):
        days = tuple((day, 100, 100 if day < 28 else 50, day < 28) for day in range(28 + unusual))
        found = check_labels(days[-28:], day=28 + unusual, rankings=100, labels=50)
        # Today is one more.
        assert all(one[3] for one in found.days) == (unusual + 1 >= 14)
    days = tuple((day, 100, 100, True) for day in range(40))
    found = check_labels(days, day=40, rankings=100, labels=100)
    assert [one[0] for one in found.days] == [*range(13, 41)]
    lost = check_labels(days, day=40, rankings=100, labels=1)
    assert [one[0] for one in lost.days] == [*range(13, 41)]


def test_no_data_is_two_whole_periods_without_a_ranking():
    rule, now = Rule(name="quality", measure="nDCG@5"), START + 5 * HOUR
    for last, state in ((-1, "NO_DATA"), (0, "INSUFFICIENT"), (1, "INSUFFICIENT")):
        time = START - 2 * DAY + last
        version = Version("m", "1", "production", time, time, 1)
        assert decide(rule, RuleProgress.begin("", START, 0), [version], now).state == state


def test_a_fall_is_inherited_for_a_week_if_it_began_on_the_first_day():
    came = to_datetime(START)
    stream = Stream(model="m", version="2", inherited=Inherited("1", came, came))
    week = timedelta(days=7)
    for passed, may in ((week - MICROSECOND, True), (week, False), (week + MICROSECOND, False)):
        assert _may_inherit(replace(stream, lanes=(Evidence(at=came + passed),))) == may
    assert not _may_inherit(replace(stream, inherited=None))
    came = to_datetime(START)
    fall = Inherited("1", came - timedelta(days=3), came)
    stream = Stream(model="m", version="2", inherited=fall)
    for passed in (timedelta(days=1) - MICROSECOND, timedelta(days=1)):
        fallen = replace(stream, lanes=(Evidence(since=came + passed),))
        is_same = passed < timedelta(days=1)
        assert fallen.since == (fall.since if is_same else came + passed)
