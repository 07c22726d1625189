from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from rankscope.monitor.definition.document import write_configuration
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.keys import make_key

from tests.monitor.server.music import MUSIC, START, log_music, make_click, make_search
from tests.monitor.server.service import NOW, Service, find_token, make_ranking
from tests.monitor.server.test_routes import FORM, list_endpoints, path_of
from tests.monitor.server.test_webhook import SECRET, Recording

MARK = "jabberwocky"
"""In all that the one project has, and nowhere else."""

QUERY = {"measure": "nDCG@5", "id": f"{MARK}-1", "name": MARK}
PROJECT = {**write_configuration(MUSIC), "rules": {MARK: {"measure": "nDCG@5", "period": "hour"}}}
BODIES = {
    "/v1/rankings": make_ranking(900),
    "/v1/configuration": write_configuration(MUSIC),
    "/v1/project": PROJECT,
    "/v1/project/plan": PROJECT,
    "/v1/keys": {"name": "a", "scopes": ["read"]},
    "/v1/rules/{name}": {"measure": "nDCG@5"},
    "/v1/rules/{name}/silence": {"until": None},
    "/v1/incidents/{incident_id}/snooze": {"until": "2036-11-22T08:00:00Z"},
    "/v1/webhook": {"url": "https://example.com/other"},
    "/v1/people/{member}": {"role": "viewer"},
}


class World:
    """A service with the project `music`, full of marks, and `films`, which has none."""

    def __init__(self, folder):
        settings = Settings(failure_burst=10**6, key_burst=10**6)
        self.service = Service(folder, settings, poster=Recording())
        scopes = ("ingest", "read", "admin")
        key, shown = make_key("music", scopes, name=MARK, now=NOW)
        self.service.store.add_key(key, MARK)
        self.key_id, self.own = key.key_id, shown.reveal()
        self.other = self.service.make_key("films", *scopes)
        self.monitor = log_music(self.service)
        log_music(self.service, "films")
        marked = {
            "query": MARK,
            "user_id": MARK,
            "model": MARK,
            "attributes": {"device": MARK},
            "items": [{"doc_id": MARK, "rank": 1}, {"doc_id": "b", "rank": 2}],
            "time": START,
        }
        for number in range(20):
            search = make_search(number, **marked) | {
                "ranking_id": f"{MARK}-{number}",
                "event_id": f"{MARK}-{number}",
            }
            click = make_click(search, 700 + number) | {
                "doc_id": MARK,
                "event_id": f"{MARK}{number}",
            }
            for path, made in (("/v1/rankings", search), ("/v1/labels", click)):
                assert self.service.post(path, made, key=self.own).json()["accepted"] == 1
        self.ask("PUT", f"/v1/rules/{MARK}", {"measure": "nDCG@5", "period": "hour"})
        self.ask("PUT", "/v1/webhook", {"url": f"https://example.com/{MARK}", "secret": SECRET})
        self.monitor.evaluate()

    def ask(self, method, path, body, key=""):
        sent = json.dumps(body).encode()
        answer = self.service.ask(method, path, sent, key=key or self.own)
        assert answer.is_success, answer.text
        return answer

    def read_all(self):
        """All that the owner of `music` can read, by address."""
        told = {}
        for endpoint in list_endpoints():
            if endpoint.method == "GET" and endpoint.scope and "metrics" not in endpoint.path:
                path = address_of(endpoint, self.key_id)
                told[path] = self.service.ask("GET", path, key=self.own).text
        return told

    def digest(self):
        """All that is stored of `music`, but for what says when and by whom it was read."""
        store = self.service.store
        return [
            json.dumps(write_configuration(self.monitor.configuration)),
            repr(self.monitor.rules()),
            repr(self.monitor.check()),
            repr(self.monitor.incidents("all")),
            repr([replace(key, used=None) for key in store.keys("music")]),
            repr(store.roles("music")),
            repr(store.audit("music")),
            repr(self.service.counters("music")),
            repr(store.find_ranking("music", f"{MARK}-1")),
            repr(self.ask("GET", "/v1/webhook", {}).json()),
        ]


def address_of(endpoint, key_id):
    names = {"key_id": key_id, "name": MARK, "environment": "training"}
    names |= {"member": f"{MARK}@example.com"}
    path = re.sub(r"{(\w+)(:id)?}", lambda found: names.get(found[1], f"{MARK}-1"), endpoint.path)
    known = set(endpoint.parameters)
    asked = {name: value for name, value in QUERY.items() if name in known}
    return f"{path}?{urlencode(asked)}" if asked else path


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("sweep"))
    yield made
    made.service.store.close()


@pytest.fixture(scope="module")
def changing(tmp_path_factory):
    """One for tests that put something into the other project."""
    made = World(tmp_path_factory.mktemp("changing"))
    yield made
    made.service.store.close()


def test_the_marks_are_to_be_seen_by_their_owner(world):
    told = world.read_all()
    for path in ("/v1/versions", "/v1/slices", "/v1/rules", "/v1/keys", "/v1/audit", "/"):
        assert any(MARK in text for address, text in told.items() if address.startswith(path))
    # The path of a webhook may be as good as a password.
    assert MARK not in told["/v1/webhook"]
    assert not any(SECRET in text for text in told.values())


