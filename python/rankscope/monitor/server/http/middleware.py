"""Around every request: its id, the names it may ask for, headers, one line of log, no insides."""

from __future__ import annotations

import secrets
import time
from typing import cast

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from rankscope.errors import FileError
from rankscope.monitor.server.http.problems import (
    CLOSE,
    RefusedRequestError,
    answer_problem,
    as_refusal,
    ask_again,
)
from rankscope.monitor.server.run.access_log import trace_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from rankscope.monitor.server.run.access_log import Journal
    from rankscope.monitor.server.settings import Settings

HEADERS = {
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every answer says; pages have a policy of their own, and files may be kept."""

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What pages may load and do: what is ours, and nothing that is written into them."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
GONE = 499
TARGET_BYTES = 16 << 10
SAID = {404: ("not_found", "there is nothing here"), 405: ("method", "expected another method")}


class Guard:
    """Guards an application.

    Args:
        app: The application.
        settings: The names under which it is asked.
        journal: Where it is written down.
        show_problem: Makes the page that says why a request is refused.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        journal: Journal,
        show_problem: Callable[[RefusedRequestError, str], ASGIApp],
    ) -> None:
        self._app = app
        self._hosts = frozenset(settings.hosts)
        self._journal = journal
        self._show_problem = show_problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        scope["app"] = self._app  # then the router raises where it knows no route
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        state["said"] = {}
        since = time.monotonic()
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(MutableHeaders(scope=message), request_id)
            await send(message)

        problem = None
        said: dict[str, object] = {}
        try:
            self._check(scope)
            await self._app(scope, receive, send_guarded)
        except ClientDisconnect:
            status = GONE
        except Exception as error:
            problem = _as_problem(error)
            if problem.status == 500:
                said = {"raised": type(error).__qualname__, "at": trace_places(error)}
            if status:  # too late to say something else
                raise
            show = self._choose_show(scope)
            await show(problem, request_id)(scope, receive, send_guarded)
        finally:
            self._log(scope, status, time.monotonic() - since, problem, said)

    def _choose_show(self, scope: Scope) -> Callable[[RefusedRequestError, str], ASGIApp]:
        """Choose how a refusal is told: as a page to who asks for one where no route is."""
        accepted = Headers(scope=scope).get("accept", "")
        is_page = scope.get("route") is None and "text/html" in accepted
        show = self._show_problem if is_page else answer_problem
        return cast(
            "Callable[[RefusedRequestError, str], ASGIApp]",
            scope["state"].get("show_problem", show),
        )

    def _check(self, scope: Scope) -> None:
        if scope["state"].get("is_too_many"):
            raise RefusedRequestError(
                503, "expected fewer connections", code="busy", headers=ask_again(1) | CLOSE
            )
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > TARGET_BYTES:
            raise RefusedRequestError(
                414, f"expected an address of at most {TARGET_BYTES} bytes", code="address_length"
            )
        headers = Headers(scope=scope)
        if "transfer-encoding" in headers and "content-length" in headers:
            # What stands before us may have seen another end of this body than we would.
            raise RefusedRequestError(
                400, "expected one length of a body", code="content_length", headers=CLOSE
            )
        if not self._is_known_host(scope):
            raise RefusedRequestError(421, "expected another host", code="host")

    def _is_known_host(self, scope: Scope) -> bool:
        given = Headers(scope=scope).getlist("host")
        if len(given) != 1:
            return False
        name, _, port = given[0].lower().rpartition(":")
        return given[0].lower() in self._hosts or (
            name in self._hosts and port.isascii() and port.isdigit()
        )

    def _log(
        self,
        scope: Scope,
        status: int,
        seconds: float,
        problem: RefusedRequestError | None,
        said: dict[str, object],
    ) -> None:
        state = scope["state"]
        route = scope.get("route")
        visitor = state.get("visitor")
        fields: dict[str, object] = {
            "request_id": state["request_id"],
            "method": scope["method"] if scope["method"] in METHODS else "other",
            # What was asked for is not written: somebody may have put a key there.
            "route": getattr(route, "path", None),
            "status": status,
            "seconds": round(seconds, 6),
        }
        if visitor is not None:
            fields |= {"project": visitor.project, "key_id": visitor.actor}
        if problem is not None:
            fields["code"] = problem.code
        self._journal.write("request", fields | state["said"] | said)


def _add_headers(headers: MutableHeaders, request_id: str) -> None:
    headers["x-request-id"] = request_id
    if headers.get("content-type", "").startswith("text/html"):
        headers["content-security-policy"] = PAGE_POLICY
    for name, value in HEADERS.items():
        headers.setdefault(name, value)


def _as_problem(error: Exception) -> RefusedRequestError:
    if isinstance(error, RefusedRequestError):
        return error
    if isinstance(error, FileError):
        known = as_refusal(error)
        if known is not None:
            return known
    if isinstance(error, HTTPException) and error.status_code in SAID:
        code, message = SAID[error.status_code]
        return RefusedRequestError(error.status_code, message, code=code, headers=error.headers)
    return RefusedRequestError(500, "something went wrong here", code="internal")
