"""The application: its endpoints, and what they share."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from anyio import CapacityLimiter
from starlette.responses import JSONResponse
from starlette.routing import Route, Router

from rankscope.errors import DeadlineError, UsageError
from rankscope.monitor.events.times import read_clock
from rankscope.monitor.notify.http import Poster
from rankscope.monitor.notify.sending import AppriseSender, Sender
from rankscope.monitor.round import Round
from rankscope.monitor.server.access.authenticator import Authenticator
from rankscope.monitor.server.access.entrance import Entrance
from rankscope.monitor.server.access.provider import CALLBACK, OpenID
from rankscope.monitor.server.access_log import AccessLog, write_stderr
from rankscope.monitor.server.api import (
    causes,
    incidents,
    maintenance,
    people,
    project,
    rules,
    setup,
    values,
)
from rankscope.monitor.server.api.audit import make_audit_endpoints
from rankscope.monitor.server.api.fields import Status
from rankscope.monitor.server.api.ingest import Answer, Ingest
from rankscope.monitor.server.api.notifications import Notifying
from rankscope.monitor.server.api.openapi import describe
from rankscope.monitor.server.http.body import MemoryBudget
from rankscope.monitor.server.http.problems import as_late
from rankscope.monitor.server.http.proxies import ProxyHeaders
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.metrics import make_endpoint as make_metrics_endpoint
from rankscope.monitor.server.pages.account import AccountPages
from rankscope.monitor.server.pages.audit import make_audit_page
from rankscope.monitor.server.pages.overview import ROUTES as OVERVIEW
from rankscope.monitor.server.pages.pages import Pages
from rankscope.monitor.server.pages.people import PeoplePages
from rankscope.monitor.server.pages.projects import ROUTES as PROJECTS
from rankscope.monitor.server.pages.sign_in import SignIn
from rankscope.monitor.server.readiness import Readiness
from rankscope.monitor.server.routing.dispatcher import Dispatcher, RefusalCounter
from rankscope.monitor.server.routing.endpoint import JSON, Call, Endpoint, make_endpoints
from rankscope.monitor.server.routing.middleware import RequestMiddleware
from rankscope.monitor.server.routing.pool import Deadlines, MonitorPool
from rankscope.monitor.server.routing.static import Content
from rankscope.monitor.server.telemetry import Telemetry
from rankscope.monitor.store.store import Store

Run: TypeAlias = Callable[[Callable[[Store], Answer]], Answer]

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send


class Service:
    """The endpoints, and what they share.

    Args:
        store: The store of events and keys.
        settings: Limits, and the hosts it answers for.
        write_log: Takes the lines of the log.
        clock: Returns monotonic seconds.
        now: Returns the time, in microseconds since 1970 in UTC.
        poster: Posts to webhooks (default: to public addresses only).
        sender: Sends messages to services (default: Apprise does).
        is_late: Returns whether scheduled evaluation is late; `None` if nothing evaluates.
        evaluate: Evaluates a project, in turn with scheduled rounds (default: without these).
        run: Runs the decoding of a large body (default: in a thread).
        deadlines: Limits how long reads take.
        telemetry: Counts and times requests (default: a new one).

    Attributes:
        app: The application, for any ASGI server.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings | None = None,
        *,
        write_log: Callable[[str], object] = write_stderr,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], int] = read_clock,
        poster: Poster | None = None,
        sender: Sender | None = None,
        is_late: Callable[[], bool] | None = None,
        evaluate: Callable[[str], Round] | None = None,
        run: Run | None = None,
        deadlines: Deadlines | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        settings = settings or Settings()
        deadlines = deadlines or Deadlines(clock)
        telemetry = telemetry or Telemetry()
        self._store = store
        self._is_late = is_late
        self._keys = CapacityLimiter(settings.decoders)
        self._readiness = Readiness(store, clock, self._keys)
        memory = MemoryBudget(settings.held_bytes)
        authenticator = Authenticator(store, settings, clock, self._keys, now)
        entrance = Entrance(store, settings, clock, now, self._keys)
        pool = MonitorPool(store, settings, now, deadlines)
        slow = MonitorPool(store, replace(settings, readers=1, waiting_reads=4), now, deadlines)
        notifying = Notifying(settings.notifying, sender or AppriseSender(), poster or Poster())
        pages = Pages(pool, now, notifying, slow)
        openid = None
        if settings.provider is not None:
            address = f"{settings.notifying.public_url or 'http://localhost:8000'}{CALLBACK}"
            openid = OpenID(settings.provider, address, clock, now)
        dispatcher = Dispatcher(
            authenticator, settings, memory, RefusalCounter(store), pages.show_problem
        )
        ingest = Ingest(store, settings, memory, now, CapacityLimiter(settings.decoders), run=run)
        routes = (
            *values.ROUTES,
            *causes.ROUTES,
            *rules.ROUTES,
            *incidents.ROUTES,
            *notifying.routes,
            *project.ROUTES,
            *maintenance.ROUTES,
            *maintenance.Evaluating(evaluate).routes,
            *people.ROUTES,
            *setup.ROUTES,
            *OVERVIEW,
            *PROJECTS,
        )
        self.endpoints: tuple[Endpoint, ...] = (
            *ingest.endpoints,
            *make_endpoints(routes, pool, slow),
            make_metrics_endpoint(pool, telemetry),
            *make_audit_endpoints(store),
            *SignIn(
                authenticator, entrance, store=store, openid=openid, now=now, show=pages.show
            ).endpoints,
            *AccountPages(entrance, store, now, pages.show).endpoints,
            make_audit_page(store, pages.show),
            *PeoplePages(store, now, pages.show, settings.notifying.public_url).endpoints,
            *pages.endpoints,
            Endpoint(
                "GET",
                "/healthz",
                None,
                self.tell_health,
                summary="Return whether the process works.",
                result=Status,
                also={503: Status},
            ),
            Endpoint(
                "GET",
                "/readyz",
                None,
                self.tell_readiness,
                summary="Return whether the service is ready for requests.",
                result=Status,
                also={503: Status},
            ),
            Endpoint(
                "GET",
                "/openapi.json",
                "read",
                self.describe,
                summary="Return the description of the service, as OpenAPI 3.1.",
                also={304: None},
                is_global=True,
            ),
        )
        _check_prefix(settings.prefix, self.endpoints)
        described = json.dumps(describe(self.endpoints), ensure_ascii=False).encode()
        # Browsers may keep a copy, shared caches may not: the description requires a key.
        self._description = Content(described, JSON, "private, no-cache")
        limit = partial(deadlines.limit, settings.read_seconds)
        of_projects = [each for each in self.endpoints if each.scope and not each.is_global]
        # Bare routers: the middleware answers every error, and nothing else does.
        outside, inside = (
            Router(list(_make_routes(listed, dispatcher, limit)), redirect_slashes=False)
            # Outside of projects, the start page is that of all of them.
            for listed in (_drop_hidden(self.endpoints), of_projects)
        )

        async def route(scope: Scope, receive: Receive, send: Send) -> None:
            router = outside if scope["state"]["links"].project is None else inside
            await router(scope, receive, send)

        self.app: ASGIApp = ProxyHeaders(
            RequestMiddleware(
                route, settings, AccessLog(write_log, now), pages.show_problem, telemetry
            ),
            settings.proxies,
        )

    async def describe(self, call: Call) -> Response:
        """Answer with the OpenAPI description, which is made once."""
        return self._description.answer(call.request)

    async def tell_health(self, _call: Call) -> Response:
        """Answer whether the process works."""
        if self._store.failure is not None:
            return JSONResponse({"status": "failed"}, 503)
        return JSONResponse({"status": "ok"})

    async def tell_readiness(self, _call: Call) -> Response:
        """Answer whether the service is ready for requests."""
        if not await self._readiness.check():
            return JSONResponse({"status": "not ready"}, 503)
        said = {"status": "ready"}
        if self._is_late is not None:
            # Events are accepted all the same, so the service stays ready.
            said["evaluation"] = "late" if self._is_late() else "on time"
        return JSONResponse(said)


