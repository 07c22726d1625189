"""Quarters in which nothing is wrong: sums of signals by hour, and what the rule finds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple, cast

import numpy as np
from rankscope.monitor.definition.calendar import Calendar, Period
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.rules.early.cells import Cells, Hours, get_rows
from rankscope.monitor.rules.early.check import Table, check_signals, find_needed, look
from rankscope.monitor.rules.early.progress import EarlyProgress
from rankscope.monitor.rules.early.queries import Asked
from rankscope.monitor.rules.early.rule import EarlyRule
from rankscope.monitor.rules.early.usual import (
    FEWEST_DAYS,
    HOURS,
    SPANS,
    Days,
    Sums,
    add_up,
    compare,
    learn,
)
from rankscope.monitor.signals.kinds import SIGNALS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

SEED = 20270107
"""Not used before the record was made."""
START = 20_000 * DAY
HISTORY, QUARTER = 28, 90
DAYS = HISTORY + QUARTER
CHANGE = HISTORY + 30
"""The day on which somebody or something new comes."""
SHAPE = np.array([1.0] * 7 + [3.0] * 10 + [5.0] * 7) / 72
USUAL = {
    "length": (2.9, 2.0),
    "no_results": (-4.6, 0.0),
    "tied": (-3.0, 2.0),
    "constant": (-6.9, 0.0),
    "ascending": (-4.6, 0.5),
    "score_rank": (0.0, 20.0),
    "unseen": (-3.2, 3.0),
    "overlap": (1.6, 5.0),
}
"""The logit of the mean of each signal, and the concentration of its beta distribution: 0 where
values are 0 or 1."""
QUERIES = 150
MODELS, VERSIONS = ("a", "b"), ("1", "2")
CATALOGUE = ("unseen", "overlap")
HOLIDAYS = ((CHANGE - 20, 1), (CHANGE, 5), (CHANGE + 40, 2))
"""The first day of each period of a calendar, and how many days it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What traffic is like. Deviations are of logits.

    Args:
        name: What it is called.
        a_day: How many rankings come on a day.
        slices: How many slices there are.
        days: The standard deviation of day effects, AR(0.8), half of them shared by all signals.
        turnover: The standard deviation of what a day's new documents add to `CATALOGUE`.
        users: The standard deviation between users.
        regulars: How many users there are; 0 for five times the rankings of a day.
        tail: The exponent of the Pareto distribution of how often users come; 0 for all alike.
        life: After how many days users are others; 0 for never.
        wander: By how much each user changes from one day to the next.
        weekend: What weekends add.
        holidays: What the days of `HOLIDAYS` add or take away; the calendar has them.
        model: What a second model adds that takes a third of the rankings from `CHANGE` on.
        has_release: Whether a second version takes half of the rankings from `CHANGE` on.
        later: How many users come from `CHANGE` on, each once a day.
        shift: What is added to, or taken from, their signals.
        are_bots: Whether they all ask the same query on a day, and have the same list.
        queries: The standard deviation of what each of 150 queries adds on a day; 0 for rankings
            that have nothing to do with each other.
        begin: The day on which the quarter begins.
    """

    name: str
    a_day: int = 200
    slices: int = 5
    days: float = 0.0
    turnover: float = 0.0
    users: float = 0.3
    regulars: int = 0
    tail: float = 2.0
    life: int = 0
    wander: float = 0.0
    weekend: float = 0.0
    holidays: float = 0.0
    model: float | None = None
    has_release: bool = False
    later: int = 0
    shift: float = 0.0
    are_bots: bool = False
    queries: float = 0.0
    begin: int = HISTORY


WORLDS = (
    World(name="stationary"),
    World(name="the first quarter of a project", begin=FEWEST_DAYS),
    World(name="day effects AR(0.8), sd 0.1", days=0.1),
    World(name="day effects AR(0.8), sd 0.2, 2,000 a day", days=0.2, a_day=2000),
    World(name="heavy-tailed users", users=0.8, tail=1.2),
    World(name="users who come and go", users=0.8, tail=1.5, life=14),
    World(name="60 regular users who wander by 0.1 a day", regulars=60, tail=0, wander=0.1),
    World(
        name="60 bots that ask one query a day, from one day on", later=60, shift=1.0, are_bots=True
    ),
    World(name="60 newcomers from one day on", later=60, shift=1.0),
    World(name="new documents every day", turnover=0.3),
    World(name="weekends", weekend=0.5),
    World(name="holidays in the calendar", holidays=1.5),
    World(name="a new version that orders alike", has_release=True),
    World(name="a new model that orders alike", model=0.0),
    World(name="a new model with lists of its own", model=0.7),
    World(name="100 slices, 2,000 a day", slices=100, a_day=2000),
    World(name="150 queries, each with an effect of sd 0.5 a day", queries=0.5),
)


class Drawn(Cells):
    """Cells as the rule reads them, of streams whose sums are known.

    Args:
        segments: The streams.
        sums: Their sums: streams × hours × sums × signals.
        asked: The rankings, where sums are those of rankings.
        has: Tells which of the rankings a stream has.
    """

    def __init__(
        self,
        segments: list[Segment],
        sums: Floats,
        asked: Asked | None = None,
        has: Callable[[Segment], NDArray[np.bool_]] | None = None,
    ) -> None:
        self._segments, self._sums, self._asked, self._has = tuple(segments), sums, asked, has
        self.summed = add_up(get_rows(sums))

    def add_up(self, since: int, until: int, choose: object, most: object = None) -> Hours:  # noqa: ARG002 - as cells have it
        """Return some hours; there is nothing before the first one."""
        first, last = ((each - START) // HOUR for each in (since, until))
        empty = max(-first, 0)
        span = slice(max(first, 0), last)
        hours = Hours(self._segments, self._sums[:, span])
        if empty:
            hours.sums = np.pad(hours.sums, ((0, 0), (empty, 0), (0, 0), (0, 0)))
        summed = [each[:, span.start : last + 1] for each in self.summed]
        hours.summed = Sums(*(np.pad(each, ((0, 0), (empty, 0))) for each in summed))
        return hours

    def read_queries(self, segment: Segment, since: int, until: int) -> Asked:
        """Return the rankings of a stream between two hours."""
        hours, queries, shares, values = cast("Asked", self._asked)
        is_here = (hours >= since) & (hours < until) & cast("Any", self._has)(segment)
        return Asked(hours[is_here], queries[is_here], shares[is_here], values[:, is_here])


class Traffic(NamedTuple):
    """The rankings of a world, in any order, before their signals are known.

    Args:
        day: Their days.
        hour: Their hours, from the first one on.
        user: Their users, by number.
        query: Their queries, by number.
        place: Their slices, by number.
        model: Whether they are of the second model.
        version: Whether they are of the second version.
        is_later: Whether their users came on `CHANGE`.
    """

    day: Ints
    hour: Ints
    user: Ints
    query: Ints
    place: Ints
    model: NDArray[np.bool_]
    version: NDArray[np.bool_]
    is_later: NDArray[np.bool_]

    def has(self, segment: Segment) -> NDArray[np.bool_]:
        """Return which rankings a stream has."""
        is_in = np.asarray(self.model == MODELS.index(segment.model))
        if segment.version:
            is_in &= self.version == VERSIONS.index(segment.version)
        if segment.slice:
            is_in &= self.place == int(segment.slice[0][1])
        return is_in


def draw(world: World, random: np.random.Generator) -> Table:
    """Draw the signals of a quarter and the weeks before."""
    traffic = _draw_traffic(world, random)
    of_slices = random.normal(0, 0.3, (world.slices, len(SIGNALS)))
    shared = _draw_days(random) * world.days
    news = random.normal(0, world.turnover, DAYS)
    values = []
    for number, signal in enumerate(SIGNALS):
        own = _draw_days(random) * world.days
        effect = np.sqrt(0.5) * (own + random.choice([-1, 1]) * shared)
        effect += np.where(np.arange(DAYS) % 7 >= 5, world.weekend, 0.0)
        effect += news * (signal.name in CATALOGUE) * -np.sign(USUAL[signal.name][0])
        effect += random.choice([-1, 1]) * world.holidays * _mark_holidays(signal.name)
        of_lists = effect[traffic.day] + of_slices[traffic.place, number]
        values.append(_draw_values(world, random, traffic, signal.name, of_lists))
    parts = _sum_streams(world, values, traffic)
    names, versions = MODELS[: 1 + (world.model is not None)], VERSIONS[: 1 + world.has_release]
    places = [(("place", str(at)),) for at in range(world.slices)]
    whole = [Segment(name) for name in names]
    whole += [Segment(name, each) for name in names for each in versions]
    slices = [Segment(name, "", each) for name in names for each in places]
    calendar = Calendar(tuple(_list_holidays() if world.holidays else ()))
    often = np.bincount(traffic.query) / len(traffic.query)
    shares = often[traffic.query] * (world.queries > 0)
    asked = Asked(START + traffic.hour * HOUR, traffic.query, shares, np.array(values))
    drawn = Drawn(whole + slices, np.concatenate(parts), asked, traffic.has)
    return Table(SIGNALS, drawn, calendar=calendar, read_queries=drawn.read_queries)


def _draw_traffic(world: World, random: np.random.Generator) -> Traffic:
    """Draw who asks what, and when."""
    sizes = random.poisson(world.a_day * np.exp(random.normal(0, 0.1, DAYS)))
    day = np.repeat(np.arange(DAYS), sizes)
    user, users = _draw_users(world, random, day)
    here = np.repeat(np.arange(CHANGE, DAYS), world.later)
    is_later = np.arange(len(day) + len(here)) >= len(day)
    user = np.concatenate([user, users + np.tile(np.arange(world.later), DAYS - CHANGE)])
    day, users = np.concatenate([day, here]), users + world.later
    many = 1 / np.arange(1, world.slices + 1) ** 0.7
    query = np.where(is_later & world.are_bots, len(day) + day, np.arange(len(day)))
    if world.queries:
        often = 1 / np.arange(1, QUERIES + 1) ** 0.9
        query = random.choice(QUERIES, len(day), p=often / often.sum())
    is_after = day >= CHANGE
    return Traffic(
        day,
        day * HOURS + random.choice(HOURS, len(day), p=SHAPE),
        user,
        query,
        random.choice(world.slices, users, p=many / many.sum())[user],
        is_after & (world.model is not None) & (random.random(len(day)) < 1 / 3),
        is_after & world.has_release & (random.random(len(day)) < 1 / 2),
        is_later,
    )


def _draw_values(
    world: World, random: np.random.Generator, traffic: Traffic, signal: str, of_lists: Floats
) -> Floats:
    """Draw a signal of rankings."""
    logit, concentration = USUAL[signal]
    day, user, is_later = traffic.day, traffic.user, traffic.is_later
    users = user.max() + 1
    at = logit + of_lists + random.normal(0, world.users, users)[user]
    if world.wander:
        at += random.normal(0, world.wander, (DAYS, users)).cumsum(axis=0)[day, user]
    if world.queries:
        at += random.normal(0, world.queries, (DAYS, QUERIES))[day, traffic.query]
    at += (world.model or 0.0) * traffic.model + random.choice([-1, 1]) * world.shift * is_later
    mean = 1 / (1 + np.exp(-at))
    if not concentration:
        value = (random.random(len(day)) < mean).astype(float)
    else:
        one, other = (random.standard_gamma(each * concentration) for each in (mean, 1 - mean))
        value = one / np.maximum(one + other, 1e-300)
    if world.are_bots:
        value[is_later] = value[is_later].reshape(-1, world.later)[:, :1].repeat(world.later)
    return np.asarray(value)


def _sum_streams(world: World, values: list[Floats], traffic: Traffic) -> list[Floats]:
    """Sum the signals of each model, each of its versions, and each of its slices."""
    models, whole = 1 + (world.model is not None), traffic.model.astype(int)
    alone = _sum(whole, models, traffic, values)
    versions = alone
    if world.has_release:
        versions = _sum(traffic.version + 2 * whole, 2 * models, traffic, values)
    places = traffic.place + world.slices * whole
    return [alone, versions, _sum(places, models * world.slices, traffic, values)]


def _mark_holidays(signal: str) -> Floats:
    """Return which days are holidays; afterwards, lists are compared with them for some days."""
    days = np.zeros(DAYS)
    for first, length in HOLIDAYS:
        days[first : first + length] = 1.0
    if signal in {*CATALOGUE, "score_rank"}:
        reference = np.array([days[max(day - 7, 0) : day].sum() / 7 for day in range(DAYS)])
        # What compares with the last list of a query does so with the day before, mostly.
        share = 0.0 if signal == "score_rank" else 0.8
        before = np.concatenate([[0.0], days[:-1]])
        days = np.maximum(days, share * before + (1 - share) * reference)
    return days


def _list_holidays() -> list[Period]:
    first = to_datetime(START).date()
    return [
        Period(
            name="Holidays",
            first=first + timedelta(days=day),
            last=first + timedelta(days=day + length - 1),
        )
        for day, length in HOLIDAYS
    ]


def _draw_users(world: World, random: np.random.Generator, day: Ints) -> tuple[Ints, int]:
    """Draw the user of each ranking."""
    count = world.regulars or 5 * world.a_day
    if not world.life:
        weight = random.pareto(world.tail, count) + 1 if world.tail else np.ones(count)
        return random.choice(count, len(day), p=weight / weight.sum()), count
    count *= 1 + DAYS // world.life
    born = random.uniform(-world.life, DAYS, count)
    weight = random.pareto(world.tail, count) + 1
    user = np.empty(len(day), int)
    for each in range(DAYS):
        here = np.flatnonzero((born <= each) & (born + world.life > each))
        rows = day == each
        user[rows] = random.choice(here, rows.sum(), p=weight[here] / weight[here].sum())
    return user, count


def _draw_days(random: np.random.Generator) -> Floats:
    """Draw the effects of days, of which each is like the one before."""
    effects = random.normal(size=DAYS)
    for day in range(1, DAYS):
        effects[day] = 0.8 * effects[day - 1] + 0.6 * effects[day]
    return effects


def _sum(group: Ints, count: int, traffic: Traffic, values: list[Floats]) -> Floats:
    """Sum the values of users by stream and hour."""
    length, users = DAYS * HOURS, int(traffic.user.max()) + 1
    cells = (group * length + traffic.hour) * users + traffic.user
    used, inverse = np.unique(cells, return_inverse=True)
    cell, number = used // users, np.bincount(inverse).astype(float)
    sums = np.empty((count, length, 5, len(values)))
    for at, each in enumerate(values):
        total = np.bincount(inverse, each)
        for part, one in enumerate((number, total, number**2, total * number, total**2)):
            sums[:, :, part, at] = np.bincount(cell, one, count * length).reshape(count, length)
    return sums


def screen(table: Table) -> tuple[Floats, Ints]:
    """Return the largest evidence of each hour, and how many rows are known on each day."""
    most, known, signals = np.zeros((DAYS, HOURS)), np.zeros(DAYS, int), len(table.signals)
    for at in range(
        0, len(cast("Drawn", table.cells).summed.total), signals
    ):  # which the cache can hold
        alone = Sums(*(each[at : at + signals] for each in cast("Drawn", table.cells).summed))
        evidence, days = _screen(alone, table)
        most, known = np.maximum(most, evidence.max(axis=0)), known + days.sum(axis=0)
    return most, known


def _screen(sums: Sums, table: Table) -> tuple[Floats, NDArray[np.bool_]]:
    """Judge all hours of a stream: what is usual is the sum of the day before, moved by a day."""
    least = np.array([one.least for one in table.signals])[:, None, None]
    sides = {"rise": 1, "fall": -1, "both": 0}
    side = np.array([sides[one.suspicious] for one in table.signals])[:, None, None]
    most, known, daily = np.zeros(1), np.zeros(1, bool), None
    for hours in SPANS:
        here = Sums(*(_cut_days(each, hours) for each in sums))
        same = _gather_days(here.rankings, here.total, -(-hours // HOURS))
        long = [_shift(_cut_days(each, HISTORY * HOURS), hours) for each in sums]
        usual = learn(same, long, daily)
        daily = usual.between if daily is None else daily
        judged = compare(here, usual, least / 2, is_share=True)
        change = judged.value - judged.usual
        with np.errstate(invalid="ignore"):
            matters = (np.abs(change) >= least) & (change * side >= 0)
        most = np.maximum(most, judged.evidence * matters)
        known = known | (same.known >= FEWEST_DAYS).any(axis=-1)
    return most, known


def _cut_days(summed: Floats, hours: int) -> Floats:
    """Return the sums of the spans before each hour: rows × days × hours."""
    cut = summed[:, 1:] - summed[:, np.maximum(np.arange(1, summed.shape[1]) - hours, 0)]
    return cut.reshape(len(cut), -1, HOURS)


def _shift(each: Floats, hours: int) -> Floats:
    """Return what was so many hours before; 0 before the first one."""
    flat = each.reshape(len(each), -1)
    return np.pad(flat, ((0, 0), (hours, 0)))[:, : flat.shape[1]].reshape(each.shape)


def _roll(each: Floats, first: int, count: int) -> Floats:
    """Return the sums of so many days, of which the last is some days before."""
    summed = np.pad(each.cumsum(axis=1), ((0, 0), (first + count, 0), (0, 0)))
    days = each.shape[1]
    rolled: Floats = summed[:, count : count + days] - summed[:, :days]
    return rolled


def _gather_days(counts: Floats, totals: Floats, first: int) -> Days:
    """Sum the same hours of the days before, as `gather` does."""
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(counts > 0, totals**2 / counts, 0.0)
        kind, of_kind = (
            np.sum([_roll(each, 7 * week, 1) for week in range(HISTORY // 7)], axis=0)
            for each in (counts, totals)
        )
        square = np.where(kind > 0, of_kind**2 / kind, 0.0)
    known, weight, total, squares, in_all = (
        _roll(each, first, HISTORY)
        for each in ((counts > 0).astype(float), counts, totals, counts**2, alone)
    )
    has_all = _roll((kind > 0).astype(float), first, 7) == 7
    own, own_total = (_roll(each, 7, 1) for each in (kind, of_kind))
    parts = _roll(square, first, 7)
    return Days(known, weight, total, squares, in_all, parts, has_all, own, own_total)


def count_warnings(world: World, run: int, seed: int = SEED) -> int:
    """Return how many false warnings a quarter has.

    All hours are judged at once. From the first one on that may have a warning, the rule looks at
    one day after another, and at one hour after another while there is a warning.
    """
    number = WORLDS.index(world)
    table = draw(world, np.random.default_rng([seed, number, run]))
    rule, found = EarlyRule(name="early", kind="early"), 0
    is_plain = not (world.holidays or world.has_release or world.model is not None)
    screened = screen(table) if is_plain else None
    progress = EarlyProgress(basis="", first=START, following=START + world.begin * DAY)
    for day in range(world.begin, DAYS):
        moments = [START + day * DAY + hour * HOUR for hour in range(1, HOURS + 1)]
        is_quiet, rows, peak = False, 0, 0.0
        if not progress.warnings:
            if screened is not None and not progress.over:
                most, known = screened
                peak, rows = float(most[day].max()), int(known[day])
                is_quiet = peak < find_needed(rule, replace(progress, rows=rows), moments[0]) - 0.1
            if not is_quiet:
                seen = look(table, rule, progress, moments)
                rows = int((seen.judgment.days >= FEWEST_DAYS).any(axis=(1, 2)).sum())
                peak = float(seen.evidence.max())
                is_quiet = peak < find_needed(rule, replace(progress, rows=rows), moments[0])
        if is_quiet:
            progress = replace(progress, rows=rows)
            if table.calendar.find(moments[0] - HOUR) is None:
                peaks = (*progress.peaks, (START + day * DAY, peak))
                progress = replace(progress, peaks=peaks).forget(moments[-1])
            continue
        for moment in moments:
            before = {each.key for each in progress.warnings}
            _, progress = check_signals(table, rule, progress, moment)
            found += len({each.key for each in progress.warnings} - before)
    return found
