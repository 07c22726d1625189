"""The detectors of a rule, run as in production."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankscope.monitor.sequential.baseline import Baseline, find_gaps, fit_baseline, split_level
from rankscope.monitor.sequential.detector import (
    Detector,
    Recovery,
    advance,
    begin_recovery,
    cap,
    follow,
)
from rankscope.monitor.sequential.discoveries import discover
from rankscope.monitor.sequential.noise import QUARTER

from dev.simulate.traffic import select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rankscope.monitor.sequential.observations import Gaps, Observations

FALSE_ALARMS = 0.05
RUN_LENGTH = QUARTER / FALSE_ALARMS


@dataclass(slots=True)
class Watch:
    """The detectors of a rule, by stream, with e-BH across them.

    Args:
        share: The length of a period, in days.
    """

    share: float = 1.0
    detectors: dict[str, Detector] = field(default_factory=dict)
    recoveries: dict[str, Recovery] = field(default_factory=dict)
    day: int = 0
    opened: list[tuple[int, str]] = field(default_factory=list)
    recovered: list[tuple[int, str]] = field(default_factory=list)

    def add(self, names: Iterable[str]) -> None:
        """Add streams that have no data yet, but take part in the correction."""
        for name in names:
            self.detectors[name] = Detector(run_length=RUN_LENGTH)

    def take(
        self, gaps: Mapping[str, Gaps], confirm: Callable[[int], bool] | None = None
    ) -> list[str]:
        """Take the gaps of the next period, and return the streams that alarm now.

        What confirms a fall is asked with the number of the period in which it seems to have begun.
        """
        self.day += 1
        for name, each in gaps.items():
            before = self.detectors.get(name) or Detector(run_length=RUN_LENGTH)
            self.detectors[name] = advance(before, each, self.share)
            if name in self.recoveries:
                self.recoveries[name] = follow(self.recoveries[name], each)
                if self.recoveries[name].is_recovered:
                    del self.recoveries[name]
                    self.detectors[name] = self.detectors[name].restart()
                    self.recovered.append((self.day, name))
        evidence = {name: each.log_evidence for name, each in self.detectors.items()}
        found = []
        for name in discover(evidence, 1 / RUN_LENGTH).names:
            if name in self.recoveries:
                continue
            detector = self.detectors[name]
            if detector.fall is None:
                continue
            if confirm is not None and not confirm(detector.since or 1):
                continue
            self.recoveries[name] = begin_recovery(detector.fall, detector.size)
            self.opened.append((self.day, name))
            found.append(name)
        most = math.log(len(evidence) * RUN_LENGTH) if evidence else 0.0
        for name, detector in self.detectors.items():
            self.detectors[name] = cap(detector, most + math.log(len(detector.bets)))
        return found

    def copy(self) -> Watch:
        """Return another that goes on from the same day."""
        return Watch(
            self.share,
            dict(self.detectors),
            dict(self.recoveries),
            self.day,
            list(self.opened),
            list(self.recovered),
        )


@dataclass(slots=True)
class Streams:
    """The streams of a rule: all searches, and each slice.

    Args:
        baselines: The baseline of each stream.
        cells: The slice of each stream; `None` for all searches.
    """

    baselines: dict[str, Baseline]
    cells: dict[str, int | None]

    def find_gaps(self, seen: Observations) -> dict[str, Gaps]:
        """Return the gaps of a day, by stream."""
        return {
            name: find_gaps(baseline, select(seen, self.cells[name]))
            for name, baseline in self.baselines.items()
        }


def fit_streams(baseline: Observations, tolerance: float, *, has_slices: bool) -> Streams:
    """Return the streams of a rule, given its baseline."""
    cells: dict[str, int | None] = {"all": None}
    if has_slices:
        cells |= {str(number): number for number in range(len(baseline.cells))}
    baselines = {}
    for name, cell in cells.items():
        part = select(baseline, cell)
        if len(part.value):
            level = split_level(len(cells), is_whole=cell is None)
            baselines[name] = fit_baseline(
                part, tolerance=tolerance, level=level, is_calibrated=True
            )
    return Streams(baselines, {name: cells[name] for name in baselines})
