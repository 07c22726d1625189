"""The pages of people: all accounts, for operators; and the roles in a project."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.responses import HTMLResponse, RedirectResponse

from rankscope.errors import UsageError
from rankscope.monitor.links import Links
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.access.accounts import (
    LINK_PATH,
    add_person,
    disable_person,
    reset_password,
    set_role,
)
from rankscope.monitor.server.pages.page import Form, Page
from rankscope.monitor.server.routing.endpoint import Call, make_form_page
from rankscope.monitor.shapes import make_record
from rankscope.monitor.store.people import LINK_LIFE, OPERATOR, ROLES
from rankscope.monitor.store.store import Store

if TYPE_CHECKING:
    from starlette.responses import Response


PEOPLE = "/people"
ACCOUNTS = f"/operator{PEOPLE}"
NO_ROLE = "none"


class PeoplePages:
    """The page of all accounts, for operators.

    Args:
        store: The store of people.
        now: Returns the time, in microseconds since 1970 in UTC.
        show: Makes a page from its template and what it shows.
        public_url: The address of the service, if the operator has named it.
    """

    def __init__(
        self,
        store: Store,
        now: Callable[[], int],
        show: Callable[..., str],
        public_url: str | None,
    ) -> None:
        self._public_url = public_url
        self._store = store
        self._now = now
        self._show = show
        forms = {
            "": (self._add, "Add a person.", ("email", "name", "role")),
            "/reset": (self._reset, "Make a new link to set a password.", ("email",)),
            "/disable": (self._disable, "Disable an account.", ("email",)),
            "/operator": (self._set_operator, "Add or remove an operator.", ("member", "role")),
        }
        self.endpoints = make_form_page(
            ACCOUNTS,
            "operator",
            self.get,
            "All accounts.",
            {
                path: (partial(self._post, work), said, fields)
                for path, (work, said, fields) in forms.items()
            },
        )

    async def get(self, call: Call) -> Response:
        """Show all accounts."""
        return await self._answer(call)

    async def _post(self, work: Callable[[Call], tuple[Any, str] | None], call: Call) -> Response:
        try:
            done = await to_thread.run_sync(work, call)
        except UsageError as error:
            hint = f" {error.hint[:1].upper()}{error.hint[1:]}." if error.hint else ""
            return await self._answer(call, problem=f"{error.message}.{hint}")
        if done is None:
            return RedirectResponse(call.links.top(ACCOUNTS), 303)
        person, link = done
        url = call.request.url
        base = self._public_url or f"{url.scheme}://{url.netloc}{call.links.base}"
        address = Links(base).top(LINK_PATH, link=link)
        return await self._answer(call, invited=person.email, link=address)

    def _named(self, call: Call) -> dict[str, Any]:
        return {"now": self._now(), "actor": call.principal.actor}

    def _add(self, call: Call) -> tuple[Any, str]:
        email, role, named = call.field("email"), call.field("role"), self._named(call)
        done = add_person(self._store, email, name=call.field("name").strip(), **named)
        if role == OPERATOR:
            set_role(self._store, None, done[0].email, OPERATOR, **named)
        return done

    def _reset(self, call: Call) -> tuple[Any, str]:
        return reset_password(self._store, call.field("email"), **self._named(call))

    def _disable(self, call: Call) -> None:
        disable_person(self._store, call.field("email"), **self._named(call))

    def _set_operator(self, call: Call) -> None:
        role = OPERATOR if call.field("role") == OPERATOR else None
        set_role(self._store, None, call.field("member").strip(), role, **self._named(call))

    async def _answer(self, call: Call, problem: str = "", **more: str) -> Response:
        def view() -> str:
            said = {
                "people": self._store.people(),
                "operators": self._store.roles(None),
                "now": self._now(),
                "days": LINK_LIFE,
                "problem": problem,
                "invited": "",
                "link": "",
                **more,
            }
            return self._show("people.html.j2", call, said)

        return HTMLResponse(await to_thread.run_sync(view), 422 if problem else 200)


def view_roles(monitor: Monitor, problem: str = "") -> dict[str, object]:
    """Look at the roles in a project."""
    store = monitor.store
    return {
        "roles": store.roles(monitor.project),
        "operators": store.roles(None),
        "names": {person.email: person for person in store.people()},
        "choices": tuple(ROLES),
        "problem": problem,
    }


MEMBERS = Page(
    path=PEOPLE,
    here="Settings",
    template="roles.html.j2",
    summary="Who may see and change the project.",
    view=lambda monitor, _call: view_roles(monitor),
)
PAGES = (MEMBERS,)


def _set_role(monitor: Monitor, call: Call) -> str | tuple[Page, object, int]:
    member, role = call.field("member").strip(), call.field("role")
    given = None if role == NO_ROLE else role
    named: Any = {"now": monitor.clock(), "actor": call.principal.actor}
    try:
        set_role(monitor.writer, monitor.project, member, given, **named)
    except UsageError as error:
        return MEMBERS, view_roles(monitor, f"{error.message}; {error.hint}"), 422
    return PEOPLE


FORMS = (
    Form(
        path=PEOPLE,
        summary="Set or remove a role in the project.",
        work=_set_role,
        body=make_record("RoleForm", {"member": str, "role": str}),
    ),
)
