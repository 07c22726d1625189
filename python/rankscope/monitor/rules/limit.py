"""Rules of the kind `limit`: a measure, a share or a count crosses a fixed value."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rankscope._settings import Interval, count_threads
from rankscope.errors import UsageError
from rankscope.measures.parse import read_measure
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.evaluate.baseline import find_contexts
from rankscope.monitor.evaluate.clusters import Moments, number_clusters
from rankscope.monitor.evaluate.means import Mean, estimate_mean
from rankscope.monitor.evaluate.stored_windows import add_cells, name_place
from rankscope.monitor.evaluate.values import Evaluated, evaluate_chunks, leave_out
from rankscope.monitor.events.fields import can_be_stored
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.rules.rule import Rule, bad, check_measure
from rankscope.monitor.rules.run import Kind, Problem, Progress, RuleRun, Scene
from rankscope.monitor.rules.settings import EMPTY, LIMITS, NO_NUL, Setting, described, keep_if
from rankscope.monitor.rules.state import Finding, RuleVerdict, StreamKey
from rankscope.monitor.signals.kinds import NAMES, SIGNALS
from rankscope.monitor.signals.refresh import read_signals
from rankscope.monitor.store.records import Chunk, Context, RuleRow

RANKINGS = "rankings"
"""How many rankings there are in an hour: a count, which has no interval."""
SHARES: Mapping[str, str] = {
    EMPTY: "share of rankings without relevant documents",
    "no_results": "share of rankings that show nothing",
    "unjudged": "share of documents without a grade",
}
"""What can be limited besides measures, signals and the count of rankings."""
SIGNALED: Mapping[str, str] = {
    signal.name: signal.label for signal in SIGNALS if signal.name not in SHARES
}
"""The signals that can be limited, all of which are shares, and what people call them."""
MOST_RANKINGS = 100_000
"""A check looks at the newest rankings of its time, as many as this at most."""
MOST_HOURS = 30 * 24
LEVEL = 0.95

LimitMeasure = Annotated[
    str,
    keep_if(lambda name: bool(name) and can_be_stored(name, LIMITS.id_bytes)),
    described(minLength=1, maxLength=LIMITS.id_bytes, pattern=NO_NUL),
    Setting(
        "a limit can also be about `no_results` (the share of rankings that show nothing), "
        "`unjudged` (the share of documents without a grade), `rankings` (their number per hour) "
        "or a signal such as `length`",
        "the name of a measure",
        source="measures",
        words=(
            *SHARES.items(),
            (RANKINGS, "rankings per hour"),
            *((name, f"signal: {label.lower()}") for name, label in SIGNALED.items()),
        ),
    ),
]
Above = Annotated[
    float | None,
    Field(allow_inf_nan=False),
    Setting("alert above this value", "a number"),
]
Below = Annotated[
    float | None,
    Field(allow_inf_nan=False),
    Setting("alert below this value", "a number"),
]
Hours = Annotated[
    int,
    Field(ge=1, le=MOST_HOURS),
    Setting(
        "how many hours are looked at together, up to the newest one",
        f"1 to {MOST_HOURS} hours",
        unit="hours",
    ),
]
Rankings = Annotated[
    int | None,
    Field(ge=2, le=MOST_RANKINGS),
    Setting(
        "look at so many rankings, the newest ones, whatever hour they are from",
        f"2 to {MOST_RANKINGS} rankings",
        unit="rankings",
        unset="those of the hours",
    ),
]


class LimitRule(Rule):
    """A fixed limit of a measure, a share or a count; see `Rule`."""

    kind: Literal["limit"]
    measure: LimitMeasure
    above: Above = None
    below: Below = None
    hours: Hours = 24
    rankings: Rankings = None

    def model_post_init(self, _: object) -> None:
        """Check what depends on two fields."""
        if (self.above is None) == (self.below is None):
            raise UsageError(
                "above: expected either above or below, found "
                f"{'neither' if self.above is None else 'both'}",
                hint="such as above 0.05, to alert when the value is higher",
                code="bad_rule",
            )
        if self.measure in {*SHARES, *SIGNALED} and not 0 <= self.limit <= 1:
            raise bad(self.side, "a share from 0 to 1", self.limit)
        if self.measure in SIGNALED and self.rankings is not None:
            raise bad("rankings", "none for a signal, which is stored by hour", self.rankings)
        if self.measure == RANKINGS and self.rankings is not None:
            raise bad("rankings", "none where rankings are counted", self.rankings)

    @property
    def subject(self) -> str:
        """The measure that its incidents are about."""
        return self.measure

    @property
    def side(self) -> str:
        """On which side of the limit it alerts: `above` or `below`."""
        return "above" if self.below is None else "below"

    @property
    def limit(self) -> float:
        """The limit."""
        return float(getattr(self, self.side))

    @property
    def length(self) -> int:
        """How much it looks at together, as the store counts time."""
        return self.hours * HOUR

    @property
    def span(self) -> str:
        """What it looks at together, in words."""
        if self.rankings is not None:
            return f"the last {self.rankings:,} rankings"
        return "the last hour" if self.hours == 1 else f"the last {self.hours} hours"

    def check(self, configuration: Configuration) -> Self:
        """Check that the project measures what the rule needs, and return it with full names."""
        more = (*SHARES, *SIGNALED, RANKINGS)
        if self.measure in more:
            return self
        measure = check_measure(self.measure, configuration, more=more)
        return self.replace(measure=measure.name)

    def describe(self) -> str:
        """Describe the rule in a sentence.

        Examples:
            >>> LimitRule(name="empty", kind="limit", measure="empty", above=0.05).describe()
            'Alerts when the share of rankings without relevant documents of the last 24 hours is \
above 5%, with its whole 95% interval.'
        """
        where = f" for the model {self.model}" if self.model is not None else ""
        certainty = "" if self.measure == RANKINGS else f", with its whole {LEVEL:.0%} interval"
        return (
            f"Alerts when {name_subject(self.measure)} of {self.span}{where} is {self.side} "
            f"{write_value(self.measure, self.limit)}{certainty}."
        )

    def judge(self, mean: Mean) -> Literal["beyond", "within", "between"]:
        """Return on which side of the limit the whole interval of a value is.

        A value at the limit is within it.
        """
        low, high, limit = mean.lower, mean.upper, self.limit
        if self.side == "below":
            low, high, limit = -high, -low, -limit
        if low > limit:
            return "beyond"
        return "within" if high <= limit else "between"


def name_subject(measure: str) -> str:
    """Name what is limited, such as `the share of rankings that show nothing`."""
    if measure == RANKINGS:
        return "the number of rankings per hour"
    if measure in SIGNALED:
        return f"the signal {measure}"
    return f"the {SHARES[measure]}" if measure in SHARES else measure


def write_value(measure: str, value: float) -> str:
    """Write a value, or a limit, of what is limited."""
    if measure in SHARES or measure in SIGNALED:
        return f"{100 * value:.3g}%"
    return f"{value:,.4g}" if measure == RANKINGS else f"{value:.4f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitProgress(Progress):
    """The hours that a rule about a limit has looked at.

    Args:
        basis: The hash of what is measured.
        first: When the first hour begins, in microseconds since 1970 in UTC.
        following: When the hour begins that is looked at next.
        fresh: From when rankings count, as a person has resolved what was before.
        is_beyond: Whether the limit was crossed, and not crossed back since.
        reason: What the newest hour says, in a sentence; empty where it has no value.
    """

    basis: str
    first: int
    following: int
    fresh: int = 0
    is_beyond: bool = False
    reason: str = ""

    @property
    def is_alert(self) -> bool:
        """Whether the limit is crossed, and nobody has resolved that."""
        return self.is_beyond

    def restart(
        self,
        keys: Collection[StreamKey],  # noqa: ARG002 - it has one stream
        now: int,
        *,
        is_all: bool,  # noqa: ARG002 - likewise
    ) -> Self:
        """Look at nothing from before a time, as a person has resolved it."""
        return replace(self, fresh=-(-now // HOUR) * HOUR, is_beyond=False, reason="")


class LimitRun(RuleRun):
    """A rule about a limit during a check: one hour after another."""

    progress_type = LimitProgress
    rule: LimitRule
    progress: LimitProgress

    def __init__(self, scene: Scene, row: RuleRow) -> None:
        super().__init__(scene, row)
        needs_labels = self.rule.measure not in {RANKINGS, "no_results", *SIGNALED}
        self._window = scene.window if needs_labels else 0
        self.wait = self._window + scene.grace

    def take(self) -> tuple[Finding, ...]:
        """Look at the next hour and those before it, and return what was found."""
        start, was_beyond = self.progress.following, self.progress.is_beyond
        self.pass_period(following=start + HOUR)
        mean = self._measure(start + HOUR)
        if mean is None or not math.isfinite(mean.lower):
            if not was_beyond:  # what is missing later ends no alert
                self.progress = replace(self.progress, reason="")
            return ()
        side = self.rule.judge(mean)
        is_beyond = side == "beyond" or (was_beyond and side == "between")
        reason = describe_value(self.rule, mean)
        self.progress = replace(self.progress, is_beyond=is_beyond, reason=reason)
        if side == "between" and not is_beyond:
            return ()
        finding = Finding(
            kind="limit",
            model=self.rule.model or "",
            verdict="bad" if is_beyond else "good",
            began=to_datetime(start),
            after=mean.value,
            reason=reason,
            evidence={
                "value": mean.value,
                "lower": mean.lower,
                "upper": mean.upper,
                "limit": self.rule.limit,
                "rankings": mean.rankings,
            },
        )
        return (finding,)

    def _measure(self, end: int) -> Mean | None:
        """Measure what is limited up to the end of an hour; `None` without rankings."""
        scene, rule = self._scene, self.rule
        span = MOST_HOURS * HOUR if rule.rankings is not None else rule.length
        since = max(end - span, self.progress.fresh)
        if since >= end:
            return None
        if rule.measure in SIGNALED:
            return self._average_signal(since, end)
        numbers = find_contexts(scene.share(read_contexts), "production", rule.model, None)
        counts: dict[int, int] = {}
        for hour, context, count in scene.store.count_by_hour(scene.project, since, end):
            if context in numbers:
                counts[hour] = counts.get(hour, 0) + count
        if rule.measure == RANKINGS:
            users, count = scene.configuration.definition.left_out, sum(counts.values())
            if users:
                chunks = scene.store.read(scene.project, since, end)
                kept = (leave_out(each, users).contexts for each in chunks)
                count = sum(int(np.isin(each, list(numbers)).sum()) for each in kept)
            rate = count * HOUR / (end - since)
            return Mean(rate, rate, rate, 1.0, count, count)
        wanted, seen = rule.rankings or MOST_RANKINGS, 0
        for hour in sorted(counts, reverse=True):
            since, seen = hour, seen + counts[hour]
            if seen >= wanted:
                break
        if not seen:
            return None
        return self._average(scene.store.read(scene.project, since, end), numbers, wanted, end)

    def _average_signal(self, since: int, end: int) -> Mean | None:
        """Average a signal over the stored hours of a span; `None` where it isn't known."""
        scene, rule = self._scene, self.rule
        asked = scene.store, scene.project, scene.configuration, since, end
        cells = [
            each
            for each in read_signals(*asked, slice=name_place(()))
            if each.key.environment == "production" and rule.model in {None, each.key.model}
        ]
        if not cells:
            return None
        total, spread = add_cells(cells)
        at = NAMES.index(rule.measure)
        return bound_mean(spread[at], total.means()[at], total.defined[at]) if spread else None

    def _average(
        self, chunks: Iterable[Chunk], numbers: Collection[int], wanted: int, end: int
    ) -> Mean:
        """Average the newest rankings of some contexts, so many at most."""
        definition, measure = self._scene.configuration.definition, self.rule.measure
        limits = (0.0, 1.0)
        if measure not in SHARES:
            definition = definition.only(read_measure(measure))
            limits = definition.measures[0].row.value_range
        values: list[NDArray[np.float64]] = []
        clusters: list[NDArray[np.int64]] = []
        threads = self._scene.threads
        for each in evaluate_chunks(chunks, definition, now=end + self._window, threads=threads):
            places = np.flatnonzero(np.isin(each.chunk.contexts, list(numbers)))
            values.append(read_values(each, measure)[places])
            clusters.append(number_clusters(each.chunk, places))
        # Rankings are read in the order of their times.
        newest = slice(-wanted, None)
        is_bounded = all(map(math.isfinite, limits))
        return estimate_mean(
            np.concatenate(values)[newest],
            np.concatenate(clusters)[newest],
            Interval(LEVEL, method="bounded" if is_bounded else "t"),
            count_threads(threads),
            limits=limits,
        )

    def decide(self, moment: int) -> RuleVerdict:  # noqa: ARG002 - hours alone change the state
        """Return the state of the rule, apart from its incidents."""
        known = self.progress
        if known.following == known.first:
            told = f"no hour is final yet; the first begins at {describe_time(known.first)}"
            return RuleVerdict("INSUFFICIENT", told)
        if not known.reason:
            until = describe_time(known.following)
            return RuleVerdict("NO_DATA", f"no value in {self.rule.span} by {until}")
        return RuleVerdict("ALERT" if known.is_beyond else "OK", known.reason)


