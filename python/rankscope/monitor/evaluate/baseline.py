"""Baselines that values are compared with: means with intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope._settings import Interval, count_threads
from rankscope.errors import EmptyError
from rankscope.monitor.definition.calendar import Calendar
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import Definition, check_comparable
from rankscope.monitor.definition.slices import Slice, Slicing
from rankscope.monitor.evaluate.clusters import ClusterCodes
from rankscope.monitor.evaluate.means import Mean, estimate_mean
from rankscope.monitor.evaluate.stored_windows import name_place
from rankscope.monitor.evaluate.values import evaluate_chunks
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.times import format_time, read_span
from rankscope.monitor.plain import make_plain, read_plain
from rankscope.monitor.store.folding import OTHER
from rankscope.monitor.store.records import CellRow, Chunk, Context, Version
from rankscope.monitor.store.store import StoreReader

Kind: TypeAlias = Literal["set", "period", "version"]


INTERVAL = Interval(method="t")


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline that values are compared with.

    Args:
        kind: A `set` that was uploaded, a `period`, or the `version` before.
        of: Which one, such as `validation` or `m 3`.
        definition: The definition of the values.
        means: By measure, the mean over rankings, with an interval over users, or over queries
            where users are unknown.
        rankings: How many rankings it has, those without relevant documents among them.
        slices: By slice, the mean of each measure in it; NaN where there is none.
    """

    kind: Kind
    of: str
    definition: Definition
    means: Mapping[str, Mean]
    rankings: int
    slices: Mapping[Slice, tuple[float, ...]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it but the definition as JSON holds it."""
        return {
            "kind": self.kind,
            "of": self.of,
            "rankings": self.rankings,
            "means": make_plain(self.means),
            "slices": make_plain([*self.slices.items()]),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], definition: Definition) -> Baseline:
        """Read what `to_dict` returned of a baseline with a definition."""
        return cls(
            stored["kind"],
            stored["of"],
            definition,
            {name: read_plain(Mean, mean) for name, mean in stored["means"].items()},
            stored["rankings"],
            {
                tuple((name, value) for name, value in place): read_plain(tuple[float, ...], means)
                for place, means in stored["slices"]
            },
        )

    def find(self, measure: str, definition: Definition) -> Mean:
        """Return the mean of a measure, after a check that its values are comparable."""
        check_comparable(self.definition.only(measure), definition.only(measure))
        return self.means[measure]


def find_contexts(
    contexts: Mapping[int, Context], environment: str, model: str | None, version: str | None
) -> dict[int, Context]:
    """Find the contexts of an environment, a model and a version; `None` stands for any."""
    return {
        number: context
        for number, context in contexts.items()
        if context.environment == environment
        and (model is None or context.model == model)
        and (version is None or context.version == version)
    }


def find_previous(versions: Iterable[Version], *, model: str, version: str) -> str | None:
    """Find the version that appeared last before another one; of two at once, by name."""
    first = {
        one.version: one.first
        for one in versions
        if (one.environment, one.model) == ("production", model)
    }
    if version not in first:
        return None
    here = (first[version], version)
    before = [(time, name) for name, time in first.items() if (time, name) < here]
    return max(before)[1] if before else None


class BaselineSample:
    """The values of some rankings and their clusters.

    Args:
        definition: The definition to evaluate with.
        contexts: What the rankings that are wanted have in common, by number.
        now: As of when; without it, as of a set that was uploaded.
        threads: The number of threads.
    """

    def __init__(
        self,
        definition: Definition,
        contexts: Mapping[int, Context],
        now: int | None,
        threads: int | None,
    ) -> None:
        self._definition = definition
        self._contexts = contexts
        self._now = now
        self._threads = threads
        self._values: list[list[NDArray[np.float64]]] = []
        self._numbers: list[NDArray[np.int64]] = []
        self._names = ClusterCodes()
        self._clusters: list[NDArray[np.int64]] = []

    def take(self, chunks: Iterable[Chunk]) -> None:
        """Add the rankings of chunks."""
        wanted = np.array(sorted(self._contexts), dtype=np.int64)
        chosen = (chunk for chunk in chunks if np.isin(chunk.contexts, wanted).any())
        for each in evaluate_chunks(chosen, self._definition, now=self._now, threads=self._threads):
            chunk = each.chunk
            kept = np.flatnonzero(np.isin(chunk.contexts, wanted) & each.graded.is_mature)
            self._values.append([measured.value[kept] for measured in each.values.measures])
            self._numbers.append(chunk.contexts[kept])
            self._clusters.append(self._names.number(chunk, kept))

    def average(self, kind: Kind, of: str, slicing: Slicing | None = None) -> Baseline:
        """Return the means of what was added."""
        if not any(map(len, self._clusters)):
            raise _empty(f"mature rankings of {of}")
        # Numbered in the order of their names, so that no order of events matters.
        clusters = self._names.sort()[np.concatenate(self._clusters)]
        columns = [np.concatenate(column) for column in zip(*self._values, strict=True)]
        threads = count_threads(self._threads)
        means = {
            measure.name: estimate_mean(values, clusters, INTERVAL, threads)
            for measure, values in zip(self._definition.measures, columns, strict=True)
        }
        slices = {} if slicing is None else self._average_slices(columns, slicing)
        return Baseline(kind, of, self._definition, means, len(clusters), slices)

    def _average_slices(
        self, columns: list[NDArray[np.float64]], slicing: Slicing
    ) -> dict[Slice, tuple[float, ...]]:
        """Average the rankings of each slice."""
        numbers, at = np.unique(np.concatenate(self._numbers), return_inverse=True)
        found = [self._contexts[number] for number in numbers.tolist()]
        averaged: dict[Slice, tuple[float, ...]] = {}
        for attributes in slicing.dimensions()[1:]:
            named = [slicing.place(found, name) for name in attributes]
            places = [
                tuple(zip(attributes, values, strict=True)) for values in zip(*named, strict=True)
            ]
            codes = {place: code for code, place in enumerate(dict.fromkeys(places))}
            groups = np.array([codes[place] for place in places], dtype=np.int64)[at]
            counts = [
                np.bincount(groups, ~np.isnan(column), len(codes)).tolist() for column in columns
            ]
            packed = _core.sum_groups(groups, columns, len(codes))
            for (place, code), sums in zip(codes.items(), packed, strict=True):
                totals = _core.round_sums(sums)
                averaged[place] = tuple(
                    total / count[code] if count[code] else math.nan
                    for total, count in zip(totals, counts, strict=True)
                )
        return averaged


def _empty(wanted: str) -> EmptyError:
    return EmptyError(
        f"expected {wanted}, found none",
        hint="send the events, or wait until attribution windows are closed",
        code="no_baseline",
    )


NO_CALENDAR = Calendar()
LONGEST = 28 * DAY
"""Of the version before, what was shown earlier than this before the newest one is not taken."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The rankings that a baseline is computed from.

    Args:
        of: What it is called.
        environment: Where they were made.
        model: The model that ranked them (default: any).
        version: Its version (default: any).
        hours: The hours in which they are, ascending.
    """

    of: str
    environment: str
    model: str | None
    version: str | None
    hours: tuple[int, ...]

    def to_dict(self) -> dict[str, object]:
        """Return what distinguishes this plan from others."""
        return {
            "of": self.of,
            "environment": self.environment,
            "model": self.model,
            "version": self.version,
            "hours": [len(self.hours), *self.hours[:1], *self.hours[-1:]],
        }


def find_baseline(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    slicing: Slicing,
    *,
    known: str,
    changed: Collection[int],
    now: int,
    threads: int | None = None,
) -> str:
    """Compute the baseline of a project, or return the known one if it still holds."""
    if configuration.baseline is None:
        return ""
    rows = store.cells(project, configuration.digest, slice=name_place(()))
    plan = plan_baseline(
        configuration.baseline,
        configuration.definition,
        store.versions(project),
        rows,
        now=now,
        calendar=configuration.calendar,
    )
    if plan is None:
        return ""
    said = plan.to_dict() | {
        "slices": [list(values) for _, values in slicing.values],
        "calendar": configuration.calendar.to_list(),
    }
    if known and json.loads(known)["plan"] == said and not set(plan.hours) & set(changed):
        return known
    is_set = configuration.baseline.kind == "set"
    contexts = find_contexts(store.contexts(project), plan.environment, plan.model, plan.version)
    sample = BaselineSample(configuration.definition, contexts, None if is_set else now, threads)
    for since, until in join_hours(plan.hours):
        sample.take(store.read(project, since, until))
    try:
        found = sample.average(configuration.baseline.kind, plan.of, slicing)
    except EmptyError:
        return ""
    return json.dumps({"plan": said, "baseline": found.to_dict()})


def read_baseline(text: str, definition: Definition) -> Baseline | None:
    """Read a baseline that `find_baseline` returned."""
    return Baseline.from_dict(json.loads(text)["baseline"], definition) if text else None


def plan_baseline(
    choice: BaselineChoice,
    definition: Definition,
    versions: Sequence[Version],
    rows: Sequence[CellRow],
    *,
    now: int,
    calendar: Calendar = NO_CALENDAR,
) -> Plan | None:
    """Return which rankings a baseline is computed from; none of the periods of a calendar."""
    environment = choice.environment if choice.kind == "set" else "production"
    model, version = choice.model, choice.version
    since, until = read_span(choice.since, choice.until)
    of = " ".join(filter(None, (environment, model, version)))
    if choice.kind == "version":
        shown = [
            one
            for one in versions
            if one.environment == "production" and model in {None, one.model} and not one.folded
        ]
        newest = max(shown, key=lambda one: (one.first, one.version), default=None)
        if newest is None:
            return None
        model = newest.model
        version = find_previous(shown, model=model, version=newest.version)
        if version is None:
            return None
        of = " ".join(filter(None, (model, version)))
        since = newest.first - LONGEST
    elif choice.kind == "period" and since is not None and until is not None:
        of = " ".join(
            filter(None, (f"{format_time(since)} to {format_time(until)}", model, version))
        )
    closed = now - definition.window * SECOND - HOUR
    hours = {
        row.start
        for row in rows
        if row.environment == environment
        # An hour that has folded versions may have the wanted one among them.
        and (model in {None, row.model} or row.model == OTHER)
        and (version in {None, row.version} or row.version == OTHER)
        and (since is None or row.start >= since - since % HOUR)
        and (until is None or row.start < until)
        and (choice.kind == "set" or row.start <= closed)
    }
    starts = np.array(sorted(hours), dtype=np.int64)
    if choice.kind != "set":
        starts = starts[~calendar.mark(starts)]
    if not len(starts):
        return None
    return Plan(of, environment, model, version, tuple(starts.tolist()))


def join_hours(hours: Sequence[int]) -> list[tuple[int, int]]:
    """Join consecutive hours, which ascend, into spans.

    Examples:
        >>> from rankscope.monitor.events.limits import HOUR
        >>> [(since // HOUR, until // HOUR) for since, until in join_hours([0, HOUR, 5 * HOUR])]
        [(0, 2), (5, 6)]
    """
    spans: list[tuple[int, int]] = []
    for hour in hours:
        is_next = spans and spans[-1][1] == hour
        spans.append((spans.pop()[0] if is_next else hour, hour + HOUR))
    return spans
