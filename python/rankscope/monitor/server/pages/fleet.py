"""The fleet page: all models that the caller may see, the worst first."""

from __future__ import annotations

import math

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import format_time
from rankscope.monitor.fleet.digest import read_week
from rankscope.monitor.fleet.rows import ORDERS, WORST, FleetRow, order_rows, read_fleet
from rankscope.monitor.server.api.fields import Object, make_query
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.routing.endpoint import Route
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.routing.endpoint import Call

MOST_ROWS = 50
"""Rows of a page."""
STATES = tuple(state.lower() for state in WORST)
QUERY = make_query(
    "FleetQuery",
    {
        "owner": "Show only projects of this team.",
        "state": "Show only models in this state.",
        "q": "Show only models with this text in their name, or in that of their project or owner.",
        "sort": "What comes first (default: loss).",
        "page": "Which page of the list, from 1.",
    },
    state=STATES,
    sort=tuple(ORDERS),
)


@record(frozen=True, slots=True, kw_only=True)
class Fleet:
    """What the page shows.

    Args:
        now: As of when, in microseconds since 1970 in UTC.
        chosen: The parameters of the address; `None` for those that are not there.
        rows: The rows that are listed.
        found: How many there are on all pages.
        everything: All rows that the caller may see.
        page: Which page this is.
    """

    now: int
    chosen: Mapping[str, str | None]
    rows: tuple[FleetRow, ...]
    found: int
    everything: Sequence[FleetRow]
    page: int = 1

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(-(-self.found // MOST_ROWS), 1)

    @property
    def owners(self) -> list[str]:
        """The teams there are."""
        return sorted({row.owner for row in self.everything if row.owner}, key=str.casefold)

    @property
    def counts(self) -> dict[str, int]:
        """How many models are in each state, those that have any."""
        states = [row.state.lower() for row in self.everything]
        return {state: states.count(state) for state in STATES if state in states}

    @property
    def incidents(self) -> int:
        """How many incidents are active; one may concern several models."""
        return len(
            {(row.project, one.incident_id) for row in self.everything for one in row.incidents}
        )


def choose_rows(rows: Sequence[FleetRow], chosen: Mapping[str, str]) -> list[FleetRow]:
    """Choose rows by the parameters of an address, and order them."""
    owner, state, text = (chosen.get(name, "") for name in ("owner", "state", "q"))
    wanted = text.casefold()
    found = [
        row
        for row in rows
        if owner in {"", row.owner}
        and state in {"", row.state.lower()}
        and any(wanted in name.casefold() for name in (row.project, row.model, row.owner))
    ]
    return order_rows(found, chosen.get("sort") or "loss")


def view_fleet(monitor: Monitor, call: Call) -> Fleet:
    """Look at all models that the caller may see, or go on to the only project."""
    readable = call.principal.readable
    if len(readable) == 1:
        links = call.links.of(readable[0])
        raise RefusedRequestError(
            303, "expected several projects", code="one_project", headers={"location": links("/")}
        )
    chosen = _check(call.query)
    rows = read_fleet(monitor.store, readable, monitor.clock())
    found = choose_rows(rows, chosen)
    page = min(int(chosen.get("page") or 1), max(-(-len(found) // MOST_ROWS), 1))
    return Fleet(
        now=monitor.clock(),
        chosen={name: chosen.get(name) or None for name in ("owner", "state", "q", "sort")},
        rows=tuple(found[(page - 1) * MOST_ROWS : page * MOST_ROWS]),
        found=len(found),
        everything=rows,
        page=page,
    )


def _check(query: Mapping[str, str]) -> Mapping[str, str]:
    """Return a query whose choices are some of those there are."""
    for name, known in (("state", STATES), ("sort", tuple(ORDERS))):
        if query.get(name, "") not in {"", *known}:
            said = f"{name}: expected one of {', '.join(known)}"
            raise RefusedRequestError(422, said, code="parameter")
    page = query.get("page") or "1"
    if not (page.isascii() and page.isdigit() and int(page[:7]) > 0 and len(page) < 7):
        raise RefusedRequestError(422, "page: expected a number from 1", code="parameter")
    return query


def get_fleet(monitor: Monitor, call: Call) -> Object:
    """Return how each model of the projects stands that the caller may see, the worst first."""
    rows = read_fleet(monitor.store, call.principal.readable, monitor.clock())
    found = choose_rows(rows, _check(call.query))
    return {"now": format_time(monitor.clock()), "models": [row.to_dict() for row in found]}


def get_digest(monitor: Monitor, call: Call) -> Object:
    """Return what happened in the last 7 days, by project."""
    until, owner = monitor.clock(), call.query.get("owner") or None
    since, projects = until - 7 * DAY, call.principal.readable
    return read_week(monitor.store, projects, since=since, until=until, owner=owner)


def draw_sparkline(days: Sequence[float]) -> str:
    """Draw values as the line of a plane of 100 by 100, with a gap where there is none.

    Examples:
        >>> draw_sparkline([0.5, 0.75, float("nan"), 1.0, 0.5])
        'M0 100L25 50M75 0L100 100'
    """
    known = [value for value in days if not math.isnan(value)]
    if not known:
        return ""
    least, range_ = min(known), max(known) - min(known) or 1.0
    path, is_drawn = [], False
    for at, value in enumerate(days):
        if not math.isnan(value):
            x, y = 100 * at / max(len(days) - 1, 1), 100 - 100 * (value - least) / range_
            path.append(f"{'L' if is_drawn else 'M'}{x:.4g} {y:.4g}")
        is_drawn = not math.isnan(value)
    return "".join(path)


WORDS = {"draw_sparkline": draw_sparkline, "fleet_states": STATES, "fleet_orders": tuple(ORDERS)}
PAGES = (
    Page(
        path="/",
        here="Fleet",
        template="fleet.html.j2",
        summary="All models that the caller may see, the worst first.",
        view=view_fleet,
        query=QUERY,
        refresh=60,
        is_global=True,
    ),
)
OWNER = make_query("DigestQuery", {"owner": "Only the projects of this team (default: all)."})
ROUTES = (
    Route("GET", "/v1/fleet", get_fleet, query=QUERY, result=Object, is_global=True),
    Route("GET", "/v1/digest", get_digest, query=OWNER, result=Object, is_global=True),
)
