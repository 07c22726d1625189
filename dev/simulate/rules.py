"""What watches the days: the rules of dashboards, and the detector of rankscope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rankscope.data.interval import Interval
from rankscope.stats.clusters import average_by_cluster
from rankscope.stats.detector import Detector, advance
from rankscope.stats.discoveries import discover
from rankscope.stats.floor import find_floor

from dev.simulate.searches import SLICES

if TYPE_CHECKING:
    from typing import Protocol

    from numpy.typing import NDArray
    from rankscope.stats.clusters import ClusterMeans

    from dev.simulate.searches import Searches

    class Rule(Protocol):
        """Watches days, one after another, and can be left and taken up."""

        def watch(self, searches: Searches) -> NDArray[np.bool_]:
            """Say for each of the next days whether there is an alarm."""

        def copy(self) -> Rule:
            """Give another that goes on from the same day."""


# One-sided, 5 percent.
QUANTILE = 1.6448536269514722
WEEK = 7
# One quarter of 90 days has a false alarm with a probability of at most 1 in 20.
RUN_LENGTH = 1800.0
# A t interval takes a hundredth of the time of draws, and there are thousands of searches.
INTERVAL = Interval(method="t")


@dataclass(slots=True)
class RollingZ:
    """A one-sided z-test of the last days against the baseline, every day.

    Args:
        baseline: The values of the baseline.
        days: How many days it tests together.
        last: The days before, as far as they are tested together with the next.
    """

    baseline: NDArray[np.float64]
    days: int
    last: NDArray[np.float64]

    def watch(self, searches: Searches) -> NDArray[np.bool_]:
        """Say for each of the next days whether there is an alarm."""
        known = np.concatenate([self.last, searches.value])
        mean, variance = self.baseline.mean(), self.baseline.var(ddof=1) / self.baseline.size
        alarms = []
        for day in range(len(self.last), len(known)):
            window = known[max(0, day + 1 - self.days) : day + 1]
            error = np.sqrt(variance + window.var(ddof=1) / window.size)
            alarms.append((window.mean() - mean) / error < -QUANTILE)
        self.last = known[len(known) - self.days + 1 :]
        return np.array(alarms)

    def copy(self) -> RollingZ:
        """Give another that goes on from the same day."""
        return RollingZ(self.baseline, self.days, self.last)


@dataclass(frozen=True, slots=True)
class TwoSigma:
    """An alarm where the mean of a day is two standard deviations of daily means below theirs.

    Args:
        limit: The mean below which there is an alarm.
    """

    limit: float

    def watch(self, searches: Searches) -> NDArray[np.bool_]:
        """Say for each of the next days whether there is an alarm."""
        means: NDArray[np.float64] = searches.value.mean(axis=1)
        return means < self.limit

    def copy(self) -> TwoSigma:
        """Give another that goes on from the same day."""
        return self


@dataclass(slots=True)
class Detectors:
    """Detectors of rankscope on all searches and, if wanted, on each slice, with e-BH across them.

    Args:
        floors: The floor of each monitor.
        detectors: The evidence of each.
    """

    floors: dict[str, float]
    detectors: dict[str, Detector]

    def watch(self, searches: Searches) -> NDArray[np.bool_]:
        """Say for each of the next days whether there is an alarm; what alarms begins anew."""
        means = {name: dict(average(searches, name).each_period()) for name in self.floors}
        alarms = np.zeros(len(searches.value), dtype=np.bool_)
        for day in range(len(alarms)):
            for name, of_days in means.items():
                if day in of_days:
                    detector = self.detectors[name]
                    self.detectors[name] = advance(detector, of_days[day], self.floors[name])
            evidence = {name: each.log_evidence for name, each in self.detectors.items()}
            for name in discover(evidence, 1 / RUN_LENGTH).names:
                self.detectors[name] = self.detectors[name].restart()
                alarms[day] = True
        return alarms

    def copy(self) -> Detectors:
        """Give another that goes on from the same day."""
        return Detectors(self.floors, dict(self.detectors))


def average(searches: Searches, monitor: str) -> ClusterMeans:
    """Average the searches that a monitor sees by query, day by day.

    Args:
        searches: The searches of some days.
        monitor: `all`, or the number of a slice.

    Returns:
        The means.
    """
    days = np.repeat(np.arange(len(searches.value)), searches.value.shape[1])
    seen = slice(None) if monitor == "all" else searches.slice.ravel() == int(monitor)
    return average_by_cluster(
        searches.value.ravel()[seen], searches.query.ravel()[seen], days[seen]
    )


def make_rules(baseline: Searches) -> dict[str, Rule]:
    """Make every rule from the searches of a baseline.

    Args:
        baseline: The searches of some weeks that were well.

    Returns:
        The rules by name.
    """
    daily = baseline.value.mean(axis=1)
    none = baseline.value[:0]
    rules: dict[str, Rule] = {
        "daily z-test, one-sided 5 %": RollingZ(baseline.value, 1, none),
        "2 sigma of daily means": TwoSigma(float(daily.mean() - 2 * daily.std(ddof=1))),
        "z-test of 7 days, every day": RollingZ(baseline.value, WEEK, none),
    }
    slices = [str(number) for number in range(SLICES)]
    for name, monitors, tolerance in (
        ("e-SR, tolerance 0", ["all"], 0.0),
        ("e-SR, tolerance 0.01", ["all"], 0.01),
        ("e-SR, tolerance 0.02", ["all"], 0.02),
        ("e-SR on all and 10 slices, e-BH, tolerance 0.01", ["all", *slices], 0.01),
    ):
        floors = {
            monitor: find_floor(average(baseline, monitor), tolerance, INTERVAL).value
            for monitor in monitors
        }
        rules[name] = Detectors(
            floors, {monitor: Detector(run_length=RUN_LENGTH) for monitor in monitors}
        )
    return rules
