"""The account of who is signed in: sessions, password, and authenticator app."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.responses import HTMLResponse, RedirectResponse

from rankscope.errors import UsageError
from rankscope.monitor.server.access.authenticator import SESSION, read_cookie, set_cookie
from rankscope.monitor.server.access.entrance import Entrance
from rankscope.monitor.server.access.passwords import APP_SECRET, LONGEST, SHORTEST, begin_app
from rankscope.monitor.server.routing.endpoint import Call, make_form_page
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.people import SESSION_IDLE, SESSION_LIFE, Person, hash_secret
from rankscope.monitor.store.store import Store

if TYPE_CHECKING:
    from starlette.responses import Response


ACCOUNT = "/account"
WRONG_CODE = "The code is wrong or too old. Enter the code that the app shows now."


class AccountPages:
    """The page of an account, and what its forms do.

    Args:
        entrance: Changes what people get in with.
        store: The store of sessions.
        now: Returns the time, in microseconds since 1970 in UTC.
        show: Makes a page from its template and what it shows.
    """

    def __init__(
        self,
        entrance: Entrance,
        store: Store,
        now: Callable[[], int],
        show: Callable[..., str],
    ) -> None:
        self._entrance = entrance
        self._store = store
        self._now = now
        self._show = show
        forms = {
            "/sessions": (self.end, "End a session, or all of them.", ("session",)),
            "/password": (self.change, "Change the password.", ("password", "new")),
            "/app": (self.add_app, "Add an authenticator app.", ("secret", "code")),
            "/app/remove": (self.remove_app, "Remove the authenticator app.", ("password",)),
        }
        summary = "Your sessions, password and authenticator app."
        self.endpoints = make_form_page(ACCOUNT, "person", self.get, summary, forms)

    async def get(self, call: Call) -> Response:
        """Show the account."""
        return await self._answer(call)

    async def change(self, call: Call) -> Response:
        """Change the password."""
        person, fields = _person(call), (call.field("password"), call.field("new"))
        try:
            await self._entrance.change_password(call.request, person, *fields)
        except UsageError as error:
            return await self._answer(call, wrong={"password": error.message})
        return _go_on(call)

    async def add_app(self, call: Call) -> Response:
        """Add an authenticator app, and show recovery codes once."""
        person, secret = _person(call), call.field("secret")
        if APP_SECRET.fullmatch(secret) is None:
            return await self._answer(call, wrong={"code": WRONG_CODE})
        codes = await self._entrance.add_app(call.request, person, secret, call.field("code"))
        if codes is None:
            return await self._answer(call, wrong={"code": WRONG_CODE}, secret=secret)
        view = {"codes": codes}
        return HTMLResponse(self._show("recovery.html.j2", call, view))

    async def remove_app(self, call: Call) -> Response:
        """Remove the authenticator app."""
        try:
            await self._entrance.remove_app(call.request, _person(call), call.field("password"))
        except UsageError as error:
            return await self._answer(call, wrong={"app": error.message})
        return _go_on(call)

    async def end(self, call: Call) -> Response:
        """End a session, or all of them where none is named."""
        person, digest = _person(call), call.field("session") or None
        action = "sign_out" if digest else "sign_out.everywhere"
        entry = AuditEntry(self._now(), person.email, action, person.email)
        end = partial(self._store.end_sessions, person.person_id, digest, entry)
        await to_thread.run_sync(end)
        if digest in {None, _digest(call)}:
            set_cookie(call.request, SESSION, "")
            return RedirectResponse(call.links.top("/sign-in"), 303)
        return _go_on(call)

    async def _answer(
        self, call: Call, wrong: dict[str, str] | None = None, secret: str = ""
    ) -> Response:
        person = _person(call)

        def view() -> str:
            now, listed = self._now(), self._store.list_sessions(person.person_id)
            said = {
                "person": person,
                "sessions": [each for each in listed if not each.is_over(now)],
                "own": _digest(call),
                "app": begin_app(person.email, secret) if not person.totp else None,
                "wrong": wrong or {},
                "limits": (SHORTEST, LONGEST),
                "lasting": (SESSION_LIFE, SESSION_IDLE),
            }
            return self._show("account.html.j2", call, said)

        return HTMLResponse(await to_thread.run_sync(view), 422 if wrong else 200)


def _person(call: Call) -> Person:
    person = call.principal.person
    if person is None:
        raise TypeError("a route for people is asked by somebody who is none")
    return person


def _digest(call: Call) -> str:
    return hash_secret(read_cookie(call.request, SESSION))


def _go_on(call: Call) -> Response:
    return RedirectResponse(call.links.top(ACCOUNT), 303)
