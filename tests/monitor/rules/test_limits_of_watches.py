from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from rankscope.monitor.evaluate.stored_windows import AGES
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.mismatch import Mismatch
from rankscope.monitor.rules.data import labels, watches
from rankscope.monitor.rules.data.check import HourCheck, check_data
from rankscope.monitor.rules.data.counts import HOURS, TOTAL, Segment
from rankscope.monitor.rules.data.progress import (
    Anomaly,
    DataProgress,
    RateDay,
    Restart,
    UnusualTime,
)
from rankscope.monitor.rules.data.traffic import Traffic
from rankscope.monitor.rules.data.words import code, name
from rankscope.monitor.rules.kinds import DEFAULTS

from dev.simulate.volumes import START, DrawnCounts

BEGIN = DataProgress.begin("", 0, 0)
FAULT = 29 * HOURS
"""The hour in which something changes."""
PHONE, NEW, MISSING = (
    Segment(slice=(("device", value),)) for value in ("phone", "television", "<missing>")
)


def look(counted, since, until, progress=BEGIN):
    found = []
    for hour in range(since, until):
        findings, progress = check_data(
            counted, DEFAULTS["data"], progress, START + (hour + 1) * HOUR
        )
        found.append(findings)
    return found


def watch(segment, counts, *, total):
    """What is found if a value has these counts, among so many rankings an hour."""
    hours = {
        each: np.full(FAULT + HOURS, total, dtype=np.int64) for each in (TOTAL, Segment("a"), PHONE)
    }
    hours[segment] = np.zeros(FAULT + HOURS, dtype=np.int64)
    hours[segment][FAULT : FAULT + len(counts)] = counts
    hours[PHONE] = hours[TOTAL] - hours[segment]
    counted = DrawnCounts(hours, attributes=("device",))
    hours_found = look(counted, FAULT - 2, FAULT + len(counts))
    found = [one for findings in hours_found for one in findings if one.verdict == "bad"]
    assert all(one.kind == "attributes" for one in found)
    return found


@pytest.mark.parametrize(
    ("segment", "count", "hours", "total"),
    [(NEW, 200, 6, 10_000), (NEW, 20, 1, 100), (MISSING, 500, 6, 10_000), (MISSING, 20, 1, 100)],
)
def test_values_are_new_and_attributes_missing_from_a_share_and_a_number_on(
    segment, count, hours, total
):
    # New in 2 of 100 rankings; missing in 5 of 100 more than usual; 20 rankings for either.
    found = [bool(watch(segment, [count + by] * hours, total=total)) for by in (-1, 0, 1)]
    assert found == [False, True, True]


def watch_total(hours):
    """What each hour from the fault on finds, if all rankings of a model have these counts."""
    counts = np.asarray(hours, dtype=np.int64)
    counted = DrawnCounts({TOTAL: counts, Segment("a"): counts})
    return look(counted, FAULT - 1, len(counts))[1:]


def test_the_silence_of_a_stream_is_found_at_five_rankings_a_day():
    for daily in (4, 5, 6):
        usual = ([daily] + [0] * (HOURS - 1)) * 29
        found = watch_total([*usual, *[0] * 10 * HOURS])
        is_found = any(one.verdict == "bad" for findings in found for one in findings)
        assert is_found == (daily >= 5)


def test_a_fall_counts_as_usual_after_21_days():
    verdicts = [
        {one.verdict for one in findings}
        for findings in watch_total([1000] * FAULT + [300] * (21 * HOURS + 1))
    ]
    assert verdicts == [{"bad"}] * (21 * HOURS - 1) + [{"good"}, set()]


def test_a_near_miss_matters_from_two_in_100_labels_on():
    reader = DrawnCounts({})
    for count in (199, 200, 201):
        near = Mismatch(kind="unknown_label", name="Click", count=count, of=10_000, like="click")
        reader.find_mismatches = lambda *_, near=near: [near]
        assert bool(watches.watch_names(reader, START)) == (count >= 200)


