"""The incidents page: what is wrong now, grouped by cause, and what was before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from rankscope.monitor.ask.series import Every, Series
from rankscope.monitor.ask.versions import list_versions
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.incidents import grouping
from rankscope.monitor.incidents.incident import ACTIVE, Change, Incident, Notified
from rankscope.monitor.incidents.transitions import find_timer
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.notify.message import name_stream
from rankscope.monitor.rules.early.progress import KIND as EARLY
from rankscope.monitor.rules.kinds import DEFAULTS, PROBLEMS
from rankscope.monitor.rules.limit import RANKINGS
from rankscope.monitor.rules.settings import EMPTY, described
from rankscope.monitor.rules.state import LOST_LABELS
from rankscope.monitor.rules.stream import ALL
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.pages.charts.lines import (
    Event,
    Level,
    Line,
    LineChart,
    Point,
    draw_lines,
)
from rankscope.monitor.server.pages.early import describe_record, list_facts, list_signals
from rankscope.monitor.server.pages.groups import (
    Group,
    describe_evidence,
    group_incidents,
    list_episodes,
    list_periods,
    list_steps,
    measure_length,
    name_problem,
    read_number,
    trace_incident,
)
from rankscope.monitor.server.pages.measure_view import (
    name_version,
    take_rankings,
    take_share,
    take_values,
)
from rankscope.monitor.server.pages.overview_range import Extent
from rankscope.monitor.server.pages.page import EditForm, Page, read_configuration, read_hours
from rankscope.monitor.server.pages.signal_view import SignalView, view_signals
from rankscope.monitor.server.routing.endpoint import Call
from rankscope.monitor.shapes import OneOf, make_record
from rankscope.monitor.store.folding import OTHER

NUMBER = "^[1-9][0-9]{0,4}$"
"""How the number of a page is written."""
PageNumber = Annotated[str, described(pattern=NUMBER, maxLength=5)]
MOST_GROUPS = 10
"""Groups on a page."""
MOST_OPEN = 2
"""Of these, so many are shown with their parts; the others are lines that open."""
MOST_PAST = 500
"""Incidents that pages know; older ones are in the API."""
MOST_PARTS = 3
"""Parts of a group that are listed at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentsView:
    """The incidents of a project.

    Args:
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        rules: How many rules about quality there are, besides those that every project gets.
        active: The groups whose problem lasts, those that need most care first.
        past: The groups that are over, the newest first.
        page: Which of the pages of past groups this is, from 1 on.
        warnings: How good early warnings were, in sentences; empty where there were none.
    """

    configuration: Configuration | None
    now: int
    rules: int
    active: tuple[Group, ...]
    past: tuple[Group, ...]
    page: int
    warnings: str = ""

    @property
    def shown(self) -> tuple[Group, ...]:
        """The past groups of this page."""
        start = (self.page - 1) * MOST_GROUPS
        return self.past[start : start + MOST_GROUPS]

    @property
    def pages(self) -> int:
        """How many pages the past groups take."""
        return max(-(-len(self.past) // MOST_GROUPS), 1)


def view_incidents(monitor: Monitor, page: int = 1) -> IncidentsView:
    """Look at the incidents of a project."""
    configuration = read_configuration(monitor)
    groups = group_incidents(read_incidents(monitor))
    over = [group for group in groups if not group.is_active]
    return IncidentsView(
        configuration=configuration,
        now=monitor.clock(),
        rules=0
        if configuration is None
        else sum(rule.name not in DEFAULTS for rule in monitor.rules()),
        active=tuple(group for group in groups if group.is_active),
        past=tuple(sorted(over, key=lambda group: group.began, reverse=True)),
        page=page,
        warnings=describe_record(monitor.rate_warnings()),
    )


def read_incidents(monitor: Monitor, rule: str | None = None) -> tuple[Incident, ...]:
    """Return the incidents that pages show: all active ones, and the newest of the others."""
    active = monitor.incidents("open", rule=rule)
    newest = monitor.incidents("all", rule=rule, limit=MOST_PAST)
    # Each once: an incident may be among both.
    return tuple({each.incident_id: each for each in (*newest, *active)}.values())


def read_page(text: str) -> int:
    """Read the number of a page.

    Examples:
        >>> read_page("2")
        2
    """
    if not re.fullmatch(NUMBER, text):
        raise RefusedRequestError(422, "page: expected a whole number from 1 on", code="parameter")
    return int(text)


INCIDENTS = Page(
    path="/incidents",
    place=3,
    here="Incidents",
    template="incidents.html.j2",
    summary="What is wrong, since when, for whom and why.",
    view=lambda monitor, call: view_incidents(monitor, read_page(call.query.get("page", "1"))),
    query=make_record(
        "IncidentsPageQuery",
        {
            "page": Annotated[PageNumber, Field(description="Which page of past incidents.")],
        },
    ),
    refresh=60,
)

WORDS: dict[str, object] = {
    "active_states": ACTIVE,
    "name_problem": name_problem,
    "name_stream": name_stream,
    "length_of": measure_length,
    "steps_of": list_steps,
    "trace_of": trace_incident,
    "most_parts": MOST_PARTS,
    "most_open": MOST_OPEN,
}
"""What the templates about incidents need."""


FEWEST_DAYS, MOST_DAYS = 7, 60
"""How many days the chart shows."""
MOST_HOURS = 7 * DAY
"""Hours are drawn over so much time at most."""
MOST_FALLEN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentView:
    """An incident.

    Args:
        incident: The incident.
        changes: Its history, the newest change first.
        related: The other incidents of its group.
        now: As of when, in microseconds since 1970 in UTC.
        title: What the chart shows.
        every: How long its windows are.
        chart: The chart of its slice; `None` where there is nothing to draw.
        series: What the chart is drawn from.
        signals: The signals that it is about, if it is about any, in place of a chart.
    """

    incident: Incident
    changes: tuple[Change, ...]
    related: tuple[Incident, ...]
    now: int
    title: str
    every: Every
    chart: LineChart | None
    series: Series | None
    signals: tuple[SignalView, ...] = ()

    @property
    def facts(self) -> list[Mapping[str, Any]]:
        """What an early warning is based on, a change of a signal each."""
        return list_facts(self.incident)

    @property
    def is_of_measure(self) -> bool:
        """Whether the chart shows a measure, and not how many rankings there are."""
        return find_drawn(self.incident) == "measure"

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        """What it is based on, in words."""
        return describe_evidence(self.incident)

    @property
    def cause(self) -> Mapping[str, Any]:
        """What the trace has found; empty if it has found nothing."""
        return self.incident.cause or {}

    @property
    def beside(self) -> list[Mapping[str, Any]]:
        """What changed in the lists when quality fell."""
        return grouping.list_facts(self.cause)

    @property
    def fallen(self) -> list[dict[str, Any]]:
        """The queries that fell most, if the trace has named them."""
        queries = self.cause.get("queries") or []
        return [each for each in queries if isinstance(each, dict)][:MOST_FALLEN]

    @property
    def history(self) -> list[tuple[Change, int]]:
        """What happened to it, the newest first; reminders in a row are one, with their number."""
        rows: list[tuple[Change, int]] = []
        for change in self.changes:
            if rows and change.action == rows[-1][0].action == "reminded":
                rows[-1] = (rows[-1][0], rows[-1][1] + 1)
            else:
                rows.append((change, 1))
        return rows

    @property
    def deliveries(self) -> list[tuple[Notified, int]]:
        """Where it was sent, the newest first; the reminders of a channel are one."""
        reminders = Counter(
            one.channel for one in self.incident.notified if one.event == "reminded"
        )
        rows: dict[tuple[str, ...], tuple[Notified, int]] = {}
        for one in reversed(self.incident.notified):
            is_reminder = one.event == "reminded"
            key = (one.channel,) if is_reminder else (one.channel, one.event, str(one.time))
            rows.setdefault(key, (one, reminders[one.channel] if is_reminder else 1))
        return list(rows.values())

    @property
    def resolved_at(self) -> datetime | None:
        """When it is resolved if nothing is found until then; `None` if it isn't."""
        return find_timer(self.incident) if self.incident.state == "recovered" else None

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The windows of the chart: when they begin, the value, rankings, and whether final."""
        if self.series is None:
            return []
        series = self.series
        values = [point.value for point in take_points(series, find_drawn(self.incident))]
        columns = (series.times, values, series.rankings, series.is_final)
        return list(zip(*columns, strict=True))


def view_incident(monitor: Monitor, incident_id: str) -> IncidentView:
    """Look at an incident."""
    incident, changes = monitor.incident(incident_id)
    related: tuple[Incident, ...] = ()
    if incident.group:
        [group] = group_incidents(
            each for each in (incident, *read_incidents(monitor)) if each.group == incident.group
        )
        related = tuple(each for each in group.parts if each.incident_id != incident_id)
    now = monitor.clock()
    series = chart = None
    every = choose_windows(incident, now)[0]
    signals: tuple[SignalView, ...] = ()
    if read_configuration(monitor) is not None:
        if list_signals(incident) or incident.kind == EARLY:
            signals = _view_signals(monitor, incident, now)
        else:
            series, chart = _draw(monitor, incident, now)
    return IncidentView(
        incident=incident,
        changes=tuple(reversed(changes)),
        related=related,
        now=now,
        title=_name_chart(incident),
        every=every,
        chart=chart,
        series=series,
        signals=signals,
    )


def _view_signals(monitor: Monitor, incident: Incident, now: int) -> tuple[SignalView, ...]:
    """Look at the signals that an incident is about, those that tell most first."""
    every, since, until = choose_windows(incident, now)
    versions = list_versions(monitor.store, monitor.project)
    extent = Extent("", every, since, until, incident.model or None, None, versions)
    return view_signals(
        monitor,
        extent,
        list_signals(incident),
        groups=_find_marked(monitor, incident),
        slice=incident.slice,
    )


def choose_windows(incident: Incident, now: int) -> tuple[Every, int, int]:
    """Choose what the chart shows: the incident, with as much before it again."""
    began = to_micros(incident.began)
    over = incident.recovered or incident.resolved
    end = now if over is None else min(now, to_micros(over) + DAY)
    room = min(max(end - began, FEWEST_DAYS * DAY), MOST_DAYS * DAY)
    since = max(began - room, end - 2 * MOST_DAYS * DAY)
    is_short = PROBLEMS[incident.kind].is_hourly and end - since <= MOST_HOURS * 2
    every: Every = "hour" if is_short else "day"
    length = HOUR if is_short else DAY
    return every, since // length * length, -(-end // length) * length


SHARES: Mapping[str, tuple[str, str, str]] = {
    "labelled": ("Rankings with labels", "labelled", "rankings"),
    "empty": ("Rankings without relevant documents", "empty", "rankings"),
    "no_results": ("Rankings that show nothing", "missing", "rankings"),
    "unjudged": ("Documents without a grade", "unjudged", "documents"),
}
"""What charts show that is a share: its title, what is counted, and of what."""


def find_drawn(incident: Incident) -> str:
    """Return what the chart of an incident shows: `measure`, `rankings`, or one of `SHARES`."""
    drawn = PROBLEMS[incident.kind].drawn
    if drawn != "measure":
        return drawn
    measure = incident.measure or EMPTY
    return measure if measure in {*SHARES, RANKINGS} else drawn


def take_points(series: Series, drawn: str) -> list[Point]:
    """Take the points of a chart: those of the measure, or of what was counted."""
    if drawn == "measure":
        return take_values(series)
    return take_share(series, *SHARES[drawn][1:]) if drawn in SHARES else take_rankings(series)


def _name_chart(incident: Incident) -> str:
    drawn = find_drawn(incident)
    title = incident.measure if drawn == "measure" else SHARES.get(drawn, ["Rankings"])[0]
    return f"{title} over time"


def _draw(monitor: Monitor, incident: Incident, now: int) -> tuple[Series, LineChart]:
    every, since, until = choose_windows(incident, now)
    measure = incident.measure if incident.measure in monitor.measures else monitor.measures[-1]
    folded = {"", OTHER, ALL}
    model = None if incident.model in folded else incident.model
    version = None if incident.version in folded else incident.version
    # What came before a new version is what it is held against.
    parts = [(model, version)] + ([(model, None)] if version is not None else [])
    read = monitor.all_series(
        parts,
        every=every,
        since=to_datetime(since),
        until=to_datetime(until),
        slice=incident.slice,
    )
    if len(read) > 1 and read[0][measure].rankings == read[1][measure].rankings:
        read = read[:1]
    series = read[0][measure]
    drawn = find_drawn(incident)
    is_share = drawn in SHARES
    chart = draw_lines(
        [
            Line(name, tuple(take_points(part[measure], drawn)))
            for name, part in zip(_name_lines(incident, len(read)), read, strict=True)
        ],
        since=since,
        until=until,
        length=HOUR if every == "hour" else DAY,
        level=_find_level(incident, HOUR if every == "hour" else DAY),
        floor=read_number(incident.evidence.get("floor")) if is_drawn_beside(incident) else None,
        events=[
            Event(to_micros(each.first), name_version(each.model, each.version))
            for each in monitor.versions()[1:]
            if not each.folded and incident.model in {"", each.model}
        ],
        episodes=[
            *list_periods(monitor.configuration.calendar, since, until),
            *list_episodes(_find_marked(monitor, incident)),
        ],
        within=(0.0, 1.0) if drawn == "measure" or is_share else (0.0, float("inf")),
        with_values=() if drawn == "measure" else (0.0,),
        is_share=is_share,
    )
    return series, chart


def _find_marked(monitor: Monitor, incident: Incident) -> list[Group]:
    """Return what its chart marks: the incident, and those that lost labels or rankings of it."""
    others = [
        each
        for each in read_incidents(monitor)
        if each.incident_id != incident.incident_id
        and (each.kind in {*LOST_LABELS, "freshness"} or each.key[1:] == incident.key[1:])
        and (not each.model or not incident.model or each.model == incident.model)
    ]
    return [Group((each,)) for each in (incident, *others)]


def _name_lines(incident: Incident, count: int) -> tuple[str, ...]:
    """Name the lines; one alone needs no name."""
    version = " ".join(filter(None, (incident.model, incident.version)))
    return (version, "all versions") if count > 1 else ("",)


def _find_level(incident: Incident, length: int) -> Level | None:
    limit = incident.evidence.get("limit")
    if isinstance(limit, int | float):
        # Rankings are limited by hour.
        return Level("limit", limit * (length // HOUR if incident.measure == RANKINGS else 1))
    before = incident.before if is_drawn_beside(incident) else None
    return None if before is None else Level("before", before)


def is_drawn_beside(incident: Incident) -> bool:
    """Whether what an incident compares is of the values of its chart."""
    return incident.kind == "quality" and incident.has_final_evidence


HOURS = ("1", "4", "24", "168")
CHANGE = {"note": str, "scope": str}
SNOOZE = make_record("SnoozeForm", CHANGE | {"hours": Annotated[str, OneOf(*HOURS)]})
ACTIONS: Mapping[str, tuple[str, Any]] = {
    "acknowledge": ("Acknowledge an incident.", make_record("AcknowledgeForm", CHANGE)),
    "snooze": ("Send no notifications of an incident for some hours.", SNOOZE),
    "resolve": ("Resolve an incident.", make_record("ResolveIncidentForm", CHANGE)),
}


def _change(monitor: Monitor, call: Call, action: str) -> str:
    """Do what a form says, with one incident or with all active ones of its group."""
    incident_id, actor, note = call.part("incident_id"), call.principal.actor, call.field("note")
    more: dict[str, Any] = {}
    if action == "snooze":
        more["until"] = to_datetime(monitor.clock() + read_hours(call, HOURS))
    incident, _ = monitor.incident(incident_id)
    wanted = [incident]
    is_group = call.field("scope") == "group" and incident.group
    if is_group:
        wanted = [each for each in monitor.incidents("open") if each.group == incident.group]
    for each in wanted:
        getattr(monitor, action)(each.incident_id, actor=actor, note=note, **more)
    return INCIDENTS.path if is_group else f"/incidents/{quote(incident_id, safe='')}"


FORMS = tuple(
    EditForm(
        path=f"/incidents/{{incident_id}}/{action}",
        summary=summary,
        work=partial(_change, action=action),
        body=body,
    )
    for action, (summary, body) in ACTIONS.items()
)


INCIDENT = Page(
    path="/incidents/{incident_id}",
    here="Incidents",
    template="incident.html.j2",
    summary="An incident: what happened, why, what to do, and what was done.",
    view=lambda monitor, call: view_incident(monitor, call.part("incident_id")),
    refuses=(404,),
    refresh=60,
)
PAGES = (INCIDENTS, INCIDENT)