def make_app(store: Store, settings: Settings | None = None, **given: Any) -> ASGIApp:  # noqa: ANN401 - as there
    """Make the application, for any ASGI server; it takes what `Service` takes."""
    return Service(store, settings, **given).app


def _drop_hidden(endpoints: Iterable[Endpoint]) -> list[Endpoint]:
    """Leave out the pages of a project whose path is that of one outside of projects."""
    taken = {(one.method, one.path) for one in endpoints if one.is_global}
    return [one for one in endpoints if one.is_global or (one.method, one.path) not in taken]


def _check_prefix(prefix: str, endpoints: Iterable[Endpoint]) -> None:
    """Refuse a prefix that a path could begin with that a proxy has taken the prefix off."""
    own = {"projects", *(endpoint.path.split("/")[1] for endpoint in endpoints)}
    if prefix and prefix.split("/")[1] in own:
        raise UsageError(
            f"the prefix must not begin with a path of the service, found {prefix}",
            hint="choose another, such as /ranking",
            code="usage",
        )


def _make_routes(
    endpoints: Iterable[Endpoint],
    dispatcher: Dispatcher,
    limit: Callable[[], AbstractContextManager[None]],
) -> Iterator[Route]:
    """Make one route for each path, so that 405 lists all methods of the path."""
    paths: dict[str, dict[str, Callable[[Request], Awaitable[Response]]]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method] = dispatcher.answering(endpoint)
    for path, answers in paths.items():
        yield Route(path, _choose(answers, limit), methods=list(answers))


def _choose(
    answers: dict[str, Callable[[Request], Awaitable[Response]]],
    limit: Callable[[], AbstractContextManager[None]],
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        try:
            # For reads of keys and sessions; work in the pool has a deadline of its own.
            with limit():
                return await answers[method](request)
        except DeadlineError as error:
            raise as_late(error) from error

    return answer
