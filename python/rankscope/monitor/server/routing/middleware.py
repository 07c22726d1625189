"""Middleware around every request: id, allowed hosts, headers, a line of log, error answers."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from rankscope.errors import FileError
from rankscope.monitor.server.access_log import AccessLog, trace_places
from rankscope.monitor.server.http.address import take_address
from rankscope.monitor.server.http.problems import (
    CLOSE,
    RefusedRequestError,
    answer_problem,
    as_refusal,
    ask_again,
)
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.telemetry import Telemetry

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


HEADERS = {
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every answer; pages have a policy of their own, and files may be cached."""

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What pages may load and do: our own files only, and no inline scripts."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
GONE = 499
TARGET_BYTES = 16 << 10
ROUTING_ERRORS = {
    404: ("not_found", "there is nothing here"),
    405: ("method", "expected another method"),
}


@dataclass(frozen=True, slots=True)
class RequestMiddleware:
    """Adds an id to each request, checks its host, adds headers, logs it, and answers errors.

    Args:
        app: The application.
        settings: The hosts that it answers for.
        access_log: The log of requests.
        show_problem: Renders the page of a refusal.
        telemetry: Counts and times requests.
    """

    app: ASGIApp
    settings: Settings
    access_log: AccessLog
    show_problem: Callable[[RefusedRequestError, Scope], ASGIApp]
    telemetry: Telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        scope["app"] = self.app  # with it, the router raises for an unknown route
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        state["said"] = {}
        state["cookies"] = []
        take_address(scope, self.settings.prefix)
        since = time.monotonic()
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for cookie in state["cookies"]:
                    headers.append("set-cookie", cookie)
                _add_headers(headers, request_id)
            await send(message)

        problem = None
        said: dict[str, object] = {}
        try:
            self._check(scope)
            await self.app(scope, receive, send_guarded)
        except ClientDisconnect:
            status = GONE
        except Exception as error:
            problem = _as_problem(error)
            if problem.status == 500:
                said = {"raised": type(error).__qualname__, "at": trace_places(error)}
            if status:  # too late for another answer
                raise
            show = self._choose_show(scope)
            await show(problem, scope)(scope, receive, send_guarded)
        finally:
            self._log(scope, status, time.monotonic() - since, problem, said)

    def _choose_show(self, scope: Scope) -> Callable[[RefusedRequestError, Scope], ASGIApp]:
        """Choose how to answer a refusal: as a page for browsers outside of any route, or JSON."""
        accepted = Headers(scope=scope).get("accept", "")
        is_page = scope.get("route") is None and "text/html" in accepted
        show = self.show_problem if is_page else answer_problem
        return cast(
            "Callable[[RefusedRequestError, Scope], ASGIApp]",
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
            # A proxy may have seen another end of this body (request smuggling).
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
        return given[0].lower() in self.settings.hosts or (
            name in self.settings.hosts and port.isascii() and port.isdigit()
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
        principal = state.get("principal")
        fields: dict[str, object] = {
            "request_id": state["request_id"],
            "method": scope["method"] if scope["method"] in METHODS else "other",
            # The address is not written: it may contain a key.
            "route": getattr(route, "path", None),
            "status": status,
            "seconds": round(seconds, 6),
        }
        if principal is not None:
            self.telemetry.note_request(
                principal.project, str(fields["method"]), str(fields["route"]), status, seconds
            )
            fields |= {"project": principal.project, "key_id": principal.actor}
        if problem is not None:
            fields["code"] = problem.code
        self.access_log.write("request", fields | state["said"] | said)


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
    if isinstance(error, HTTPException) and error.status_code in ROUTING_ERRORS:
        code, message = ROUTING_ERRORS[error.status_code]
        return RefusedRequestError(error.status_code, message, code=code, headers=error.headers)
    return RefusedRequestError(500, "something went wrong here", code="internal")
