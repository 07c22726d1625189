"""The page of an incident: what happened, why, what to do, and what was done."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Annotated
from urllib.parse import quote

from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.incidents.transitions import find_timer
from rankscope.monitor.rules.kinds import PROBLEMS
from rankscope.monitor.rules.limit import RANKINGS
from rankscope.monitor.rules.settings import EMPTY
from rankscope.monitor.rules.state import LOST_LABELS
from rankscope.monitor.rules.stream import ALL
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.schema import OneOf, make_record
from rankscope.monitor.server.pages.charts.lines import Event, Level, Line, draw_lines
from rankscope.monitor.server.pages.groups import (
    Group,
    describe_evidence,
    group_incidents,
    list_episodes,
)
from rankscope.monitor.server.pages.incidents import INCIDENTS, WORDS, read_incidents
from rankscope.monitor.server.pages.measure_view import take_rankings, take_share, take_values
from rankscope.monitor.server.pages.page import Form, Page, read_configuration
from rankscope.monitor.store.folding import OTHER
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from rankscope.monitor.ask.series import Every, Series
    from rankscope.monitor.incidents.incident import Change, Incident, Notified
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.charts.lines import LineChart, Point
    from rankscope.monitor.server.routing.endpoint import Call

FEWEST_DAYS, MOST_DAYS = 7, 60
"""How many days the chart shows."""
MOST_HOURS = 7 * DAY
"""Hours are drawn over so much time at most."""
MOST_FALLEN = 10


@record(frozen=True, slots=True, kw_only=True)
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
    """

    incident: Incident
    changes: tuple[Change, ...]
    related: tuple[Incident, ...]
    now: int
    title: str
    every: Every
    chart: LineChart | None
    series: Series | None

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
    if read_configuration(monitor) is not None:
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
    )


def choose_windows(incident: Incident, now: int) -> tuple[Every, int, int]:
    """Choose what the chart shows: the incident, with as much before it again."""
    began = to_micros(incident.began or incident.opened)
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
        floor=_find_number(incident, "floor"),
        events=[
            Event(to_micros(one.first), " ".join(filter(None, (one.model, one.version))))
            for one in monitor.versions()[1:]
            if not one.folded and incident.model in {"", one.model}
        ],
        episodes=list_episodes(_find_marked(monitor, incident)),
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
    baseline = _find_number(incident, "baseline")
    return None if baseline is None else Level("baseline", baseline)


def _find_number(incident: Incident, name: str) -> float | None:
    if incident.kind != "quality" or not incident.has_final_evidence:
        return None
    found = incident.evidence.get(name)
    if isinstance(found, dict):
        found = found.get("value")
    return float(found) if isinstance(found, int | float) else None


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
        hours = call.field("hours")
        if hours not in HOURS:
            said = f"hours must be one of {', '.join(HOURS)}"
            raise RefusedRequestError(422, said, code="bad_form")
        more["until"] = to_datetime(monitor.clock() + int(hours) * HOUR)
    incident, _ = monitor.incident(incident_id)
    wanted = [incident]
    is_group = call.field("scope") == "group" and incident.group
    if is_group:
        wanted = [each for each in monitor.incidents("open") if each.group == incident.group]
    for each in wanted:
        getattr(monitor, action)(each.incident_id, actor=actor, note=note, **more)
    return INCIDENTS.path if is_group else f"/incidents/{quote(incident_id, safe='')}"


FORMS = tuple(
    Form(
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
    extras=lambda _view: WORDS,
    refuses=(404,),
    refresh=60,
)
PAGES = (INCIDENT,)
