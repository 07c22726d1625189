"""What the service says of itself is true: each answer is as it is described."""

from __future__ import annotations

from openapi_spec_validator import validate
from rankscope.monitor.server.api.openapi import NAMED, describe

from tests.monitor.server.test_routes import list_endpoints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.monitor.server.service import Service


def test_it_is_openapi(service: Service) -> None:
    answer = service.ask("GET", "/openapi.json", key=service.make_key("music", "read"))
    assert answer.status_code == 200
    validate(answer.json())


def test_it_has_every_route_but_files() -> None:
    endpoints = list_endpoints()
    described = describe(endpoints)["paths"]
    assert {(path, method) for path, methods in described.items() for method in methods} == {
        (NAMED.sub(r"{\1}", one.path), one.method.lower())
        for one in endpoints
        if one.kind != "file"
    }
    for one in endpoints:
        if one.kind == "file":
            continue
        said = described[NAMED.sub(r"{\1}", one.path)][one.method.lower()]
        assert said["summary"] == one.summary != ""
        assert ("requestBody" in said) == (one.body is not None)
        assert bool(said["security"]) == (one.scope is not None)


def test_names_of_operations_are_names() -> None:
    named = [
        said["operationId"]
        for methods in describe(list_endpoints())["paths"].values()
        for said in methods.values()
    ]
    assert len(set(named)) == len(named)
    assert all(name.isidentifier() for name in named)
