"""Describes the service as OpenAPI 3.1, from the table of its routes."""

from __future__ import annotations

import re

from rankscope._core import __version__
from rankscope.monitor.server.api.schemas import PROBLEM
from rankscope.monitor.server.endpoint import JSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from rankscope.monitor.server.endpoint import Endpoint, Schema
    from rankscope.monitor.server.parameter import Parameter

NAMED = re.compile(r"{(\w+)(?::id)?}")
REFUSALS = {
    "400": "It cannot be read, or a key is in the address.",
    "401": "There is no key, or it opens nothing.",
    "403": "The key is for something else, or another page asks.",
    "404": "There is no such thing in the project of the key.",
    "409": "The project is not configured.",
    "413": "It is larger than allowed.",
    "415": "It is of another type.",
    "422": "It asks for something that cannot be.",
    "429": "There are too many requests; come back after Retry-After.",
    "500": "Something is wrong with the service.",
    "503": "The service has too much to do, or cannot; come back after Retry-After.",
    "507": "The disk is full; come back after Retry-After.",
}
"""By status, why a request is refused."""

SECURITY = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key of the service, rk_…; it opens one project, for the scopes it has.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-rankscope-session",
        "description": "The session of a browser that signed in; without __Host- on plain HTTP.",
    },
}


def describe(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """Describe routes.

    Args:
        endpoints: The routes; files are left out.
    """
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        if endpoint.kind != "file":
            path = NAMED.sub(r"{\1}", endpoint.path)
            paths.setdefault(path, {})[endpoint.method.lower()] = _describe(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rankscope",
            "version": __version__,
            "description": "Ranking quality in production. Every answer belongs to the project "
            "that the key opens; times are in UTC.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": SECURITY,
            "schemas": {"Problem": PROBLEM},
            "responses": {f"Refused{status}": _refuse(text) for status, text in REFUSALS.items()},
        },
    }


def _describe(endpoint: Endpoint) -> dict[str, Any]:
    said: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": _name(endpoint),
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in NAMED.findall(endpoint.path)
            ),
            *(_describe_parameter(one) for one in endpoint.parameters),
        ],
        "responses": {str(endpoint.status): _answer(endpoint)} | _list_refusals(endpoint),
        "security": _secure(endpoint),
    }
    if endpoint.body is not None:
        said["requestBody"] = {
            "required": True,
            "content": {
                kind: {"schema": endpoint.body if kind == JSON else _of_type(kind)}
                for kind in endpoint.accepts
            },
        }
    return said


def _name(endpoint: Endpoint) -> str:
    words = re.findall(r"\w+", endpoint.path.replace(":id", "")) or ["overview"]
    return "_".join([endpoint.method.lower(), *words])


def _describe_parameter(parameter: Parameter) -> dict[str, Any]:
    schema = dict(parameter.schema)
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.is_needed,
        "description": parameter.summary,
        "schema": {"type": "array", "items": schema} if parameter.is_many else schema,
    }


def _answer(endpoint: Endpoint) -> dict[str, Any]:
    if endpoint.status == 204:
        return {"description": "It is done."}
    if endpoint.status == 303:
        return {
            "description": "It is done; go on there.",
            "headers": {"location": {"schema": {"type": "string"}}},
        }
    is_page = endpoint.kind in {"page", "form"}
    kind = endpoint.gives or ("text/html" if is_page else JSON)
    schema = endpoint.result if endpoint.result is not None else _of_type(kind)
    return {"description": endpoint.summary, "content": {kind: {"schema": schema}}}


def _of_type(kind: str) -> Schema:
    return {"type": "object"} if kind == JSON else {"type": "string"}


def _list_refusals(endpoint: Endpoint) -> dict[str, Any]:
    found = {"400", "500", "503"}
    if endpoint.scope is not None:
        found |= {"401", "403", "429"}
    if endpoint.parameters or endpoint.body is not None:
        found |= {"422"}
    if "{" in endpoint.path:
        found |= {"404"}
    if endpoint.scope in {"read", "admin"}:
        found |= {"409"}
    if endpoint.method in {"POST", "PUT"}:
        found |= {"413", "415", "507"}
    return {status: {"$ref": f"#/components/responses/Refused{status}"} for status in sorted(found)}


def _secure(endpoint: Endpoint) -> list[dict[str, list[str]]]:
    if endpoint.scope is None:
        return []
    by_session: list[dict[str, list[str]]] = [{"session": []}]
    if endpoint.kind == "form":
        return by_session
    by_key: list[dict[str, list[str]]] = [{"key": []}]
    return by_key if endpoint.kind == "api" else by_key + by_session


def _refuse(text: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": text, "content": {"application/json": {"schema": schema}}}
