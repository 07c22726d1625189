from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.check import check_data, summarize
from rankscope.monitor.rules.data.counts import HOURS, TOTAL, Segment
from rankscope.monitor.rules.data.progress import DataProgress
from rankscope.monitor.rules.kinds import DEFAULTS, Rule

from dev.simulate.volumes import START, DrawnCounts, Traffic, draw_hours

BEGIN = DataProgress.begin("", 0, 0)
DAYS, FAULT = 36, 29
"""How many days there are, and on which one a fault begins."""
TV, PHONE, NEW, MISSING = (
    Segment(slice=(("device", value),)) for value in ("tv", "phone", "television", "<missing>")
)
USUAL = Traffic("2,000 a day", 2_000, share=0.5)


@cache
def draw():
    """Draw two models and two devices, a fifth of them tv."""
    chance = np.random.default_rng(3)
    hours = draw_hours(chance, USUAL, DAYS)
    tv = chance.binomial(hours[TOTAL], 0.2)
    return {**hours, TV: tv, PHONE: hours[TOTAL] - tv}


def change(**factors):
    """Change the parts of all rankings that the models have, from the fault on for two days."""
    hours = {segment: counts.copy() for segment, counts in draw().items()}
    fault = slice(FAULT * HOURS, (FAULT + 2) * HOURS)
    for model, factor in factors.items():
        segment = Segment(model)
        hours[segment][fault] = np.round(hours[segment][fault] * factor)
    before = hours[TOTAL].copy()
    hours[TOTAL] = hours[Segment("a")] + hours[Segment("b")]
    # Devices stay what they are.
    shrunk = hours[TOTAL] / np.maximum(before, 1)
    hours[TV] = np.round(hours[TV] * shrunk).astype(np.int64)
    hours[PHONE] = hours[TOTAL] - hours[TV]
    return hours


def watch(hours, since=FAULT * HOURS - 2, until=(FAULT + 1) * HOURS, rule=None):
    """Return what changed: the hour after the fault began, and the finding."""
    counts = DrawnCounts(hours, attributes=("device",))
    known = {}
    progress, found = BEGIN, []
    for hour in range(since, until):
        findings, progress = check_data(
            counts, rule or DEFAULTS["data"], progress, START + (hour + 1) * HOUR
        )
        assert DataProgress.from_json(progress.to_json()) == progress
        for one in findings:
            if one.verdict != known.get(one.key, "good"):
                known[one.key] = one.verdict
                found.append((hour + 1 - FAULT * HOURS, one))
    return found


def names(found):
    return [(one.kind, one.model, one.verdict) for _, one in found]


def test_what_is_as_usual_is_not_reported():
    assert watch(draw(), FAULT * HOURS, DAYS * HOURS) == []


def test_a_model_that_stops_is_reported_although_the_other_takes_its_segment():
    assert names(watch(change(a=0, b=2))) == [("versions", "a", "bad")]


def test_a_model_that_hands_over_gradually_is_not_reported():
    hours = change(a=0, b=2)
    for day, left in ((FAULT - 2, 0.7), (FAULT - 1, 0.2)):
        span = slice(day * HOURS, (day + 1) * HOURS)
        moved = np.round(hours[Segment("a")][span] * (1 - left)).astype(np.int64)
        hours[Segment("a")][span] -= moved
        hours[Segment("b")][span] += moved
    assert watch(hours, (FAULT - 2) * HOURS, (FAULT + 2) * HOURS) == []


def test_a_model_that_is_replaced_by_a_new_one_is_not_reported():
    hours = change(a=0)
    lost = draw()[Segment("a")] - hours[Segment("a")]
    new = {
        segment: counts + lost if segment == TOTAL else counts for segment, counts in hours.items()
    }
    # Devices are as before.
    new |= {TV: draw()[TV], PHONE: draw()[PHONE], Segment("c"): lost}
    assert watch(new) == []


def test_a_new_value_is_reported_until_it_is_known():
    hours = {segment: counts.copy() for segment, counts in draw().items()}
    hours[NEW] = np.zeros_like(hours[TV])
    hours[NEW][(FAULT - 1) * HOURS :] = hours[PHONE][(FAULT - 1) * HOURS :] // 5
    hours[PHONE] -= hours[NEW]
    found = watch(hours, (FAULT - 1) * HOURS, DAYS * HOURS)
    assert [(one.slice, one.verdict) for _, one in found] == [
        (NEW.slice, "bad"),
        (NEW.slice, "good"),
    ]
    assert "television is new since" in found[0][1].reason


