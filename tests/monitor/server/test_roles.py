from __future__ import annotations

import re
from functools import cache
from urllib.parse import urlencode

import pytest
from rankscope.monitor.notify.channels import Channels
from rankscope.monitor.server.app import Service as Application
from rankscope.monitor.server.http.provider import Provider
from rankscope.monitor.server.http.settings import Settings

from tests.monitor.server.music import log_music
from tests.monitor.server.service import Service
from tests.monitor.server.test_routes import FORM
from tests.monitor.server.test_webhook import Recording

MAY = {
    "nobody": set(),
    "member of no project": {"person"},
    "viewer": {"person", "read"},
    "editor": {"person", "read", "edit"},
    "admin": {"person", "read", "edit", "admin"},
    "operator": {"person", "read", "edit", "admin", "operator"},
    "key for ingest": {"ingest"},
    "key for read": {"read"},
    "key for edit": {"edit"},
    "key for admin": {"edit", "admin"},
}
"""What each caller may do in the own project; in the other one, only an operator may."""
OPERATOR = "operator"
NEEDS = {
    ("GET", "/v1/keys"): "admin",
    ("POST", "/v1/keys"): "admin",
    ("POST", "/v1/keys/{key_id}/rotate"): "admin",
    ("DELETE", "/v1/keys/{key_id}"): "admin",
    ("GET", "/v1/people"): "admin",
    ("PUT", "/v1/people/{member}"): "admin",
    ("DELETE", "/v1/people/{member}"): "admin",
    ("POST", "/people"): "admin",
    ("GET", "/audit"): "admin",
    ("GET", "/v1/audit"): "admin",
    ("GET", "/v1/audit.ndjson"): "admin",
    ("PUT", "/v1/configuration"): "admin",
    ("PUT", "/v1/project"): "admin",
    ("POST", "/settings"): "admin",
    ("GET", "/deletion"): "admin",
    ("POST", "/deletion"): "admin",
    ("POST", "/v1/deletions"): "admin",
    ("POST", "/v1/retention"): "admin",
    ("POST", "/v1/evaluation"): "admin",
    ("PUT", "/v1/rules/{name}"): "edit",
    ("DELETE", "/v1/rules/{name}"): "edit",
    ("POST", "/v1/incidents/{incident_id}/acknowledge"): "edit",
    ("POST", "/incidents/{incident_id}/acknowledge"): "edit",
    ("POST", "/rules/new"): "edit",
    ("PUT", "/v1/webhook"): "edit",
    ("POST", "/channels/{name}/test"): "edit",
    ("POST", "/v1/rankings"): "ingest",
    ("GET", "/"): "read",
    ("GET", "/people"): "read",
    ("GET", "/v1/incidents"): "read",
    ("GET", "/account"): "person",
    ("POST", "/sign-out"): "person",
    ("GET", "/operator/people"): "operator",
    ("POST", "/operator/people"): "operator",
    ("GET", "/operator/audit"): "operator",
    ("GET", "/v1/operator/audit.ndjson"): "operator",
}
"""What some routes must ask for, whatever their table says."""
REFUSED = {303, 401, 403, 404}
PATHS = {
    "member": "ben@example.com",
    "environment": "training",
    "key_id": "0" * 16,
    "incident_id": "incident_" + "0" * 20,
}


@cache
def list_endpoints():
    """The table of routes, with those of a provider of sign-ins."""
    provider = Provider(issuer="http://localhost:1", client_id="a", secret=None)
    channels = Channels(public_url="http://localhost:8000")
    settings = Settings(provider=provider, notifying=channels)
    return Application(None, settings).endpoints


def path_of(endpoint, project):
    path = re.sub(r"{(\w+)(:id)?}", lambda found: PATHS.get(found[1], "x"), endpoint.path)
    return path if endpoint.is_global or endpoint.scope is None else f"/projects/{project}{path}"


