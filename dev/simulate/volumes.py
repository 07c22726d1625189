"""False alarms and delays of the watches on missing data: `python -m dev.simulate.volumes`.

The counts of hours are drawn, and checked hour by hour by the same function as those of a store.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.stored_windows import AGES
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.check import check_data
from rankscope.monitor.rules.data.counts import (
    HOURS,
    TOTAL,
    Counts,
    DayCounts,
    Segment,
)
from rankscope.monitor.rules.data.progress import DataProgress
from rankscope.monitor.rules.data.rule import DataRule
from rankscope.monitor.store.records import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from rankscope.monitor.rules.state import Finding

RULE = DataRule(name="data", kind="data")
START = 20_003 * DAY
"""A Monday."""
HISTORY = 28
QUARTER = 90
QUARTERS = 40
"""How many quarters the record has."""
LATE = 999
MOST_FALSE = 0.05
STANDARD_ERRORS = 3.0
SHAPE = np.array([1.0] * 7 + [3.0] * 10 + [5.0] * 7)
"""How busy each hour of a day is."""
WEEKDAYS = np.array([1.0] * 5 + [0.7] * 2)


class Traffic(NamedTuple):
    """How many rankings come.

    Args:
        name: What it is called.
        a_day: How many come on a weekday.
        deviation: The standard deviation of the logarithms of the days.
        memory: How much a day is like the day before.
        hourly: The standard deviation of the logarithms of the hours.
        holidays: Whether one day of each quarter has only 60 % of its rankings.
        share: How the rankings are split between two models.
        short: How many quarters the short form of the record has.
    """

    name: str
    a_day: float
    deviation: float = 0.0
    memory: float = 0.0
    hourly: float = 0.0
    holidays: bool = False
    share: float = 0.6
    short: int = 0


WORLDS = (
    Traffic("200 a day, independent", 200),
    Traffic("200 a day, days vary by 10 % (AR 0.8)", 200, 0.1, 0.8, short=1),
    Traffic("200 a day, days vary by 20 %", 200, 0.2, 0.5),
    Traffic("200 a day, a holiday at 60 % each quarter", 200, 0.1, 0.5, holidays=True),
    Traffic("5 a day", 5),
    Traffic("2,000 a day, days by 20 % (AR 0.8), hours by 10 %", 2_000, 0.2, 0.8, 0.1),
    Traffic("20,000 a day, days by 10 % (AR 0.8), hours by 10 %", 20_000, 0.1, 0.8, 0.1),
)


class DrawnCounts(Counts):
    """Counts of hours that were drawn, instead of read.

    Args:
        hours: By segment, the counts of hours from `START` on.
        labels: The number of labels of the rankings of each day; none by default.
        empty: The share of rankings of each day without a relevant document; none by default.
        attributes: The attributes of the segments.
        window: The attribution window, in seconds.
    """

    def __init__(
        self,
        hours: Mapping[Segment, NDArray[np.int64]],
        *,
        labels: NDArray[np.int64] | None = None,
        empty: NDArray[np.float64] | None = None,
        attributes: tuple[str, ...] = (),
        window: int = 3600,
    ) -> None:
        values = tuple(
            (
                name,
                tuple(
                    sorted(
                        one.slice[0][1]
                        for one in hours
                        if one.slice[:1] and one.slice[0][0] == name
                    )
                ),
            )
            for name in attributes
        )
        super().__init__(
            Configuration(
                definition=define(measures=["nDCG@10"], positive="click", window=window),
                attributes=attributes,
            ),
            Slicing(values),
        )
        self._hours = hours
        self._labels = labels
        self._empty = empty

    @property
    def versions(self) -> tuple[Version, ...]:
        """The versions that have rankings."""
        found = []
        for segment, counts in self._hours.items():
            shown = np.flatnonzero(counts)
            is_own = segment.version or (segment.model and not self._has_versions(segment.model))
            if len(shown) and (is_own or (segment == TOTAL and len(self._hours) == 1)):
                first, last = (START + int(shown[at]) * HOUR for at in (0, -1))
                found.append(
                    Version(
                        segment.model, segment.version, "production", first, last, int(counts.sum())
                    )
                )
        return tuple(found)

    def _has_versions(self, model: str) -> bool:
        return any(one.model == model and one.version for one in self._hours)

    def count_days(self, since: int, until: int) -> Mapping[int, DayCounts]:
        """Count the rankings of each day from one midnight to before another."""
        return {day: self._count_day(day) for day in range(since, until, DAY)}

    def _count_day(self, day: int) -> DayCounts:
        at = (day - START) // HOUR
        rankings = {
            segment: [*map(int, counts[at : at + HOURS])]
            + [0] * (HOURS - len(counts[at : at + HOURS]))
            for segment, counts in self._hours.items()
            if at >= 0
        }
        models = [segment for segment in rankings if segment.model and not segment.version] or [
            TOTAL
        ]
        sizes = {segment.model: sum(rankings.get(segment, [0])) for segment in models}
        number = at // HOURS
        share = 0.0 if self._empty is None else float(self._empty[number : number + 1].sum())
        empty = {model: round(share * size) for model, size in sizes.items()}
        return DayCounts(rankings, sizes, dict(sizes), empty, [*(1 for _ in AGES), 0])

    def count_labels(self, day: int) -> dict[str, dict[str, int]]:
        """Count the labels of a day, which come within a minute."""
        at = (day - START) // DAY
        if self._labels is None or not 0 <= at < len(self._labels):
            return {}
        sizes = self.read_day(day).sizes
        share = int(self._labels[at]) / max(sum(sizes.values()), 1)
        return {model: {"click": round(share * size)} for model, size in sizes.items()}

    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Return true: labels come, as far as the hours tell."""
        return since < until and since < before


