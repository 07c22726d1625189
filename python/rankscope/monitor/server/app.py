"""The application: its routes, in one table, and what they share."""

from __future__ import annotations

import time

from anyio import CapacityLimiter, to_thread
from starlette.responses import JSONResponse
from starlette.routing import Route, Router

from rankscope.errors import FileError
from rankscope.monitor.server.authenticating import Gate
from rankscope.monitor.server.guard import Guard
from rankscope.monitor.server.ingest import Ingest
from rankscope.monitor.server.journal import Journal, write_stderr
from rankscope.monitor.server.settings import Settings
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from rankscope.monitor.keys import Scope
    from rankscope.monitor.store.protocol import Store


@record(frozen=True, slots=True)
class Endpoint:
    """A route.

    Args:
        method: Of HTTP.
        path: Of the address.
        scope: What a key needs to be let in, or `None` where none is needed.
        answer: Answers a request.
    """

    method: str
    path: str
    scope: Scope | None
    answer: Callable[[Request], Awaitable[Response]]


class Service:
    """What routes share.

    Args:
        store: Where events and keys are.
        settings: How much is taken, and from whom.
        clock: Seconds that only grow.
        now: Gives the time, in microseconds since 1970 in UTC.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Callable[[], float],
        now: Callable[[], int],
    ) -> None:
        self._store = store
        self._readers = CapacityLimiter(settings.decoders)
        gate = Gate(store, settings, clock, self._readers)
        ingest = Ingest(store, gate, settings, now, CapacityLimiter(settings.decoders))
        self.endpoints = (
            Endpoint("POST", "/v1/rankings", "ingest", ingest.post_rankings),
            Endpoint("POST", "/v1/labels", "ingest", ingest.post_labels),
            Endpoint("GET", "/healthz", None, self.tell_health),
            Endpoint("GET", "/readyz", None, self.tell_readiness),
        )

    async def tell_health(self, _request: Request) -> Response:
        """Say whether the process is to be kept."""
        if self._store.failure is not None:
            return JSONResponse({"status": "failed"}, 503)
        return JSONResponse({"status": "ok"})

    async def tell_readiness(self, _request: Request) -> Response:
        """Say whether requests are to be sent here."""
        is_ready = self._store.failure is None and await to_thread.run_sync(
            self._can_read, limiter=self._readers
        )
        return JSONResponse(
            {"status": "ready"} if is_ready else {"status": "not ready"}, 200 if is_ready else 503
        )

    def _can_read(self) -> bool:
        try:
            self._store.find_key("")
        except FileError:
            return False
        return True


def read_clock() -> int:
    """Give the time, in microseconds since 1970 in UTC."""
    return time.time_ns() // 1000


def make_app(
    store: Store,
    settings: Settings | None = None,
    *,
    write_log: Callable[[str], object] = write_stderr,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], int] = read_clock,
) -> ASGIApp:
    """Make the application, for any server of ASGI.

    Args:
        store: Where events and keys are; whoever opened it closes it.
        settings: How much is taken, and from whom.
        write_log: Takes the lines of the log.
        clock: Seconds that only grow.
        now: Gives the time, in microseconds since 1970 in UTC.
    """
    settings = settings or Settings()
    service = Service(store, settings, clock, now)
    routes = [
        Route(endpoint.path, endpoint.answer, methods=[endpoint.method])
        for endpoint in service.endpoints
    ]
    # A router alone: the guard answers for what goes wrong, and nothing else does.
    return Guard(Router(routes, redirect_slashes=False), settings, Journal(write_log, now))
