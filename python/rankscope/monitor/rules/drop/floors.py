"""Floors: what the values of streams are compared with, from the same slice of the baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from statistics import NormalDist
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankscope._settings import Interval, count_threads
from rankscope.errors import InputError, UsageError
from rankscope.monitor.definition.calendar import Period, Span
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.evaluate.baseline import find_contexts, find_previous
from rankscope.monitor.evaluate.means import Mean, estimate_mean
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import describe_time, read_span, to_datetime, to_micros
from rankscope.monitor.rules.drop.periods import FINAL, PeriodReader, Step
from rankscope.monitor.rules.drop.rule import DropRule
from rankscope.monitor.rules.drop.sample import Sample, collect_samples
from rankscope.monitor.rules.stream import ALL, Evidence, LabelDay, Stream
from rankscope.monitor.sequential.baseline import DAY_WEIGHT, LEAST, LEVEL, LONGEST, choose_anchor
from rankscope.monitor.sequential.lanes import fit_lane

Number = TypeVar("Number", float, NDArray[np.float64])
Key: TypeAlias = tuple[str, str, Slice]


T = Interval(method="t")
WEEK = 7 * DAY
MOST_RANKINGS = 600_000
"""A baseline of production is from at most this many rankings, or about so many."""
CALENDAR = "calendar:"
"""What a warning begins with that says how a period of the calendar is judged."""
MOST_HELD = MOST_RANKINGS
"""With more rankings, baselines that were read before are forgotten when another one is read."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The rankings that a baseline is made from.

    Args:
        since: From when.
        until: Until when.
        now: As of when labels count; `None` for a set, of which all do.
        contexts: What they have in common.
        rankings: How many there are, as far as that can change.
        retried: After how long it is tried again, as the rankings are others by then.
        spans: The times that count; without any, all but the periods of the calendar do.
    """

    since: int
    until: int
    now: int | None
    contexts: tuple[int, ...]
    rankings: int = 0
    retried: int = 1
    spans: tuple[Span, ...] = ()

    def shows(self, other: _Wanted) -> bool:
        """Whether it has the rankings of another one, maybe with other labels."""
        names = "since", "until", "contexts", "spans"
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def is_known(self, now: int) -> bool:
        """Whether all of its labels can have come by a time."""
        return self.now is None or self.now <= now

    @property
    def name(self) -> str:
        """What tells it apart from other data."""
        # A baseline that is retried every week is identified by its end alone.
        ends = (self.since, self.until, self.now) if self.retried == 1 else (self.until,)
        times = [None if end is None else end // self.retried for end in ends]
        return json.dumps([*times, len(self.contexts), self.rankings])


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What a stream is compared with.

    Args:
        lane: The lane, with what is expected, or with the reason why nothing is.
        compared: From when a long-term baseline is.
        label_days: The labels of the days of the baseline, if it is from production.
        grades: How many documents of a set have each grade above 0.
        lists: How many rankings the set has.
    """

    lane: Evidence
    compared: datetime | None = None
    label_days: tuple[LabelDay, ...] = ()
    grades: Mapping[float, int] | None = None
    lists: int = 0


