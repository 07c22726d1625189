"""Traces: why a value changed between two spans of time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from rankscope.errors import EmptyError, MeasureError, UsageError
from rankscope.measures import Measure
from rankscope.monitor.ask.document_costs import CostCollector, read_catalogue
from rankscope.monitor.ask.queries import QueryCollector, UserSample
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.evaluate.baseline import find_contexts
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.event import ENVIRONMENTS, Environment
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import Time, format_time, read_span, set_times, to_datetime
from rankscope.monitor.plain import write_record
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.records import Context, Version
from rankscope.monitor.store.store import StoreReader
from rankscope.monitor.why.arrivals import RANKERS
from rankscope.monitor.why.compute import TraceChoices, trace
from rankscope.monitor.why.query_columns import QueryColumns, TextColumn
from rankscope.monitor.why.result import Trace
from rankscope.monitor.why.sampling import Sampled


def trace_spans(
    store: StoreReader,
    project: str,
    definition: Definition,
    before: Span,
    after: Span,
    *,
    now: int,
    measure: Measure | str | None = None,
    attributes: Collection[str] | None = None,
    choices: TraceChoices | None = None,
    documents: Mapping[str, Sequence[object]] | None = None,
    sample: int | None = None,
    threads: int | None = None,
) -> Trace:
    """Find out why the mean of a measure changed between two spans."""
    choices = TraceChoices() if choices is None else choices
    chosen = find_traced(definition, measure)
    wanted = choices.attributes if attributes is None else tuple(attributes)
    alone = definition.only(chosen)
    catalogue = {} if documents is None else read_catalogue(documents)
    costs = CostCollector(alone, catalogue, None)
    contexts, versions = store.contexts(project), store.versions(project)
    collectors, samples = [], []
    drawn = None if sample is None else UserSample(sample)
    for at, span in enumerate((before, after)):
        # Those of an uploaded set are other users than those of production.
        chosen_by = drawn if sample is None or not span.is_set else UserSample(sample)
        time = span.narrow(versions)
        if time is None:
            raise _empty(span)
        collector = QueryCollector(
            span.choose(contexts), alone, chosen, costs=costs, sample=chosen_by, has_ids=at > 0
        )
        # A reading that is not read to its end holds its snapshot until it is closed.
        with closing(store.read(project, *time)) as chunks:  # type: ignore[type-var]  # a generator
            collector.read(chunks, now=None if span.is_set else now, threads=threads)
        samples.append(chosen_by)
        collectors.append(collector)
        costs = CostCollector(alone, catalogue, costs.shown)
    windows = [
        _finish(collector, span)
        for collector, span in zip(collectors, (before, after), strict=True)
    ]
    one, other = _leave_out_alike(windows, keep=wanted or ())
    searched = None
    if wanted is not None:
        known = {**one.attributes, **other.attributes}
        searched = tuple(dict.fromkeys((*wanted, *filter(known.__contains__, RANKERS))))
    rates = [1.0 if each is None else each.rate for each in samples]
    found = trace(
        one,
        other,
        replace(choices, attributes=searched),
        sampled=Sampled((rates[0], rates[1]), (collectors[0].seen, collectors[1].seen)),
        threads=threads,
        check=check_deadline,
    )
    return replace(found, between=(before.to_dict(), after.to_dict()), definition=definition.hash)


def find_traced(definition: Definition, measure: Measure | str | None = None) -> Measure:
    """Return the measure to trace (default: the one with the largest cutoff)."""
    if measure is not None:
        return definition.only(measure).measures[0]
    parted = [each for each in definition.measures if len(name_columns(definition.only(each))) > 1]
    if not parted:
        names = ", ".join(map(str, definition.measures))
        raise MeasureError(
            f"expected a measure whose losses add up to 1 among {names}, found none",
            hint="define nDCG@10 beside them",
            code="losses_unavailable",
        )
    return max(parted, key=lambda each: each.k or 0)


def _finish(collector: QueryCollector, span: Span) -> QueryColumns:
    """Return the rankings of a span with all of their attributes."""
    collector.thin()
    names = {name for context in collector.contexts.values() for name, _ in context.attributes}
    try:
        found = collector.finish([*sorted(names), *RANKERS])
    except EmptyError:
        raise _empty(span) from None
    known = {name: column for name, column in found.attributes.items() if column.codes.max() >= 0}
    return replace(found, attributes=known)


def _leave_out_alike(
    windows: Sequence[QueryColumns], keep: Collection[str]
) -> tuple[QueryColumns, QueryColumns]:
    """Drop the model and the version if all rankings of both spans share them."""

    def texts(column: TextColumn | None) -> set[str | None]:
        if column is None:
            return {None}
        return {None if code < 0 else column.texts[code] for code in np.unique(column.codes)}

    alike = [
        name
        for name in RANKERS
        if name not in keep
        and len({text for each in windows for text in texts(each.attributes.get(name))}) == 1
    ]
    one, other = (
        replace(
            each,
            attributes={
                name: column for name, column in each.attributes.items() if name not in alike
            },
        )
        for each in windows
    )
    return one, other


def _empty(span: Span) -> EmptyError:
    return EmptyError(
        f"there are no rankings with a final value in {span.name}",
        hint="take a longer span, or wait until attribution windows are closed",
        code="empty_input",
    )


WEEK = 7 * DAY


@dataclass(frozen=True, slots=True)
class Span:
    """Rankings to compare: those of a span of time, of one version or of all, or an uploaded set.

    Args:
        since: The time of the first ranking (default: the first that is stored). A `datetime` with
            a time zone, or ISO text; it is kept as a `datetime` in UTC.
        until: The time before which the span ends (default: after the last ranking).
        model: The model that ranked (default: any).
        version: Its version (default: any).
        environment: Where the rankings were made. In an uploaded set all labels count; in
            production, only rankings whose attribution window has closed do.

    Raises:
        UsageError: The span ends before it begins, a time has no time zone, or there is no such
            environment.

    Examples:
        >>> Span("2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z", version="4").name
        'version 4, 2026-11-21 00:00 to 2026-11-22 00:00 UTC'
        >>> Span(environment="validation").name
        'validation'
    """

    since: Time | None = None
    until: Time | None = None
    model: str | None = None
    version: str | None = None
    environment: Environment = "production"

    def __post_init__(self) -> None:
        if self.environment not in ENVIRONMENTS:
            raise UsageError(
                f"expected one of {', '.join(ENVIRONMENTS)}, found {self.environment!r:.120}",
                hint="omit environment for production",
                code="bad_period",
            )
        set_times(self, "since", "until")
        since, until = read_span(self.since, self.until)
        if since is not None and until is not None and since >= until:
            raise UsageError(
                f"a span must start before it ends, found {_write(since)} to {_write(until)}",
                hint="swap since and until",
                code="bad_period",
            )

    @property
    def is_set(self) -> bool:
        """Whether the span is an uploaded set, whose labels all count."""
        return self.environment != "production"

    @property
    def name(self) -> str:
        """The span as text, for messages and tables."""
        since, until = read_span(self.since, self.until)
        what: list[str] = [self.environment] if self.is_set else []
        what += [f"model {self.model}"] if self.model else []
        what += [f"version {self.version}"] if self.version else []
        if since is not None and until is not None:
            what.append(f"{_write(since)} to {_write(until)} UTC")
        elif since is not None:
            what.append(f"since {_write(since)} UTC")
        elif until is not None:
            what.append(f"before {_write(until)} UTC")
        return ", ".join(what) or "all of production"

    def choose(self, contexts: Mapping[int, Context]) -> dict[int, Context]:
        """Return the contexts that rankings of the span may have."""
        return find_contexts(contexts, self.environment, self.model, self.version)

    def narrow(self, versions: Iterable[Version]) -> tuple[int, int] | None:
        """Return the span of time to read for its rankings.

        Returns:
            `None` where it has no rankings.
        """
        mine = [
            each
            for each in versions
            if each.environment == self.environment and each.may_be(self.model, self.version)
        ]
        if not mine:
            return None
        first, end = min(each.first for each in mine), max(each.last for each in mine) + 1
        since, until = read_span(self.since, self.until)
        since = first if since is None else max(first, since)
        until = end if until is None else min(end, until)
        return (since, until) if since < until else None

    def to_dict(self) -> dict[str, object]:
        """Return all of it as text, times as in RFC 3339."""
        return {"name": self.name, **write_record(self)}


def suggest_spans(
    versions: Iterable[Version], definition: Definition, now: int
) -> tuple[Span, Span] | None:
    """Suggest two spans to compare.

    The newest version of a model is compared with the one before it: its last week whose
    attribution windows are closed, with the last week before it appeared. If no model has two
    versions, the last week is compared with the week before; with less than two weeks, the second
    half of the time with the first.
    """
    closed = now - definition.window * SECOND + 1
    seen = [each for each in versions if each.environment == "production" and each.first < closed]
    listed = [each for each in seen if not each.folded]
    by_age = sorted(listed, key=lambda each: (each.first, each.version))
    for place in range(len(by_age) - 1, 0, -1):
        newest = by_age[place]
        older = [each for each in by_age[:place] if each.model == newest.model]
        if older:
            return _compare_versions(older[-1], newest, closed)
    if not seen:
        return None
    first = _floor(min(each.first for each in seen))
    until = _floor(min(closed, _ceil(max(each.last for each in seen) + 1)))
    length = min(WEEK, _floor((until - first) // 2))
    if length < HOUR:
        return None
    return _span(until - 2 * length, until - length), _span(until - length, until)


def _compare_versions(older: Version, newest: Version, closed: int) -> tuple[Span, Span]:
    came = _floor(newest.first)
    until = min(closed, _ceil(newest.last + 1))
    until = max(_floor(until), min(until, came + HOUR))
    begins = max(came, until - WEEK)
    after = _span(begins, until, newest)
    ended = _ceil(min(newest.first, older.last + 1))
    began = max(_floor(older.first), ended - WEEK)
    # Versions that appeared at the same time are compared over the same span.
    if began >= ended:
        return _span(begins, until, older), after
    return _span(began, ended, older), after


def _span(since: int, until: int, version: Version | None = None) -> Span:
    """Return the span of a version, or of all, from one time of the store to another."""
    model, name = (None, None) if version is None else (version.model, version.version)
    return Span(to_datetime(since), to_datetime(until), model, name)


def _floor(time: int) -> int:
    """Return the start of the hour of a time."""
    return time - time % HOUR


def _ceil(time: int) -> int:
    """Return the end of the hour of a time; the time itself where an hour starts."""
    return -_floor(-time)


def _write(time: int) -> str:
    """Write a time without the parts that are 0."""
    day, clock = format_time(time)[:10], format_time(time)[11:-1]
    shown = 5 if time % MINUTE == 0 else 8 if time % SECOND == 0 else len(clock)
    return f"{day} {clock[:shown]}"
