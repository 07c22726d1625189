"""The incidents page: what is wrong now, grouped by cause, and what was before."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

from rankscope.monitor.incidents.incident import ACTIVE
from rankscope.monitor.notify.message import name_stream
from rankscope.monitor.rules.settings import described
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.schema import make_record
from rankscope.monitor.server.pages.groups import (
    group_incidents,
    list_steps,
    measure_length,
    name_problem,
    trace_incident,
)
from rankscope.monitor.server.pages.page import Page, read_configuration
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.incidents.incident import Incident
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.groups import Group

NUMBER = "^[1-9][0-9]{0,4}$"
"""How the number of a page is written."""
MOST_GROUPS = 10
"""Groups on a page."""
MOST_OPEN = 2
"""Of these, so many are shown with their parts; the others are lines that open."""
MOST_PAST = 500
"""Incidents that pages know; older ones are in the API."""
MOST_PARTS = 3
"""Parts of a group that are listed at once."""


@record(frozen=True, slots=True, kw_only=True)
class IncidentsView:
    """The incidents of a project.

    Args:
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        rules: How many rules about quality there are; every project has one about its data.
        active: The groups whose problem lasts, those that need most care first.
        past: The groups that are over, the newest first.
        page: Which of the pages of past groups this is, from 1 on.
    """

    configuration: Configuration | None
    now: int
    rules: int
    active: tuple[Group, ...]
    past: tuple[Group, ...]
    page: int

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
        rules=0 if configuration is None else sum(rule.kind != "data" for rule in monitor.rules()),
        active=tuple(group for group in groups if group.is_active),
        past=tuple(sorted(over, key=lambda group: group.began, reverse=True)),
        page=page,
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

INCIDENTS = Page(
    path="/incidents",
    place=2,
    here="Incidents",
    template="incidents.html.j2",
    summary="What is wrong, since when, for whom and why.",
    view=lambda monitor, call: view_incidents(monitor, read_page(call.query.get("page", "1"))),
    query=make_record(
        "IncidentsPageQuery",
        {
            "page": Annotated[
                str,
                described(pattern=NUMBER, maxLength=5),
                Field(description="Which page of past incidents."),
            ]
        },
    ),
    extras=lambda _view: WORDS,
    refresh=60,
)
PAGES = (INCIDENTS,)