class Floors:
    """Finds what streams are compared with, and reads each part of the baseline once.

    Args:
        reader: Reads periods of the same project.

    Attributes:
        reader: Reads periods of the same project.
    """

    def __init__(self, reader: PeriodReader) -> None:
        self.reader = reader
        self._scene = reader.scene
        self._choice = reader.scene.configuration.baseline
        self._samples: dict[tuple[_Wanted, int], Sample] = {}
        self._found: dict[tuple[str, str | None, str | None], tuple[int, ...]] = {}

    @property
    def has_anchor(self) -> bool:
        """Whether models are compared with a baseline that releases don't renew, too."""
        return self._choice is not None and self._choice.kind == "version"

    def find(self, rule: DropRule, key: Key, lane: Evidence, step: Step, count: int) -> Floor:
        """Return what a stream is compared with, or why it is with nothing."""
        wanted = self._want(key, step)
        if isinstance(wanted, str):
            return Floor(lane=replace(lane, reason=wanted))
        if wanted.name == lane.tried:
            return Floor(lane=lane)
        place = key[2]
        sample = self._read(wanted, key, step)
        asked = set(place)
        sliced = [
            number
            for number in wanted.contexts
            if asked.issubset(self.reader.contexts[number].attributes)
        ]
        rows = sample.find(sliced)
        tried = replace(lane, tried=wanted.name)
        if key[1] == ALL and len(rows):
            first = int(sample.times[rows].min())
            if choose_anchor(first, step.start) is None:
                return Floor(lane=replace(tried, reason=_tell_short(first)))
        floor = Floor(
            lane=self._fit(rule, place, tried, step, sample=sample, rows=rows, count=count),
            compared=to_datetime(wanted.since) if key[1] == ALL else None,
        )
        if wanted.now is None:
            return replace(floor, grades=sample.grades, lists=len(sample.times))
        if step.age == FINAL:
            return replace(floor, label_days=_count_labels(sample, rows))
        return floor

    def _fit(
        self,
        rule: DropRule,
        place: Slice,
        lane: Evidence,
        step: Step,
        *,
        sample: Sample,
        rows: NDArray[np.int64],
        count: int,
    ) -> Evidence:
        """Return a lane with what the rankings of a baseline make expected."""
        values, clusters = turn(rule, sample.values[rule.measure][rows]), sample.clusters[rows]
        threads = count_threads(self._scene.threads)
        mean = estimate_mean(values, clusters, T, threads)
        if mean.clusters < 2:
            return replace(
                lane, reason=f"the baseline has {_count_users(mean.clusters)} with a value"
            )
        cells = self.reader.cells
        mix = cells.choose_mix(rule, place, sample, rows)
        seen = cells.observe(values, sample, rows, mix)
        tolerance = rule.tolerance * (turn(rule, mean.value) if rule.is_relative else 1.0)
        try:
            usual = fit_lane(
                seen,
                sample.gains[rows],
                sample.discounts[rows],
                tolerance=tolerance,
                level=LEVEL / max(count, 1),
                is_hourly=step.until - step.start < DAY,
                is_calibrated=True,
            )
        except (InputError, UsageError) as error:
            return replace(lane, reason=f"the baseline has no floor: {error.message}")
        if rule.is_rise_bad:
            # Whether there are labels is what is measured: it is judged however many there are.
            usual = replace(usual, discount=None)
        return replace(
            lane,
            reason="",
            mix=mix,
            mean=turn_mean(rule, mean),
            usual=usual,
            floor=turn(rule, max(usual.value.floor, 0.0)),
        )

    def _read(self, wanted: _Wanted, key: Key, step: Step) -> Sample:
        """Read the rankings of a baseline, with the values of later ages that will be asked for."""
        if (wanted, step.age) not in self._samples:
            scene, reader = self._scene, self.reader
            views = {(wanted, step.age): reader.view(step.age, wanted.now)}
            for age in reader.ages_after(step.age):
                later = self._want(key, replace(step, age=age))
                if isinstance(later, _Wanted) and later.shows(wanted) and later.is_known(scene.now):
                    views[later, age] = reader.view(age, later.now)
            samples = collect_samples(
                scene.store.read(scene.project, wanted.since, wanted.until),
                wanted.contexts,
                list(views.values()),
                threads=scene.threads,
            )
            self._forget()
            made = zip(views, samples, strict=True)
            self._samples |= {view: self._keep(view[0], sample) for view, sample in made}
        return self._samples[wanted, step.age]

    def _keep(self, wanted: _Wanted, sample: Sample) -> Sample:
        """Return the rankings of the days that belong to a baseline."""
        if wanted.now is None:
            return sample
        if not wanted.spans:
            return sample.without(self._scene.configuration.calendar.mark(sample.times))
        is_in = [(start <= sample.times) & (sample.times < end) for start, end in wanted.spans]
        return sample.without(~np.logical_or.reduce(is_in))

    def find_length(self, model: str) -> int:
        """Return for how long a model has about as many rankings as are read at most."""
        shown = [one for one in self._scene.shown if one.model == model]
        first = min((one.first for one in shown), default=0)
        last = max((one.last for one in shown), default=0)
        return _fit_length(first, last, sum(one.rankings for one in shown))

    def find_own_contexts(self, key: Key) -> list[int]:
        """Find the contexts of a stream."""
        model, version, place = key
        asked = set(place)
        return [
            number
            for number in self._find_contexts("production", model, None)
            if version in {ALL, self.reader.contexts[number].version}
            and asked.issubset(self.reader.contexts[number].attributes)
        ]

    def find_baseline_of(self, stream: Stream, step: Step, since: int) -> Sample | None:
        """Return the rankings that a stream is compared with; `None` where they are gone.

        The long-term baseline of a model is the time before it was watched first, as it was then.
        """
        wanted = self._want(stream.key, step)
        if stream.version == ALL and isinstance(wanted, _Wanted):
            first = since if stream.compared is None else to_micros(stream.compared)
            until = min(first + LONGEST, since)
            wanted = replace(
                wanted, since=first, until=until, now=until + self.reader.wait(step.age)
            )
        if isinstance(wanted, str) or wanted.since >= wanted.until:
            return None
        return self._read(wanted, stream.key, step)

    @cached_property
    def _known(self) -> int:
        """From when on the log has rankings."""
        scene = self._scene
        first = min((one.first for one in scene.shown), default=scene.now)
        return max(first, scene.store.deleted_before(scene.project) or first)

    def refer(self, step: Step) -> tuple[Period, tuple[Span, ...]] | None:
        """Return the period of the calendar that a step is in, and what it is compared with.

        It is left out where that is nothing. Early values are always: most calendars have few days.
        """
        calendar = self._scene.configuration.calendar
        found = calendar.find(step.start)
        if found is None:
            return None
        return found, calendar.refer(found, self._known) if step.age == FINAL else ()

    def explain(self, period: Period) -> str:
        """Say how a period of the calendar is judged."""
        said = self._scene.configuration.calendar.explain(period, self._known)
        return f"{CALENDAR} {period.name} is {said}"

    def compare(
        self,
        rule: DropRule,
        key: Key,
        lane: Evidence,
        spans: tuple[Span, ...],
        step: Step,
        *,
        count: int,
    ) -> Evidence | None:
        """Return a lane that compares with some days; `None` where these say too little."""
        model, _, place = key
        until = spans[-1][1]
        since = max(spans[0][0], until - self.find_length(model))
        numbers = self._find_contexts("production", model, None)
        now = until + self.reader.wait(step.age)
        sample = self._read(_Wanted(since, until, now, numbers, spans=spans), key, step)
        asked = set(place)
        rows = sample.find(
            [one for one in numbers if asked.issubset(self.reader.contexts[one].attributes)]
        )
        bare = replace(lane, usual=None)
        # Its floor is one more that may be too high.
        made = self._fit(rule, place, bare, step, sample=sample, rows=rows, count=2 * count)
        if made.usual is None or lane.usual is None:
            return None
        # A few days don't tell how much days differ: the usual baseline does.
        fitted, variance = made.usual.value, lane.usual.value.day_variance
        if fitted.day_variance < variance:
            drift = DAY_WEIGHT * (variance - fitted.day_variance) / max(fitted.days, 1)
            bound = NormalDist().inv_cdf(1 - LEVEL / (2 * max(count, 1))) * drift**0.5
            width = (fitted.half_width**2 + bound**2) ** 0.5
            fitted = replace(fitted, day_variance=variance, half_width=width)
        return replace(made, usual=replace(made.usual, value=fitted))

    def _forget(self) -> None:
        """Forget the baselines that were read first, where all of them are large."""
        while sum(len(sample.times) for sample in self._samples.values()) > MOST_HELD:
            del self._samples[next(iter(self._samples))]

    def _want(self, key: Key, step: Step) -> _Wanted | str:
        """Return which rankings the baseline of a stream is made from, or why there are none."""
        model, version, _ = key
        choice = self._choice
        if choice is None:
            return "the project has no baseline"
        wait = self.reader.wait(step.age)
        if version == ALL:
            return self._want_history(model, step.start, wait)
        # The labels of a set that was judged have no age: early values are compared with those of
        # the previous version.
        if choice.kind == "version" or (choice.kind == "set" and step.age != FINAL):
            return self._want_version(model, version, wait)
        if choice.kind == "period":
            numbers = self._find_contexts("production", choice.model, choice.version)
            begin, end = read_span(choice.since, choice.until)
            return _Wanted(begin or 0, end or 0, min((end or 0) + wait, self._scene.now), numbers)
        numbers = self._find_contexts(choice.environment, choice.model, choice.version)
        theirs = [one for one in self._scene.versions if one.environment == choice.environment]
        since = min((one.first for one in theirs), default=0)
        until = max((one.last for one in theirs), default=-1) + 1
        return _Wanted(since, until, None, numbers, sum(one.rankings for one in theirs))

    def _want_version(self, model: str, version: str, wait: int) -> _Wanted | str:
        before = find_previous(self._scene.versions, model=model, version=version)
        if before is None:
            return f"there is no earlier version of {model or 'the model'}"
        shown = {one.version: one for one in self._scene.shown if one.model == model}
        here, earlier = shown[version], shown[before]
        since = here.first - min(
            LONGEST, _fit_length(earlier.first, earlier.last, earlier.rankings)
        )
        numbers = self._find_contexts("production", model, before)
        return _Wanted(since, here.first, here.first + wait, numbers)

    def _want_history(self, model: str, start: int, wait: int) -> _Wanted | str:
        theirs = [
            version
            for version in self._scene.versions
            if version.environment == "production" and version.model == model
        ]
        first = min((one.first for one in theirs), default=start)
        last = max((one.last for one in theirs), default=start)
        length = _fit_length(first, max(last, start), sum(one.rankings for one in theirs))
        anchor = choose_anchor(first, start, length)
        if anchor is None:
            return _tell_short(first)
        numbers = self._find_contexts("production", model, None)
        return _Wanted(anchor.since, start, start + wait, numbers, retried=WEEK)

    def _find_contexts(
        self, environment: str, model: str | None, version: str | None
    ) -> tuple[int, ...]:
        key = environment, model, version
        if key not in self._found:
            self._found[key] = tuple(
                find_contexts(self.reader.contexts, environment, model, version)
            )
        return self._found[key]


