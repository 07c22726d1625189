from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import UsageError
from rankscope.monitor import Configuration, Monitor, Rule, define
from rankscope.monitor.definition.calendar import Calendar, Period
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.warnings import WarningRecord, rate_warnings
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.rules.early.cells import Hours
from rankscope.monitor.rules.early.check import Table, check_signals, find_needed, look
from rankscope.monitor.rules.early.progress import EarlyProgress, EarlyWarning, Fact
from rankscope.monitor.rules.early.usual import SPANS, Sums, add_up, bound, judge
from rankscope.monitor.rules.early.words import describe_fact
from rankscope.monitor.rules.kinds import DEFAULTS
from rankscope.monitor.signals.kinds import SIGNALS

START = datetime(2026, 6, 1, tzinfo=UTC)


def of_days(means, per_hour=10.0):
    """Return the cumulative sums of days of 24 equal hours, in which every user comes once."""
    value = np.repeat(means, 24)[None, :]
    count = np.full_like(value, per_hour)
    return add_up(Sums(count, count * value, count, count * value, count * value))


@given(
    count=st.integers(5, 60),
    share=st.floats(0.01, 0.5),
    hits=st.integers(1, 60),
)
def test_the_bound_is_never_below_the_probability_of_a_share(count, share, hits):
    hits = min(hits, count)
    change = hits / count - share
    if change <= 0:
        return
    tail = sum(
        math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(hits, count + 1)
    )
    variance, step = share * (1 - share) / count, (1 - share) / count
    evidence = bound(*(np.array([each]) for each in (change, variance, step)))
    assert tail <= math.exp(-evidence[0]) * (1 + 1e-9)


def test_many_small_values_are_judged_as_normal():
    change, variance = np.array([0.3, 0.05]), np.array([0.01, 0.0001])
    assert np.allclose(bound(change, variance, np.zeros(2)), change**2 / (2 * variance))
    assert (bound(change, variance, np.full(2, 0.01)) < change**2 / (2 * variance)).all()


def test_what_is_usual_is_the_mean_of_the_same_hours_of_28_days_and_of_weekdays():
    means = [0.2 + 0.01 * (day % 3) for day in range(40)]
    judged = judge(of_days(means), np.array([40 * 24]))
    assert judged.value[0, 0, SPANS.index(24)] == pytest.approx(means[39])
    assert judged.usual[0, 0, SPANS.index(24)] == pytest.approx(np.mean(means[11:39]), abs=0.002)
    assert judged.days[0, 0].tolist() == [28] * len(SPANS)
    # A span that is longer than a day is compared with spans that end before it begins.
    assert judged.usual[0, 0, SPANS.index(72)] == pytest.approx(0.21, abs=0.002)
    week = [0.2] * 5 + [0.5] * 2
    judged = judge(of_days(week * 4 + [0.2], 200.0), np.array([29 * 24]))
    assert judged.usual[0, 0, 0] == pytest.approx(0.2, abs=1e-6)
    saturday = judge(of_days(week * 4 + [0.2] * 6, 200.0), np.array([34 * 24]))
    assert saturday.evidence[0, 0, 0] > 20


@pytest.mark.parametrize(("days", "is_judged"), [(6, False), (7, True), (8, True)])
def test_seven_days_are_needed(days, is_judged):
    judged = judge(of_days([0.1] * days + [0.9]), np.array([24 * (days + 1)]))
    assert bool(judged.evidence[0, 0, 0] > 0) == is_judged


def test_with_few_days_a_change_has_to_be_larger():
    def weigh(days):
        means = [0.3 + 0.02 * (-1) ** day for day in range(days)]
        judged = judge(of_days([*means, 0.45], 1000.0), np.array([24 * (days + 1)]))
        return float(judged.evidence[0, 0, 0])

    assert weigh(7) < weigh(14) < weigh(28)


def test_days_that_differ_are_no_change_and_rankings_of_one_user_are_one():
    steady, wavering = ([0.3 + part * (-1) ** day for day in range(28)] for part in (0, 0.1))
    end = np.array([29 * 24])
    of_steady, of_wavering = (
        float(judge(of_days([*means, 0.4], 100.0), end).evidence.max())
        for means in (steady, wavering)
    )
    assert of_wavering < 2
    assert of_steady > 10
    count, value = np.full((1, 29 * 24), 100.0), np.repeat([*steady, 0.4], 24)[None, :]
    # All rankings of an hour are of one user, who is like no other.
    one = Sums(count, count * value, count**2, count**2 * value, count**2 * value)
    assert judge(add_up(one), end).evidence.max() < 3


