"""The cause of an incident: the trace of its time against its rule's own baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankscope._show.table import format_share, name_rows, show
from rankscope.errors import InputError, UsageError
from rankscope.monitor.ask.trace import Span, find_traced, trace_spans
from rankscope.monitor.definition.configuration import BaselineChoice
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.evaluate.baseline import find_previous
from rankscope.monitor.events.limits import DAY, SECOND
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.plain import write_record
from rankscope.monitor.store.records import Version
from rankscope.monitor.store.store import StoreReader
from rankscope.monitor.why.arrivals import RANKERS
from rankscope.monitor.why.compute import TraceChoices
from rankscope.monitor.why.result import EVERYWHERE, Cause, Trace

LONGEST = 28 * DAY
"""A version before is compared over at most this long."""
MOST_RANKINGS = 250_000
"""How many rankings of each span are traced at most, a sample of users where there are more:
incidents wait for this, so it has to take seconds."""
MOST_READ = 8 * MOST_RANKINGS
"""How many rankings of each span are read for the sample at most, about."""
LEAST_SPAN = DAY
"""A span with too many rankings to read is halved down to this."""
MOST_QUERIES = 5
SUPPORT = 10
"""A slice needs so many rankings, as an incident is opened with few; the test holds for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCause:
    """Why quality fell, as an incident tells it.

    Args:
        sentence: One sentence for a person.
        slice: The attributes and values of the slice; empty if everything fell.
        by: `within` if its quality fell, `mix` if its share of the queries changed.
        loss: The kind of loss that grew most: `retrieval`, `truncation`, `ordering` or `undefined`.
        contribution: What it adds to the change of the mean.
        share: The part of the change that it explains; `None` if the mean did not change.
        p_value: The probability that a slice stands out as much where nothing changed.
        new_version: The version or model that is new in it, such as `version=4`, or `None`.
        queries: The queries that fell most: `query_key`, `before`, `after`, `ranking_id`.
        before: The span that was compared with, as the trace has it.
        after: The span of the incident.
    """

    sentence: str
    slice: tuple[tuple[str, str], ...]
    by: str
    loss: str
    contribution: float
    share: float | None
    p_value: float
    new_version: str | None
    queries: tuple[dict[str, Any], ...]
    before: dict[str, Any]
    after: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the cause as JSON holds it."""
        return write_record(self) | {"slice": dict(self.slice)}


class CauseFinder:
    """Finds the causes of incidents, and traces each pair of spans once.

    Args:
        store: The store that holds the events.
        project: The name of the project.
        definition: The definition to evaluate with.
        choice: The baseline of the project, which rules compare with.
        threads: The number of threads.
    """

    def __init__(
        self,
        store: StoreReader,
        project: str,
        definition: Definition,
        choice: BaselineChoice | None,
        *,
        threads: int | None = None,
    ) -> None:
        self._store = store
        self._project = project
        self._definition = definition
        self._choice = choice
        self._threads = threads
        self._versions: Sequence[Version] = store.versions(project)
        self._traces: dict[tuple[object, ...], Trace | None] = {}

    def find(
        self,
        measure: str,
        *,
        model: str,
        version: str,
        began: int,
        now: int,
        age: int | None = None,
        place: Slice = (),
    ) -> FoundCause | None:
        """Return the cause of the fall of a slice, or `None` if none stands out.

        All rankings of the version are searched, not only the slice of the incident, so incidents
        of one release have the same cause. What contradicts the slice is no cause of its fall.
        """
        definition = self._definition
        if age is not None:
            definition = replace(definition, window=age // SECOND)
        until = now - definition.window * SECOND
        named = version if version in {one.version for one in self._versions} else ""
        before = find_baseline_span(self._choice, self._versions, model, named, began)
        if before is None or began >= until:
            return None
        after = Span(to_datetime(began), to_datetime(until), model or None, named or None)
        before, after = (shorten(each, self._versions) for each in (before, after))
        key = (measure, before, after, age, now)
        if key not in self._traces:
            self._traces[key] = self._trace(definition, measure, before, after, now=now)
        trace = self._traces[key]
        at = None if trace is None else _choose(trace, place)
        return None if trace is None or at is None else explain_fall(trace, at)

    def _trace(
        self, definition: Definition, measure: str, before: Span, after: Span, *, now: int
    ) -> Trace | None:
        """Trace two spans; of many rankings, a sample."""
        known = [each.name for each in definition.measures]
        try:
            return trace_spans(
                self._store,
                self._project,
                definition,
                before,
                after,
                now=now,
                measure=find_traced(
                    definition,
                    measure if measure in known and measure.startswith("nDCG") else None,
                ),
                choices=TraceChoices(direction="fall", most_queries=MOST_QUERIES, support=SUPPORT),
                sample=MOST_RANKINGS,
                threads=self._threads,
            )
        except (UsageError, InputError):
            return None


def find_baseline_span(
    choice: BaselineChoice | None,
    versions: Sequence[Version],
    model: str,
    version: str,
    began: int,
) -> Span | None:
    """Return the rankings that a rule compares with, or `None` if there are none."""
    if choice is None:
        return None
    if choice.kind == "set":
        return Span(model=choice.model, version=choice.version, environment=choice.environment)
    if choice.kind == "period":
        # A mean of several models would show how they differ as if one had changed.
        ranked = model in {one.model for one in versions if one.environment == "production"}
        chosen = choice.model or (model if ranked and not choice.version else None)
        span = Span(choice.since, choice.until, chosen or None, choice.version)
        has_rankings = span.narrow(versions) is not None
        return span if has_rankings else replace(span, model=choice.model)
    if not version:
        return Span(to_datetime(began - LONGEST), to_datetime(began), model or None)
    previous = find_previous(versions, model=model, version=version)
    if previous is None:
        return None
    here, earlier = (
        next(
            one
            for one in versions
            if (one.environment, one.model, one.version) == ("production", model, name)
        )
        for name in (version, previous)
    )
    shown_for = (earlier.last - earlier.first + 1) * MOST_RANKINGS // max(earlier.rankings, 1)
    since = max(here.first - min(LONGEST, shown_for), 0)
    return Span(to_datetime(since), to_datetime(here.first), model, previous)


def explain_fall(trace: Trace, at: int = 0) -> FoundCause | None:
    """Return a cause of a trace in one sentence, or `None` if it has no such cause.

    If no slice fell, a shift of the mix that lowered the mean is the cause.
    """
    named = _list_named(trace)
    if at >= len(named):
        return None
    cause = named[at]
    share = cause.contribution / trace.change if trace.change < 0 else None
    tested = next(each for each in trace.found if each.slice == cause.change.slice)
    new = next((each.name for each in cause.arrivals if each.attribute in RANKERS), None)
    queries = [
        {name: row[name] for name in ("query_key", "before", "after", "ranking_id")}
        for row in name_rows(trace.fallen)
        if row["slice"] == cause.name
    ]
    before, after = ({**window} for window in trace.between or ({}, {}))
    return FoundCause(
        sentence=_write_sentence(cause, share, new),
        slice=cause.slice,
        by=cause.by,
        loss=cause.main_loss(-1.0),
        contribution=cause.contribution,
        share=share,
        p_value=tested.p_value,
        new_version=new,
        queries=tuple(queries[:MOST_QUERIES]),
        before=before,
        after=after,
    )


def _list_named(trace: Trace) -> tuple[Cause, ...]:
    """Return the causes of a trace, followed by the shifts of the mix that lowered the mean."""
    return (*trace.causes, *(each for each in trace.shifts if each.contribution < 0))


def _choose(trace: Trace, place: Slice) -> int | None:
    """Return the number of the cause that explains the fall of a slice best, `None` if none does.

    Those within the slice, or that contain it, come first. A fall of everything is reported for all
    rankings only: of a slice that fell by itself, a trace of few rankings would say so, too.
    """
    nested = beside = None
    for at, cause in enumerate(_list_named(trace)):
        pairs = leave_out_rankers(cause.slice)
        if not explains(cause.slice, place):
            continue
        if not place or set(pairs) <= set(place) or set(place) <= set(pairs):
            nested = at if nested is None else nested
        else:
            beside = at if beside is None else beside
    return beside if nested is None else nested


def explains(cause: Slice, place: Slice) -> bool:
    """Return whether a fall within one slice may be the cause of that of another one.

    Examples:
        >>> explains((("device", "tv"),), (("country", "de"), ("device", "tv")))
        True
        >>> explains((("device", "tv"),), (("device", "phone"),)), explains((), (("device", "tv"),))
        (False, False)
        >>> explains((), ()), explains((("version", "4"),), (("device", "tv"),))
        (True, True)
    """
    if place and not cause:
        return False
    said = dict(place)
    return all(said.get(name, value) == value for name, value in leave_out_rankers(cause))


def leave_out_rankers(place: Slice) -> Slice:
    """Return a slice without the model and its version."""
    return tuple(pair for pair in place if pair[0] not in RANKERS)


def _write_sentence(cause: Cause, share: float | None, new: str | None) -> str:
    """Return what fell, what is new in it, and which part of the whole fall that is.

    The incident has the values before and after.
    """
    # The part of a slice that fell beyond the whole, because others rose, is all of it.
    part = ""
    if share is not None and share > 0:
        part = f", which explains {format_share(min(share, 1.0))} of the drop"
    if cause.by == "mix":
        before, after = (format_share(each) for each in cause.change.shares)
        return f"The share of {cause.name} changed from {before} to {after}{part}."
    where = "Everything" if cause.name == EVERYWHERE else show(cause.name)
    if new is not None and new not in {f"{name}={value}" for name, value in cause.slice}:
        where += f", where {show(new)} is new,"
    return f"{where} fell by {cause.main_loss(-1.0)}{part}."


def shorten(span: Span, versions: Sequence[Version]) -> Span:
    """Return the newest part of a span that has few enough rankings to read for a sample."""
    while _count(span, versions) > MOST_READ:
        half = _halve(span)
        if half == span:
            break
        span = half
    return span


def _count(span: Span, versions: Sequence[Version]) -> float:
    """Return about how many rankings a span has."""
    time = span.narrow(versions)
    if time is None:
        return 0.0
    return sum(
        version.rankings
        * max(min(version.last + 1, time[1]) - max(version.first, time[0]), 0)
        / (version.last + 1 - version.first)
        for version in versions
        if version.environment == span.environment and version.may_be(span.model, span.version)
    )


def _halve(span: Span) -> Span:
    """Return the second half of a span, or the span itself if it is short."""
    if span.since is None or span.until is None:
        return span
    from datetime import datetime, timedelta

    since, until = span.since, span.until
    if not isinstance(since, datetime) or not isinstance(until, datetime):
        return span
    half = (until - since) / 2
    return span if half < timedelta(microseconds=LEAST_SPAN) else replace(span, since=since + half)
