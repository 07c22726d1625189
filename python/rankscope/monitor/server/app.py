"""The application: its routes, in one table, and what they share."""

from __future__ import annotations

import json
import time
from functools import partial

from anyio import CapacityLimiter, to_thread
from starlette.responses import JSONResponse
from starlette.routing import Route, Router

from rankscope.errors import DeadlineError, FileError
from rankscope.monitor.alerts.notify.http import Poster
from rankscope.monitor.events.times import read_clock
from rankscope.monitor.server.access.authenticator import Gate
from rankscope.monitor.server.access.sign_in import SignIn
from rankscope.monitor.server.api.causes import Causes
from rankscope.monitor.server.api.ingest import Ingest
from rankscope.monitor.server.api.project import Project
from rankscope.monitor.server.api.rules import Rules
from rankscope.monitor.server.api.schemas import ANYTHING, STATUS
from rankscope.monitor.server.api.values import Values
from rankscope.monitor.server.api.webhook import Webhooks
from rankscope.monitor.server.http.body import Held
from rankscope.monitor.server.http.dispatcher import Door, Refusals
from rankscope.monitor.server.http.endpoint import JSON, Endpoint, register_ids
from rankscope.monitor.server.http.middleware import Guard
from rankscope.monitor.server.http.openapi import describe
from rankscope.monitor.server.http.problems import as_late
from rankscope.monitor.server.http.static import Content
from rankscope.monitor.server.metrics import Metrics
from rankscope.monitor.server.pages.overview import OVERVIEW
from rankscope.monitor.server.pages.pages import Pages
from rankscope.monitor.server.pool import Desk
from rankscope.monitor.server.run.access_log import Journal, write_stderr
from rankscope.monitor.server.run.deadlines import Deadlines
from rankscope.monitor.server.settings import Settings
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from rankscope.monitor.server.api.ingest import Answer
    from rankscope.monitor.server.http.endpoint import Asked
    from rankscope.monitor.server.run.schedule import Scheduler
    from rankscope.monitor.store.store import Store

    Run: TypeAlias = Callable[[Callable[[Store], Answer]], Answer]


