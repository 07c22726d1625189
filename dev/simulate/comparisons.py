"""Two versions that serve at the same time, compared on each of 60 days."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.sequential.comparison import follow_difference

from dev.simulate.traffic import Traffic, World, lower
from dev.simulate.trials import NEVER, SEED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

DAYS = 60
MEAN = 0.65
Z = 1.959963984540054
MOST_FALSE = 0.05
STANDARD_ERRORS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Two versions that serve at the same time.

    Args:
        world: What traffic is like.
        share: The share of the new version on the first day.
        last_share: Its share from the 30th day on, growing evenly till then.
        by_user: Whether a user has one version, but for those who move when the share grows.
        by_slice: Whether the new version reaches one slice after another, each within 3 days.
        fall: By how much the new version is worse.
        knows_queries: Whether queries repeat, and their mean in 28 days before is known.
    """

    world: World
    share: float
    last_share: float | None = None
    by_user: bool = True
    by_slice: bool = False
    fall: float = 0.0
    knows_queries: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a comparison has concluded.

    Args:
        day: The day from 1 on which a difference was found; `NEVER` if none was.
        misses: Whether the interval was without the true difference on any day.
        fixed: The days that a test of a fixed size needs to find it in half of the cases.
    """

    day: float
    misses: bool
    fixed: float


def compare(experiment: Experiment, run: int, *, case: int) -> Outcome:
    """Compare two versions on each of 60 days, from all rankings until then."""
    random = np.random.default_rng((SEED, case, run))
    world = experiment.world
    traffic = Traffic(world, random)
    days = np.repeat(np.arange(DAYS), world.per_day)
    seen = traffic.draw(days, random.integers(0, len(world.slices), len(days)))
    is_new = _assign(experiment, days, seen.cluster, seen.cell, random)
    value = seen.value
    if experiment.fall:
        worse = lower(seen, experiment.fall, random, MEAN)
        value = np.where(is_new, worse.value, value)
    covariate = None
    if experiment.knows_queries:
        before = traffic.draw_baseline()
        count = np.bincount(before.cluster, minlength=traffic.units)
        total = np.bincount(before.cluster, before.value, traffic.units)
        mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        covariate = mean[seen.cluster]
    # Where queries are the units of traffic, each ranking is another user's.
    users = seen.cluster if world.users is not None else np.arange(len(days))
    found = follow_difference(
        value, users, is_new, days, cell=seen.cell if experiment.by_slice else None,
        covariate=covariate,
    )  # fmt: skip
    day = float(NEVER)
    misses = False
    true = -experiment.fall
    for number, each in found:
        if each.has_interval:
            misses |= not each.lower <= true <= each.upper
            if each.is_worse or each.is_better:
                day = min(day, number + 1)
    error = found[-1][1].error
    fixed = DAYS * (Z * error / true) ** 2 if true else math.inf
    return Outcome(day, misses, fixed)


def simulate_comparisons(runs: int) -> list[tuple[str, tuple[str, ...], str]]:
    """Compare versions that don't differ, and versions that do.

    Args:
        runs: How many of each case.

    Returns:
        Rows of the record: the table, the cells, and the problem.
    """
    rows: list[tuple[str, tuple[str, ...], str]] = []
    for number, (name, experiment) in enumerate(QUIET.items()):
        missed = [compare(experiment, run, case=600 + number).misses for run in range(runs)]
        share = sum(missed) / runs
        error = math.sqrt(MOST_FALSE * (1 - MOST_FALSE) / runs)
        problem = f"{share:.0%}" if share > MOST_FALSE + STANDARD_ERRORS * error else ""
        title = f"old and new alike, {DAYS} looks: {name}"
        rows.append(("quiet", (title, str(runs), f"{sum(missed)}", f"{share:.1%}"), problem))
    for number, (name, experiment) in enumerate(_list_falls()):
        found = [compare(experiment, run, case=650 + number) for run in range(runs)]
        days = sorted(each.day for each in found)
        half, most = (_day(days[math.ceil(share * runs) - 1]) for share in (0.5, 0.9))
        share = sum(day < NEVER for day in days) / runs
        fixed = sorted(each.fixed for each in found)[(runs - 1) // 2]
        asked = f"test of a fixed size: {fixed:.0f}"
        rows.append(("found", (name, str(runs), half, most, f"{share:.0%}", asked, ""), ""))
    return rows


def _list_falls() -> Iterator[tuple[str, Experiment]]:
    busy = replace(USERS, per_day=2000, users=20_000)
    units = {
        "users": (USERS, False),
        "users, 2,000 a day": (busy, False),
        "queries": (World(), False),
        "queries, CUPED": (World(), True),
    }
    for share in (0.1, 0.5):
        for fall in (0.02, 0.05):
            for named, (world, knows) in units.items():
                yield (
                    f"new version worse by {fall:.2f}, {share:.0%} of the traffic, {named}",
                    Experiment(
                        world=world,
                        share=share,
                        fall=fall,
                        by_user=world.users is not None,
                        knows_queries=knows,
                    ),
                )


def _day(day: float) -> str:
    return "–" if day >= NEVER else f"{day:.0f}"


def _assign(
    experiment: Experiment,
    days: NDArray[np.int64],
    users: NDArray[np.int64],
    cells: NDArray[np.int64],
    random: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return which searches the new version answers."""
    last = experiment.share if experiment.last_share is None else experiment.last_share
    share = experiment.share + (last - experiment.share) * np.minimum(days / 30, 1)
    if experiment.by_slice:
        share = np.where(days // 3 > cells, share, 0.0)
    chance = random.random(int(users.max()) + 1)[users]
    return np.asarray((chance if experiment.by_user else random.random(len(days))) < share)


USERS = World(users=2000, user_deviation=0.1)
FEW = World(users=300, user_deviation=0.15)
SHAKY = replace(USERS, day_deviation=0.015, weekend=-0.03)
SLICES = (-0.3, -0.2, -0.1, 0.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.1)
QUIET = {
    "10 % of the traffic": Experiment(world=USERS, share=0.1),
    "half of the traffic": Experiment(world=USERS, share=0.5),
    "300 users who come back, 10 %": Experiment(world=FEW, share=0.1),
    "300 users who see both versions": Experiment(world=FEW, share=0.5, by_user=False),
    "5 % to 50 %, day effects sd 0.015": Experiment(world=SHAKY, share=0.05, last_share=0.5),
    "one slice after another, day effects": Experiment(
        world=replace(SHAKY, slices=SLICES), share=0.2, last_share=0.5, by_slice=True
    ),
    "97% ones, 5 %": Experiment(world=World(users=2000, known_item=True), share=0.05),
    "queries as units, CUPED": Experiment(
        world=World(), share=0.1, by_user=False, knows_queries=True
    ),
}