def bound_mean(moments: Moments, value: float, count: int) -> Mean | None:
    """Return a mean of shares with an interval that allows for few users; `None` without values.

    It is the empirical Bernstein bound of Maurer and Pontil, *Empirical Bernstein bounds and sample
    variance penalization* (2009), with the cluster-robust variance, and as many users as would have
    it if all had the same number of rankings.
    """
    if not count:
        return None
    clusters, sizes, products, squares = moments
    alike = count * count / sizes
    if alike <= 1:
        return Mean(value, math.nan, math.nan, LEVEL, int(clusters), count)
    total = max(squares - 2 * value * products + value * value * sizes, 0.0)
    variance = total * clusters / (clusters - 1) / count**2
    weight = math.log(4 / (1 - LEVEL))
    half = math.sqrt(2 * weight * variance) + 7 * weight / (3 * (alike - 1))
    return Mean(value, max(value - half, 0.0), min(value + half, 1.0), LEVEL, int(clusters), count)


def read_contexts(scene: Scene) -> Mapping[int, Context]:
    """Return what rankings have in common, read once."""
    return scene.store.contexts(scene.project)


def read_values(each: Evaluated, measure: str) -> NDArray[np.float64]:
    """Return what is averaged of the rankings of a chunk; NaN where the mean leaves one out."""
    values = each.values
    if measure == "no_results":
        return values.is_missing.astype(np.float64)
    if measure == "unjudged":
        share = np.full(len(values.documents), np.nan)
        np.divide(values.unjudged, values.documents, out=share, where=values.documents > 0)
        return share
    if measure == EMPTY:
        return np.where(values.is_refused, np.nan, values.is_empty)
    of_measure: NDArray[np.float64] = values.measures[0].value
    return of_measure


