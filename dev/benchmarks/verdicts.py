"""Hold the medians against what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dev.benchmarks.workloads import Target

UNITS = {"peak": " MB"}
NAMES = {
    "wall": "process time",
    "inside": "time inside",
    "load": "time to load",
    "evaluate": "time to evaluate",
    "peak": "peak memory",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One target and what was found.

    Args:
        what: The figure or quotient in words.
        asked: What is asked of it.
        found: Its number, rounded to three digits.
        met: Whether the target is met; always where there is only an aim.
        aim_met: Whether the aim is met, nothing where there is none.
    """

    what: str
    asked: str
    found: float
    met: bool
    aim_met: bool | None


def judge(target: Target, medians: dict[str, dict[str, float]]) -> Verdict:
    """Compare one target with the medians.

    Args:
        target: What is asked.
        medians: Figures by contender.

    Returns:
        The number found and whether it will do.
    """
    base = medians[target.less][target.figure] if target.less else 0.0
    number = medians[target.of][target.figure] - base
    what = f"{NAMES[target.figure]} of {target.of}"
    unit = UNITS.get(target.figure, " s")
    if target.over:
        over_figure = target.over_figure or target.figure
        number /= medians[target.over][over_figure] - base
        what += f" / {NAMES[over_figure]} of {target.over}"
        unit = "×"
    if target.less:
        what += f", less {target.less}"
    larger_is_better = target.at_least is not None
    met = (target.at_least is None or number >= target.at_least) and (
        target.at_most is None or number <= target.at_most
    )
    aim_met = None
    if target.aim is not None:
        aim_met = number >= target.aim if larger_is_better else number <= target.aim
    return Verdict(what, _words(target, unit), float(f"{number:.3g}"), met, aim_met)


def _words(target: Target, unit: str) -> str:
    words = []
    if target.at_least is not None:
        words.append(f"at least {target.at_least:g}{unit}")
    if target.at_most is not None:
        words.append(f"at most {target.at_most:g}{unit}")
    if target.aim is not None:
        words.append(f"aim {target.aim:g}{unit}")
    return ", ".join(words)
