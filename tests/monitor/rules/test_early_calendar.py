"""Early warnings and the calendar: what is left out, at, below and above the ends of a period."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from rankscope.monitor.definition.calendar import Calendar, Period
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.rules.early.cells import Hours
from rankscope.monitor.rules.early.check import Table, check_signals, look
from rankscope.monitor.rules.early.progress import EarlyProgress
from rankscope.monitor.rules.kinds import DEFAULTS
from rankscope.monitor.signals.kinds import SIGNALS

DAYS = 60
START = 20_000 * DAY
SHOWN = 20.0
"""Rankings of an hour, each of another user."""


class Days:
    """The cells of a stream, whose signals have one value on all hours of a day."""

    def __init__(self, signals: int, usual: float, others: dict[int, float]) -> None:
        value = np.repeat([others.get(day, usual) for day in range(DAYS)], 24)
        parts = (np.ones_like(value), value, np.ones_like(value), value, value)
        sums = SHOWN * np.array(parts).T[None, :, :, None]
        self._sums = np.repeat(sums, signals, axis=-1)

    def add_up(self, since: int, until: int, *_: object) -> Hours:
        first, last = ((each - START) // HOUR for each in (since, until))
        pad = ((0, 0), (max(-first, 0), max(last - DAYS * 24, 0)), (0, 0), (0, 0))
        return Hours((Segment(""),), np.pad(self._sums[:, max(first, 0) : last], pad))


def open_table(
    signal: str, others: dict[int, float], *periods: tuple[int, int], baseline: str = "none"
) -> Table:
    """A signal whose usual value is 0.2, and periods of the calendar: their first and last day."""
    signals = [each for each in SIGNALS if each.name == signal]
    first = to_datetime(START).date()
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


def weigh(table: Table, hours: int) -> np.ndarray:
    """The evidence of spans, so many hours after the start."""
    known = EarlyProgress(basis="", first=START, following=START + (hours - 1) * HOUR)
    return look(table, DEFAULTS["early"], known, [START + hours * HOUR]).evidence[0, 0]


@pytest.mark.parametrize("baseline", ["none", "last-year", "same-weekday"])
def test_hours_of_a_period_are_not_judged_and_those_beside_it_are(baseline: str) -> None:
    table = open_table("constant", dict.fromkeys(range(39, 43), 0.8), (40, 41), baseline=baseline)
    assert weigh(table, 40 * 24).max() > 20
    for hours in (40 * 24 + 1, 41 * 24, 42 * 24):
        assert weigh(table, hours).max() == 0
    # The first hour after it, and no longer span.
    assert np.flatnonzero(weigh(table, 42 * 24 + 1)).tolist() == [1]
    assert weigh(table, 43 * 24)[0] > 5


def test_a_period_is_no_part_of_what_is_usual() -> None:
    holidays = dict.fromkeys(range(30, 35), 0.8)
    known = EarlyProgress(basis="", first=START, following=START)
    rule, moment = DEFAULTS["early"], START + 45 * DAY
    left_out = (
        look(open_table("constant", holidays, (30, 34)), rule, known, [moment]).at(0).judgment
    )
    judged = look(open_table("constant", holidays), rule, known, [moment]).at(0).judgment
    assert left_out.usual[0, 0] == pytest.approx(0.2, abs=1e-12)
    assert left_out.days[0, 0] == 28  # made up for by days before
    assert judged.usual[0, 0] == pytest.approx(0.2 + 0.6 * 5 / 28, abs=0.03)


@pytest.mark.parametrize(("length", "more"), [(1, 1), (3, 3), (7, 7), (9, 7)])
def test_lists_are_compared_with_a_period_as_long_as_it_was_and_at_most_a_week(
    length: int, more: int
) -> None:
    table = open_table("unseen", dict.fromkeys(range(30, 50), 0.8), (30, 29 + length))
    end = (30 + length + more) * 24
    assert weigh(table, end).max() == 0
    assert weigh(table, end + 1).max() > 5


def test_holidays_warn_unless_they_are_in_the_calendar() -> None:
    def warn(*periods: tuple[int, int]) -> list[int]:
        table = open_table("constant", dict.fromkeys((40, 41), 0.8), *periods)
        progress = EarlyProgress(basis="", first=START, following=START + 30 * DAY)
        opened = []
        for hour in range(30 * 24, 50 * 24, 6):
            moment = START + (hour + 1) * HOUR
            _, progress = check_signals(table, DEFAULTS["early"], progress, moment)
            opened += [each.found for each in progress.warnings if each.found == moment]
            if periods:
                # A day that is left out is no surprise, and not a day without any.
                assert not {40, 41} & {(day - START) // DAY for day, _ in progress.peaks}
        return opened

    assert len(warn()) == 1
    assert warn((40, 41)) == []