class Service:
    """What routes share.

    Args:
        store: Where events and keys are.
        settings: How much is taken, and from whom.
        clock: Seconds that only grow.
        now: Gives the time, in microseconds since 1970 in UTC.
        poster: Posts to webhooks; to public addresses alone if left out.
        scheduler: Evaluates projects, if something does.
        run: Runs the reading of a large body; by default in a thread.
        deadlines: Limits how long reads take.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Callable[[], float],
        now: Callable[[], int],
        *,
        poster: Poster | None = None,
        scheduler: Scheduler | None = None,
        run: Run | None = None,
        deadlines: Deadlines | None = None,
    ) -> None:
        self._store = store
        self._scheduler = scheduler
        self._keys = CapacityLimiter(settings.decoders)
        held = Held(settings.held_bytes)
        gate = Gate(store, settings, clock, self._keys)
        desk = Desk(store, settings, now, deadlines)
        slow = Desk(store, replace(settings, readers=1, waiting_reads=4), now, deadlines)
        pages = Pages(desk, now)
        self.show_problem = pages.show_problem
        self.door = Door(gate, settings, held, Refusals(store), pages.show_problem)
        ingest = Ingest(store, settings, held, now, CapacityLimiter(settings.decoders), run=run)
        self.endpoints: tuple[Endpoint, ...] = (
            *ingest.endpoints,
            *Values(desk).endpoints,
            *Causes(desk).endpoints,
            *Rules(desk).endpoints,
            *Webhooks(desk, slow, poster or Poster()).endpoints,
            *Project(desk).endpoints,
            *Metrics(desk).endpoints,
            *SignIn(gate, pages.show_sign_in).endpoints,
            *pages.endpoints,
            Endpoint(
                "GET",
                "/v1/overview",
                "read",
                pages.tell(OVERVIEW),
                summary=OVERVIEW.summary,
                parameters=OVERVIEW.parameters,
                result=ANYTHING,
            ),
            Endpoint(
                "GET",
                "/healthz",
                None,
                self.tell_health,
                summary="Whether the process works.",
                result=STATUS,
                also={503: STATUS},
            ),
            Endpoint(
                "GET",
                "/readyz",
                None,
                self.tell_readiness,
                summary="Whether the service is ready for requests.",
                result=STATUS,
                also={503: STATUS},
            ),
            Endpoint(
                "GET",
                "/openapi.json",
                "read",
                self.describe,
                summary="This description, as OpenAPI 3.1.",
                also={304: None},
            ),
        )
        described = json.dumps(describe(self.endpoints), ensure_ascii=False).encode()
        # A copy may be kept, but not by caches that others share: who sees it has a key.
        self._description = Content(described, JSON, "private, no-cache")

    async def describe(self, asked: Asked) -> Response:
        """Answer with the description of the service, which was made once."""
        return self._description.answer(asked.request)

    async def tell_health(self, _asked: Asked) -> Response:
        """Say whether the process is to be kept."""
        if self._store.failure is not None:
            return JSONResponse({"status": "failed"}, 503)
        return JSONResponse({"status": "ok"})

    async def tell_readiness(self, _asked: Asked) -> Response:
        """Say whether requests are to be sent here."""
        is_ready = self._store.failure is None and await to_thread.run_sync(
            self._can_read, limiter=self._keys
        )
        if not is_ready:
            return JSONResponse({"status": "not ready"}, 503)
        said = {"status": "ready"}
        if self._scheduler is not None:
            # Events are taken all the same, so that requests are still to be sent here.
            said["evaluation"] = "late" if self._scheduler.is_late else "on time"
        return JSONResponse(said)

    def _can_read(self) -> bool:
        try:
            self._store.find_key("")
        except (FileError, DeadlineError):
            return False
        return True


def make_app(
    store: Store,
    settings: Settings | None = None,
    *,
    write_log: Callable[[str], object] = write_stderr,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], int] = read_clock,
    poster: Poster | None = None,
    scheduler: Scheduler | None = None,
    run: Run | None = None,
    deadlines: Deadlines | None = None,
) -> ASGIApp:
    """Make the application, for any server of ASGI.

    Args:
        store: Where events and keys are; whoever opened it closes it.
        settings: How much is taken, and from whom.
        write_log: Takes the lines of the log.
        clock: Seconds that only grow.
        now: Gives the time, in microseconds since 1970 in UTC.
        poster: Posts to webhooks; to public addresses alone if left out.
        scheduler: Evaluates projects, if something does; whoever made it starts and stops it.
        run: Runs the reading of a large body, such as `Worker.run`; by default in a thread.
        deadlines: Limits how long reads take; made of the clock by default.
    """
    settings = settings or Settings()
    deadlines = deadlines or Deadlines(clock)
    service = Service(
        store,
        settings,
        clock,
        now,
        poster=poster,
        scheduler=scheduler,
        run=run,
        deadlines=deadlines,
    )
    limit = partial(deadlines.limit, settings.read_seconds)
    routes = list(_make_routes(service.endpoints, service.door, limit))
    # A router alone: the guard answers for what goes wrong, and nothing else does.
    return Guard(
        Router(routes, redirect_slashes=False),
        settings,
        Journal(write_log, now),
        service.show_problem,
    )


def _make_routes(
    endpoints: Iterable[Endpoint], door: Door, limit: Callable[[], AbstractContextManager[None]]
) -> Iterator[Route]:
    """Make a route a path, so that what is said of other methods names all that there are."""
    register_ids()
    paths: dict[str, dict[str, Callable[[Request], Awaitable[Response]]]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method] = door.answering(endpoint)
    for path, answers in paths.items():
        yield Route(path, _choose(answers, limit), methods=list(answers))


def _choose(
    answers: dict[str, Callable[[Request], Awaitable[Response]]],
    limit: Callable[[], AbstractContextManager[None]],
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        try:
            # For reads of keys and sessions; what the desk is asked has a deadline of its own.
            with limit():
                return await answers[method](request)
        except DeadlineError as error:
            raise as_late(error) from error

    return answer