def draw_hours(
    draw: np.random.Generator, traffic: Traffic, days: int, holidays: Sequence[int] = ()
) -> dict[Segment, NDArray[np.int64]]:
    """Draw the counts of the hours of some days, of all rankings and of two models.

    Args:
        draw: Where chance comes from.
        traffic: The rankings.
        days: How many days.
        holidays: The days that have only 60 % of their rankings.
    """
    noise, effects = draw.normal(size=days) * traffic.deviation, np.zeros(days)
    effects[0] = noise[0]
    for day in range(1, days):
        fresh = noise[day] * np.sqrt(1 - traffic.memory**2)
        effects[day] = traffic.memory * effects[day - 1] + fresh
    level = traffic.a_day * WEEKDAYS[np.arange(days) % 7] * np.exp(effects)
    level[list(holidays)] *= 0.6
    mean = np.outer(level, SHAPE / SHAPE.sum()).ravel()
    mean = mean * np.exp(draw.normal(size=mean.shape) * traffic.hourly)
    counts = draw.poisson(mean)
    one = draw.binomial(counts, traffic.share)
    return {TOTAL: counts, Segment("a"): one, Segment("b"): counts - one}


def watch(
    counts: Counts, since: int, until: int, *, is_first: bool = False
) -> list[tuple[int, Finding]]:
    """Check every hour of some days, and return what was found when it was new.

    Args:
        counts: The counts.
        since: The first hour that is checked, counted from `START`.
        until: The first one that is not.
        is_first: Whether it is enough to find something.
    """
    progress, bad, found = DataProgress.begin("", 0, 0), set(), []
    for hour in range(since, until):
        findings, progress = check_data(counts, RULE, progress, START + (hour + 1) * HOUR)
        for one in findings:
            if one.verdict == "bad" and one.key not in bad:
                found.append((hour, one))
                bad.add(one.key)
            elif one.verdict == "good":
                bad.discard(one.key)
        if found and is_first:
            break
    return found


@dataclass(frozen=True, slots=True)
class Alarms:
    """What was reported although nothing was wrong.

    Args:
        quarters: The quarters in which something was, holidays apart.
        holidays: On how many holidays something was, which is right: 40 % are missing.
        most: How many incidents a holiday had at most.
    """

    quarters: int
    holidays: int
    most: int