def test_hours_that_are_left_out_are_made_up_for_by_days_before():
    sums = of_days([0.2] * 30 + [0.9] * 10 + [0.2])
    skipped = np.zeros((1, 41 * 24))
    skipped[:, 30 * 24 : 40 * 24] = 1.0
    known = Sums(*(add_up(Sums(*[np.diff(each, axis=1) * (1 - skipped)] * 5))[0] for each in sums))
    marks = np.pad(np.cumsum(skipped, axis=1), ((0, 0), (1, 0)))
    end = np.array([41 * 24])
    judged = judge(sums, end, before=known, skipped=marks, reach=56)
    assert judged.usual[0, 0, 0] == pytest.approx(0.2)
    assert judged.days[0, 0, 0] == 28
    assert judge(sums, end).usual[0, 0, 0] > 0.4


def test_more_evidence_is_needed_where_days_are_more_surprising():
    rule = DEFAULTS["early"]

    def need(peak, days=28, rows=1000):
        peaks = tuple((day * DAY, peak) for day in range(days))
        known = EarlyProgress(basis="", first=0, following=0, peaks=peaks, rows=rows)
        return find_needed(rule, known, days * DAY + HOUR)

    assert need(9.0) - need(7.0) == pytest.approx(2.0)
    # Before there are days that tell, each stream and signal counts as independent.
    assert need(7.0, days=6) == need(9.0, days=6) == need(math.log(1000) - math.log(math.log(2)))
    assert need(0.0) > need(7.0, rows=10) - 10
    rare = rule.replace(false_warnings=0.1)
    known = EarlyProgress(basis="", first=0, following=0, rows=5)
    often = find_needed(rule, known, HOUR)
    assert find_needed(rare, known, HOUR) - often == pytest.approx(math.log(10))


@pytest.mark.parametrize("value", [0.0, -1.0, 10.1, math.inf, math.nan])
def test_a_promise_is_a_number_of_warnings(value):
    with pytest.raises(UsageError, match="false_warnings: expected more than 0 and at most 10"):
        Rule(name="e", kind="early", false_warnings=value)


def make_warning(began=0, **more):
    segment = Segment("gbdt", "4", (("device", "tv"),))
    fact = Fact(
        signal="overlap",
        segment=segment,
        began=began,
        found=began + HOUR,
        before=0.9,
        after=0.4,
        rankings=40,
        spread=0.05,
        evidence=20.0,
    )
    said = {"segment": segment, "began": began, "found": began + HOUR, "facts": (fact,)} | more
    return EarlyWarning(**said)


def test_what_a_rule_remembers_is_read_back_and_resolving_accepts_it():
    warning = make_warning(5 * DAY)
    known = EarlyProgress(basis="", first=0, following=6 * DAY, warnings=(warning,))
    known = known.restart([warning.key], 6 * DAY + 1, is_all=False)
    [over] = known.over
    assert (known.warnings, over.until, over.is_accepted) == ((), 6 * DAY + HOUR, True)
    assert EarlyProgress.from_text(known.to_text()) == known
    # What is usual is learned from what came since it began.
    assert known.list_skipped() == {warning.facts[0].key: [(0, 5 * DAY)]}
    ended = EarlyProgress(basis="", first=0, following=0).put(warning).end(warning, 7 * DAY)
    assert ended.list_skipped() == {warning.facts[0].key: [(5 * DAY, 7 * DAY)]}
    assert ended.forget(200 * DAY).over == ()


def test_a_fact_is_told_with_what_was_usual():
    told = describe_fact(make_warning().facts[0])
    assert told == (
        "Lists of version 4 with device=tv overlap 40% with those of the same queries before; 90% "
        "is usual."
    )


class Story:
    """A service that shows 96 lists a day, of which those of televisions may be broken."""

    def __init__(self, path):
        self.now = START
        self.monitor = Monitor.open(path, now=lambda: self.now)
        definition = define(measures=["nDCG@4"], positive="click", window="24h")
        self.monitor.configure(
            Configuration(definition=definition, attributes=("device",), baseline=None)
        )
        self.random = np.random.default_rng(5)

    def show(self, days, broken="", *, has_clicks=True, version="4"):
        rankings, labels = [], []
        self.now = START + timedelta(days=days.stop)
        for day in days:
            for number in range(96):
                device = "tv" if number % 3 == 0 else "phone"
                is_broken = bool(broken) and device == "tv"
                docs = [f"d{number % 16}-{at}" for at in range(6)]
                if self.random.random() < 0.5:
                    docs[4:] = docs[:3:-1]
                clicked = docs[int(self.random.random() ** 2 * 3)]
                if is_broken and broken == "order":
                    docs.reverse()
                scores = [0.5] * 6 if is_broken and broken == "scores" else [9, 8, 7, 6, 5, 4]
                time = START + timedelta(days=day, minutes=15 * number)
                rankings.append(
                    {
                        "ranking_id": f"{day}-{number}",
                        "time": time.isoformat(),
                        "model": "gbdt",
                        "version": version,
                        "user_id": f"u{number}",
                        "query_key": f"q{number % 16}",
                        "attributes": {"device": device},
                        "doc_ids": docs,
                        "scores": scores,
                    }
                )
                if has_clicks:
                    labels.append(
                        {
                            "ranking_id": f"{day}-{number}",
                            "doc_id": clicked,
                            "time": (time + timedelta(hours=2)).isoformat(),
                            "label": "click",
                        }
                    )
        self.monitor.log_rankings(rankings)
        self.monitor.log_labels(labels)

    def evaluate(self, day):
        self.now = START + timedelta(days=day, hours=1)
        return [
            (event, incident.name)
            for event, incident in self.monitor.evaluate().events
            if incident.rule == "early"
        ]


