"""Simulate quarters with and without a change, and count what each rule says."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import numpy as np

from dev.simulate.rules import make_rules
from dev.simulate.searches import (
    BASELINE_DAYS,
    CHANGE_DAY,
    CHANGES,
    DAYS,
    break_some,
    draw_searches,
)

# Each run has numbers of its own, so that one can be repeated alone.
SEED = 20261121


@dataclass(frozen=True, slots=True)
class Delay:
    """How soon a rule found a change.

    Args:
        found: The share of runs in which it did so within the quarter.
        half: The number of days until it had done so in half of the runs, the day of the change
            included; nothing where it did so in fewer.
        most: The same for nine of ten runs.
    """

    found: float
    half: int | None
    most: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule did.

    Args:
        rule: What it is called.
        false_share: The share of quarters without a change that had an alarm.
        false_alarms: How many alarms such a quarter had on average; days in a row are one.
        delays: How soon it found each change.
    """

    rule: str
    false_share: float
    false_alarms: float
    delays: dict[str, Delay]


def simulate(runs: int) -> list[Outcome]:
    """Simulate quarters.

    Every rule sees the same searches, and every change breaks the same ones.

    Args:
        runs: How many quarters.

    Returns:
        What each rule did.
    """
    calibration = draw_searches(np.random.default_rng([SEED]), days=7 * 200)
    mean = float(calibration.value.mean())
    alarms: dict[str, list[int]] = {}
    days: dict[str, dict[str, list[float]]] = {}
    for run in range(runs):
        searches = draw_searches(np.random.default_rng([SEED, run]))
        well = searches.between(BASELINE_DAYS, BASELINE_DAYS + CHANGE_DAY)
        rest = searches.between(BASELINE_DAYS + CHANGE_DAY, BASELINE_DAYS + DAYS)
        for name, rule in make_rules(searches.between(0, BASELINE_DAYS)).items():
            before = rule.watch(well)
            for change in CHANGES:
                found = rule.copy().watch(break_some(rest, change, mean))
                first = float(found.argmax() + 1) if found.any() else np.inf
                days.setdefault(name, {}).setdefault(change.name, []).append(first)
            quarter = np.concatenate([before, rule.watch(rest)])
            begins = quarter & ~np.concatenate([[False], quarter[:-1]])
            alarms.setdefault(name, []).append(int(begins.sum()))
    return [
        Outcome(
            rule=name,
            false_share=float(np.mean(np.array(counts) > 0)),
            false_alarms=float(np.mean(counts)),
            delays={change: _sum_up(found) for change, found in days[name].items()},
        )
        for name, counts in alarms.items()
    ]


def _sum_up(found: list[float]) -> Delay:
    ordered = sorted(found)
    half = median(ordered)
    most = ordered[-(-9 * len(ordered) // 10) - 1]
    return Delay(
        found=sum(day < np.inf for day in found) / len(found),
        half=round(half) if half < np.inf else None,
        most=round(most) if most < np.inf else None,
    )
