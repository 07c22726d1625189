"""Routes of the API: functions of a monitor and a call, run by the pool and answered as JSON."""

from __future__ import annotations

from inspect import getdoc

from starlette.responses import JSONResponse, Response

from rankscope.monitor.server.routing.endpoint import Endpoint
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.routing.endpoint import Call
    from rankscope.monitor.server.routing.pool import MonitorPool
    from rankscope.monitor.store.keys import Scope


@record(frozen=True, slots=True)
class Route:
    """A route of the API.

    Args:
        method: The method of HTTP; a GET changes nothing, and callers may share its answer.
        path: The path.
        work: Returns the answer as JSON values, or `None` where it has no content. The first line
            of its docstring describes the route.
        scope: The scope that it requires (default: `read` for a GET, else `admin`).
        query: The type of its query.
        body: The type of its body.
        result: The type of its answer; `None` for an answer without content.
        status: The status of the answer (default: 200, or 204 for one without content).
        refuses: Statuses of refusals that don't follow from the other fields.
        is_trace: Whether it reads rankings, and not only windows.
    """

    method: str
    path: str
    work: Callable[[Monitor, Call], Any]
    scope: Scope | None = None
    query: Any = None
    body: Any = None
    result: Any = None
    status: int | None = None
    refuses: tuple[int, ...] = ()
    is_trace: bool = False


def make_endpoints(routes: Iterable[Route], pool: MonitorPool) -> tuple[Endpoint, ...]:
    """Make the endpoints of routes."""
    return tuple(_make_endpoint(route, pool) for route in routes)


def _make_endpoint(route: Route, pool: MonitorPool) -> Endpoint:
    status = route.status or (204 if route.result is None else 200)

    async def answer(call: Call) -> Response:
        def run(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            return route.work(monitor, call)

        if route.method == "GET":
            found = await pool.read(call, run, is_trace=route.is_trace)
        else:
            found = await pool.run(call.principal, run)
        return Response(status_code=204) if status == 204 else JSONResponse(found, status)

    return Endpoint(
        route.method,
        route.path,
        route.scope or ("read" if route.method == "GET" else "admin"),
        answer,
        summary=(getdoc(route.work) or "").partition("\n")[0],
        query=route.query,
        body=route.body,
        result=route.result,
        status=status,
        refuses=route.refuses,
    )
