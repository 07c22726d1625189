"""Dispatches a request to its endpoint: authentication, limits, and refusals."""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from rankscope.errors import FileError
from rankscope.monitor.events.fields import read_id
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.server.access.authenticator import ANONYMOUS, Authenticator, Principal
from rankscope.monitor.server.access.origin import demand_own_page
from rankscope.monitor.server.access.rates import ConcurrencyLimiter
from rankscope.monitor.server.http.body import (
    MemoryBudget,
    check_length,
    parse_value,
    read_media_type,
    receive_body,
)
from rankscope.monitor.server.http.problems import RefusedRequestError, as_refusal
from rankscope.monitor.server.http.query import (
    QueryReader,
    check_form_type,
    parse_form,
)
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.routing.endpoint import JSON, Call, Endpoint
from rankscope.monitor.shapes import validate
from rankscope.monitor.store.store import Store

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope


TOO_MANY = 429
REFUSING_SECONDS = 0.1


class Dispatcher:
    """Checks requests and passes those that are allowed on to their endpoints.

    Args:
        authenticator: Authenticates callers.
        settings: Limits on bodies.
        memory: Counts the bytes of bodies.
        refusals: Counts refused requests of callers that may send events.
        show_problem: Renders the page of a refusal.
    """

    def __init__(
        self,
        authenticator: Authenticator,
        settings: Settings,
        memory: MemoryBudget,
        refusals: RefusalCounter,
        show_problem: Callable[[RefusedRequestError, Scope], Response],
    ) -> None:
        self._authenticator = authenticator
        self._settings = settings
        self._small = replace(settings, body_bytes=settings.small_bytes)
        self._memory = memory
        self._refusals = refusals
        self._show_problem = show_problem
        self._reads = ConcurrencyLimiter(settings.reads_per_key)
        self._ingests = ConcurrencyLimiter(settings.ingests_per_key)

    def answering(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of requests for an endpoint."""
        query = QueryReader(endpoint.query)

        async def answer(request: Request) -> Response:
            if endpoint.kind in {"page", "form"}:
                request.state.show_problem = self._show_problem
            try:
                query.refuse_secrets(request)
                principal = await self._admit(endpoint, request)
                turns = self._ingests if endpoint.scope == "ingest" else self._reads
                # The caller is authenticated before anything of a body is read.
                async with turns.take(principal.actor) if endpoint.scope else nullcontext():
                    call = await self._read(endpoint, query, request, principal)
                    return await endpoint.answer(call)
            except (RefusedRequestError, FileError) as error:
                self._count(endpoint, request, error)
                if getattr(error, "status", 0) == TOO_MANY:
                    # Slows down clients that retry at once over many connections.
                    await asyncio.sleep(REFUSING_SECONDS)
                raise

        return answer

    async def _read(
        self, endpoint: Endpoint, reader: QueryReader, request: Request, principal: Principal
    ) -> Call:
        self._check_ids(request)
        query = reader.read(request)
        form: Mapping[str, tuple[str, ...]] = {}
        body: Mapping[str, Any] = {}
        if endpoint.kind == "form":
            check_form_type(request)
            form = parse_form(await self._receive(request))
            if endpoint.scope is not None:
                _check_token(form, principal)
        elif endpoint.body is not None and endpoint.accepts == (JSON,):
            body = await self._receive_object(request, endpoint.body)
        return Call(request, principal, query, form, body)

    def _count(self, endpoint: Endpoint, request: Request, error: Exception) -> None:
        principal = getattr(request.state, "principal", ANONYMOUS)
        problem = as_refusal(error) if isinstance(error, FileError) else error
        is_sender = endpoint.scope == "ingest" and "ingest" in principal.scopes
        if is_sender and isinstance(problem, RefusedRequestError):
            self._refusals.count(principal.project, problem.code)

    async def _admit(self, endpoint: Endpoint, request: Request) -> Principal:
        if endpoint.kind == "form":
            demand_own_page(request)
        if endpoint.scope is None:
            self._authenticator.pass_by(request)
            return ANONYMOUS
        if endpoint.kind != "api":
            return await self._authenticator.enter_page(
                request, endpoint.scope, is_global=endpoint.is_global
            )
        return await self._authenticator.enter(
            request,
            endpoint.scope,
            by_session=endpoint.takes_session,
            is_global=endpoint.is_global,
        )

    def _check_ids(self, request: Request) -> None:
        try:
            for name, value in request.path_params.items():
                read_id(value, name, self._settings.events.id_bytes)
        except RefusedError:  # nothing can be stored under such an id
            raise RefusedRequestError(404, "there is nothing here", code="not_found") from None

    async def _receive_object(self, request: Request, kind: Any) -> Any:  # noqa: ANN401 - a type
        if read_media_type(request) != "application/json" or "content-encoding" in request.headers:
            raise RefusedRequestError(
                415, "expected a body of application/json, as it is", code="content_type"
            )
        value = parse_value(await self._receive(request))
        try:
            if isinstance(value, RefusedError):
                raise value
            return validate(value, kind)
        except RefusedError as error:
            raise RefusedRequestError(422, error.message, code=error.code) from None

    async def _receive(self, request: Request) -> bytes:
        check_length(request, self._small)
        with self._memory.reserve() as hold:
            return await receive_body(request, self._small, hold)


def _check_token(form: Mapping[str, tuple[str, ...]], principal: Principal) -> None:
    """Refuse a form that doesn't have the token of its session."""
    said = form.get("csrf", ())
    token = principal.csrf.encode()
    if not token or len(said) != 1 or not hmac.compare_digest(said[0].encode(), token):
        raise RefusedRequestError(
            403,
            "expected a form of this session: go back, load the page again, and send it again",
            code="csrf",
        )


PREFIX = "request:"
"""The prefix of these counters in the store; the others count single events."""


class RefusalCounter:
    """Counts refused requests in the store, by project and code.

    Counts that the store can't take now are added to the next ones.

    Args:
        store: The store of the counters.
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
