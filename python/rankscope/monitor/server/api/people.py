"""The roles of people and groups in a project."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.settings import described
from rankscope.monitor.server.access.accounts import set_role
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.store.people import read_member

Role = Literal["viewer", "editor", "admin"]


class RoleFields(TypedDict):
    """A role."""

    role: Role


NewRole = Annotated[RoleFields, Field(examples=[{"role": "editor"}])]


class Roles(TypedDict):
    """The roles in a project, by email address, or by group with `group:` before its name."""

    roles: Annotated[dict[str, Role], described(examples=[{"group:search": "editor"}])]


def list_roles(monitor: Monitor, _call: Call) -> dict[str, object]:
    """Return who has which role in the project."""
    return {"roles": monitor.store.roles(monitor.project)}


def put_role(monitor: Monitor, call: Call) -> None:
    """Set the role of a person or a group in the project."""
    _set(monitor, call, call.body["role"])


def delete_role(monitor: Monitor, call: Call) -> None:
    """Take the role of a person or a group in the project away."""
    if read_member(call.part("member")) not in monitor.store.roles(monitor.project):
        raise RefusedRequestError(404, "there is nobody with a role of that name", code="no_role")
    _set(monitor, call, None)


def _set(monitor: Monitor, call: Call, role: str | None) -> None:
    member, actor = call.part("member"), call.principal.actor
    set_role(monitor.writer, monitor.project, member, role, now=monitor.clock(), actor=actor)


ROUTES = (
    Route("GET", "/v1/people", list_roles, "admin", result=Roles),
    Route("PUT", "/v1/people/{member}", put_role, body=NewRole),
    Route("DELETE", "/v1/people/{member}", delete_role, refuses=(404,)),
)