def describe_value(rule: LimitRule, mean: Mean) -> str:
    """Compare a value with the limit of a rule, in a sentence."""
    value, lower, upper, limit = (
        write_value(rule.measure, each) for each in (mean.value, mean.lower, mean.upper, rule.limit)
    )
    interval = "" if rule.measure == RANKINGS else f" ({lower} to {upper})"
    sides = {
        "beyond": f"{rule.side} the limit of {limit}",
        "within": f"within the limit of {limit}",
        "between": f"too close to the limit of {limit} to tell",
    }
    where = f"model={rule.model}: " if rule.model else ""
    span = rule.span
    if rule.rankings is not None:
        span = f"the last {mean.rankings:,} rankings"
    elif rule.measure != RANKINGS:
        span = f"{mean.rankings:,} rankings of {rule.span}"
    return (
        f"{where}{name_subject(rule.measure)} is {value}{interval} over {span}, "
        f"{sides[rule.judge(mean)]}"
    )


KIND = Kind(
    record=LimitRule,
    words="a fixed limit",
    text="compares a measure, a share or a count of the last hours or rankings with a fixed value",
    problems={
        "limit": Problem(
            name="a limit was crossed",
            verb="crossed its limit",
            step="Open the incident for the values around the time when it began. If a release "
            "caused it, roll it back. Then acknowledge the incident.",
            drawn="measure",
            is_hourly=True,
        )
    },
    run=LimitRun,
)
