"""Watches of data at their limits, with counts that don't vary."""

from __future__ import annotations

import numpy as np
import pytest
from rankscope.monitor.alerts.watches.check import check_data, default_rule
from rankscope.monitor.alerts.watches.counts import HOURS, TOTAL, Place
from rankscope.monitor.events.limits import HOUR

from dev.simulate.volumes import START, DrawnCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
