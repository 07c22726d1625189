"""What people do with rules by forms: make, change, silence, resolve, remove."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import HTMLResponse, RedirectResponse

from rankscope.errors import UsageError
from rankscope.monitor.limits import HOUR
from rankscope.monitor.server.api.schemas import TEXT, form_of, list_of
from rankscope.monitor.server.endpoint import Endpoint
from rankscope.monitor.server.pages.alerts_page import NEW_RULE, RULE
from rankscope.monitor.server.pages.rule_form import (
    FLAGS,
    NUMBERS,
    TEXTS,
    place_problem,
    read_form,
)
from rankscope.monitor.server.pages.view_rule import view_rule
from rankscope.monitor.server.problems import RefusedRequestError
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.desk import Desk
    from rankscope.monitor.server.endpoint import Asked
    from rankscope.monitor.server.pages.page import Page
    from rankscope.monitor.server.pages.view_rule import RuleView

HOURS = ("0", "1", "24", "168")
FIELDS = form_of(*TEXTS, *NUMBERS, "since", *FLAGS, slices=list_of(TEXT))
SILENCE = form_of(hours={"enum": list(HOURS)})
REMOVE = form_of(sure={"const": "yes"})


class RuleForms:
    """Takes the forms of rules.

    Args:
        desk: Asks the monitors of projects.
        fill: Makes the HTML of a page.
    """

    def __init__(self, desk: Desk, fill: Callable[[Page, Asked, RuleView], str]) -> None:
        self._desk = desk
        self._fill = fill
        self.endpoints = tuple(
            Endpoint("POST", path, "admin", answer, "form", summary, body=body, status=303)
            for path, answer, summary, body in (
                ("/rules/new", self.make, "Create a rule.", FIELDS),
                ("/rules/{name}/change", self.change, "Change a rule.", FIELDS),
                ("/rules/{name}/silence", self.silence, "Silence a rule for a while.", SILENCE),
                ("/rules/{name}/resolve", self.resolve, "Resolve the alert of a rule.", form_of()),
                ("/rules/{name}/remove", self.remove, "Remove a rule.", REMOVE),
            )
        )

    async def make(self, asked: Asked) -> Response:
        """Make a rule, or show the form again with what is wrong."""
        return await self._desk.ask(asked.visitor, lambda monitor: self._set(monitor, asked, None))

    async def change(self, asked: Asked) -> Response:
        """Change a rule, or show the form again with what is wrong."""
        name = asked.part("name")
        return await self._desk.ask(asked.visitor, lambda monitor: self._set(monitor, asked, name))

    async def silence(self, asked: Asked) -> Response:
        """Tell nobody of a rule for some hours; again, for none."""
        hours = asked.field("hours")
        if hours not in HOURS:
            raise RefusedRequestError(
                422, f"expected hours among {', '.join(HOURS)}", code="bad_form"
            )

        def silence(monitor: Monitor, name: str, actor: str) -> None:
            until = monitor.now() + int(hours) * HOUR if int(hours) else None
            monitor.silence(name, until, actor=actor)

        return await self._do(asked, silence)

    async def resolve(self, asked: Asked) -> Response:
        """Forget what a rule has found."""

        def resolve(monitor: Monitor, name: str, actor: str) -> None:
            monitor.resolve(name, actor=actor)

        return await self._do(asked, resolve)

    async def remove(self, asked: Asked) -> Response:
        """Remove a rule, if that is ticked."""
        if asked.field("sure") != "yes":
            raise RefusedRequestError(
                422, "expected it to be ticked that the rule is to go", code="bad_form"
            )

        def remove(monitor: Monitor, name: str, actor: str) -> None:
            monitor.remove_rule(name, actor=actor)

        return await self._do(asked, remove, then="/alerts")

    async def _do(
        self, asked: Asked, work: Callable[[Monitor, str, str], None], then: str = ""
    ) -> Response:
        name, actor = asked.part("name"), asked.visitor.actor
        await self._desk.ask(asked.visitor, lambda monitor: work(monitor, name, actor))
        return RedirectResponse(then or _address(name), 303)

    def _set(self, monitor: Monitor, asked: Asked, name: str | None) -> Response:
        rule, form = read_form(asked.form)
        if rule is not None and name is not None and rule.name != name:
            raise RefusedRequestError(422, "expected the name of this rule", code="bad_form")
        if name is None and any(each.name == form["name"] for each in monitor.rules()):
            rule, form = None, replace(form, wrong={"name": "expected a name that is not taken"})
        if rule is not None:
            try:
                monitor.set_rule(rule, actor=asked.visitor.actor)
            except UsageError as error:
                form = replace(form, wrong=place_problem(error))
            else:
                return RedirectResponse(_address(rule.name), 303)
        view = view_rule(monitor, name, form)
        return HTMLResponse(self._fill(NEW_RULE if name is None else RULE, asked, view), 422)


def _address(name: str) -> str:
    return f"/rules/{quote(name, safe='')}"