def count_alarms(traffic: Traffic, quarters: int, seed: int = 0) -> Alarms:
    """Count the quarters that have a false alarm, and the holidays that are reported."""
    draw = np.random.default_rng([seed, *map(ord, traffic.name)])
    days = HISTORY + quarters * QUARTER
    holidays = [
        first + int(draw.integers(QUARTER))
        for first in range(HISTORY, days, QUARTER)
        if traffic.holidays
    ]
    counts = DrawnCounts(draw_hours(draw, traffic, days, holidays))
    found = [hour // HOURS for hour, _ in watch(counts, HISTORY * HOURS, days * HOURS)]
    # The hours of the last spans with a part of the holiday in them are those of the day after.
    told = Counter(day if day in holidays else day - 1 for day in found)
    of_holidays = [told.pop(day) for day in holidays if day in told]
    false = {day // QUARTER for day in (one - HISTORY for one in told)}
    return Alarms(len(false), len(of_holidays), max(of_holidays, default=0))


def measure_delays(traffic: Traffic, left: float, runs: int, seed: int = 0) -> list[int]:
    """Measure after how many hours a fall of all rankings is found; `LATE` after a week.

    Args:
        traffic: The rankings.
        left: The part of the rankings that still comes.
        runs: How often it is tried, at another hour of the day each time.
        seed: Where chance begins.
    """
    draw = np.random.default_rng([seed, 1, *map(ord, traffic.name)])
    delays = []
    for run in range(runs):
        hours = draw_hours(draw, traffic, HISTORY + 8)
        began = HISTORY * HOURS + run * 7 % HOURS
        for segment in (Segment("a"), Segment("b")):
            hours[segment][began:] = draw.binomial(hours[segment][began:], left)
        hours[TOTAL] = hours[Segment("a")] + hours[Segment("b")]
        found = watch(DrawnCounts(hours), began, began + 7 * HOURS, is_first=True)
        delays.append(min((hour - began + 1 for hour, _ in found), default=LATE))
    return delays


def simulate_volumes(
    traffic: Traffic, quarters: int, runs: int | None = None
) -> list[tuple[str, tuple[str, ...], str]]:
    """Count false alarms of rankings that nothing is wrong with, and find falls to 10 %.

    Args:
        traffic: The rankings.
        quarters: How many quarters.
        runs: How many falls (default: as many).

    Returns:
        Rows of the record: the table, the cells, and the problem.
    """
    alarms = count_alarms(traffic, quarters)
    share = alarms.quarters / quarters
    error = math.sqrt(MOST_FALSE * (1 - MOST_FALSE) / quarters)
    problem = f"{share:.0%}" if share > MOST_FALSE + STANDARD_ERRORS * error else ""
    if alarms.most > 1:
        problem = f"{alarms.most} incidents on a holiday"
    title = f"volume, {traffic.name}"
    told = f", {alarms.holidays} holidays" if traffic.holidays else ""
    quiet = (title, str(quarters), f"{alarms.quarters}{told}", f"{share:.1%}")
    delays = np.array(measure_delays(traffic, 0.1, runs or quarters))
    half, most = (int(np.quantile(delays, level, method="higher")) for level in (0.5, 0.9))
    found = float((delays < LATE).mean())
    shown = ("–" if hours == LATE else f"{hours} hours" for hours in (half, most))
    cells = (f"{title}, falls to 10 %", str(len(delays)), *shown, f"{found:.0%}", "reported", "")
    return [("quiet", quiet, problem), ("found", cells, "")]


def main() -> int:
    """Print how often nothing is reported as missing, and how soon what is missing is.

    Returns:
        Exit status: 0 where the promise is kept, 1 where it is not.
    """
    parser = argparse.ArgumentParser(prog="python -m dev.simulate.volumes", description=__doc__)
    parser.add_argument("--quarters", type=int, default=QUARTERS)
    parser.add_argument("--runs", type=int, default=24, help="how many falls")
    parser.add_argument("--only", metavar="TEXT", default="", help="rankings whose name has it")
    options = parser.parse_args()
    is_broken = False
    for traffic in WORLDS:
        if options.only in traffic.name:
            for _, cells, problem in simulate_volumes(traffic, options.quarters, options.runs):
                print(*cells, *([f"NOT AS REQUIRED: {problem}"] if problem else []), sep=" | ")
                sys.stdout.flush()
                is_broken = is_broken or bool(problem)
    return int(is_broken)


if __name__ == "__main__":
    sys.exit(main())
