from __future__ import annotations

import json
import re
from functools import cache
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from rankscope.monitor.events.names import COLUMN_NAMES, ITEM_NAMES, LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.server.api.openapi import NAMED, describe
from rankscope.monitor.server.app import Service as Application
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.routing.middleware import HEADERS, PAGE_POLICY
from rankscope.monitor.server.routing.static import KEPT
from rankscope.monitor.store.keys import SCOPES

from tests.monitor.server.music import MUSIC, open_monitor
from tests.monitor.server.service import make_label, make_ranking

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
def list_endpoints():
    """The table of routes; it is looked at, so that it needs no store."""
    return Application(None).endpoints


def path_of(endpoint):
    return re.sub(r"{\w+(:id)?}", "r1", endpoint.path)


def ask(service, endpoint, key, body=b"{}"):
    headers = FORM if endpoint.kind == "form" else {}
    return service.ask(endpoint.method, path_of(endpoint), body, key=key, headers=headers)


def test_nothing_is_open_but_health_and_how_to_sign_in(make_service):
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


def test_a_key_does_what_it_is_for_and_nothing_else(service):
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
def test_other_methods_are_refused(service):
    allowed = {}
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


def test_events_are_of_the_project_of_the_key_whatever_is_asked(service):
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
def test_there_is_nothing_elsewhere(shared, path):
    for method in ("GET", "POST"):
        answer = shared.ask(method, path, b"{}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
        assert (shared.last_line()["status"], shared.last_line()["route"]) == (404, None)


@pytest.mark.parametrize("length", [(16 << 10) - 1, 16 << 10, (16 << 10) + 1])
def test_an_address_has_at_most_16_kib(shared, length):
    path = "/" + "x" * 1022 + "?"
    answer = shared.ask("GET", path + "x" * (length + 1 - len(path)))
    assert answer.status_code == (414 if length > 16 << 10 else 404)


def test_every_answer_has_the_headers(service):
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
def test_it_is_asked_under_its_own_names(shared, host, status):
    for method, path in (("GET", "/healthz"), ("GET", "/readyz")):
        assert shared.ask(method, path, headers={"host": host}).status_code == status


def test_it_is_ready_while_the_store_can_be_read(service):
    assert service.ask("GET", "/healthz", key=None).json() == {"status": "ok"}
    assert service.ask("GET", "/readyz", key=None).json() == {"status": "ready"}
    assert service.ask("HEAD", "/readyz", key=None).text == ""
    for path in service.store.path.parent.glob("events.db*"):
        path.unlink()
    service.store.path.mkdir()
    assert service.ask("GET", "/readyz", key=None).status_code == 503


def inside(project, path):
    return f"/projects/{quote(project, safe='')}{path}"


def test_a_key_gets_nothing_of_any_other_project_at_any_route(service):
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


def test_routes_of_a_project_are_below_its_address(shared):
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
def test_events_go_to_the_project_of_the_address(make_service, project):
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


def test_it_is_openapi_and_describes_every_route_and_every_name_that_is_read(service):
    answer = service.ask("GET", "/openapi.json", key=service.make_key("music", "read"))
    assert answer.status_code == 200
    validate(answer.json())
    endpoints = list_endpoints()
    described = describe(endpoints)["paths"]
    assert {(path, method) for path, methods in described.items() for method in methods} == {
        (NAMED.sub(r"{\1}", one.address), one.method.lower())
        for one in endpoints
        if one.kind != "file"
    }
    for one in endpoints:
        if one.kind == "file":
            continue
        said = described[NAMED.sub(r"{\1}", one.address)][one.method.lower()]
        assert said["summary"] == one.summary != ""
        assert ("requestBody" in said) == (one.body is not None)
        assert bool(said["security"]) == (one.scope is not None)


DESCRIBED = describe(list_endpoints())
PATHS = ("/v1/rankings", "/v1/labels")


def body_of(path, kind="application/json"):
    body = DESCRIBED["paths"][path]["post"]["requestBody"]["content"][kind]
    return body["schema"] | {"components": DESCRIBED["components"]}


def fits(path, events):
    return bool(Draft202012Validator(body_of(path)).is_valid(events))


@pytest.mark.parametrize("path", PATHS)
def test_the_examples_are_accepted(path, service):
    for example in body_of(path)["examples"]:
        assert fits(path, example)
    [lines] = body_of(path, "application/x-ndjson")["examples"]
    headers = {"content-type": "application/x-ndjson"}
    answer = service.ask("POST", path, lines.encode(), headers=headers)
    assert answer.json()["accepted"] == 2
    assert answer.json()["unknown_fields"] == {}
    again = service.post(path, body_of(path)["examples"][1])
    assert again.json()["duplicate"] == 2


def test_every_name_that_is_read_is_described():
    schemas = DESCRIBED["components"]["schemas"]
    for record, names in (
        ("Ranking", RANKING_NAMES | {f"list of {role}": COLUMN_NAMES[role] for role in ITEM_NAMES}),
        ("Item", ITEM_NAMES),
        ("Label", LABEL_NAMES),
    ):
        read = {name for synonyms in names.values() for name in synonyms}
        assert set(schemas[record]["properties"]) == read


def test_a_ranking_is_accepted_under_each_name_of_a_field(service):
    rankings = []
    for role in ("event_id", "ranking_id", "time", "user_id", "model", "items"):
        for name in RANKING_NAMES[role]:
            ranking = make_ranking(len(rankings), user_id="u", model="m")
            ranking[name] = ranking.pop(role)
            assert fits("/v1/rankings", ranking), name
            rankings.append(ranking)
    answer = service.post("/v1/rankings", rankings).json()
    assert (answer["accepted"], answer["unknown_fields"]) == (len(rankings), {})


def test_what_is_accepted_fits(service):
    changed = (
        {"ranking_id": 7},
        {"time": 1795280000000},
        {"time": 1795280000000.5},
        {"event_id": None, "user_id": None, "attributes": None},
        {"items": []},
        {"items": ["a", 7]},
        {"items": [{"item_id": 7, "position": 0, "score": None, "grade": 2}]},
        {"items": [{"docno": "a", "labels": "click"}, {"docno": "b", "labels": ["click", "buy"]}]},
        {"attributes": {"a": 1, "b": 1.5, "c": True, "d": None, "e": ""}},
        {"environment": "training"},
        {"more": {"a": [1]}},
    )
    rankings = [make_ranking(number) | changes for number, changes in enumerate(changed)]
    assert service.post("/v1/rankings", rankings).json()["accepted"] == len(rankings)
    assert fits("/v1/rankings", rankings)
    assert all(fits("/v1/rankings", ranking) for ranking in rankings)


@pytest.mark.parametrize(
    ("path", "event"),
    [
        ("/v1/rankings", {"ranking_id": "r"}),
        ("/v1/rankings", make_ranking(1) | {"time": None}),
        ("/v1/rankings", make_ranking(1) | {"ranking_id": ""}),
        ("/v1/rankings", make_ranking(1) | {"ranking_id": 1.5}),
        ("/v1/rankings", make_ranking(1) | {"environment": "test"}),
        ("/v1/rankings", make_ranking(1) | {"items": [{"rank": 1}]}),
        ("/v1/rankings", make_ranking(1) | {"items": [{"doc_id": "a", "rank": -1}]}),
        ("/v1/rankings", make_ranking(1) | {"items": [{"doc_id": "a", "score": "x"}]}),
        ("/v1/rankings", make_ranking(1) | {"attributes": {"a": []}}),
        ("/v1/rankings", make_ranking(1) | {"items": {str(at): at for at in range(3)}}),
        ("/v1/labels", {"ranking_id": "r", "doc_id": "a"}),
        ("/v1/labels", make_label(1) | {"doc_id": None}),
        ("/v1/labels", make_label(1) | {"kind": "click"}),
        ("/v1/labels", make_label(1) | {"labels": [1]}),
    ],
)
def test_what_does_not_fit_is_rejected(path, event, shared):
    assert not fits(path, event)
    answer = shared.ask("POST", path, json.dumps(event).encode())
    assert (answer.status_code, answer.json()["rejected"]) == (200, 1)
