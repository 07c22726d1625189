"""Slow decay: values of a model that fall a little every week, and the shape of a fall."""

from __future__ import annotations

from collections import Counter

from rankscope.deferred import np
from rankscope.monitor.definition.slices import MISSING
from rankscope.monitor.evaluate.stored_windows import StoredCell, add_cells, name_place, unpack_cell
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.plain import Stored
from rankscope.monitor.rules.settings import EMPTY
from rankscope.monitor.rules.state import Finding
from rankscope.monitor.store.folding import OTHER
from rankscope.records import record, replace
from rankscope.stats.decline import LONGEST, NEEDED, find_decline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.evaluate.clusters import Moments
    from rankscope.monitor.evaluate.windows import Cell
    from rankscope.monitor.rules.drop.progress import RuleProgress
    from rankscope.monitor.rules.drop.rule import DropRule
    from rankscope.monitor.rules.run import Scene
    from rankscope.stats.decline import Decline

    # By day, the cells of each slice.
    Days = dict[int, dict[Slice, list[StoredCell]]]

KIND = "decay"
FEWEST_CLUSTERS = 5
LEAST_BEFORE = 7
"""How many days the value before a decline is the mean of, at least."""
RELEASED = DAY
"""How far from a step the first ranking of a version may be, to be named with it."""


@record(frozen=True, slots=True, kw_only=True)
class Trend(Stored):
    """How the values of a model have changed over the last weeks.

    Args:
        model: The model.
        since: Nothing before this time counts, in microseconds since 1970.
        began: When a decline that is reported began; 0 where none is.
        before: The value before it.
        after: The newest value on it.
        reason: What is said of the decline; empty where none is reported.
        shape: What is said of a fall that was found in another way; empty where nothing can be.
        weekly: By how much values fall each week.
    """

    model: str
    since: int = 0
    began: int = 0
    before: float = 0.0
    after: float = 0.0
    reason: str = ""
    shape: str = ""
    weekly: float = 0.0


def judge_trends(
    rule: DropRule, progress: RuleProgress, scene: Scene, until: int
) -> tuple[Trend, ...]:
    """Judge the final days of each model up to a midnight, which days of 12 weeks are read for."""
    if rule.measure == EMPTY:
        return ()
    fallen = {
        stream.model for stream in progress.streams if stream.state == "ALERT" and not stream.slice
    }
    known = {trend.model: trend for trend in progress.trends}
    found = []
    for model, days in sorted(_read_days(rule, scene, until).items()):
        trend = known.get(model, Trend(model=model))
        values, errors = _standardize(days, rule, scene, until, trend.since)
        fit = find_decline(values, errors)
        if fit is not None:
            shape = _describe_shape(scene, model, fit, until)
            seen = values[~np.isnan(values)]
            before = float(seen[: max(len(seen) - fit.days, LEAST_BEFORE)].mean())
            trend = _judge(rule, trend, fit, (before, until, shape), is_fallen=model in fallen)
        found.append(trend)
    return tuple(found)


def _judge(
    rule: DropRule,
    trend: Trend,
    fit: Decline,
    around: tuple[float, int, str],
    *,
    is_fallen: bool,
) -> Trend:
    """Say what a fit tells: a decline that is reported is one until there is little left of it."""
    before, until, shape = around
    tolerance = rule.tolerance * (before if rule.is_relative else 1.0)
    is_new = fit.is_found(tolerance) and not is_fallen
    is_decline = fit.score >= NEEDED / 2 if trend.reason else is_new
    if not is_decline:
        return Trend(model=trend.model, since=trend.since, shape=shape)
    since, after = until - fit.days * DAY, before - fit.fall
    return Trend(
        model=trend.model,
        since=trend.since,
        began=trend.began or since,
        before=before,
        after=after,
        weekly=fit.weekly,
        shape=shape,
        reason=f"{rule.measure} has fallen from {before:.4f} to {after:.4f} since "
        f"{describe_time(since)}; "
        + (shape or "the days don't tell whether it fell at once or falls from week to week"),
    )


def _describe_shape(scene: Scene, model: str, fit: Decline, until: int) -> str:
    """Say whether values fell at once, and with which release, or fall from week to week."""
    if fit.shape == "decline" and fit.score >= NEEDED / 2:
        since = describe_time(until - fit.days * DAY)
        return f"it falls by about {fit.weekly:.3f} a week since {since}; no single release fits"
    if fit.shape != "step" or fit.step <= 0:
        return ""
    at = until - fit.step_days * DAY
    versions = [
        each.version
        for each in scene.shown
        if each.model == model and -RELEASED <= each.first - at < 2 * RELEASED and each.version
    ]
    release = f", when version {versions[0]} came" if len(versions) == 1 else ""
    return f"it fell at once, by about {fit.step:.3f} about {describe_time(at)}{release}"