@pytest.fixture
def story(tmp_path):
    """After ten days without a fault."""
    made = Story(f"{tmp_path}/a.db")
    made.show(range(10))
    assert made.evaluate(10) == []
    return made


TV = "device=tv, model=gbdt, version=4"


@pytest.mark.slow
def test_a_fault_is_one_warning_before_labels_and_labels_confirm_it(story):
    story.show(range(10, 11), "order")
    assert story.evaluate(11) == [("opened", TV)]
    [incident] = story.monitor.incidents()
    assert (incident.kind, incident.severity, incident.measure) == ("early", "info", "")
    assert incident.opened - (START + timedelta(days=10)) <= timedelta(hours=10)
    signals = {fact["signal"] for fact in incident.evidence["facts"]}
    assert "overlap" in signals
    assert incident.evidence["outcome"] == "unknown"
    assert "of version 4 with device=tv " in incident.reason
    assert incident.evidence["facts"][0]["sentence"] in incident.reason
    [state] = [each for each in story.monitor.check() if each.rule.name == "early"]
    assert state.state == "ALERT"
    # The second day is compared with the first one, and the labels of the first are final by then.
    story.show(range(11, 14), "order")
    story.evaluate(14)
    now, history = story.monitor.incident(incident.incident_id)
    assert now.evidence["outcome"] == "confirmed"
    assert now.evidence["outcome_sentence"].startswith("Labels confirm it: nDCG@4 was 0.")
    assert [change.action for change in history].count("noted") == 1
    rated = rate_warnings(story.monitor.store, "default", int(story.now.timestamp() * 1e6))
    assert (rated.warnings, rated.confirmed, rated.precision) == (1, 1, 1.0)
    assert timedelta(days=1) <= rated.lead <= timedelta(days=3)


@pytest.mark.slow
def test_what_a_new_version_changes_began_with_it(story):
    story.show(range(10, 11), "scores", version="5")
    story.evaluate(11)
    [incident] = story.monitor.incidents()
    assert incident.version == "5"
    assert incident.began >= START + timedelta(days=10)


@pytest.mark.slow
def test_scores_that_stay_constant_warn_until_they_are_back(story):
    story.show(range(10, 12), "scores")
    assert story.evaluate(12) == [("opened", TV)]
    [incident] = story.monitor.incidents()
    assert "constant" in {fact["signal"] for fact in incident.evidence["facts"]}
    story.show(range(12, 14))
    assert story.evaluate(14) == [("recovered", TV)]
    [now] = story.monitor.incidents(state="recovered")
    assert now.reason == "The signals were as usual for a day."
    # The order was as before, and so were clicks.
    story.evaluate(14.5)
    again, _ = story.monitor.incident(now.incident_id)
    assert again.evidence["outcome"] != "confirmed"


@pytest.mark.slow
def test_a_change_that_a_person_accepts_is_usual_from_then_on(story):
    story.show(range(10, 11), "scores", has_clicks=False)
    assert story.evaluate(11) == [("opened", TV)]
    [incident] = story.monitor.incidents()
    story.monitor.resolve(incident.incident_id, actor="ann")
    story.show(range(11, 20), "scores", has_clicks=False)
    assert story.evaluate(20) == []
    assert story.monitor.incidents() == ()


@pytest.mark.slow
def test_a_replay_finds_the_same_warnings(tmp_path):
    story = Story(f"{tmp_path}/a.db")
    for day in range(11):
        story.show(range(day, day + 1), "order" if day == 10 else "")
        story.evaluate(day + 1)
    [live] = story.monitor.incidents()
    [replayed] = [
        one
        for one in story.monitor.replay(START + timedelta(days=10.9)).incidents
        if one.rule == "early"
    ]
    assert (replayed.incident_id, replayed.opened) == (live.incident_id, live.opened)
    assert (replayed.began, replayed.name) == (live.began, live.name)


