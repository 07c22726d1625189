"""Simulated releases, and what a trace names as their cause."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rankscope._settings import Interval
from rankscope.monitor.why.compute import TraceChoices, trace
from rankscope.monitor.why.query_columns import QueryColumns, TextColumn

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Planted: TypeAlias = tuple[tuple[str, int], ...]

LISTS, USERS = 4000, 1500
SHARES = {
    "device": (0.35, 0.45, 0.1, 0.1),
    "country": (0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05),
    "app": (0.6, 0.4),
    "language": (0.5, 0.2, 0.15, 0.1, 0.05),
    "kind": (0.25, 0.25, 0.25, 0.25),
}
# A user has one country and one language, and often one device.
OF_USERS = ("country", "language", "device")
EFFECTS = {
    "device": (0.0, 0.05, -0.25, -0.1),
    "country": (0.03, 0.0, -0.05, 0.02, -0.1, 0.05, 0.0, 0.1),
    "app": (0.0, -0.08),
}
MEAN, BETWEEN_USERS = 0.75, 0.08
STANDARD_ERRORS = 3.0
# Intervals are not what is counted.
CHOICES = TraceChoices(interval=Interval(resamples=100))


@dataclass(frozen=True, slots=True)
class TraceCase:
    """A change between two windows.

    Args:
        name: What it is.
        required: The share of runs in which a cause is named at most, or the planted one at least.
        planted: The attributes and values of the slice that falls; empty if none does.
        fall: By how much its mean falls.
        is_mixed: Whether a quarter of the traffic moves to another device and another app.
        version: The share of the queries after that a new version has, which is no different.
    """

    name: str
    required: float
    planted: Planted = ()
    fall: float = 0.0
    is_mixed: bool = False
    version: float | None = None


CASES = (
    TraceCase("nothing changed", 0.05),
    TraceCase("nothing changed, a release", 0.05, version=1.0),
    TraceCase("nothing changed, 40 % of a release", 0.05, version=0.4),
    TraceCase("nothing changed but the mix", 0.05, is_mixed=True),
    TraceCase(
        "a pair of 1.7 % falls by 0.35", 0.95, planted=(("device", 2), ("country", 1)), fall=0.35
    ),
    TraceCase("a slice of 5 % falls by 0.20", 0.95, planted=(("country", 5),), fall=0.2),
    TraceCase(
        "a pair of 5 % falls by 0.20", 0.95, planted=(("device", 0), ("country", 2)), fall=0.2
    ),
    TraceCase("a slice of 10 % falls by 0.10", 0.7, planted=(("device", 3),), fall=0.1),
    TraceCase(
        "a pair of 9 % falls by 0.10", 0.7, planted=(("device", 1), ("country", 1)), fall=0.1
    ),
)


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A row of the record.

    Args:
        cells: The case, the share of runs, and what is required.
        problem: What is not as required; empty if nothing is.
    """

    cells: tuple[str, ...]
    problem: str = ""


def simulate_traces(runs: int, cases: tuple[TraceCase, ...] = CASES) -> list[TraceRow]:
    """Trace simulated releases.

    Args:
        runs: How many of each case.
        cases: What changes.

    Returns:
        A row per case. It has a problem if the share is more than three standard errors from what
        is required.
    """
    return [_judge(case, count_named(case, runs), runs) for case in cases]


def count_named(case: TraceCase, runs: int, seed: int = 0) -> int:
    """Count the traces that name a cause, or exactly the planted slice as the first one.

    Args:
        case: What changes.
        runs: How many releases.
        seed: The seed of the first.
    """
    wanted = {(name, f"{name} {value}") for name, value in case.planted}
    named = 0
    for run in range(seed, seed + runs):
        random = np.random.default_rng(run)
        before, after = draw_window(random, case, is_after=False), draw_window(random, case)
        causes = trace(before, after, CHOICES).causes
        named += bool(causes) and (not wanted or set(causes[0].slice) == wanted)
    return named


def draw_window(
    random: np.random.Generator, case: TraceCase, *, is_after: bool = True
) -> QueryColumns:
    """Draw the queries of a window; users and their attributes are the same in both."""
    seed = random.bit_generator.seed_seq.entropy  # type: ignore[attr-defined]
    users = np.random.default_rng([seed, 1])
    quality = users.normal(0, BETWEEN_USERS, USERS)
    of_users = {name: users.choice(len(SHARES[name]), USERS, p=SHARES[name]) for name in OF_USERS}
    user = random.integers(0, USERS, LISTS)
    codes: dict[str, NDArray[np.int64]] = {}
    for name, shares in SHARES.items():
        drawn = random.choice(len(shares), LISTS, p=shares)
        if name in of_users:
            is_usual = random.random(LISTS) < (0.7 if name == "device" else 1.0)
            drawn = np.where(is_usual, of_users[name][user], drawn)
        codes[name] = drawn
    if case.is_mixed and is_after:
        for name, share, one, other in (("device", 0.5, 0, 2), ("app", 0.3, 0, 1)):
            moves = (codes[name] == one) & (random.random(LISTS) < share)
            codes[name] = np.where(moves, other, codes[name])
    mean = MEAN + quality[user]
    for name, effects in EFFECTS.items():
        mean = mean + np.array(effects)[codes[name]]
    mean = np.clip(mean, 0.05, 0.95)
    value = random.beta(2.2 * mean, 2.2 * (1 - mean))
    # nDCG has mass at both ends.
    value = np.where(value > 0.97, 1.0, np.where(value < 0.03, 0.0, value))
    if case.planted and is_after:
        falls = np.logical_and.reduce([codes[name] == at for name, at in case.planted])
        value = np.where(falls, value * (1 - case.fall / value[falls].mean()), value)
    if case.version is not None:
        is_new = random.random(LISTS) < case.version if is_after else np.zeros(LISTS, dtype=bool)
        codes["version"] = is_new.astype(np.int64)
    none = np.zeros(LISTS)
    return QueryColumns(
        measure="nDCG@10",
        value=value,
        retrieval=none,
        truncation=none,
        ordering=1 - value,
        undefined=none,
        ideal=none + 1,
        relevant=none + 1,
        key=_name("user", user),
        attributes={name: _name(name, code) for name, code in codes.items()},
    )


def _name(name: str, codes: NDArray[np.int64]) -> TextColumn:
    texts = tuple(f"{name} {number}" for number in range(int(codes.max()) + 1))
    return TextColumn(texts, codes.astype(np.int32))


def _judge(case: TraceCase, named: int, runs: int) -> TraceRow:
    share, required = named / runs, case.required
    error = STANDARD_ERRORS * math.sqrt(required * (1 - required) / runs)
    is_kept = share >= required - error if case.planted else share <= required + error
    side = "at least" if case.planted else "at most"
    return TraceRow(
        (case.name, f"{share:.1%} of {runs}", f"{side} {required:.0%}"),
        "" if is_kept else f"{share:.1%} of the runs",
    )
