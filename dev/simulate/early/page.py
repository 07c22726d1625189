"""The page about early warnings."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dev.environments import ROOT
from dev.simulate.case import Case, Row
from dev.simulate.early.faults import FAULTS, warn
from dev.simulate.early.worlds import HISTORY, QUARTER, WORLDS, count_warnings
from dev.simulate.record import Page

if TYPE_CHECKING:
    from dev.simulate.early.faults import Fault
    from dev.simulate.early.worlds import World

PROMISED = 1.0
"""How many false warnings a quarter may have."""
SHARE = 0.9
"""The share of faults that have to be found in time."""
ERRORS = 3.0

HEAD = f"""Null cases: sums of 11 signals by hour are drawn for all rankings and each slice, for
{HISTORY} days and a quarter of {QUARTER}; 200 rankings a day and 5 slices unless another number is
named.
Faults: whole rankings are logged, their signals computed and stored, and the rule is replayed hour
by hour; 200 rankings a day of four locales, and a catalogue of which 3 % is new every day.
"""
QUIET = """## Quarters without a fault

False warnings of a quarter, those of one day counted once, with their standard error. At most 1 is
promised.

| case | quarters | warnings a quarter | error |
|---|--:|--:|--:|
"""
FOUND = """## Rankings until a warning

How many affected rankings there were until half, and nine of ten, faults had a warning. *Named* is
the share of warnings that name exactly what was affected.

| fault | runs | half | nine of ten | allowed | found in time | named | by signal |
|---|--:|--:|--:|--:|--:|--:|---|
"""


def simulate_world(world: World, runs: int) -> list[Row]:
    """Count the false warnings of some quarters."""
    found = np.array([count_warnings(world, run) for run in range(runs)], float)
    mean, error = found.mean(), found.std() / math.sqrt(runs)
    problem = f"{mean:.2f}" if mean > PROMISED + ERRORS * math.sqrt(PROMISED / runs) else ""
    cells = (world.name, str(runs), f"{mean:.2f}", f"{error:.2f}")
    return [Row("quiet", cells, problem)]


def simulate_fault(fault: Fault, runs: int) -> list[Row]:
    """Measure after how many rankings a fault has a warning."""
    warned = [warn(fault, run) for run in range(runs)]
    rankings = np.array([math.inf if each.rankings is None else each.rankings for each in warned])
    half, most = (np.quantile(rankings, level, method="higher") for level in (0.5, 0.9))
    in_time = float((rankings <= fault.within).mean())
    signals = Counter(each.signal for each in warned if each.signal)
    error = math.sqrt(SHARE * (1 - SHARE) / runs)
    problem = f"{in_time:.0%}" if in_time < SHARE - ERRORS * error else ""
    cells = (
        fault.name,
        str(runs),
        *("–" if math.isinf(each) else f"{each:.0f}" for each in (half, most)),
        str(fault.within),
        f"{in_time:.0%}",
        f"{np.mean([each.is_named for each in warned]):.0%}",
        ", ".join(f"{name} {count}" for name, count in signals.most_common()),
    )
    return [Row("found", cells, problem)]


def list_cases() -> list[Case]:
    """List the cases, in the order of the page."""
    quiet = [
        Case(
            f"early: {world.name}",
            runs=10 if world.slices > 20 else 40,
            short=2 if world is WORLDS[0] else 0,
            rows=partial(simulate_world, world),
        )
        for world in WORLDS
    ]
    faults = [
        Case(
            f"early: {fault.name}",
            runs=10,
            short=1 if fault is FAULTS[0] else 0,
            rows=partial(simulate_fault, fault),
        )
        for fault in FAULTS
    ]
    return [*quiet, *faults]


EARLY = Page(
    about="early",
    title="Early warnings",
    folder=ROOT / "dev" / "simulate" / "early" / "records",
    head=HEAD,
    tables={"quiet": QUIET, "found": FOUND},
    list_cases=list_cases,
)
