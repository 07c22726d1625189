"""Browsers sign in with a key, and get a session for it."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field
from starlette.responses import HTMLResponse, RedirectResponse
from typing_extensions import TypedDict

from rankscope.monitor.rules.settings import described
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.routing.endpoint import Endpoint
from rankscope.monitor.shapes import make_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from rankscope.monitor.server.access.authenticator import Authenticator
    from rankscope.monitor.server.routing.endpoint import Call

LONGEST = 2048


class SignInQuery(TypedDict, total=False):
    """Where to go after signing in."""

    next: Annotated[
        str,
        described(maxLength=LONGEST),
        Field(description="The page of this service to open after signing in."),
    ]


class SignIn:
    """Signs people in and out.

    Args:
        authenticator: Knows keys and sessions.
        show: Makes the page with the form: where to go next, and what went wrong before or "".
    """

    def __init__(self, authenticator: Authenticator, show: Callable[[str, str], str]) -> None:
        self._authenticator = authenticator
        self._show = show
        self.endpoints = (
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
            Endpoint(
                "POST",
                "/sign-in",
                None,
                self.post,
                "form",
                "Sign in with a key.",
                body=make_record("SignInForm", {"key": str, "next": str}),
                status=303,
                refuses=(401,),
            ),
            Endpoint(
                "POST",
                "/sign-out",
                "read",
                self.leave,
                "form",
                "Sign out.",
                body=make_record("SignOutForm", {}),
                status=303,
                is_global=True,
            ),
        )

    async def get(self, call: Call) -> Response:
        """Show the form, or go on where nobody needs to sign in."""
        wanted = own_path(call.query.get("next", "/"))
        if await self._authenticator.find_principal(call.request) is not None:
            return RedirectResponse(wanted, 303)
        return HTMLResponse(self._show(wanted, ""))

    async def post(self, call: Call) -> Response:
        """Begin a session."""
        wanted = own_path(call.field("next") or "/")
        try:
            key = await self._authenticator.find_key(call.request, call.field("key").strip())
        except RefusedRequestError as problem:
            said = (
                "This key opens nothing: look whether it is whole, and was not revoked."
                if problem.status == 401
                else "There were too many keys that open nothing: wait a minute."
            )
            headers = {
                name: problem.headers[name] for name in problem.headers if name == "retry-after"
            }
            return HTMLResponse(self._show(wanted, said), problem.status, headers)
        if not {"read", "admin"} & set(key.scopes):
            said = "This key is not for reading: sign in with one that has the scope read or admin."
            return HTMLResponse(self._show(wanted, said), 403)
        response = RedirectResponse(wanted, 303)
        self._authenticator.sign_in(call.request, key, response)
        return response

    async def leave(self, call: Call) -> Response:
        """End the session."""
        response = RedirectResponse("/sign-in", 303)
        self._authenticator.sign_out(call.request, response)
        return response


def own_path(wanted: str) -> str:
    r"""Return a path of this service, or `/` for any other address.

    Examples:
        >>> own_path("/trace?measure=nDCG%405")
        '/trace?measure=nDCG%405'
        >>> [
        ...     own_path(bad)
        ...     for bad in ("https://a.example/", "//a.example", "/\\a.example", "a", "/\n")
        ... ]
        ['/', '/', '/', '/', '/']
    """
    is_odd = "\\" in wanted or not wanted.isprintable() or len(wanted) > LONGEST
    if is_odd or not wanted.startswith("/") or wanted.startswith("//"):
        return "/"
    try:
        parts = urlsplit(wanted)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc else wanted