class Caller:
    def __init__(self, service, who):
        self.who = who
        self._key = self._browser = None
        if who.startswith("key"):
            self._key = service.make_key("music", who.rsplit(maxsplit=1)[-1])
        elif who != "nobody":
            self._browser = service.browser()
            roles = {"operator": "operator"} if who == OPERATOR else {"music": who}
            self._browser.enter(service.make_person(**({} if who.startswith("member") else roles)))
        self._service = service

    def ask(self, endpoint, project):
        """Ask at a route, and return the status and where one is sent on to."""
        path = path_of(endpoint, project)
        is_form = endpoint.kind == "form"
        said = FORM if is_form else FORM | {"content-type": "application/json"}
        sent = urlencode({"csrf": "0" * 64}).encode() if is_form else b"["
        body = b"" if endpoint.method == "GET" else sent
        if self._browser is not None:
            before = dict(self._browser.cookies)
            answer = self._browser._ask(endpoint.method, path, body, said)
            self._browser.cookies = before
        else:
            answer = self._service.ask(endpoint.method, path, body, key=self._key, headers=said)
        return answer.status_code, answer.headers.get("location", "")


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    many = 10**6
    settings = Settings(failure_burst=many, key_burst=many, open_burst=many)
    made = Service(tmp_path_factory.mktemp("roles"), settings, poster=Recording())
    for project in ("music", "films"):
        made.make_key(project, "ingest", "read", "admin")
        log_music(made, project)
    yield made
    made.store.close()


def test_routes_ask_for_what_they_should():
    table = {(each.method, each.path): each.scope for each in list_endpoints()}
    assert {route: table[route] for route in NEEDS} == NEEDS
    # Whatever changes something needs more than reading, and what is open reads nothing.
    for (method, path), scope in table.items():
        if method != "GET" and path not in {"/sign-in", "/set-password"}:
            assert scope in {"ingest", "edit", "admin", "person", "operator"}, path
    files = {each.path for each in list_endpoints() if each.kind == "file"}
    assert {path for (_, path), scope in table.items() if scope is None} - files == {
        "/healthz",
        "/readyz",
        "/sign-in",
        "/set-password",
        "/sign-in/provider",
        "/sign-in/callback",
    }


@pytest.mark.slow
@pytest.mark.parametrize("who", MAY)
def test_no_route_lets_in_who_may_not(service, who):
    caller, before = Caller(service, who), len(service.store.read_audit(None))
    for endpoint in list_endpoints():
        if endpoint.scope is None:
            continue
        for project in ("music", "films", "nowhere"):
            if endpoint.is_global and project != "music":
                continue
            status, location = caller.ask(endpoint, project)
            is_own = project == "music" or (project == "films" and who == OPERATOR)
            # A session isn't taken where programs send, and a key has no session.
            by_key = who.startswith("key")
            may_come = by_key or who == "nobody" or endpoint.takes_session
            is_allowed = endpoint.scope in MAY[who] and is_own and may_come
            told = (endpoint.method, path_of(endpoint, project), status)
            if endpoint.kind == "form" and endpoint.method == "POST":
                # Without the token of the session, who may get further gets no further.
                code = service.last_line().get("code")
                if is_allowed:
                    assert (status, code) == (403, "csrf"), told
                else:
                    assert status in REFUSED, told
                    assert code != "csrf", told
            elif is_allowed:
                assert status not in {401, 403}, told
                assert status < 500, told
                assert not location.startswith("/sign-in"), told
            else:
                assert status in REFUSED, told
                assert status != 303 or location.startswith("/sign-in"), told
                if not is_own and may_come and who != "nobody":
                    # Whether there is such a project isn't told.
                    assert status == 404, told
    assert len(service.store.read_audit(None)) == before


def test_a_session_and_a_key_in_one_request_are_the_key(service):
    browser = service.browser()
    browser.enter(service.make_person(music="admin"))
    key = service.make_key("music", "ingest")
    answer = browser.get("/v1/keys", authorization=f"Bearer {key}")
    assert answer.status_code == 403
