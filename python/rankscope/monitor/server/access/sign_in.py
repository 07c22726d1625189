"""Browsers sign in with a key, and get a session for it."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.responses import HTMLResponse, RedirectResponse

from rankscope.monitor.server.api.schemas import form_of
from rankscope.monitor.server.http.endpoint import Endpoint
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.query import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from rankscope.monitor.server.access.authenticator import Gate
    from rankscope.monitor.server.http.endpoint import Asked

LONGEST = 2048
NEXT = Parameter(
    "next",
    "The page of this service to open after signing in.",
    schema={"type": "string", "maxLength": LONGEST},
)


class SignIn:
    """Signs people in and out.

    Args:
        gate: Knows keys and sessions.
        show: Makes the page with the form: where to go next, and what went wrong before or "".
    """

    def __init__(self, gate: Gate, show: Callable[[str, str], str]) -> None:
        self._gate = gate
        self._show = show
        self.endpoints = (
            Endpoint(
                "GET",
                "/sign-in",
                None,
                self.get,
                "page",
                "The sign-in form.",
                (NEXT,),
                also={303: None},
            ),
            Endpoint(
                "POST",
                "/sign-in",
                None,
                self.post,
                "form",
                "Sign in with a key.",
                body=form_of("key", "next"),
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
                body=form_of(),
                status=303,
            ),
        )

    async def get(self, asked: Asked) -> Response:
        """Show the form, or go on where nobody needs to sign in."""
        wanted = own_path(asked.query.get("next", "/"))
        if await self._gate.find_visitor(asked.request) is not None:
            return RedirectResponse(wanted, 303)
        return HTMLResponse(self._show(wanted, ""))

    async def post(self, asked: Asked) -> Response:
        """Begin a session."""
        wanted = own_path(asked.field("next") or "/")
        try:
            key = await self._gate.find_key(asked.request, asked.field("key").strip())
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
        self._gate.sign_in(asked.request, key, response)
        return response

    async def leave(self, asked: Asked) -> Response:
        """End the session."""
        response = RedirectResponse("/sign-in", 303)
        self._gate.sign_out(asked.request, response)
        return response


def own_path(wanted: str) -> str:
    r"""Give a path of this service; `/` where something else is wanted.

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
