"""Selection among many monitors with a bounded share of false discoveries (e-BH)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rankscope.errors import UsageError


@dataclass(frozen=True, slots=True)
class Discoveries:
    """The monitors with enough evidence.

    Args:
        names: The names of the monitors, most evidence first.
        log_needed: The logarithm of the required evidence.
        monitors: The number of all monitors.
        error: The level.
    """

    names: tuple[str, ...]
    log_needed: float
    monitors: int
    error: float


def discover(log_evidence: Mapping[str, float], error: float) -> Discoveries:
    """Return the monitors with enough evidence, given the number of monitors.

    If k of K monitors are selected, each has evidence of at least K / (k error), and k is as large
    as possible (Wang and Ramdas, *False discovery rate control with e-values*, JRSSB 2022).
    Monitors can depend on each other, like a slice depends on the whole that contains it.

    For e-values, the expected share of false discoveries is at most `error`. For detectors, `error`
    is 1 / run length, and this share is at most `error` times the number of periods (Dandapanthula
    and Ramdas, *Multiple testing in multi-stream sequential change detection*, 2025). A single
    monitor is selected when its evidence reaches the run length.

    Examples:
        >>> from math import log
        >>> evidence = {"all": log(90), "tv": log(45), "de": log(20), "at": log(0.5)}
        >>> discover(evidence, error=0.05).names
        ('all', 'tv')
    """
    if not 0 < error < 1:
        raise UsageError(
            f"error must be above 0 and below 1, found {error}",
            hint="for detectors, use 1 / run_length",
            code="bad_level",
        )
    for name, value in log_evidence.items():
        if math.isnan(value):
            raise UsageError(
                f"the evidence of {name} is not a number: {value}",
                hint="use minus infinity for a monitor without observations",
                code="bad_evidence",
            )
    ordered = sorted(log_evidence, key=lambda name: (-log_evidence[name], name))
    count = len(ordered)
    enough = [
        k
        for k, name in enumerate(ordered, start=1)
        if log_evidence[name] >= _needed(count, k, error)
    ]
    named = enough[-1] if enough else 0
    needed = _needed(count, max(named, 1), error)
    return Discoveries(tuple(ordered[:named]), needed, count, error)


def _needed(monitors: int, named: int, error: float) -> float:
    return math.log(monitors / (named * error)) if monitors else math.inf