def test_without_warnings_there_is_no_precision():
    assert WarningRecord().precision is None
    assert WarningRecord(warnings=3, confirmed=1, not_confirmed=3).precision == 0.25


DAYS = 60
MONDAY = 20_000 * DAY
SHOWN = 20.0
"""Rankings of an hour, each of another user."""


class Days:
    """The cells of a stream, whose signals have one value on all hours of a day."""

    def __init__(self, signals, usual, others):
        value = np.repeat([others.get(day, usual) for day in range(DAYS)], 24)
        parts = (np.ones_like(value), value, np.ones_like(value), value, value)
        sums = SHOWN * np.array(parts).T[None, :, :, None]
        self._sums = np.repeat(sums, signals, axis=-1)

    def add_up(self, since, until, *_):
        first, last = ((each - MONDAY) // HOUR for each in (since, until))
        pad = ((0, 0), (max(-first, 0), max(last - DAYS * 24, 0)), (0, 0), (0, 0))
        return Hours((Segment(""),), np.pad(self._sums[:, max(first, 0) : last], pad))


def open_table(signal, others, *periods, baseline="none"):
    """A signal whose usual value is 0.2, and periods of the calendar: their first and last day."""
    signals = [each for each in SIGNALS if each.name == signal]
    first = to_datetime(MONDAY).date()
    calendar = Calendar(
        tuple(
            Period(
                name="Fair",
                first=first + timedelta(days=begin),
                last=first + timedelta(days=end),
                baseline=baseline,
            )
            for begin, end in periods
        )
    )
    return Table(signals, Days(len(signals), 0.2, others), calendar=calendar)


def weigh(table, hours):
    known = EarlyProgress(basis="", first=MONDAY, following=MONDAY + (hours - 1) * HOUR)
    return look(table, DEFAULTS["early"], known, [MONDAY + hours * HOUR]).evidence[0, 0]


@pytest.mark.parametrize("baseline", ["none", "last-year", "same-weekday"])
def test_hours_of_a_period_are_not_judged_and_those_beside_it_are(baseline):
    table = open_table("constant", dict.fromkeys(range(39, 43), 0.8), (40, 41), baseline=baseline)
    assert weigh(table, 40 * 24).max() > 20
    for hours in (40 * 24 + 1, 41 * 24, 42 * 24):
        assert weigh(table, hours).max() == 0
    # The first hour after it, and no longer span.
    assert np.flatnonzero(weigh(table, 42 * 24 + 1)).tolist() == [1]
    assert weigh(table, 43 * 24)[0] > 5


def test_a_period_is_no_part_of_what_is_usual():
    holidays = dict.fromkeys(range(30, 35), 0.8)
    known = EarlyProgress(basis="", first=MONDAY, following=MONDAY)
    rule, moment = DEFAULTS["early"], MONDAY + 45 * DAY
    left_out = (
        look(open_table("constant", holidays, (30, 34)), rule, known, [moment]).at(0).judgment
    )
    judged = look(open_table("constant", holidays), rule, known, [moment]).at(0).judgment
    assert left_out.usual[0, 0] == pytest.approx(0.2, abs=1e-12)
    assert left_out.days[0, 0] == 28  # made up for by days before
    assert judged.usual[0, 0] == pytest.approx(0.2 + 0.6 * 5 / 28, abs=0.03)


@pytest.mark.parametrize(("length", "more"), [(1, 1), (3, 3), (7, 7), (9, 7)])
def test_lists_are_compared_with_a_period_as_long_as_it_was_and_at_most_a_week(length, more):
    table = open_table("unseen", dict.fromkeys(range(30, 50), 0.8), (30, 29 + length))
    end = (30 + length + more) * 24
    assert weigh(table, end).max() == 0
    assert weigh(table, end + 1).max() > 5


def test_holidays_warn_unless_they_are_in_the_calendar():
    def warn(*periods):
        table = open_table("constant", dict.fromkeys((40, 41), 0.8), *periods)
        progress = EarlyProgress(basis="", first=MONDAY, following=MONDAY + 30 * DAY)
        opened = []
        for hour in range(30 * 24, 50 * 24, 6):
            moment = MONDAY + (hour + 1) * HOUR
            _, progress = check_signals(table, DEFAULTS["early"], progress, moment)
            opened += [each.found for each in progress.warnings if each.found == moment]
            if periods:
                # A day that is left out is no surprise, and not a day without any.
                assert not {40, 41} & {(day - MONDAY) // DAY for day, _ in progress.peaks}
        return opened

    assert len(warn()) == 1
    assert warn((40, 41)) == []