def _tell_short(first: int) -> str:
    """Say from when on there is a long-term baseline, given the first ranking."""
    from_then = describe_time(first - first % DAY + LEAST + DAY)
    return f"watched from {from_then} on, when there are two weeks to compare with"


def turn(rule: DropRule, values: Number) -> Number:
    """Turn values of which more is worse around, so that less is; others stay as they are.

    Values that were turned are turned back by turning them again.
    """
    return 1 - values if rule.is_rise_bad else values


def turn_mean(rule: DropRule, mean: Mean) -> Mean:
    """Turn a mean and its interval around, as `turn` does with values."""
    if not rule.is_rise_bad:
        return mean
    return replace(mean, value=1 - mean.value, lower=1 - mean.upper, upper=1 - mean.lower)


def _fit_length(first: int, last: int, rankings: int) -> int:
    """Return for how long there are about as many rankings as a baseline is made from at most."""
    return (last - first + 1) * MOST_RANKINGS // max(rankings, 1)


def _count_users(count: int) -> str:
    return f"{count} user or query" if count == 1 else f"{count} users or queries"


def _count_labels(sample: Sample, rows: NDArray[np.int64]) -> tuple[LabelDay, ...]:
    """Count the rankings and labels of each day."""
    days, of_ranking = np.unique(sample.times[rows] // DAY, return_inverse=True)
    rankings = np.bincount(of_ranking, minlength=len(days))
    labels = np.bincount(of_ranking, sample.labels[rows], len(days)).astype(np.int64)
    columns = (days.tolist(), rankings.tolist(), labels.tolist())
    # The last and the first day may be there in part.
    return tuple((day, count, of, True) for day, count, of in zip(*columns, strict=True))
