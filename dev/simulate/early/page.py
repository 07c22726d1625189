"""The page about early warnings."""

from __future__ import annotations

import math
from collections import Counter
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.signals.kinds import SIGNALS
from scipy.stats import chi2  # type: ignore[import-untyped]  # it has no types

from dev.environments import ROOT
from dev.simulate.case import Case, Row
from dev.simulate.early.faults import (
    FAULTS,
    FOLLOWED,
    SETTINGS,
    TURNOVER,
    WATCHED,
    WINDOW,
    warn,
)
from dev.simulate.early.worlds import HISTORY, QUARTER, WORLDS, count_warnings
from dev.simulate.record import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dev.simulate.early.faults import Fault, Warned
    from dev.simulate.early.worlds import World

STATIONARY = WORLDS[0]
HOUR = timedelta(hours=1)
PROMISED = 1.0
"""How many false warnings a quarter may have."""
ERRORS = 3.0

HEAD = f"""Null cases: sums of {len(SIGNALS)} signals by hour are drawn for each model, version and
slice, for {HISTORY} days and a quarter of {QUARTER}; {STATIONARY.a_day} rankings a day and
{STATIONARY.slices} slices unless another number is named.
Faults: whole rankings are logged, their signals computed and stored, and the rule looks at them
hour by hour. A catalogue of which {TURNOVER:.0%} is new every day; no label is ever logged. Seeds,
magnitudes and traffic were chosen before the first run with them.
"""
QUIET = f"""## Quarters without a fault

How many warnings were opened in a quarter in which nothing was wrong, with the standard error, and
how many it is at most with 95% confidence, if warnings come independently. At most {PROMISED:g} is
promised.

| case | quarters | warnings a quarter | error | at most |
|---|--:|--:|--:|--:|
"""
FOUND = f"""## Rankings and hours until a warning

How many affected rankings were shown, and how many hours passed, until half, and nine of ten,
faults had a warning that was sent: an hour, the grace, after it was known. *In time* is the share
of faults with a warning within the rankings that are allowed. *Before labels* is the share with one
before the first attribution window ({WINDOW // HOUR:.0f} hours) since the fault began had passed.
*Found* is the share with one within {FOLLOWED - 1} to {FOLLOWED} days, and *named* that with one
about exactly the lists that were affected.

| fault | runs | found | in time | before labels | half | nine of ten | allowed \
| hours: half | nine of ten | named |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
"""
EACH = """## By traffic and magnitude

The same runs.

| fault | traffic | affected | size | runs | in time | half | most \
| hours: half | most | by signal |
|---|---|---|---|--:|--:|--:|--:|--:|--:|---|
"""


def simulate_world(world: World, runs: int) -> list[Row]:
    """Count the false warnings of some quarters."""
    found = np.array([count_warnings(world, run) for run in range(runs)], float)
    mean, error = found.mean(), found.std(ddof=1) / math.sqrt(runs) if runs > 1 else math.inf
    problem = f"{mean:.2f}" if mean > PROMISED + ERRORS * math.sqrt(PROMISED / runs) else ""
    most = chi2.ppf(0.95, 2 * found.sum() + 2) / 2 / runs
    shown = f"{error:.2f}" if runs > 1 else "–"
    cells = (world.name, str(runs), f"{mean:.2f}", shown, f"{most:.2f}")
    return [Row("quiet", cells, problem)]


def simulate_faults(runs: int) -> list[Row]:
    """Measure after how many rankings, and hours, each fault has a warning, in each setting."""
    found = [warn(SETTINGS[run % len(SETTINGS)], run) for run in range(runs)]
    before = sum(count for count, _ in found)
    quarters = runs * WATCHED / QUARTER
    cells = (
        f"whole rankings, on {WATCHED} days before each fault",
        f"{quarters:.1f}",
        f"{before / quarters:.2f}",
        f"{math.sqrt(before) / quarters:.2f}",
        f"{chi2.ppf(0.95, 2 * before + 2) / 2 / quarters:.2f}",
    )
    rows = [Row("quiet", cells)]
    for number, fault in enumerate(FAULTS):
        warned = [each[number] for _, each in found]
        rows.append(_sum_up(fault, warned))
        rows += [
            _tell(fault, place, warned[place :: len(SETTINGS)])
            for place in range(min(runs, len(SETTINGS)))
        ]
    return rows


def _sum_up(fault: Fault, warned: Sequence[Warned]) -> Row:
    """Return what came of a fault in all settings."""
    runs = len(warned)
    in_time = np.mean([each.rankings <= fault.within for each in warned])
    shares = (
        np.mean([math.isfinite(each.rankings) for each in warned]),
        in_time,
        np.mean([each.hours <= WINDOW / HOUR for each in warned]),
    )
    error = math.sqrt(fault.share * (1 - fault.share) / runs)
    cells = (
        fault.name,
        str(runs),
        *(f"{share:.0%}" for share in shares),
        *_spread([each.rankings for each in warned], 0.9),
        str(fault.within),
        *_spread([each.hours for each in warned], 0.9),
        f"{np.mean([each.is_named for each in warned]):.0%}",
    )
    return Row("found", cells, f"{in_time:.0%}" if in_time < fault.share - ERRORS * error else "")


def _tell(fault: Fault, place: int, warned: Sequence[Warned]) -> Row:
    """Return what came of a fault in one setting."""
    signals = Counter(each.signal for each in warned if each.signal)
    size = fault.sizes[place]
    cells = (
        fault.name,
        str(SETTINGS[place]),
        "the slice" if fault.is_slice[place] else "all lists",
        f"{size:.0f} {fault.what}" if size > 1 else f"{size:.0%} {fault.what}",
        str(len(warned)),
        f"{np.mean([each.rankings <= fault.within for each in warned]):.0%}",
        *_spread([each.rankings for each in warned], 1.0),
        *_spread([each.hours for each in warned], 1.0),
        ", ".join(f"{name} {count}" for name, count in signals.most_common()),
    )
    return Row("each", cells)


def _spread(numbers: Sequence[float], most: float) -> tuple[str, str]:
    """Return what half of the numbers, and most of them, are at most."""
    half, high = (float(np.quantile(numbers, level, method="higher")) for level in (0.5, most))
    return _write(half), _write(high)


def _write(number: float) -> str:
    return f"{number:.0f}" if math.isfinite(number) else "–"


def list_cases() -> list[Case]:
    """List the cases, in the order of the page."""
    quiet = [
        Case(
            f"early: {world.name}",
            runs=100,
            short=2 if world is STATIONARY else 0,
            rows=partial(simulate_world, world),
        )
        for world in WORLDS
    ]
    return [*quiet, Case("early: faults", runs=40, short=1, rows=simulate_faults)]


EARLY = Page(
    about="early",
    title="Early warnings",
    folder=ROOT / "dev" / "simulate" / "early" / "records",
    head=HEAD,
    tables={"quiet": QUIET, "found": FOUND, "each": EACH},
    list_cases=list_cases,
)
