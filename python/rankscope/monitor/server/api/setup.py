"""A project as code: its configuration and its rules, all at once."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.errors import UsageError
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.setup.fields import ProjectFields, ProjectName
from rankscope.monitor.setup.plan import apply_projects, find_plan
from rankscope.monitor.setup.project import Project, find_project, read_project, write_project


class NamedProject(ProjectFields):
    """A project with its name."""

    project: NotRequired[
        Annotated[
            ProjectName,
            Field(description="The name of the project, which has to be that of the key."),
        ]
    ]


EXAMPLE = {
    "definition": {"attribution": {"positive": {"click": 1}}, "window": "24h"},
    "baseline": "validation",
    "rules": {"quality": {"measure": "nDCG@10"}},
}
NewProject = Annotated[NamedProject, Field(examples=[EXAMPLE])]


class StepFields(TypedDict):
    """A difference, and what making it so does."""

    action: Literal["add", "change", "remove"]
    what: Literal["configuration", "rule", "roles", "webhook"]
    name: str
    changes: list[str]
    effect: str
    drift: Annotated[
        str, Field(description="Who made it differ since the files were last applied.")
    ]


class PlanFields(TypedDict):
    """What differs between a project and what was sent."""

    project: str
    steps: list[StepFields]


def get_project(monitor: Monitor, _call: Call) -> dict[str, Any]:
    """Return the project as code: its configuration and all of its rules."""
    _ = monitor.configuration  # refuses a project that isn't set up
    found = find_project(monitor.store, monitor.project)
    return {"project": monitor.project, **write_project(found)}


def plan_project(monitor: Monitor, call: Call) -> dict[str, Any]:
    """Return what `PUT /v1/project` would change, and change nothing."""
    return find_plan(monitor.store, _read(monitor, call), now=monitor.clock()).to_dict()


def put_project(monitor: Monitor, call: Call) -> dict[str, Any]:
    """Make the configuration and all rules as they are sent, or change nothing."""
    wanted, actor = _read(monitor, call), call.principal.actor
    [done] = apply_projects(monitor.writer, [wanted], now=monitor.clock(), actor=actor)
    return done.to_dict()


def _read(monitor: Monitor, call: Call) -> Project:
    body = dict(call.body)
    if body.pop("project", monitor.project) != monitor.project:
        raise UsageError(
            "project: expected the project of the key, found another",
            hint="use a key of the project that the file names",
            code="other_project",
        )
    return read_project(monitor.project, body)


PROJECT = "/v1/project"
ROUTES = (
    Route("GET", PROJECT, get_project, result=NamedProject),
    Route("POST", f"{PROJECT}/plan", plan_project, body=NewProject, result=PlanFields),
    Route("PUT", PROJECT, put_project, body=NewProject, result=PlanFields),
)