@pytest.mark.slow
def test_no_route_shows_anything_of_another_project(world):
    for endpoint in list_endpoints():
        if endpoint.method != "GET" or endpoint.scope is None:
            continue
        path = address_of(endpoint, world.key_id)
        answer = world.service.ask("GET", path, key=world.other)
        assert answer.status_code < 500
        if "{" in endpoint.path:
            assert answer.status_code == 404
        # What was asked for may be said again, but for that only what was asked for.
        told = answer.text.replace(path, "").replace(f"{MARK}-1", "")
        assert MARK not in told or answer.status_code in {404, 422}
        assert world.key_id not in told


@pytest.mark.slow
def test_no_route_changes_anything_of_another_project(changing):
    before = changing.digest()
    endpoints = list_endpoints()
    # What is put is there then, under the same name, in the other project.
    for endpoint in sorted(endpoints, key=lambda one: one.method == "PUT"):
        if endpoint.method == "GET" or endpoint.scope is None or endpoint.kind == "form":
            continue
        body = json.dumps(BODIES.get(endpoint.path, {})).encode()
        path = address_of(endpoint, changing.key_id)
        answer = changing.service.ask(endpoint.method, path, body, key=changing.other)
        assert answer.status_code < 500
        if "{" in endpoint.path and endpoint.method != "PUT":
            assert answer.status_code == 404, (endpoint.method, path)
    assert changing.digest() == before


def test_forms_change_nothing_of_another_project(changing):
    browser = changing.service.browser()
    assert browser.sign_in(changing.other).status_code == 303
    before = changing.digest()
    token = find_token(browser.get("/settings").text)
    for endpoint in list_endpoints():
        if endpoint.kind == "form" and endpoint.scope is not None and "sign" not in endpoint.path:
            fields = {"csrf": token, "name": MARK, "rule": MARK}
            answer = browser.send(address_of(endpoint, changing.key_id), fields)
            assert answer.status_code < 500
    assert changing.digest() == before


@pytest.mark.slow
def test_a_session_reads_and_changes_nothing_but_by_forms(changing):
    browser = changing.service.browser()
    browser.sign_in(changing.own)
    before = changing.digest()
    for endpoint in list_endpoints():
        path = address_of(endpoint, changing.key_id)
        if endpoint.method == "GET":
            needs_key = endpoint.kind == "api" and endpoint.scope == "ingest"
            assert (browser.get(path).status_code == 401) == needs_key, path
        elif endpoint.kind == "api":
            headers = {"content-type": "application/json"}
            answer = browser._ask(endpoint.method, path, b"{}", headers)
            assert answer.status_code == 401, path
    assert changing.digest() == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_others_read_nothing_with_a_session(world, site):
    browser = world.service.browser()
    browser.sign_in(world.own)
    for endpoint in list_endpoints():
        if endpoint.method == "GET" and endpoint.scope == "read" and endpoint.kind == "api":
            path = address_of(endpoint, world.key_id)
            answer = browser.get(path, sec_fetch_site=site)
            assert answer.status_code == 403
            assert MARK not in answer.text.replace(path, "")


@pytest.mark.slow
def test_what_is_logged_has_no_secrets_and_no_control_characters(world):
    browser = world.service.browser()
    browser.sign_in(world.own)
    world.read_all()
    page = browser.get("/settings").text
    secrets = [world.own, world.own.split("_")[2], SECRET, *browser.cookies.values()]
    secrets.append(find_token(page))
    assert len(secrets) > 4
    for line in world.service.log:
        assert line.isascii()
        assert line[:-1].isprintable()
        assert not any(secret in line for secret in secrets)
        assert MARK not in json.loads(line).get("route", "")


@pytest.mark.parametrize(
    "said",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
    ],
)
def test_in_open_mode_pages_of_others_change_and_read_nothing(make_service, said):
    service = make_service(Settings(open_project="music"), has_key=False)
    for endpoint in list_endpoints():
        if endpoint.scope is None or (endpoint.method == "GET" and endpoint.kind != "api"):
            continue
        kind = FORM["content-type"] if endpoint.kind == "form" else "application/json"
        body = json.dumps(BODIES.get(endpoint.path, {})).encode()
        asked = (endpoint.method, path_of(endpoint), body, {"content-type": kind} | said)
        [answer] = service.ask_all([asked], "127.0.0.1")
        assert answer.status_code == 403
        assert service.last_line()["code"] == "origin"
    assert service.store.projects() == []


def test_in_open_mode_forms_need_a_token(make_service):
    service = make_service(Settings(open_project="music"), has_key=False)
    for endpoint in list_endpoints():
        if endpoint.kind == "form" and endpoint.scope is not None:
            answer = service.browser().send(path_of(endpoint), {"csrf": "0" * 64})
            assert answer.status_code == 403
            code = "forbidden" if endpoint.scope == "person" else "csrf"
            assert service.last_line()["code"] == code


def test_who_asks_for_a_page_that_is_not_there_gets_a_page(service):
    page = service.ask("GET", "/nothing", key=None, headers={"accept": "text/html,*/*"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    told = service.ask("GET", "/nothing", key=None, headers={"accept": "application/json"})
    assert told.json()["error"]["code"] == "not_found"
