"""A page: what is looked at, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.state import STATES, RuleState
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.store.keys import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page.

    Args:
        path: Where it is.
        here: Which of the places that one can always go to it belongs to.
        template: What is filled.
        summary: What it shows, in a line.
        view: Looks at the monitor.
        query: The type of its query, a `TypedDict`.
        refuses: Statuses of refusals that don't follow from the path and the parameters.
        is_trace: Whether it reads rankings, and not only windows.
        place: Its place in the navigation, from 1; 0 for a page that is only linked to.
        refresh: After how many seconds browsers load it again; 0 for a page that stays as it is.
        scope: What its reader has to be allowed.
        is_global: Whether it is outside of projects.
    """

    path: str
    here: str
    template: str
    summary: str
    view: Callable[[Monitor, Call], object]
    query: Any = None
    refuses: tuple[int, ...] = ()
    is_trace: bool = False
    place: int = 0
    refresh: int = 0
    scope: Scope = "read"
    is_global: bool = False


Form = partial(Route, "POST", kind="form", status=303)
"""What a page sends.

Its work returns the address to go on at; or a page to fill, with what it shows and the status of
the answer.
"""
EditForm = partial(Form, scope="edit")
"""One for editors; others are for administrators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormState:
    """What stands in the fields of a form, and what is wrong with it.

    Args:
        values: What stands in the fields, or is ticked, by name, as a browser sends it.
        wrong: By field, what is wrong with it; by an empty name, what is wrong with all of it.
    """

    values: Mapping[str, tuple[str, ...]]
    wrong: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        """Return the text of a field."""
        return "".join(self.values.get(name, ())[:1])


def read_configuration(monitor: Monitor) -> Configuration | None:
    """Return the configuration of a project, or `None` if it is not set up."""
    try:
        return monitor.configuration
    except UsageError as error:
        if error.code != "not_configured":
            raise
        return None


def list_states(monitor: Monitor) -> tuple[RuleState, ...]:
    """List how the rules stand, those that need most care first."""
    return tuple(sorted(monitor.check(), key=lambda one: STATES.index(one.state)))


def read_hours(call: Call, choices: Sequence[str]) -> int:
    """Return the hours that a form names, in microseconds."""
    hours = call.field("hours")
    if hours not in choices:
        said = f"hours must be one of {', '.join(choices)}"
        raise RefusedRequestError(422, said, code="bad_form")
    return int(hours) * HOUR
