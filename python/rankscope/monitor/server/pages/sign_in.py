"""People sign in, set a password by a link, and sign out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar
from urllib.parse import quote, unquote, urlsplit

from anyio import to_thread
from pydantic import ConfigDict, Field, with_config
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, RedirectResponse
from typing_extensions import TypedDict

from rankscope.errors import UsageError
from rankscope.monitor.links import Links
from rankscope.monitor.rules.settings import described
from rankscope.monitor.server.access.accounts import LINK_PATH
from rankscope.monitor.server.access.authenticator import (
    FLOW,
    SESSION,
    Authenticator,
    read_cookie,
    set_cookie,
)
from rankscope.monitor.server.access.entrance import Entrance
from rankscope.monitor.server.access.provider import CALLBACK, OpenID, SignInError
from rankscope.monitor.server.http.problems import RefusedRequestError, ask_again
from rankscope.monitor.server.http.query import OPEN
from rankscope.monitor.server.routing.endpoint import Call, Endpoint
from rankscope.monitor.shapes import make_record
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.people import hash_secret
from rankscope.monitor.store.store import Store

T = TypeVar("T")

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


LONGEST = 2048
PROVIDER = "/sign-in/provider"
DENIED = (
    "You were not signed in. Your account may have no role in any project yet: ask an admin for "
    "one. The log of the service says why."
)
UNREACHED = (
    "The sign-in service of your organization isn't responding. Try again in a few seconds, or "
    "sign in with a password."
)


class SignInQuery(TypedDict, total=False):
    """Where to go after signing in."""

    next: Annotated[
        str,
        described(maxLength=LONGEST),
        Field(description="The page of this service to open after signing in."),
    ]


class LinkQuery(TypedDict):
    """The link that somebody was sent."""

    link: Annotated[str, described(maxLength=100), Field(description="What the link has.")]


Answer = Annotated[str, described(maxLength=LONGEST)]


@with_config(ConfigDict(json_schema_extra={OPEN: True}))
class AnswerQuery(TypedDict, total=False):
    """What a provider answers; each adds what it likes."""

    code: Answer
    state: Answer
    iss: Answer
    error: Answer


class SignIn:
    """Signs people in and out.

    Args:
        authenticator: Knows sessions.
        entrance: Lets people in.
        store: The store of sessions.
        openid: The provider of sign-ins, if there is one.
        now: Returns the time, in microseconds since 1970 in UTC.
        show: Makes a page from its template and what it shows.
    """

    def __init__(
        self,
        authenticator: Authenticator,
        entrance: Entrance,
        *,
        store: Store,
        openid: OpenID | None,
        now: Callable[[], int],
        show: Callable[..., str],
    ) -> None:
        self._authenticator = authenticator
        self._entrance = entrance
        self._store = store
        self._openid = openid
        self._now = now
        self._show = show
        form = partial(Endpoint, "POST", scope=None, kind="form", status=303)
        self.endpoints: tuple[Endpoint, ...] = (
            Endpoint(
                "GET",
                "/sign-in",
                None,
                self.get,
                "page",
                "The sign-in form.",
                SignInQuery,
                also={303: None},
            ),
            form(
                path="/sign-in",
                answer=self.post,
                summary="Sign in by password.",
                body=make_record(
                    "SignInForm",
                    dict.fromkeys(("email", "password", "code", "next"), str),
                ),
                refuses=(401,),
            ),
            Endpoint(
                "GET",
                LINK_PATH,
                None,
                self.get_link,
                "page",
                "The form that sets a password.",
                LinkQuery,
                refuses=(404,),
            ),
            form(
                path=LINK_PATH,
                answer=self.post_link,
                summary="Set a password by a link.",
                body=make_record("SetPasswordForm", dict.fromkeys(("link", "password"), str)),
                refuses=(404,),
            ),
            form(
                path="/sign-out",
                scope="person",
                answer=self.leave,
                summary="Sign out.",
                body=make_record("SignOutForm", {}),
                is_global=True,
            ),
        )
        if openid is not None:
            page = partial(Endpoint, "GET", scope=None, kind="page", status=303)
            self.endpoints += (
                page(
                    path=PROVIDER,
                    answer=self.ask_provider,
                    summary="Go to the provider to sign in.",
                    query=SignInQuery,
                    refuses=(401,),
                ),
                page(
                    path=CALLBACK,
                    answer=self.enter,
                    summary="Come back from the provider.",
                    query=AnswerQuery,
                    refuses=(401,),
                ),
            )

    async def get(self, call: Call) -> Response:
        """Show the form, or go on where nobody needs to sign in."""
        wanted = own_path(call.query.get("next", ""), call.links)
        if await self._authenticator.find_principal(call.request) is not None:
            return RedirectResponse(wanted, 303)
        return self._answer(call, wanted)

    async def post(self, call: Call) -> Response:
        """Begin a session."""
        wanted = own_path(call.field("next"), call.links)
        given = [call.field(name) for name in ("email", "password", "code")]
        try:
            await self._entrance.enter_by_password(call.request, *given)
        except RefusedRequestError as problem:
            if problem.status not in {401, 429}:
                raise
            return self._answer(call, wanted, problem.message, problem, given[0][:254])
        return RedirectResponse(wanted, 303)

    async def get_link(self, call: Call) -> Response:
        """Show the form that sets a password."""
        person = await self._entrance.find_link(call.query["link"])
        return self._answer_link(call, call.query["link"], person.email)

    async def post_link(self, call: Call) -> Response:
        """Set a password, and begin a session."""
        link = call.field("link")
        try:
            await self._entrance.enter_by_link(call.request, link, call.field("password"))
        except UsageError as problem:
            person = await self._entrance.find_link(link)
            return self._answer_link(call, link, person.email, problem.message)
        return RedirectResponse(call.links.top("/"), 303)

    async def ask_provider(self, call: Call) -> Response:
        """Send a browser to the provider."""
        wanted = own_path(call.query.get("next", ""), call.links)
        try:
            address, secret = await self._ask(call.request, lambda openid: openid.begin())
        except SignInError as error:
            return await self._deny(call, wanted, error)
        set_cookie(call.request, FLOW, f"{secret}.{quote(wanted, safe='')}")
        return RedirectResponse(address, 303)

    async def enter(self, call: Call) -> Response:
        """Begin a session of who comes back from the provider."""
        secret, _, wanted = read_cookie(call.request, FLOW).partition(".")
        set_cookie(call.request, FLOW, "")
        wanted = own_path(unquote(wanted), call.links)
        try:
            claims = await self._ask(call.request, lambda openid: openid.finish(secret, call.query))
        except SignInError as error:
            return await self._deny(call, wanted, error)
        if reason := await self._entrance.enter_by_provider(call.request, claims):
            return await self._deny(call, wanted, SignInError(reason))
        return RedirectResponse(wanted, 303)

    async def leave(self, call: Call) -> Response:
        """End the session."""
        request, actor = call.request, call.principal.actor
        digest = hash_secret(read_cookie(request, SESSION))
        entry = AuditEntry(self._now(), actor, "sign_out", actor)
        if call.principal.person is not None:
            number = call.principal.person.person_id
            end = partial(self._store.end_sessions, number, digest, entry)
            await to_thread.run_sync(end)
        set_cookie(request, SESSION, "")
        return RedirectResponse(call.links.top("/sign-in"), 303)

    async def _ask(self, request: Request, question: Callable[[OpenID], T]) -> T:
        """Ask the provider for as long as the browser waits: shutdown waits for what runs here."""
        if self._openid is None:
            raise SignInError("there is no provider")
        answer = asyncio.ensure_future(self._openid.ask(question))
        leaving = asyncio.ensure_future(_wait_until_gone(request))
        await asyncio.wait((answer, leaving), return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if not answer.done():
            answer.cancel()
            raise ClientDisconnect
        return answer.result()

    async def _deny(self, call: Call, wanted: str, error: SignInError) -> Response:
        call.request.state.said["sign_in"] = error.reason
        await self._entrance.refuse(call.request, error.reason)
        status, text, headers = 401, DENIED, {}
        if error.wait:
            status, text, headers = 503, UNREACHED, ask_again(error.wait)
        refused = RefusedRequestError(status, text, code="sign_in", headers=headers)
        return self._answer(call, wanted, text, refused)

    def _answer(
        self,
        call: Call,
        wanted: str,
        problem: str = "",
        refused: RefusedRequestError | None = None,
        email: str = "",
    ) -> Response:
        provider = None if self._openid is None else self._openid.provider.name
        view = {"wanted": wanted, "problem": problem, "email": email, "provider": provider}
        text = self._show("sign_in.html.j2", call, view)
        if refused is None:
            return HTMLResponse(text)
        headers = {name: each for name, each in refused.headers.items() if name == "retry-after"}
        return HTMLResponse(text, refused.status, headers)

    def _answer_link(self, call: Call, link: str, email: str, problem: str = "") -> Response:
        view = {"link": link, "email": email, "problem": problem}
        return HTMLResponse(self._show("set_password.html.j2", call, view), 422 if problem else 200)


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def own_path(wanted: str, links: Links) -> str:
    r"""Return a path of this service, or that of its start page for any other address.

    Examples:
        >>> from rankscope.monitor.links import Links
        >>> own_path("/ranking/trace?measure=nDCG%405", Links("/ranking"))
        '/ranking/trace?measure=nDCG%405'
        >>> own_path("/other", Links("/ranking"))
        '/ranking/'
        >>> [
        ...     own_path(bad, Links())
        ...     for bad in ("https://a.example/", "//a.example", "/\\a.example", "a", "/\n", "")
        ... ]
        ['/', '/', '/', '/', '/', '/']
    """
    start = links.top("/")
    is_odd = "\\" in wanted or not wanted.isprintable() or len(wanted) > LONGEST
    if is_odd or not wanted.startswith(start) or wanted.startswith("//"):
        return start
    try:
        parts = urlsplit(wanted)
    except ValueError:
        return start
    return start if parts.scheme or parts.netloc else wanted
