"""Dispatches a request to its endpoint: authentication, limits, and refusals."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from threading import Lock
from typing import cast

from rankscope.errors import FileError
from rankscope.monitor.events.fields import read_id
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.server.access.origin import demand_own_page
from rankscope.monitor.server.access.principal import NOBODY
from rankscope.monitor.server.access.rates import Turns
from rankscope.monitor.server.http.body import check_length, read_form, receive_body
from rankscope.monitor.server.http.endpoint import JSON, Asked
from rankscope.monitor.server.http.parser import Parser
from rankscope.monitor.server.http.problems import RefusedRequestError, as_refusal
from rankscope.monitor.server.http.query import (
    check_form_type,
    check_token,
    parse_form,
    read_parameters,
    refuse_secrets,
)
from rankscope.monitor.server.http.schema import check_fit
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from concurrent.futures import Future
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from rankscope.monitor.server.access.authenticator import Gate
    from rankscope.monitor.server.access.principal import Visitor
    from rankscope.monitor.server.http.body import Held
    from rankscope.monitor.server.http.endpoint import Endpoint, Schema
    from rankscope.monitor.server.settings import Settings
    from rankscope.monitor.store.store import Store

TOO_MANY = 429
REFUSING_SECONDS = 0.1


class Door:
    """Lets what may be asked through to endpoints.

    Args:
        gate: Knows who asks.
        settings: How large a form, or an object, may be.
        held: Counts the bytes of bodies.
        refusals: Counts what is not taken of those who may send events.
        show_problem: Makes the page that says why a request is refused.
    """

    def __init__(
        self,
        gate: Gate,
        settings: Settings,
        held: Held,
        refusals: Refusals,
        show_problem: Callable[[RefusedRequestError, str], Response],
    ) -> None:
        self._gate = gate
        self._settings = settings
        self._small = replace(settings, body_bytes=settings.small_bytes)
        self._held = held
        self._refusals = refusals
        self._show_problem = show_problem
        self._reads = Turns(settings.reads_per_key)
        self._ingests = Turns(settings.ingests_per_key)

    def answering(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        """Give what answers requests for an endpoint."""

        async def answer(request: Request) -> Response:
            if endpoint.kind in {"page", "form"}:
                request.state.show_problem = self._show_problem
            try:
                visitor = await self._admit(endpoint, request)
                if endpoint.scope is None:
                    return await endpoint.answer(await self._read(endpoint, request, visitor))
                turns = self._ingests if endpoint.scope == "ingest" else self._reads
                # Who asks is known before anything of a body is read.
                async with turns.take(visitor.actor):
                    return await endpoint.answer(await self._read(endpoint, request, visitor))
            except (RefusedRequestError, FileError) as error:
                self._count(endpoint, request, error)
                if getattr(error, "status", 0) == TOO_MANY:
                    # Who asks again at once, over many connections, is slowed down by this alone.
                    await asyncio.sleep(REFUSING_SECONDS)
                raise

        return answer

    async def _admit(self, endpoint: Endpoint, request: Request) -> Visitor:
        refuse_secrets(request, endpoint.parameters)
        if endpoint.kind == "form":
            demand_own_page(request)
        return await self._enter(endpoint, request)

    async def _read(self, endpoint: Endpoint, request: Request, visitor: Visitor) -> Asked:
        self._check_ids(request)
        query = read_parameters(request, endpoint.parameters)
        form: Mapping[str, tuple[str, ...]] = {}
        body: Mapping[str, Any] = {}
        if endpoint.kind == "form":
            check_form_type(request)
            form = parse_form(await self._receive(request))
            if endpoint.scope is not None:
                check_token(form, visitor)
        elif endpoint.body is not None and endpoint.accepts == (JSON,):
            body = await self._receive_object(request, endpoint.body)
        return Asked(request, visitor, query, form, body)

    def _count(self, endpoint: Endpoint, request: Request, error: Exception) -> None:
        visitor = getattr(request.state, "visitor", NOBODY)
        problem = as_refusal(error) if isinstance(error, FileError) else error
        is_sender = endpoint.scope == "ingest" and "ingest" in visitor.scopes
        if is_sender and isinstance(problem, RefusedRequestError):
            self._refusals.count(visitor.project, problem.code)

    async def _enter(self, endpoint: Endpoint, request: Request) -> Visitor:
        if endpoint.scope is None:
            self._gate.pass_by(request)
            return NOBODY
        if endpoint.kind == "api":
            return await self._gate.enter(request, endpoint.scope)
        return await self._gate.enter_page(request, endpoint.scope, sends=endpoint.kind != "twin")

    def _check_ids(self, request: Request) -> None:
        try:
            for name, value in request.path_params.items():
                read_id(value, name, self._settings.events.id_bytes)
        except RefusedError:  # nothing is stored under such an id
            raise RefusedRequestError(404, "there is nothing here", code="not_found") from None

    async def _receive_object(self, request: Request, schema: Schema) -> Mapping[str, Any]:
        if read_form(request) != "application/json" or "content-encoding" in request.headers:
            raise RefusedRequestError(
                415, "expected a body of application/json, as it is", code="content_type"
            )
        value = Parser(1).parse_one(await self._receive(request))
        try:
            if isinstance(value, RefusedError):
                raise value
            return cast("Mapping[str, Any]", check_fit(value, schema))
        except RefusedError as error:
            raise RefusedRequestError(422, error.message, code=error.code) from None

    async def _receive(self, request: Request) -> bytes:
        check_length(request, self._small)
        with self._held.hold() as hold:
            return await receive_body(request, self._small, hold)


PREFIX = "request:"
"""Before the code in the counters of a store, for there the others count single events."""


class Refusals:
    """Counts refused requests in the store, by project and code.

    What the store does not take now, it is given together with the next.

    Args:
        store: Where it is counted.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._waiting: dict[str, Counter[str]] = {}

    def count(self, project: str, code: str) -> None:
        """Count a request, without waiting until that is stored."""
        with self._lock:
            counts = self._waiting.pop(project, Counter())
        counts[PREFIX + code] += 1
        try:
            stored = self._store.submit(project, [], counts)
        except FileError:
            self._keep(project, counts)
        else:
            stored.add_done_callback(partial(self._see, project, counts))

    def _see(self, project: str, counts: Counter[str], stored: Future[object]) -> None:
        if stored.cancelled() or stored.exception() is not None:
            self._keep(project, counts)

    def _keep(self, project: str, counts: Counter[str]) -> None:
        with self._lock:
            self._waiting.setdefault(project, Counter()).update(counts)
