"""Describes the service as OpenAPI 3.1, from the table of its routes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from rankscope._core import __version__
from rankscope.monitor.server.api.fields import Object, PathParameters
from rankscope.monitor.server.http.body import ARROW
from rankscope.monitor.server.http.problems import Problem
from rankscope.monitor.server.http.query import FORM
from rankscope.monitor.server.routing.endpoint import JSON, Endpoint
from rankscope.monitor.shapes import describe_type

NAMED = re.compile(r"{(\w+)(?::id)?}")
REFUSALS = {
    "400": "The request can't be read, or its address contains a key.",
    "401": "The key is missing or not valid.",
    "403": "The key doesn't have the required scope, or the request comes from another site.",
    "404": "Not found in the project of the key.",
    "408": "The body took too long to arrive.",
    "409": "The project isn't configured, or no key with the scope admin would be left.",
    "413": "The body is too large.",
    "414": "The address is too long.",
    "415": "The body has a type or an encoding that isn't supported.",
    "421": "The service isn't reached under this host name.",
    "422": "A value is not valid; `error.message` says which one.",
    "429": "Too many requests. Retry after the seconds in `retry-after`.",
    "500": "Internal error.",
    "503": "The service is busy or stopping. Retry after the seconds in `retry-after`.",
    "507": "The disk is full. Retry after the seconds in `retry-after`.",
}
"""Why a request is refused, by status."""

BEFORE_ROUTING = frozenset({"400", "414", "421", "500", "503"})
"""Statuses that the middleware also answers before it knows the route: as JSON, for pages too."""

SECURITY = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key of the service, rk_…; it opens one project, for its scopes.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-rankscope-session",
        "description": "The session of a browser that signed in; without __Host- on plain HTTP.",
    },
}

TEXT = {"type": "string"}
PROBLEM_REF = {"$ref": "#/components/schemas/Problem"}
SEE_OTHER = 303
REDIRECT = {
    "description": "Go on at the address in `location`; to the sign-in page without a session.",
    "headers": {"location": {"required": True, "schema": TEXT}},
}
ASK_AGAIN = frozenset({"429", "503", "507"})
CSRF = {
    "type": "string",
    "pattern": "^[0-9a-f]{64}$",
    "description": "The token in the form of a page of the same session.",
}


def describe(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """Describe routes as OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    records: dict[str, Any] = {}
    _refer(Problem, records)
    for endpoint in endpoints:
        if endpoint.kind != "file":
            path = NAMED.sub(r"{\1}", endpoint.address)
            paths.setdefault(path, {})[endpoint.method.lower()] = _describe(endpoint, records)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rankscope",
            "version": __version__,
            "description": "Ranking quality in production. A key opens one project, and every "
            "answer belongs to that project, but for the list of projects. Times are in UTC.",
        },
        "servers": [
            {"url": ".", "description": "The project of the key."},
            {
                "url": "./projects/{project}",
                "description": "Any project that the caller may see.",
                "variables": {"project": {"default": "default"}},
            },
        ],
        "paths": paths,
        "components": {
            "securitySchemes": SECURITY,
            "schemas": {**records, "Problem": _refer(Problem, records)},
            "responses": {
                **{f"Refused{status}": _refuse(status) for status in REFUSALS},
                **{f"RefusedPage{status}": _refuse(status, is_page=True) for status in REFUSALS},
            },
        },
    }


STREAM = {
    "type": "string",
    "format": "binary",
    "description": "A stream of Arrow, not compressed and without dictionaries: a label a row, a "
    "document a row, or a ranking a row with lists of documents.",
}


def _refer(kind: Any, records: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a type
    """Describe a type, and keep the records that it refers to by their names."""
    schema = dict(describe_type(kind))
    records |= schema.pop("$defs", {})
    return schema


def _describe(endpoint: Endpoint, records: dict[str, Any]) -> dict[str, Any]:
    in_path = _refer(PathParameters, records)["properties"]
    query = {} if endpoint.query is None else _refer(endpoint.query, records)
    said: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": _name(endpoint),
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": in_path[name]}
                for name in NAMED.findall(endpoint.address)
            ),
            *(
                _describe_parameter(name, schema, is_required=name in query.get("required", ()))
                for name, schema in query.get("properties", {}).items()
            ),
        ],
        "responses": _list_refusals(endpoint) | _list_answers(endpoint, records),
        "security": _secure(endpoint),
    }
    if endpoint.body is not None:
        body = _refer(endpoint.body, records)
        if endpoint.kind == "form":
            kinds = {FORM: _add_token(body) if endpoint.scope else body}
        else:
            known = {JSON: body, ARROW: STREAM}
            kinds = {
                kind: known.get(kind) or _describe_lines(kind, body) for kind in endpoint.accepts
            }
        said["requestBody"] = {
            "required": True,
            "content": {kind: {"schema": schema} for kind, schema in kinds.items()},
        }
    return said