def make_findings(rule: DropRule, trends: Sequence[Trend], was: Sequence[Trend]) -> list[Finding]:
    """Return what trends say: findings about those that decline, and that did before."""
    known = {trend.model for trend in was if trend.reason}
    return [
        Finding(
            kind=KIND,
            model=trend.model,
            verdict="bad" if trend.reason else "good",
            began=to_datetime(trend.began) if trend.reason else None,
            before=trend.before if trend.reason else None,
            after=trend.after if trend.reason else None,
            reason=trend.reason or f"{rule.measure} doesn't fall any more.",
            evidence={"weekly_fall": round(trend.weekly, 4)} if trend.reason else {},
        )
        for trend in trends
        if trend.reason or trend.model in known
    ]


def add_shapes(findings: Sequence[Finding], trends: Sequence[Trend]) -> list[Finding]:
    """Say of what shape the falls of all rankings of a model are, where the days tell."""
    shapes = {trend.model: trend.shape for trend in trends if trend.shape}
    return [
        replace(one, reason=f"{one.reason}; {shapes[one.model]}")
        if one.verdict == "bad" and not one.slice and one.model in shapes
        else one
        for one in findings
    ]


def _read_days(rule: DropRule, scene: Scene, until: int) -> dict[str, Days]:
    """Read the final values of the last days by model, each with the slices of one attribute."""
    slicing = dict(scene.slicing.values)
    name = next((each.split(":")[0] for each in rule.slices), "")
    places: list[Slice] = [()]
    if name in slicing:
        places += [((name, value),) for value in (*slicing[name], MISSING, OTHER)]
    rows = scene.store.cells(
        scene.project,
        scene.configuration.digest,
        until - LONGEST * DAY,
        until,
        length=DAY,
        slices=[name_place(place) for place in places],
    )
    found: dict[str, Days] = {}
    for row in rows:
        if (
            row.environment != "production"
            or not row.is_mature
            or rule.model not in {None, row.model}
        ):
            continue
        if scene.configuration.calendar.find(row.start) is None:
            cell = unpack_cell(row)
            day = found.setdefault(row.model, {}).setdefault(row.start, {})
            day.setdefault(cell.key.slice, []).append(cell)
    return {model: days for model, days in found.items() if model != OTHER}


def _standardize(
    days: Days, rule: DropRule, scene: Scene, until: int, since: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the value of each day for one mix of slices, and its variance as a sample."""
    definition = scene.configuration.definition
    at = name_columns(definition).index(rule.measure)
    measure = [each.name for each in definition.measures].index(rule.measure)
    values, errors = np.full(LONGEST, np.nan), np.zeros(LONGEST)
    rows: dict[int, dict[Slice, tuple[float, int]]] = {}
    sizes: Counter[Slice] = Counter()
    for start, places in days.items():
        if start < since or not places.get(()):
            continue
        cell, spread = add_cells(places.pop(()))
        if not spread or spread[measure][0] < FEWEST_CLUSTERS or not cell.defined[at]:
            continue
        place = LONGEST - (until - start) // DAY
        values[place], errors[place] = cell.means()[at], _vary(cell, at, spread[measure])
        parts = {where: add_cells(cells)[0] for where, cells in places.items()}
        counts = {where: one.defined[at] for where, one in parts.items() if one.defined[at]}
        rows[place] = {where: (parts[where].means()[at], count) for where, count in counts.items()}
        sizes.update(counts)
    for place, row in rows.items():
        if row:
            weights = np.array([sizes[where] for where in row], dtype=np.float64)
            means = np.array([mean for mean, _ in row.values()])
            values[place] = float(weights @ means / weights.sum())
    return values, errors


def _vary(cell: Cell, at: int, moments: Moments) -> float:
    """Return the variance of a mean over its clusters."""
    mean, (_, sizes, products, squares) = cell.means()[at], moments
    total = max(squares - 2 * mean * products + mean * mean * sizes, 0.0)
    return float(total / cell.defined[at] ** 2)


def resume(trends: Sequence[Trend], models: set[str] | None, now: int) -> tuple[Trend, ...]:
    """Forget what was found about some models, or all: what comes from now on counts."""
    return tuple(
        Trend(model=each.model, since=now - now % DAY)
        if each.reason and (models is None or each.model in models)
        else each
        for each in trends
    )