class Unlabelled(DrawnCounts):
    """Counts of rankings of which only those of some hours have labels, counted from `START`."""

    def __init__(self, hours, labelled, labels=None):
        super().__init__(hours, labels=labels)
        self._labelled = labelled

    def has_labels(self, since, until, before):
        spans = range((since - START) // HOUR, (until - START) // HOUR)
        return since < before and any(hour in self._labelled for hour in spans)


def test_the_silence_of_labels_is_found_once_17_days_are_known():
    counts = np.full(18 * HOURS, 100, dtype=np.int64)
    number = np.full(18, 100 * HOURS, dtype=np.int64)
    counted = Unlabelled({TOTAL: counts, Segment("a"): counts}, range(12 * HOURS), number)
    found = [
        any(one.kind == "label_freshness" for one in findings)
        for findings in look(counted, 0, 18 * HOURS)
    ]
    # A day is known an hour after its end, which is the attribution window, and counts in the next.
    assert found.index(True) == 17 * HOURS + 1


def test_what_was_found_is_over_two_hours_later_at_the_earliest():
    silent = watch_total([1000] * FAULT + [0] * 10)
    found = next(at for at, findings in enumerate(silent) if findings)
    after = watch_total([1000] * FAULT + [0] * (found + 1) + [1000] * 3)[found:]
    assert [{one.verdict for one in findings} for findings in after] == [
        {"bad"},
        {"bad"},
        {"good"},
        set(),
    ]


def make_traffic(hours, *, hour, progress=BEGIN):
    """The traffic at the end of an hour, counted from `START`."""
    counted = DrawnCounts(
        # A model has all of them, unless models are given.
        {
            segment: np.asarray(counts, dtype=np.int64)
            for segment, counts in ({Segment("a"): hours[TOTAL]} | dict(hours)).items()
        },
        attributes=("device",),
    )
    return Traffic(counted, DEFAULTS["data"], progress, START + hour * HOUR)


def fill(count, *, since=0, until=40 * HOURS):
    counts = np.zeros(40 * HOURS, dtype=np.int64)
    counts[since:until] = count
    return counts


def surprise(count, expected, variance):
    """The bound of a count of a Poisson distribution whose mean has a gamma distribution."""
    shape = 1 / variance
    return count * math.log(count / expected) - (count + shape) * math.log(
        (count + shape) / (expected + shape)
    )


END = 40 * HOURS


@pytest.mark.parametrize("count", [49, 50, 51])
def test_50_values_are_watched_those_with_the_most_rankings(count):
    values = [Segment(slice=(("device", f"{number:02}"),)) for number in range(count)]
    hours = {segment: fill(1 + number) for number, segment in enumerate(values)}
    traffic = make_traffic({TOTAL: fill(10_000), **hours}, hour=END)
    assert watches.find_values(traffic) == values[max(count - 50, 0) :]


def test_a_model_or_a_value_is_watched_from_five_rankings_a_day_on(monkeypatch):
    hours = {TOTAL: fill(2), NEW: fill(1), Segment("a"): fill(1), Segment("b"): fill(1)}
    for daily in (4.99, 5.0, 5.01):
        usual = SimpleNamespace(daily=daily)
        monkeypatch.setattr(Traffic, "usual", lambda *_, usual=usual: usual)
        traffic = make_traffic(hours, hour=END)
        assert watches.find_values(traffic) == [NEW] * (daily >= 5)
        assert watches.find_models(traffic) == [Segment("a"), Segment("b")] * (daily >= 5)


def rename(age, gone):
    """Traffic with a value that is new for some hours, and one that is gone for some."""
    new, old = fill(50, since=END - age), fill(50, until=END - gone)
    return make_traffic({TOTAL: fill(100), NEW: new, PHONE: old}, hour=END)


def test_a_value_is_new_for_a_week_and_named_with_one_that_vanished_in_it():
    for age in (167, 168, 169):
        traffic = make_traffic({TOTAL: fill(100), NEW: fill(50, since=END - age)}, hour=END)
        assert watches._find_age(traffic, NEW) == (age if age <= 168 else None)
        assert bool(watches.watch_new_values(traffic, ())) == (age <= 168)
        began = traffic.moment - age * HOUR
        anomaly = Anomaly(kind="attributes", segment=NEW, began=began, found=began, ratio=0.0)
        assert watches.is_new_over(traffic, anomaly) == (age >= 168)
    traffic = make_traffic({TOTAL: fill(100), NEW: fill(50, since=END - 100)}, hour=END)
    for apart in (167, 168, 169):
        began = traffic.moment - (100 + apart) * HOUR
        assert watches.find_heirs(traffic, "device", began) == [NEW] * (apart <= 168)


def test_a_value_is_renamed_at_an_evidence_of_five_and_waited_for_a_day(monkeypatch):
    for evidence in (4.999, 5.0, 5.001):
        renamed = PHONE, evidence
        monkeypatch.setattr(watches, "_find_renamed", lambda *_, renamed=renamed: renamed)
        (found,) = watches.watch_new_values(rename(30, 30), ())
        assert found.segment == (PHONE if evidence >= 5 else NEW)
    monkeypatch.setattr(watches, "_find_renamed", lambda *_: (PHONE, 1.0))
    found = [bool(watches.watch_new_values(rename(age, age), ())) for age in (23, 24, 25)]
    assert found == [False, True, True]


def test_a_new_value_is_told_apart_from_one_that_vanished_more_than_a_day_before_or_after():
    for apart in (23, 24, 25):
        for traffic in (rename(30, 30 + apart), rename(30 + apart, 30)):
            assert bool(watches.watch_new_values(traffic, [PHONE])) == (apart > 24)


@pytest.mark.parametrize(("hours", "span"), [(1, 1), (3, 3), (6, 6), (12, 12), (24, 24), (30, 24)])
def test_a_missing_attribute_is_looked_for_in_spans_of_up_to_a_day(hours, span):
    traffic = make_traffic({TOTAL: fill(100), MISSING: fill(90, since=END - hours)}, hour=END)
    found = watches.watch_missing(traffic, "device")
    # A share of 1 % is never surprising, and shares vary by 15 %.
    assert found.evidence["log_evidence"] == round(surprise(90 * span, 1.0 * span, 0.15**2), 3)


def test_an_attribute_that_one_ranking_in_100_lacks_is_usual():
    for usual in (9, 10, 11):
        counts = fill(usual)
        counts[-6:] = 500
        traffic = make_traffic({TOTAL: fill(1000), MISSING: counts}, hour=END)
        found = watches.watch_missing(traffic, "device")
        assert found.ratio == 500 / 1000 / max(usual / 1000, 0.01)


def test_something_is_as_usual_again_at_an_evidence_of_seven():
    # An hour in which nothing usually comes tells nothing.
    day = np.tile([100, *[0] * (HOURS - 1)], 40)
    traffic = make_traffic({TOTAL: day, MISSING: 0 * day}, hour=END - 1)
    began = START + 39 * DAY
    said = {"kind": "volume", "began": began, "found": began, "evidence": {"usual": 0.0}}
    for back in (6.999, 7.0, 7.001):
        for segment, advance in (
            (TOTAL, traffic.advance),
            (MISSING, partial(watches.advance_missing, traffic)),
        ):
            anomaly = Anomaly(segment=segment, ratio=0.5, back=back, **said)
            assert (advance(anomaly) is None) == (back >= 7)


def test_a_model_has_replaced_another_one_if_it_came_within_a_week_before():
    stopped = END - 30
    for before in (167, 168, 169):
        old, new = fill(100, until=stopped), fill(100, since=stopped - before)
        hours = {TOTAL: fill(100), Segment("a"): old, Segment("b"): new}
        assert watches._has_heir(make_traffic(hours, hour=END), Segment("a")) == (before < 168)


def test_what_is_usual_is_learned_from_28_days_of_weeks_that_begin_on_monday():
    assert make_traffic({TOTAL: fill(100)}, hour=END).usual().days == 28.0
    # 1970-01-01 was a Thursday: the first of four days before the next Monday.
    week = np.repeat([100, 200, 300, 400, 500, 600, 700], HOURS)
    start = START // DAY % 7 - 4
    counts = np.roll(np.tile(week, 6), -start * HOURS)[:END]
    usual = make_traffic({TOTAL: counts}, hour=END).usual()
    assert usual.hours.argmin() < HOURS
    assert usual.hours.argmax() >= 6 * HOURS
    for hour in range(END - 2 * HOURS, END):
        traffic = make_traffic({TOTAL: counts}, hour=hour + 1)
        assert round(float(traffic.expected(TOTAL, 1)[0]), -2) == counts[hour]


def test_one_false_alarm_in_the_run_length_is_one_of_its_hours_and_streams():
    traffic = make_traffic({TOTAL: fill(100)}, hour=END)
    traffic.streams = 3
    # Hours overlap, which costs e².
    assert traffic.needed == math.log(HOURS * DEFAULTS["data"].run_length * 3) + 2


def test_nothing_is_missed_after_60_days_and_what_is_over_is_remembered_for_40():
    progress = replace(BEGIN, since=START, day=START + 57 * DAY)
    counted = DrawnCounts({TOTAL: np.array([5])})
    for after in (-1, 0, 1):
        moment = START + 60 * DAY + after * HOUR
        check = HourCheck(counted, DEFAULTS["data"], progress, moment)
        check.run()
        # Each day is counted as long as something is missed.
        assert bool(check.progress.rates) == (after <= 0)
    for at in (-1, 0, 1):
        progress = replace(
            BEGIN,
            spans=(UnusualTime("volume", TOTAL, at - DAY, at),),
            restarts=(Restart("volume", TOTAL, at),),
            rates=(RateDay(at, {}, {}, {}, {}),),
        )
        kept = HourCheck(DrawnCounts({}), DEFAULTS["data"], progress, 40 * DAY).progress
        assert (bool(kept.spans), bool(kept.restarts), bool(kept.rates)) == (at >= 0,) * 3


def test_a_name_in_a_reason_has_at_most_80_characters():
    whole, cut = "x" * 80, "x" * 81
    assert (name(whole), code(whole)) == (whole, whole)
    assert (name(cut), code(cut)) == (f"{whole}…", f'"{whole}…"')


def make_rate_day(at, size, *, empty=0, clicks=None):
    labels = {"a": {"click": size if clicks is None else clicks}}
    return RateDay(at, {"a": size}, {"a": size}, {"a": empty}, labels)


def make_rates(count=28, size=100, *, empty=0):
    rates = tuple(make_rate_day(START + day * DAY, size, empty=empty) for day in range(count))
    end = START + count * DAY
    return replace(BEGIN, since=START, following=end + DAY, day=end, rates=rates)


def test_days_of_labels_are_reported_from_an_evidence_that_follows_from_the_run_length_on(
    monkeypatch,
):
    progress, rule = make_rates(), DEFAULTS["data"]
    day = make_rate_day(progress.day, 100, empty=90, clicks=10)
    # One kind of labels of all models together, and e for what is not counted.
    needed = math.log(rule.run_length) + 1
    for evidence in (needed - 0.001, needed, needed + 0.001):
        monkeypatch.setattr(labels, "_measure", lambda *_, evidence=evidence: evidence)
        for watch in (labels.watch_labels, labels.watch_relevance):
            assert bool(watch(rule, progress, TOTAL, day)) == (evidence >= needed)


def test_labels_arrive_again_if_those_of_two_hours_in_three_days_do():
    began = START + 30 * DAY
    anomaly = Anomaly(kind="label_freshness", segment=TOTAL, began=began, found=began, ratio=0.0)
    for back in (71, 72, 73):
        counted = Unlabelled({TOTAL: fill(100)}, {END - 1, END - back})
        traffic = Traffic(counted, DEFAULTS["data"], make_rates(), START + END * HOUR)
        assert labels.is_silence_over(traffic, anomaly) == (back <= 72)


class Prompt(Unlabelled):
    def count_days(self, since, until):
        found = super().count_days(since, until)
        return {day: one._replace(ages=[1] + [0] * len(AGES)) for day, one in found.items()}


def expect_unlabelled(counts):
    """How many of the newest rankings should have labels by now, and since when."""
    traffic = Traffic(
        Prompt({TOTAL: counts}, ()), DEFAULTS["data"], make_rates(), START + END * HOUR
    )
    return labels._expect_unlabelled(traffic, make_rates())


def test_labels_of_the_last_three_days_are_missed_until_200_are_missing():
    for back in (71, 72, 73):
        counts = fill(100, until=END - 10 * HOURS)
        counts[END - back] = 7
        assert expect_unlabelled(counts) == ((7.0, back) if back <= 72 else (0.0, 0))
    for count, hours in ((199, 4), (200, 3), (201, 2)):
        counts = fill(1)
        # Those of the newest hour come later.
        counts[END - 2] = count
        assert expect_unlabelled(counts) == (201.0, hours)


def test_the_evidence_of_missing_labels_takes_their_share_to_vary_by_a_fifth(monkeypatch):
    monkeypatch.setattr(labels, "_expect_unlabelled", lambda *_: (1000.0, 5))
    found = labels.watch_silence(make_traffic({TOTAL: fill(100)}, hour=END), make_rates())
    # No label at all has the probability (1 + 1000 v) ^ (-1 / v).
    assert found.evidence["log_evidence"] == round(math.log(1 + 1000 * 0.2**2) / 0.2**2, 3)


def test_rankings_without_relevant_document_are_more_from_two_in_100_on():
    progress = make_rates(28, 100_000)
    for empty in (1999, 2000, 2001):
        today = make_rate_day(progress.day, 100_000, empty=empty)
        found = labels.watch_relevance(DEFAULTS["data"], progress, TOTAL, today)
        assert found is not None
        assert bool(found) == (empty >= 2000)


def test_labels_are_watched_after_17_days_and_what_is_usual_is_learned_from_four_weeks():
    for days in (16, 17, 18):
        progress = make_rates(days, 100_000)
        today = make_rate_day(progress.day, 100_000, empty=90_000, clicks=10)
        for watch in (labels.watch_labels, labels.watch_relevance):
            assert bool(watch(DEFAULTS["data"], progress, TOTAL, today)) == (days >= 17)
    progress = make_rates(40, 100_000)
    today = make_rate_day(progress.day, 100_000, empty=2000)
    for old in (11, 12):
        # The 28 newest days have no empty rankings; one more day back has.
        rates = tuple(
            replace(one, empty={"a": 100_000 if at <= old else 0})
            for at, one in enumerate(progress.rates)
        )
        found = labels.watch_relevance(
            DEFAULTS["data"], replace(progress, rates=rates), TOTAL, today
        )
        assert bool(found) == (old == 11)