def _describe_lines(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    """Describe lines of JSON, each of which is what a body of JSON may be, too, or has a list of.

    JSON Schema takes them for one text, whose content it can only name.
    """
    one, _ = body["anyOf"]
    lines = [json.dumps(each) for each in body["examples"][-1]]
    return {
        "type": "string",
        "description": "One object on each line.",
        "contentMediaType": kind,
        "contentSchema": one,
        "examples": ["\n".join(lines) + "\n"],
    }


def _add_token(form: dict[str, Any]) -> dict[str, Any]:
    """Add the token that proves which page sent a form."""
    properties = {**form.get("properties", {}), "csrf": CSRF}
    return {**form, "properties": properties, "required": ["csrf"]}


def _name(endpoint: Endpoint) -> str:
    words = re.findall(r"\w+", endpoint.path.replace(":id", "")) or [
        "projects" if endpoint.is_global else "overview"
    ]
    return "_".join([endpoint.method.lower(), *words])


def _describe_parameter(name: str, schema: dict[str, Any], *, is_required: bool) -> dict[str, Any]:
    shape = dict(schema)
    said = {name: shape.pop(name) for name in ("description",) if name in shape}
    return {"name": name, "in": "query", "required": is_required, **said, "schema": shape}


def _list_answers(endpoint: Endpoint, records: dict[str, Any]) -> dict[str, Any]:
    """Describe what is answered if all is well, and what only this route answers."""
    answers: dict[str, Any] = {str(endpoint.status): _answer(endpoint, records)}
    for status, kind in endpoint.also.items():
        if status == SEE_OTHER:
            answers[str(status)] = REDIRECT
        elif kind is None:
            answers[str(status)] = {"description": "The copy that you have is still current."}
        else:
            either = {"oneOf": [_refer(kind, records), PROBLEM_REF]}
            answers[str(status)] = {
                "description": endpoint.summary,
                "content": {JSON: {"schema": either}},
            }
    if endpoint.kind in {"page", "form"} and endpoint.scope is not None:
        answers["303"] = REDIRECT
    return answers


def _answer(endpoint: Endpoint, records: dict[str, Any]) -> dict[str, Any]:
    if endpoint.status == 204:
        return {"description": "Done."}
    if endpoint.status == SEE_OTHER:
        return REDIRECT
    kind = endpoint.gives or ("text/html" if endpoint.kind == "page" else JSON)
    schema = _refer(endpoint.result or Object, records) if kind == JSON else TEXT
    return {"description": endpoint.summary, "content": {kind: {"schema": schema}}}


def _list_refusals(endpoint: Endpoint) -> dict[str, Any]:
    takes_body = endpoint.body is not None or endpoint.kind == "form"
    statuses = {"400", "414", "421", "429", "500", "503", *map(str, endpoint.refuses)}
    for applies, others in (
        (endpoint.scope is not None, {"401", "403"}),
        (endpoint.kind == "form", {"403"}),
        (endpoint.scope in {"read", "edit", "admin"}, {"409"}),
        ("{" in endpoint.address, {"404", "422"}),
        (endpoint.query is not None, {"422"}),
        (takes_body, {"408", "413", "415", "422"}),
        (endpoint.method != "GET", {"507"}),
    ):
        statuses |= others if applies else set()
    kind = "RefusedPage" if endpoint.kind in {"page", "form"} else "Refused"
    return {
        status: {"$ref": f"#/components/responses/{kind}{status}"} for status in sorted(statuses)
    }


def _secure(endpoint: Endpoint) -> list[dict[str, list[str]]]:
    if endpoint.scope is None:
        return []
    by_session: list[dict[str, list[str]]] = [{"session": []}]
    if endpoint.kind == "form":
        return by_session
    by_key: list[dict[str, list[str]]] = [{"key": []}]
    return by_key + by_session if endpoint.takes_session else by_key


def _refuse(status: str, *, is_page: bool = False) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if is_page:
        content["text/html"] = {"schema": TEXT}
    if not is_page or status in BEFORE_ROUTING:
        content[JSON] = {"schema": PROBLEM_REF}
    said: dict[str, Any] = {"description": REFUSALS[status], "content": content}
    if status in ASK_AGAIN:
        said["headers"] = {"retry-after": {"schema": {"type": "string", "pattern": "^[0-9]+$"}}}
    return said
