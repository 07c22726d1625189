"""Watches of data at their limits, with counts that don't vary."""

from __future__ import annotations

import numpy as np
import pytest
from rankscope.monitor.alerts.watches.check import check_data, default_rule
from rankscope.monitor.alerts.watches.counts import HOURS, TOTAL, Place
from rankscope.monitor.alerts.watches.names import watch_names
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.mismatch import Mismatch

from dev.simulate.volumes import START, DrawnCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from rankscope.monitor.alerts.incidents.finding import Finding

FAULT = 29 * HOURS
"""The hour in which something changes."""
PHONE, NEW, MISSING = (
    Place(slice=(("device", value),)) for value in ("phone", "television", "<missing>")
)


def watch(place: Place, counts: Sequence[int], *, total: int) -> list[Finding]:
    """What is found if a value has these counts, among so many rankings an hour."""
    hours = {
        each: np.full(FAULT + HOURS, total, dtype=np.int64) for each in (TOTAL, Place("a"), PHONE)
    }
    hours[place] = np.zeros(FAULT + HOURS, dtype=np.int64)
    hours[place][FAULT : FAULT + len(counts)] = counts
    hours[PHONE] = hours[TOTAL] - hours[place]
    counted = DrawnCounts(hours, attributes=("device",))
    progress, found = "", []
    for hour in range(FAULT - 2, FAULT + len(counts)):
        findings, progress = check_data(
            counted, default_rule(), progress, START + (hour + 1) * HOUR
        )
        found += [one for one in findings if one.verdict == "bad"]
    assert all(one.kind == "attributes" for one in found)
    return found


@pytest.mark.parametrize(("count", "is_found"), [(19, False), (20, True), (21, True)])
def test_a_new_value_is_found_at_two_in_100_rankings(count: int, *, is_found: bool) -> None:
    assert bool(watch(NEW, [count] * 6, total=1000)) == is_found


@pytest.mark.parametrize(("count", "is_found"), [(19, False), (20, True), (21, True)])
def test_a_new_value_is_found_at_20_rankings(count: int, *, is_found: bool) -> None:
    assert bool(watch(NEW, [count], total=100)) == is_found


@pytest.mark.parametrize(("count", "is_found"), [(49, False), (50, True), (51, True)])
def test_an_attribute_is_missing_in_five_points_more_than_usual(
    count: int, *, is_found: bool
) -> None:
    assert bool(watch(MISSING, [count] * 6, total=1000)) == is_found


@pytest.mark.parametrize(("count", "is_found"), [(19, False), (20, True), (21, True)])
def test_an_attribute_is_missing_in_20_rankings_at_least(count: int, *, is_found: bool) -> None:
    assert bool(watch(MISSING, [count], total=100)) == is_found


def watch_total(hours: Sequence[int]) -> list[list[Finding]]:
    """What each hour from the fault on finds, if all rankings of a model have these counts."""
    counts = np.asarray(hours, dtype=np.int64)
    counted = DrawnCounts({TOTAL: counts, Place("a"): counts})
    progress, found = "", []
    for hour in range(FAULT - 1, len(counts)):
        findings, progress = check_data(
            counted, default_rule(), progress, START + (hour + 1) * HOUR
        )
        found.append(findings)
    return found[1:]


@pytest.mark.parametrize(("daily", "is_found"), [(4, False), (5, True), (6, True)])
def test_the_silence_of_a_stream_is_found_at_five_rankings_a_day(
    daily: int, *, is_found: bool
) -> None:
    usual = ([daily] + [0] * (HOURS - 1)) * 29
    found = watch_total([*usual, *[0] * 10 * HOURS])
    assert any(one.verdict == "bad" for findings in found for one in findings) == is_found


def test_a_fall_counts_as_usual_after_21_days() -> None:
    verdicts = [
        {one.verdict for one in findings}
        for findings in watch_total([1000] * FAULT + [300] * (21 * HOURS + 1))
    ]
    assert verdicts == [{"bad"}] * (21 * HOURS - 1) + [{"good"}, set()]


class Mismatched:
    """A reader of one mismatch."""

    configuration = Configuration(
        definition=define(measures=["RR@3"], positive="click", window=3600), attributes=()
    )

    def __init__(self, count: int) -> None:
        self._found = Mismatch(
            kind="unknown_label", name="Click", count=count, of=100, like="click"
        )

    def find_mismatches(self, since: int, until: int) -> list[Mismatch]:
        """The mismatch, at any time."""
        assert since < until
        return [self._found]


@pytest.mark.parametrize(("count", "is_found"), [(1, False), (2, True), (3, True)])
def test_a_near_miss_matters_from_two_in_100_labels_on(count: int, *, is_found: bool) -> None:
    reader: Any = Mismatched(count)
    assert bool(watch_names(reader, START)) == is_found


class Unlabelled(DrawnCounts):
    """Counts of rankings that have no labels from a time on."""

    since = START + 12 * DAY

    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Whether rankings of a span had labels by a time."""
        return since < until and since < min(before, self.since)


def test_the_silence_of_labels_is_found_once_17_days_are_known() -> None:
    counts = np.full(18 * HOURS, 100, dtype=np.int64)
    labels = np.full(18, 100 * HOURS, dtype=np.int64)
    counted = Unlabelled({TOTAL: counts, Place("a"): counts}, labels=labels)
    progress, found = "", []
    for hour in range(18 * HOURS):
        findings, progress = check_data(
            counted, default_rule(), progress, START + (hour + 1) * HOUR
        )
        found += [hour for one in findings if one.kind == "label_freshness"]
    # A day is known an hour after its end, which is the attribution window, and counts in the next.
    assert found[0] == 17 * HOURS + 1


def test_what_was_found_is_over_two_hours_later_at_the_earliest() -> None:
    silent = watch_total([1000] * FAULT + [0] * 10)
    found = next(at for at, findings in enumerate(silent) if findings)
    after = watch_total([1000] * FAULT + [0] * (found + 1) + [1000] * 3)[found:]
    assert [{one.verdict for one in findings} for findings in after] == [
        {"bad"},
        {"bad"},
        {"good"},
        set(),
    ]