def test_a_rule_reports_only_what_it_watches_of_its_model():
    rule = Rule(name="data", kind="data", watches=("attributes",))
    assert watch(change(a=0.1, b=0.1), rule=rule) == []
    rule = Rule(name="data", kind="data", model="a")
    assert names(watch(change(a=0), rule=rule)) == [("versions", "a", "bad")]
    assert watch(change(b=0), rule=rule) == []


def test_what_a_person_has_resolved_counts_as_usual():
    counts = DrawnCounts(change(a=0, b=2), attributes=("device",))
    moment = START + FAULT * DAY + 6 * HOUR
    findings, progress = check_data(counts, DEFAULTS["data"], BEGIN, moment)
    (bad,) = findings
    assert bad.verdict == "bad"
    resolved = progress.restart([bad.key], moment, is_all=False)
    assert check_data(counts, DEFAULTS["data"], resolved, moment + HOUR)[0] == []


def test_too_short_a_history_says_from_when_on_it_is_watched_and_none_says_so():
    counts = DrawnCounts(draw())
    ((finding,), progress) = check_data(counts, DEFAULTS["data"], BEGIN, START + 3 * DAY)
    assert finding.verdict == "unknown"
    assert finding.reason == (
        "The data are watched from 14 Oct 2024 on, after 7 days to compare with."
    )
    assert summarize(progress)[0] == "INSUFFICIENT"
    assert summarize(BEGIN)[0] == "INSUFFICIENT"
    findings, progress = check_data(DrawnCounts({}), DEFAULTS["data"], BEGIN, START + 40 * DAY)
    assert findings == []
    assert summarize(progress) == ("NO_DATA", "no rankings in the last 60 days")


@pytest.mark.parametrize("a_day", [5, 40])
def test_few_rankings_with_quiet_nights_and_a_holiday_are_not_reported(a_day):
    hours = draw_hours(np.random.default_rng(5), Traffic("few", a_day), DAYS)
    holiday = slice((FAULT + 1) * HOURS, (FAULT + 2) * HOURS)
    for segment in (Segment("a"), Segment("b")):
        hours[segment][holiday] //= 2
    hours[TOTAL] = hours[Segment("a")] + hours[Segment("b")]
    assert watch(hours, FAULT * HOURS, DAYS * HOURS) == []


def test_the_same_hours_give_the_same_findings_however_they_are_read():
    hours = change(a=0)
    one, other = DrawnCounts(hours), DrawnCounts(hours)
    moment = START + FAULT * DAY + 5 * HOUR
    _, progress = check_data(one, DEFAULTS["data"], BEGIN, moment)
    again = check_data(one, DEFAULTS["data"], progress, moment + HOUR)
    assert again == check_data(other, DEFAULTS["data"], progress, moment + HOUR)


@pytest.mark.parametrize(("left", "state"), [(0.6, "fewer"), (1.5, "more")])
def test_a_label_rate_that_changes_is_reported_after_a_final_day(left, state):
    chance = np.random.default_rng(7)
    hours = draw_hours(chance, USUAL, DAYS)
    sizes = hours[TOTAL].reshape(-1, HOURS).sum(axis=1)
    rate = np.where((np.arange(DAYS) >= FAULT) & (np.arange(DAYS) < FAULT + 2), left, 1.0)
    rate = rate * chance.normal(1, 0.03, DAYS)
    counts = DrawnCounts(hours, labels=np.round(sizes * rate).astype(np.int64))
    progress, known, found = BEGIN, "good", []
    for hour in range(FAULT * HOURS, DAYS * HOURS, HOURS):
        findings, progress = check_data(
            counts, DEFAULTS["data"], progress, START + hour * HOUR + counts.window
        )
        for one in findings:
            if one.kind == "labels" and one.verdict != known:
                known = one.verdict
                found.append((hour // HOURS - FAULT, one))
    assert [(at, one.verdict) for at, one in found] == [(1, "bad"), (3, "good")]
    assert found[0][1].reason.startswith(f"Rankings have {state} labels than usual since 5 Nov")


def test_a_version_that_falls_back_to_an_older_one_is_reported_and_a_release_is_not():
    one = draw()[TOTAL]
    old, new = (np.zeros_like(one) for _ in range(2))
    half = 7 * HOURS
    old[:half], new[half:] = one[:half], one[half:]
    release = {TOTAL: one, Segment("m"): one, Segment("m", "1"): old, Segment("m", "2"): new}
    assert watch(release, FAULT * HOURS, (FAULT + 1) * HOURS) == []
    back = {segment: counts.copy() for segment, counts in release.items()}
    back[Segment("m", "1")][FAULT * HOURS :] = one[FAULT * HOURS :]
    back[Segment("m", "2")][FAULT * HOURS :] = 0
    ((_, bad),) = watch(back)
    assert (bad.kind, bad.model, bad.version) == ("versions", "m", "2")
    assert "older versions are shown in its segment" in bad.reason
