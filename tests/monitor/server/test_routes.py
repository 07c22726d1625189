"""What holds for every route, as the table has them: a new one cannot be forgotten."""

from __future__ import annotations

import json

import pytest
from rankscope.monitor.server.app import Service as Application
from rankscope.monitor.server.guard import HEADERS
from rankscope.monitor.server.settings import Settings

from tests.monitor.server.service import NOW, Service, make_label, make_ranking

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW")
OPEN = {("GET", "/healthz"), ("GET", "/readyz")}


def endpoints(service: Service) -> dict[tuple[str, str], str | None]:
    """The scopes that routes need, by method and path."""
    made = Application(service.store, Settings(), lambda: 0.0, lambda: NOW)
    return {(one.method, one.path): one.scope for one in made.endpoints}


def test_nothing_but_health_is_open(service: Service) -> None:
    found = endpoints(service)
    assert {route for route, scope in found.items() if scope is None} == OPEN
    for method, path in found.keys() - OPEN:
        assert service.ask(method, path, b"{}", key=None).status_code == 401


def test_a_key_does_what_it_is_for_and_nothing_else(service: Service) -> None:
    for (method, path), scope in endpoints(service).items():
        for other in {"ingest", "read", "admin"} - {scope} if scope else ():
            answer = service.ask(method, path, b"{}", key=service.make_key("music", other))
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    assert service.store.counters("music") == {}


def test_other_methods_are_refused(service: Service) -> None:
    found = endpoints(service)
    for path in sorted({path for _, path in found}):
        allowed = {method for method, at in found if at == path}
        allowed |= {"HEAD"} if "GET" in allowed else set()
        for method in METHODS:
            override = {"x-http-method-override": "POST"}
            answer = service.ask(method, path, headers=override)
            if method in allowed:
                assert answer.status_code != 405
            else:
                assert answer.status_code == 405
                assert set(answer.headers["allow"].split(", ")) == allowed
    assert service.store.counters("music") == {}


def test_a_key_opens_its_own_project_whatever_is_asked(service: Service) -> None:
    films = service.make_key("films", "ingest")
    service.post("/v1/rankings", make_ranking(1), key=films)
    service.post("/v1/labels", make_label(1), key=films)
    before = service.store.counters("films")
    said = {"x-project": "films", "x-project-id": "1"}
    for (method, path), scope in endpoints(service).items():
        for made in (make_ranking(1), make_label(1)):
            body = json.dumps(made | {"project": "films", "project_id": 1}).encode()
            answer = service.ask(method, path, body, headers=said)
            assert answer.status_code == 200
            if scope:
                # It is not known to be there already: that is another project.
                assert answer.json()["duplicate"] == answer.json()["conflict"] == 0
    assert service.store.counters("films") == before
    assert service.store.counters("music")["accepted"] == 2


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1",
        "/v1/",
        "/v1/rankings/",
        "/V1/rankings",
        "//v1/rankings",
        "/v1/rankings/r1",
        "/docs",
        "/openapi.json",
        "/metrics",
        "/%2e%2e%2fetc/passwd",
        "/..%252f..%252fetc/passwd",
        "/v1\\rankings",
        "/v1/rankings%00",
        "/" + "a" * 8192,
    ],
)
def test_there_is_nothing_elsewhere(service: Service, path: str) -> None:
    for method in ("GET", "POST"):
        answer = service.ask(method, path, b"{}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
        assert (service.last_line()["status"], service.last_line()["route"]) == (404, None)


def test_every_answer_has_the_headers(service: Service) -> None:
    asked = [*endpoints(service), ("GET", "/nothing"), ("PUT", "/v1/labels")]
    for method, path in asked:
        for key in ("", None):
            for host in ("localhost", "evil.example"):
                answer = service.ask(method, path, b"", key=key, headers={"host": host})
                assert HEADERS.items() <= dict(answer.headers).items()
                assert len(answer.headers["x-request-id"]) == 16
                assert "server" not in answer.headers
                assert service.last_line()["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]", 200),
        ("[::1]:8000", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("evil.example:localhost", 421),
        ("localhost:", 421),
        ("localhost:80@evil.example", 421),
        ("localhost:a", 421),
        ("", 421),
    ],
)
def test_it_is_asked_under_its_own_names(service: Service, host: str, status: int) -> None:
    for method, path in OPEN:
        assert service.ask(method, path, headers={"host": host}).status_code == status


def test_it_is_ready_while_the_store_can_be_read(service: Service) -> None:
    assert service.ask("GET", "/healthz", key=None).json() == {"status": "ok"}
    assert service.ask("GET", "/readyz", key=None).json() == {"status": "ready"}
    assert service.ask("HEAD", "/readyz", key=None).text == ""
    for path in service.store.path.parent.glob("events.db*"):
        path.unlink()
    service.store.path.mkdir()
    assert service.ask("GET", "/readyz", key=None).status_code == 503
