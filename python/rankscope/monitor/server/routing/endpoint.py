"""An endpoint: its path, method, parameters, answers, and handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import getdoc
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from starlette.convertors import PathConvertor, register_url_convertor
from starlette.responses import JSONResponse, Response

from rankscope.monitor.links import Links
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.access.authenticator import Need, Principal
from rankscope.monitor.server.http.address import links_of
from rankscope.monitor.server.routing.pool import MonitorPool
from rankscope.monitor.shapes import describe_type, make_record

Kind: TypeAlias = Literal["api", "page", "form", "file"]

if TYPE_CHECKING:
    from starlette.requests import Request


JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """An authenticated request, with its query, form and body parsed.

    Args:
        request: The request.
        principal: The caller of a request.
        query: The query, of the type that the endpoint names.
        form: The fields of a form, by name, each with all its values.
        body: The body, of the type that the endpoint names; empty where it takes no JSON.
    """

    request: Request
    principal: Principal
    query: Any
    form: Mapping[str, tuple[str, ...]]
    body: Any

    @property
    def links(self) -> Links:
        """What makes addresses of the project of the request, for its caller."""
        return links_of(self.request).of(self.principal.project or None)

    def field(self, name: str) -> str:
        """Return the first value of a form field, or empty text if there is none."""
        return self.form.get(name, ("",))[0]

    def part(self, name: str) -> str:
        """Return the value of a path parameter."""
        return str(self.request.path_params[name])


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route.

    | kind | is | key | without it | answers |
    |---|---|---|---|---|
    | `api` | for programs | in the header; to read, also a session | 401 | JSON |
    | `page` | for people | session, or in the header | to the sign-in | HTML |
    | `form` | what a page sends | session, and its token | to the sign-in | HTML, or to a page |
    | `file` | what pages load | none | | its own type |

    Args:
        method: Of HTTP.
        path: The path; a name in braces stands for an id, `{name:id}` for one that may have
            slashes.
        scope: The scope that a key must have, or what a person must be, or `None` if anybody is
            let in.
        answer: The handler.
        kind: Who uses it; see the table.
        summary: What it does, in a line.
        query: The type of its query, a `TypedDict`; `None` where it takes none.
        body: The type of what it takes, or `None`; of a form, that of its fields without the
            token, which all forms of a session have.
        accepts: The media types of a body. If JSON is the only one, the body is validated before
            the handler runs.
        result: The type of what it answers, or `None` if that is not JSON.
        gives: The media type of the answer (default: that of its kind).
        status: The status of a successful answer.
        refuses: Statuses of refusals that don't follow from the other fields.
        also: Other answers by status: a type, or `None` for an answer without content.
        is_global: Whether it is outside of projects, as what needs no key always is.
    """

    method: str
    path: str
    scope: Need | None
    answer: Callable[[Call], Awaitable[Response]]
    kind: Kind = "api"
    summary: str = ""
    query: Any = None
    body: Any = None
    accepts: tuple[str, ...] = (JSON,)
    result: Any = None
    gives: str = ""
    status: int = 200
    refuses: tuple[int, ...] = ()
    also: Mapping[int, Any] = field(default_factory=dict)
    is_global: bool = False

    @property
    def takes_session(self) -> bool:
        """Whether a browser that is signed in needs no key."""
        return self.kind != "api" or (self.method == "GET" and self.scope != "ingest")

    @property
    def address(self) -> str:
        """The path that people know it by: pages of a project are below its address."""
        is_inside = self.kind in {"page", "form"} and self.scope and not self.is_global
        return f"/projects/{{project}}{self.path}" if is_inside else self.path

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON Schema of each parameter of the query, by name."""
        fields: Mapping[str, Any] = {}
        return fields if self.query is None else describe_type(self.query)["properties"]


class AnyId(PathConvertor):
    """An id in the path of a route, such as `{ranking_id:id}`, which may have slashes."""

    regex = "(?s:.+)"


register_url_convertor("id", AnyId())


@dataclass(frozen=True, slots=True)
class Route:
    """A route of the API, or what the form of a page sends.

    Args:
        method: The method of HTTP; a GET changes nothing, and callers may share its answer.
        path: The path.
        work: Returns the answer as JSON values, or `None` where it has no content.
        scope: The scope that it requires (default: `read` for a GET, else `admin`).
        query: The type of its query.
        body: The type of its body.
        result: The type of its answer; `None` for an answer without content.
        status: The status of the answer (default: 200, or 204 for one without content).
        refuses: Statuses of refusals that don't follow from the other fields.
        is_trace: Whether it reads rankings, and not only windows.
        is_slow: Whether it waits for other services.
        kind: Who uses it, as of `Endpoint`.
        summary: What it does, in a line (default: the first line of the docstring of `work`).
        is_global: Whether it is outside of projects.
    """

    method: str
    path: str
    work: Callable[[Monitor, Call], Any]
    scope: Need | None = None
    query: Any = None
    body: Any = None
    result: Any = None
    status: int | None = None
    refuses: tuple[int, ...] = ()
    is_trace: bool = False
    is_slow: bool = False
    kind: Kind = "api"
    summary: str = ""
    is_global: bool = False


def make_endpoints(
    routes: Iterable[Route],
    pool: MonitorPool,
    slow: MonitorPool,
    respond: Callable[[Route, Call, Any], Response] | None = None,
) -> tuple[Endpoint, ...]:
    """Make the endpoints of routes; those that wait for other services have a pool of their own.

    What work has returned is answered by `respond` (default: as JSON).
    """
    return tuple(
        _make_endpoint(route, slow if route.is_slow else pool, respond or _respond)
        for route in routes
    )


def _make_endpoint(
    route: Route, pool: MonitorPool, respond: Callable[[Route, Call, Any], Response]
) -> Endpoint:
    async def answer(call: Call) -> Response:
        def run(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            return route.work(monitor, call)

        if route.method == "GET":
            return respond(route, call, await pool.read(call, run, is_trace=route.is_trace))
        return await pool.run(call.principal, lambda monitor: respond(route, call, run(monitor)))

    return Endpoint(
        route.method,
        route.path,
        route.scope or ("read" if route.method == "GET" else "admin"),
        answer,
        route.kind,
        route.summary or (getdoc(route.work) or "").partition("\n")[0],
        query=route.query,
        body=route.body,
        result=route.result,
        status=_status_of(route),
        refuses=route.refuses,
        is_global=route.is_global,
    )


def _status_of(route: Route) -> int:
    return route.status or (204 if route.result is None else 200)


def _respond(route: Route, _call: Call, said: object) -> Response:
    status = _status_of(route)
    return Response(status_code=204) if status == 204 else JSONResponse(said, status)


def make_form_page(
    path: str,
    scope: Need,
    show: Callable[[Call], Awaitable[Response]],
    summary: str,
    forms: Mapping[str, tuple[Callable[[Call], Awaitable[Response]], str, tuple[str, ...]]],
) -> tuple[Endpoint, ...]:
    """Make the endpoints of a page outside of projects, and of its forms by their paths below it.

    A form has a handler, a summary, and the names of its fields.
    """

    def make_form(below: str) -> Endpoint:
        answer, said, fields = forms[below]
        body = make_record("Fields", dict.fromkeys(fields, str))
        return Endpoint(
            "POST", path + below, scope, answer, "form", said, body=body, status=303, is_global=True
        )

    page = Endpoint("GET", path, scope, show, "page", summary, is_global=True)
    return (page, *map(make_form, forms))
