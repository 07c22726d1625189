"""What holds for every route, as the table has them: a new one cannot be forgotten."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, cast
from urllib.parse import quote

import pytest
from rankscope.monitor.server.app import Service as Application
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.routing.endpoint import Endpoint
from rankscope.monitor.server.routing.middleware import HEADERS, PAGE_POLICY
from rankscope.monitor.server.routing.static import KEPT
from rankscope.monitor.store.keys import SCOPES
from rankscope.monitor.store.store import Store

from tests.monitor.server.music import MUSIC, open_monitor
from tests.monitor.server.service import MakeService, Service, make_label, make_ranking

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW")
OPEN = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("GET", "/set-password"),
    ("POST", "/set-password"),
}
FORM = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin"}


@cache
def list_endpoints() -> tuple[Endpoint, ...]:
    """The table of routes; it is looked at, so that it needs no store."""
    return Application(cast("Store", None)).endpoints


def path_of(endpoint: Endpoint) -> str:
    """An address of a route."""
    return re.sub(r"{\w+(:id)?}", "r1", endpoint.path)


def ask(service: Service, endpoint: Endpoint, key: str | None, body: bytes = b"{}") -> Any:  # noqa: ANN401 - as `ask` gives it
    """Ask at an endpoint, as what it is for would."""
    headers = FORM if endpoint.kind == "form" else {}
    return service.ask(endpoint.method, path_of(endpoint), body, key=key, headers=headers)


def test_nothing_is_open_but_health_and_how_to_sign_in(make_service: MakeService) -> None:
    service = make_service(Settings(failure_burst=10_000))
    for endpoint in list_endpoints():
        if endpoint.scope is None:
            is_file = endpoint.method == "GET" and endpoint.kind == "file"
            assert is_file or (endpoint.method, endpoint.path) in OPEN
            continue
        for key in (None, "rk_x", f"rk_{'0' * 16}_{'0' * 64}"):
            answer = ask(service, endpoint, key)
            if key is None and endpoint.kind in {"page", "form"}:
                assert answer.status_code == 303
                assert answer.headers["location"].startswith("/sign-in?next=%2F")
            else:
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"


def test_a_key_does_what_it_is_for_and_nothing_else(service: Service) -> None:
    keys = {scope: service.make_key("music", scope) for scope in SCOPES}
    for endpoint in list_endpoints():
        for scope, key in keys.items():
            # Who makes keys could make one that edits.
            allowed = {None, scope, *(["edit"] if scope == "admin" else [])}
            if endpoint.scope not in allowed:
                answer = ask(service, endpoint, key)
                assert answer.status_code == 403
                assert service.last_line()["code"] == "forbidden"
    assert service.store.counters("music") == {}


@pytest.mark.slow
def test_other_methods_are_refused(service: Service) -> None:
    allowed: dict[str, set[str]] = {}
    for endpoint in list_endpoints():
        allowed.setdefault(path_of(endpoint), set()).add(endpoint.method)
    for path, named in allowed.items():
        methods = named | ({"HEAD"} if "GET" in named else set())
        for method in METHODS:
            override = {"x-http-method-override": "POST"}
            answer = service.ask(method, path, headers=override)
            if method in methods:
                assert answer.status_code != 405
            else:
                assert answer.status_code == 405
                assert set(answer.headers["allow"].split(", ")) == methods
    assert service.store.last_seq == 0


def test_events_are_of_the_project_of_the_key_whatever_is_asked(service: Service) -> None:
    films = service.make_key("films", "ingest")
    service.post("/v1/rankings", make_ranking(1), key=films)
    service.post("/v1/labels", make_label(1), key=films)
    before = service.store.counters("films")
    said = {"x-project": "films", "x-project-id": "1"}
    for path, made in (("/v1/rankings", make_ranking(1)), ("/v1/labels", make_label(1))):
        body = json.dumps(made | {"project": "films", "project_id": 1}).encode()
        answer = service.ask("POST", path, body, headers=said)
        # It is not known to be there already: that is another project.
        assert (answer.status_code, answer.json()["accepted"]) == (200, 1)
    assert service.store.counters("films") == before
    assert service.store.counters("music")["accepted"] == 2


@pytest.mark.parametrize(
    "path",
    [
        "/v1",
        "/v1/",
        "/V1/rankings",
        "/v1//rankings",
        "/docs",
        "/%2e%2e%2fetc/passwd",
        "/..%252f..%252fetc/passwd",
        "/v1\\rankings",
        "/v1/rankings%00",
        "/" + "a" * 8192,
    ],
)
def test_there_is_nothing_elsewhere(shared: Service, path: str) -> None:
    for method in ("GET", "POST"):
        answer = shared.ask(method, path, b"{}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
        assert (shared.last_line()["status"], shared.last_line()["route"]) == (404, None)


@pytest.mark.parametrize("length", [(16 << 10) - 1, 16 << 10, (16 << 10) + 1])
def test_an_address_has_at_most_16_kib(shared: Service, length: int) -> None:
    path = "/" + "x" * 1022 + "?"
    answer = shared.ask("GET", path + "x" * (length + 1 - len(path)))
    assert answer.status_code == (414 if length > 16 << 10 else 404)


def test_every_answer_has_the_headers(service: Service) -> None:
    asked = [(one.method, path_of(one)) for one in list_endpoints()]
    for method, path in [*asked, ("GET", "/nothing"), ("PUT", "/v1/labels")]:
        for key in ("", None):
            for host in ("localhost", "evil.example"):
                answer = service.ask(method, path, b"", key=key, headers={"host": host})
                said = dict(HEADERS)
                if answer.headers.get("content-type", "").startswith("text/html"):
                    said["content-security-policy"] = PAGE_POLICY
                if answer.is_success and path.startswith("/static/"):
                    said["cache-control"] = KEPT
                assert said.items() <= dict(answer.headers).items()
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
def test_it_is_asked_under_its_own_names(shared: Service, host: str, status: int) -> None:
    for method, path in (("GET", "/healthz"), ("GET", "/readyz")):
        assert shared.ask(method, path, headers={"host": host}).status_code == status


def test_it_is_ready_while_the_store_can_be_read(service: Service) -> None:
    assert service.ask("GET", "/healthz", key=None).json() == {"status": "ok"}
    assert service.ask("GET", "/readyz", key=None).json() == {"status": "ready"}
    assert service.ask("HEAD", "/readyz", key=None).text == ""
    for path in service.store.path.parent.glob("events.db*"):
        path.unlink()
    service.store.path.mkdir()
    assert service.ask("GET", "/readyz", key=None).status_code == 503


def inside(project: str, path: str) -> str:
    return f"/projects/{quote(project, safe='')}{path}"


def test_a_key_gets_nothing_of_any_other_project_at_any_route(service: Service) -> None:
    keys = {name: service.make_key(name, *SCOPES) for name in ("music", "films")}
    for endpoint in list_endpoints():
        headers = FORM if endpoint.kind == "form" else {}
        for project in ("films", "nowhere", "music/", ""):
            path = inside(project, path_of(endpoint))
            answer = service.ask(endpoint.method, path, b"{}", key=keys["music"], headers=headers)
            # Whether there is such a project is not told.
            assert answer.status_code == 404, path
            assert service.last_line()["code"] == "not_found"
            assert "films" not in answer.text
    assert service.store.counters("films") == service.store.counters("music") == {}


def test_routes_of_a_project_are_below_its_address(shared: Service) -> None:
    key = shared.make_key("music", *SCOPES)
    for endpoint in list_endpoints():
        path = inside("music", path_of(endpoint))
        if endpoint.method == "GET":
            answer = shared.ask("GET", path, key=key)
            line = shared.last_line()
            if endpoint.path == "/":
                assert answer.status_code == 200
            elif endpoint.scope is None or endpoint.is_global:
                assert (answer.status_code, line["route"]) == (404, None)
            else:
                # Logs and metrics name the route and the project apart.
                assert (line["route"], line["project"]) == (endpoint.path, "music")


@pytest.mark.parametrize("project", ["a/b", "..x", "Größe %2F", "projects", "a?b#c"])
def test_events_go_to_the_project_of_the_address(make_service: MakeService, project: str) -> None:
    service = make_service(Settings(open_project="default"), has_key=False)
    open_monitor(service, project).configure(MUSIC, actor="test")
    body = json.dumps(make_ranking(1)).encode()
    headers = {"content-type": "application/json"}
    path = inside(project, "/v1/rankings")
    [answer] = service.ask_all([("POST", path, body, headers)], "127.0.0.1")
    assert answer.json()["accepted"] == 1
    assert service.counters(project)["accepted"] == 1
    assert service.store.counters("default") == {}
    # Without a key there may be a new project, but only the one of the command.
    [answer] = service.ask_all(
        [("POST", inside("new", "/v1/rankings"), body, headers)], "127.0.0.1"
    )
    assert answer.status_code == 404
    assert "new" not in service.store.projects()
