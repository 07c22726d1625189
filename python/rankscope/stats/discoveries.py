"""Which of many monitors have found something, so that few of those named are false: e-BH."""

from __future__ import annotations

import math

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


@record(frozen=True, slots=True)
class Discoveries:
    """The monitors that have found something.

    Args:
        names: Theirs, the most evidence first.
        log_needed: The logarithm of the evidence that was needed.
        monitors: How many there are in all.
        error: The level that was asked for.
    """

    names: tuple[str, ...]
    log_needed: float
    monitors: int
    error: float


def discover(log_evidence: Mapping[str, float], error: float) -> Discoveries:
    """Select the monitors whose evidence is enough among so many.

    With k monitors named of K, each has evidence of at least K / (k error), and k is as large as it
    can be (Wang and Ramdas, *False discovery rate control with e-values*, JRSSB 2022). It does not
    matter how the monitors depend on each other, as a slice does on the whole that contains it.

    For e-values, the share of false ones among those named is at most `error` on average. For
    detectors, `error` is 1 / run length, and that share is at most as many times `error` as periods
    have passed (Dandapanthula and Ramdas, *Multiple testing in multi-stream sequential change
    detection*, 2025). One monitor alone is named where its evidence reaches the run length.

    Args:
        log_evidence: The logarithm of the evidence of each monitor, such as
            `Detector.log_evidence`.
        error: The level, above 0 and below 1.

    Raises:
        UsageError: The level is not above 0 and below 1, or evidence is not a number.

    Examples:
        >>> from math import log
        >>> evidence = {"all": log(90), "tv": log(45), "de": log(20), "at": log(0.5)}
        >>> discover(evidence, error=0.05).names
        ('all', 'tv')
    """
    if not 0 < error < 1:
        raise UsageError(
            f"expected a level above 0 and below 1, found {error}",
            hint="1 / run_length for detectors",
            code="bad_level",
        )
    for name, value in log_evidence.items():
        if math.isnan(value):
            raise UsageError(
                f"expected the logarithm of the evidence of {name}, found {value}",
                hint="a monitor that has seen nothing has minus infinity",
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
