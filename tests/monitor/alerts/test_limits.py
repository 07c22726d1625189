"""Alerts at their limits: what happens just below, at and just above each of them."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from rankscope import UsageError
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents import transitions
from rankscope.monitor.incidents.conclusion import conclude
from rankscope.monitor.incidents.grouping import are_related
from rankscope.monitor.notify.http import read_url
from rankscope.monitor.notify.markup import Name, Paragraph, Text, write_text, write_title
from rankscope.monitor.notify.message import write_message
from rankscope.monitor.rules.data import labels
from rankscope.monitor.rules.data.counts import TOTAL
from rankscope.monitor.rules.data.progress import RateDay, WatchProgress
from rankscope.monitor.rules.data.rule import default_rule
from rankscope.monitor.rules.data.surprise import WINDOWS, find_fall, find_rise, find_start
from rankscope.monitor.rules.data.usual import learn_usual
from rankscope.monitor.rules.drop.feed import _follow
from rankscope.monitor.rules.drop.grades import compare_grades
from rankscope.monitor.rules.drop.labels import check_labels
from rankscope.monitor.rules.drop.name import _may_inherit
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.rules.drop.rule import DropRule
from rankscope.monitor.rules.drop.state import decide
from rankscope.monitor.rules.drop.step import Step
from rankscope.monitor.rules.evidence import Evidence
from rankscope.monitor.rules.finding import Finding
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.rules.run import Check
from rankscope.monitor.rules.stream import Inherited, Stream
from rankscope.monitor.rules.trace.nights import SliceNight, _compare
from rankscope.monitor.rules.trace.rule import TraceRule
from rankscope.monitor.store.records import Version
from rankscope.records import replace

from tests.monitor.alerts.notices import make, make_incident
from tests.monitor.alerts.world import CONFIGURATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.incidents.incident import Incident

START = 20_000 * DAY
NOW = datetime(2026, 11, 8, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)


def follow(
    *,
    silent: timedelta,
    absent: timedelta,
    is_served: bool,
    longest: timedelta = timedelta(),
    length: int = DAY,
) -> Stream | None:
    """A stream after a final period without rankings of its own."""
    until = to_datetime(START + length)
    stream = Stream(
        model="m", version="1", state="OK", last=until - silent, absent=absent, longest=longest
    )
    step = Step(start=START, until=START + length, due=START + 2 * length)
    return _follow(stream, step, shown={("m", "1")} if is_served else {("m", "2")}, has=False)


@pytest.mark.parametrize(("days", "is_watched"), [(1, True), (2, False), (3, False)])
def test_a_version_is_watched_until_it_is_absent_for_two_days(
    days: int, *, is_watched: bool
) -> None:
    before = timedelta(days=days - 1)
    found = follow(silent=timedelta(days=1), absent=before, is_served=False)
    assert (found is not None) == is_watched


def test_a_version_that_is_absent_for_less_than_two_days_by_a_moment_is_watched() -> None:
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
def test_a_silent_slice_is_stale_after_two_days_and_forgotten_after_four_weeks(
    silent: timedelta, state: str | None
) -> None:
    for length in (HOUR, DAY):
        found = follow(silent=silent, absent=timedelta(), is_served=True, length=length)
        assert (found and found.state) == state


def test_a_slice_that_paused_before_is_stale_after_twice_as_long() -> None:
    pause = timedelta(days=2)
    for silent, state in ((2 * pause - MICROSECOND, "OK"), (2 * pause, "STALE")):
        found = follow(silent=silent, absent=timedelta(), is_served=True, longest=pause)
        assert found is not None
        assert found.state == state


@pytest.mark.parametrize(("count", "is_told"), [(99, False), (100, True), (101, True)])
def test_grades_are_compared_from_100_documents_on(count: int, *, is_told: bool) -> None:
    assert bool(compare_grades({1.0: count}, 1000, {2.0: 100}, 1000)) == is_told
    assert bool(compare_grades({1.0: 100}, 1000, {2.0: count}, 1000)) == is_told


def test_grades_differ_if_a_fifth_of_them_does_beyond_chance() -> None:
    # Chance is sqrt(2 * 2 / count) for two grades and as many documents on each side.
    count = 2_000_000
    limit = count * (0.2 + math.sqrt(2 * 2 / count))
    for moved in (math.floor(limit), math.ceil(limit)):
        other = {1.0: count - moved, 2.0: moved}
        assert bool(compare_grades({1.0: count}, 2000, other, 2000)) == (moved > limit)


@pytest.mark.parametrize(
    ("lists", "is_told"), [(499_999, True), (500_000, False), (500_001, False)]
)
def test_twice_as_many_relevant_documents_a_list_are_too_many(lists: int, *, is_told: bool) -> None:
    count = 1_000_000
    assert bool(compare_grades({1.0: count}, lists, {1.0: count}, count)) == is_told


@pytest.mark.parametrize(("days", "is_known"), [(6, False), (7, True), (8, True)])
def test_labels_are_known_after_a_week(days: int, *, is_known: bool) -> None:
    known = tuple((day, 100, 100, True) for day in range(days))
    assert Stream(model="m", version="1", label_days=known).knows_labels == is_known
    assert (check_labels(known, day=days, rankings=100, labels=1).state == "lost") == is_known


@pytest.mark.parametrize(("unusual", "is_usual"), [(12, False), (13, True), (14, True)])
def test_what_lasts_two_weeks_is_usual(unusual: int, *, is_usual: bool) -> None:
    days = tuple((day, 100, 100 if day < 28 else 50, day < 28) for day in range(28 + unusual))
    found = check_labels(days[-28:], day=28 + unusual, rankings=100, labels=50)
    assert all(one[3] for one in found.days) == is_usual


def test_usual_labels_are_those_of_four_weeks() -> None:
    days = tuple((day, 100, 100, True) for day in range(40))
    found = check_labels(days, day=40, rankings=100, labels=100)
    assert [one[0] for one in found.days] == [*range(13, 41)]
    lost = check_labels(days, day=40, rankings=100, labels=1)
    assert [one[0] for one in lost.days] == [*range(13, 41)]


def test_a_muted_slice_learns_its_fall_for_a_week() -> None:
    night = SliceNight(model="m", slice=(), fall=0.125, reason="").mute()
    for nights, limit in ((6, math.inf), (7, 1.5 * 0.125)):
        for fall in (0.1874, 0.1875, 0.1876):
            kept = replace(night, nights=nights).keep_muted(fall)
            assert (kept is not None) == (fall < limit)
            if kept is not None:
                assert kept.muted == (fall if nights < 7 else 0.125)


def test_a_slice_has_recovered_after_two_clean_nights() -> None:
    night = SliceNight(model="m", slice=(("device", "tv"),), fall=0.1, reason="")
    for clean, verdicts in ((0, []), (1, ["good"]), (2, ["good"])):
        found = _compare([replace(night, clean=clean)], [], [])
        assert [one.verdict for one in found] == verdicts


def test_no_data_is_two_whole_periods_without_a_ranking() -> None:
    rule, now = Rule(name="quality", measure="nDCG@5"), START + 5 * HOUR
    for last, state in ((-1, "NO_DATA"), (0, "INSUFFICIENT"), (1, "INSUFFICIENT")):
        time = START - 2 * DAY + last
        version = Version("m", "1", "production", time, time, 1)
        assert decide(rule, RuleProgress.begin("", START, 0), [version], now).state == state


def test_a_fall_is_inherited_for_a_week() -> None:
    came = to_datetime(START)
    stream = Stream(model="m", version="2", inherited=Inherited("1", came, came))
    week = timedelta(days=7)
    for passed, may in ((week - MICROSECOND, True), (week, False), (week + MICROSECOND, False)):
        assert _may_inherit(replace(stream, lanes=(Evidence(at=came + passed),))) == may
    assert not _may_inherit(replace(stream, inherited=None))


def test_a_fall_is_that_of_the_version_before_if_it_began_on_the_first_day() -> None:
    came = to_datetime(START)
    fall = Inherited("1", came - timedelta(days=3), came)
    stream = Stream(model="m", version="2", inherited=fall)
    for passed in (timedelta(days=1) - MICROSECOND, timedelta(days=1)):
        fallen = replace(stream, lanes=(Evidence(since=came + passed),))
        is_same = passed < timedelta(days=1)
        assert fallen.since == (fall.since if is_same else came + passed)


def worsen(told: float, fall: float) -> bool:
    """Whether people hear of a fall that has become larger."""
    incident = make_incident(told_fall=told)
    finding = Finding(kind="quality", verdict="bad", evidence={"fall": fall})
    turn = transitions.take_finding(incident, finding, NOW)
    return turn is not None and turn.event == "worsened"


def test_a_fall_is_worse_if_it_is_twice_as_large_and_by_a_twentieth() -> None:
    assert [worsen(0.1, fall) for fall in (0.1999, 0.2, 0.2001)] == [False, True, True]
    limit = 0.01 + 0.05
    assert [worsen(0.01, fall) for fall in (limit - 1e-9, limit, limit + 1e-9)] == [
        False,
        True,
        True,
    ]


def test_what_has_recovered_is_resolved_after_three_days() -> None:
    incident = make_incident(state="recovered", recovered=NOW)
    due = NOW + timedelta(days=3)
    assert transitions.pass_time(incident, due - MICROSECOND) is None
    for now in (due, due + MICROSECOND):
        turn = transitions.pass_time(incident, now)
        assert turn is not None
        assert turn.incident.state == "resolved"


def test_a_note_has_at_most_2_000_characters() -> None:
    for length in (1999, 2000):
        transitions.acknowledge(make_incident(), NOW, actor="ada", note="x" * length)
    with pytest.raises(UsageError, match="at most 2,000 characters, found 2,001"):
        transitions.acknowledge(make_incident(), NOW, actor="ada", note="x" * 2001)


def test_one_cause_begins_at_most_two_periods_apart() -> None:
    lengths = {"quality": timedelta(days=1), "hourly": timedelta(hours=1)}
    one = make_incident(began=NOW)
    for apart in (-MICROSECOND, timedelta(), MICROSECOND):
        other = make_incident(began=NOW - timedelta(days=2) - apart)
        assert are_related(one, other, lengths) == (apart <= timedelta())
        hourly = make_incident(rule="hourly", began=NOW - timedelta(hours=2) - apart)
        of_hour = replace(one, rule="hourly")
        assert are_related(of_hour, hourly, lengths) == (apart <= timedelta())


def test_a_cause_is_traced_again_for_a_week() -> None:
    rule = Rule(name="quality", measure="nDCG@5")
    for passed, is_traced in (
        (timedelta(days=7) - MICROSECOND, True),
        (timedelta(days=7), True),
        (timedelta(days=7) + MICROSECOND, False),
    ):
        asked: list[Incident] = []

        def trace(incident: Incident, _: datetime, asked: list[Incident] = asked) -> None:
            asked.append(incident)

        check = Check(rule, has_ended_day=True)
        conclude("music", [make_incident()], [check], NOW_OPENED + passed, find_cause=trace)
        assert bool(asked) == is_traced


NOW_OPENED = make_incident().opened


def is_rule(**said: object) -> bool:
    """Whether a rule can be made."""
    try:
        Rule.from_dict({"name": "quality", "measure": "nDCG@5"} | said)
    except UsageError:
        return False
    return True


@pytest.mark.parametrize(
    ("field", "at", "above"),
    [
        ("name", "x" * 100, "x" * 101),
        ("name", "é" * 50, "é" * 50 + "x"),
        ("channels", tuple(map(str, range(20))), tuple(map(str, range(21)))),
        ("channels", ("x" * 100,), ("x" * 101,)),
        ("lanes", ("1m", "2m", "3m", "4m"), ("1m", "2m", "3m", "4m", "5m")),
        ("lanes", ("1s",), ("0s",)),
        ("remind", 8760.0, 8760.001),
        ("remind", 0.0, -0.001),
        ("run_length", 2.0, 1.999),
    ],
)
def test_what_a_rule_takes_has_limits(field: str, at: object, above: object) -> None:
    assert is_rule(**{field: at})
    assert not is_rule(**{field: above})


def test_a_trace_promises_at_most_2_500_nights() -> None:
    rule = TraceRule(name="nights", measure="nDCG@3", kind="trace", run_length=2500.0)
    assert rule.check(CONFIGURATION) == rule
    with pytest.raises(UsageError, match="at most 2500 nights"):
        rule.replace(run_length=2500.5).check(CONFIGURATION)


def test_early_values_are_those_of_the_last_two_ages_in_a_quarter_of_the_window() -> None:
    rule = DropRule(name="quality", measure="nDCG@5")
    ages = (15 * MINUTE, HOUR, 4 * HOUR)
    for at, age in enumerate(ages):
        assert rule.choose_ages(4 * age - 1) == ages[max(at - 2, 0) : at]
        assert rule.choose_ages(4 * age) == ages[max(at - 1, 0) : at + 1]


def make_days(count: int, *, empty: int = 0) -> WatchProgress:
    """Days with 100,000 rankings, all of which have a click."""
    days = tuple(
        RateDay(
            START + day * DAY, {"": 100_000}, {"": 100_000}, {"": empty}, {"": {"click": 100_000}}
        )
        for day in range(count)
    )
    end = START + count * DAY
    return WatchProgress(basis="", first=START, moment=end + DAY, day=end, rates=days)


def make_day(progress: WatchProgress, *, empty: int = 0, clicks: int = 100_000) -> RateDay:
    """The day after."""
    return RateDay(progress.day, {"": 100_000}, {"": 100_000}, {"": empty}, {"": {"click": clicks}})


@pytest.mark.parametrize(("empty", "is_found"), [(1999, False), (2000, True), (2001, True)])
def test_rankings_without_relevant_document_are_more_from_two_in_100_on(
    empty: int, *, is_found: bool
) -> None:
    progress = make_days(28)
    found = labels.watch_relevance(default_rule(), progress, TOTAL, make_day(progress, empty=empty))
    assert found is not None
    assert bool(found) == is_found


@pytest.mark.parametrize(("days", "is_known"), [(16, False), (17, True), (18, True)])
def test_labels_are_watched_after_17_days(days: int, *, is_known: bool) -> None:
    progress, rule = make_days(days), default_rule()
    today = make_day(progress, empty=90_000, clicks=10)
    assert bool(labels.watch_labels(rule, progress, TOTAL, today)) == is_known
    assert bool(labels.watch_relevance(rule, progress, TOTAL, today)) == is_known


def test_what_is_usual_is_learned_from_four_weeks() -> None:
    progress = make_days(40, empty=100)
    for old in (11, 12):
        # The 28 newest days have no empty rankings; one more day back has.
        rates = tuple(
            replace(one, empty={"": 100_000 if at <= old else 0})
            for at, one in enumerate(progress.rates)
        )
        seen = replace(progress, rates=rates)
        found = labels.watch_relevance(default_rule(), seen, TOTAL, make_day(seen, empty=2000))
        assert bool(found) == (old == 11)


@pytest.mark.parametrize(("count", "is_fallen"), [(499, True), (500, True), (501, False)])
def test_traffic_has_fallen_at_half_of_what_is_usual(count: int, *, is_fallen: bool) -> None:
    lowest = np.full(len(WINDOWS), 1000.0)
    found = find_fall(np.array([float(count)]), lowest, 1e-6)
    assert (found is not None) == is_fallen
    assert find_start(np.array([1000.0, float(count)]), np.array([1000.0, 1000.0])) == 1


@pytest.mark.parametrize(("count", "is_risen"), [(1999, False), (2000, True), (2001, True)])
def test_traffic_has_risen_at_twice_of_what_is_usual(count: int, *, is_risen: bool) -> None:
    highest = np.full(len(WINDOWS), 1000.0)
    found = find_rise(np.array([0.0, 0.0, float(count)]), highest, 1e-6)
    assert (found is not None) == is_risen


def test_a_rise_is_seen_in_three_hours_at_least() -> None:
    highest = np.full(len(WINDOWS), 1000.0)
    for hours in (2, 3):
        counts = np.zeros(hours)
        counts[-1] = 9000.0
        found = find_rise(counts, highest, 1e-6)
        assert (found is not None and found.evidence > 0) == (hours >= 3)


@pytest.mark.parametrize(("hours", "is_known"), [(167, False), (168, True), (169, True)])
def test_traffic_is_known_after_a_week(hours: int, *, is_known: bool) -> None:
    counts = np.full(10 * 24, np.nan)
    counts[-hours:] = 100.0
    assert (learn_usual(counts, 0) is not None) == is_known


@pytest.mark.parametrize(("days", "least"), [(13, 0.15**2), (14, 0.07**2), (15, 0.07**2)])
def test_two_weeks_tell_how_much_traffic_varies(days: int, least: float) -> None:
    usual = learn_usual(np.full(days * 24, 1e6), 0)
    assert usual is not None
    unknown = usual.variance - least
    # What is expected isn't known exactly, which adds a little.
    assert 0 <= unknown < 1e-5


def test_texts_of_messages_are_cut_behind_their_last_character() -> None:
    for most, write in (
        (200, write_title),
        (100, lambda text: write_text([Paragraph((Name(text),))])),
        (600, lambda text: write_text([Paragraph((Text(text),))])),
    ):
        for length in (most - 1, most):
            assert write("x" * length) == "x" * length
        assert write("x" * (most + 1)) == "x" * (most - 1) + "…"


@pytest.mark.parametrize(("count", "more"), [(9, 0), (10, 0), (11, 1)])
def test_a_message_describes_ten_incidents(count: int, more: int) -> None:
    parts = [("opened", make_incident(incident_id=f"incident_{at}")) for at in range(count)]
    text = write_message([make(*parts).to_json()]).text  # type: ignore[arg-type]
    assert text.count("- New incident: ") == min(count, 10)
    assert (f"… and {more} more" in text) == (more > 0)


def test_a_webhook_has_a_short_address_and_a_port_of_the_web() -> None:
    start = "https://example.com/"
    for length in (2047, 2048):
        read_url(start + "x" * (length - len(start)))
    with pytest.raises(UsageError, match="2048 characters at most"):
        read_url(start + "x" * (2049 - len(start)))
    for port, may in ((443, True), (80, True), (1023, False), (1024, True), (1025, True)):
        if may:
            assert read_url(f"https://example.com:{port}/").port == port
        else:
            with pytest.raises(UsageError, match="from 1024 on"):
                read_url(f"https://example.com:{port}/")
