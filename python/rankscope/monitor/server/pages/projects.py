"""The list of projects: the state, the newest value and the last ranking of each."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, cast

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.evaluate.stored_windows import add_cells, name_place, unpack_cells
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import describe_length, format_time
from rankscope.monitor.incidents.incident import ACTIVE, Incident
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.plain import write_record
from rankscope.monitor.rules.state import State
from rankscope.monitor.server.api.fields import Object
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.store.records import CellRow
from rankscope.monitor.store.store import StoreReader
from rankscope.monitor.store.tables.many_projects import StoredProject, read_days, read_projects

if TYPE_CHECKING:
    from sqlalchemy import Connection


DAYS = 90
"""The newest value is one of so many days."""
WHOLE = name_place(())
WORST: tuple[State, ...] = ("ALERT", "NO_DATA", "STALE", "INSUFFICIENT", "OK")
FIELDS = ("project", "state", "reason", "incidents", "measure", "value")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRow:
    """How a project stands.

    Args:
        project: Its name.
        state: `ALERT` with active incidents; otherwise the worst state of its rules.
        reason: Why, where it isn't `OK`.
        incidents: How many incidents are active.
        measure: The measure of `value`; empty where there is none.
        value: The mean of the newest final day; NaN where there is none.
        newest: When the newest ranking was shown, in microseconds since 1970; `None` for never.
    """

    project: str
    state: State
    reason: str
    incidents: int
    measure: str
    value: float
    newest: int | None


@dataclass(frozen=True, slots=True)
class ProjectList:
    """What the page shows.

    Args:
        now: As of when, in microseconds since 1970 in UTC.
        rows: The projects that the caller may see.
    """

    now: int
    rows: tuple[ProjectRow, ...]


def list_projects(
    store: StoreReader, projects: Collection[str], now: int
) -> tuple[ProjectRow, ...]:
    """Return how some projects stand, those that need most care first."""
    rows = store.query(partial(_read_rows, projects=projects, now=now))
    return tuple(sorted(rows, key=lambda row: (WORST.index(row.state), row.project.casefold())))


def _read_rows(connection: Connection, projects: Collection[str], now: int) -> list[ProjectRow]:
    """Read all that is shown, as of one moment."""
    found = read_projects(connection, projects, ACTIVE)
    setups = {name: _read_setup(one.configuration) for name, one in found.items()}
    digests = {name: setup.digest for name, setup in setups.items() if setup is not None}
    days = read_days(connection, digests, WHOLE, (now // DAY - DAYS) * DAY)
    rows = []
    for name, project in found.items():
        setup = setups[name]
        newest = max(project.newest, default=None)
        state, reason = _judge(project, newest, now)
        rows.append(
            ProjectRow(
                project=name,
                state=state,
                reason=reason,
                incidents=len(project.incidents),
                measure="" if setup is None else setup.measure,
                value=math.nan if setup is None else _find_value(days[name], setup.column),
                newest=newest,
            )
        )
    return rows


class _Setup(NamedTuple):
    """What is needed of a configuration."""

    digest: bytes
    measure: str
    column: int


@lru_cache(1000)
def _read_setup(text: str | None) -> _Setup | None:
    """Read a configuration, which seldom changes."""
    if text is None:
        return None
    made = Configuration.from_json(text)
    measure = made.definition.measures[-1].name
    return _Setup(made.digest, measure, name_columns(made.definition).index(measure))


def _judge(project: StoredProject, newest: int | None, now: int) -> tuple[State, str]:
    if project.incidents:
        return "ALERT", Incident.from_json(project.incidents[0]).reason
    if project.configuration is None:
        return "INSUFFICIENT", "not set up yet"
    # What is usual, the rules know. Where they can't judge yet, a whole day is too long.
    if newest is not None and now - newest >= DAY:
        return "NO_DATA", f"no rankings for {describe_length(now - newest)}"
    if not project.rules:
        return "INSUFFICIENT", "there are no rules"
    rule = min(project.rules, key=lambda each: WORST.index(cast("State", each.state)))
    state = cast("State", rule.state)
    return state, "" if state == "OK" else f"{rule.name}: {rule.reason}"


def _find_value(cells: Iterable[CellRow], column: int) -> float:
    """Return the mean of the newest day that is final and has one."""
    ordered = sorted(unpack_cells(cells), key=lambda one: one.key.start, reverse=True)
    for _, of in groupby(ordered, key=lambda one: one.key.start):
        day = list(of)
        if all(one.key.is_mature for one in day):
            mean = float(add_cells(day)[0].means()[column])
            if not math.isnan(mean):
                return mean
    return math.nan


def view_projects(monitor: Monitor, call: Call) -> ProjectList:
    """Look at all projects that the caller may see, or go on to the only one."""
    readable = call.principal.readable
    if len(readable) == 1:
        links = call.links.of(readable[0])
        raise RefusedRequestError(
            303, "expected several projects", code="one_project", headers={"location": links("/")}
        )
    now = monitor.clock()
    return ProjectList(now, list_projects(monitor.store, readable, now))


def get_projects(monitor: Monitor, call: Call) -> Object:
    """Return how the projects stand that the caller may see, those that need most care first."""
    now = monitor.clock()
    rows = list_projects(monitor.store, call.principal.readable, now)
    newest = [None if row.newest is None else format_time(row.newest) for row in rows]
    told = zip(rows, newest, strict=True)
    return {
        "now": format_time(now),
        "projects": [write_record(row, FIELDS) | {"newest": when} for row, when in told],
    }


PAGES = (
    Page(
        path="/",
        here="Projects",
        template="projects.html.j2",
        summary="All projects that the caller may see, those that need most care first.",
        view=view_projects,
        refresh=60,
        is_global=True,
    ),
)
ROUTES = (Route("GET", "/v1/projects", get_projects, result=Object, is_global=True),)
