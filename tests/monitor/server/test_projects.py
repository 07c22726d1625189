"""Projects in addresses: who sees which, and that no route of one shows or changes another."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.keys import SCOPES

from tests.monitor.server.music import MUSIC, open_monitor
from tests.monitor.server.service import Service, make_ranking
from tests.monitor.server.test_routes import FORM, list_endpoints, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

ODD = ("a/b", "..x", "Größe %2F", "projects", "a?b#c")


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


@pytest.mark.parametrize("project", ODD)
def test_events_go_to_the_project_of_the_address(tmp_path: Path, project: str) -> None:
    service = Service(tmp_path, Settings(open_project="default"), has_key=False)
    with service.store:
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
