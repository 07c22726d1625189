"""Hold the medians against what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dev.benchmarks.workloads import Target

UNITS = {"peak": " MB"}
NAMES = {
    "wall": "process time",
    "cpu": "CPU time",
    "inside": "time inside",
    "load": "time to load",
    "evaluate": "time to evaluate",
    "evaluate_cpu": "CPU time to evaluate",
    "peak": "peak memory",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One target and what was found.

    Args:
        what: The figure or quotient in words.
        asked: What is asked of it.
        found: Its number, rounded to three digits, or nothing where it wasn't measured.
        outcome: Whether the target is met, or why it wasn't measured.
    """

    what: str
    asked: str
    found: float | None
    outcome: str


def judge(target: Target, medians: dict[str, dict[str, float]], absent: dict[str, str]) -> Verdict:
    """Compare one target with the medians."""
    what = f"{NAMES[target.figure]} of {target.of}"
    unit = UNITS.get(target.figure, " s")
    if target.over:
        what += f" / {NAMES[target.over_figure or target.figure]} of {target.over}"
        unit = "×"
    if target.less:
        what += f", less {target.less}"
    for name in (target.of, target.over, target.less):
        if name in absent:
            return Verdict(what, _words(target, unit), None, f"not measured: {absent[name]}")
    base = medians[target.less][target.figure] if target.less else 0.0
    number = medians[target.of][target.figure] - base
    if target.over:
        number /= medians[target.over][target.over_figure or target.figure] - base
    met = (target.at_least is None or number >= target.at_least) and (
        target.at_most is None or number <= target.at_most
    )
    return Verdict(what, _words(target, unit), float(f"{number:.3g}"), "met" if met else "missed")


def _words(target: Target, unit: str) -> str:
    words = []
    if target.at_least is not None:
        words.append(f"at least {target.at_least:g}{unit}")
    if target.at_most is not None:
        words.append(f"at most {target.at_most:g}{unit}")
    return ", ".join(words)
