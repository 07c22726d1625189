from __future__ import annotations

import json

import httpx
import pytest
from rankscope.monitor.server.http.settings import Settings

from tests.monitor.server.service import NOW, make_ranking


@pytest.fixture(scope="module")
def service(shared):
    """None of these tests stores events."""
    return shared


@pytest.fixture
def opened(make_service):
    return make_service(Settings(open_project="default"), has_key=False)


def ask_openly(service, method, path, said, client="127.0.0.1", **headers):
    sent = {"content-type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    [answer] = service.ask_all([(method, path, json.dumps(said).encode(), sent)], client)
    assert isinstance(answer, httpx.Response)
    return answer


def log_openly(service, client="127.0.0.1", **headers):
    ranking = make_ranking(1)
    return ask_openly(service, "POST", "/v1/rankings", ranking, client, **headers).status_code


def test_this_machine_needs_no_key(opened):
    assert log_openly(opened) == 200
    assert opened.store.counters("default") == {"accepted": 1}
    line = opened.last_line()
    assert (line["project"], line["key_id"]) == ("default", "local")
    assert opened.browser().get("/sign-in?next=/quality").headers["location"] == "/quality"


def test_it_is_closed_unless_it_was_opened(make_service):
    service = make_service(has_key=False)
    assert log_openly(service) == 401


@pytest.mark.parametrize(
    ("client", "headers"),
    [
        ("10.1.2.3", {}),
        ("", {}),
        ("127.0.0.1", {"x_forwarded_for": "192.0.2.1"}),
        ("127.0.0.1", {"forwarded": "for=192.0.2.1"}),
        ("127.0.0.1", {"via": "1.1 proxy"}),
        ("127.0.0.1", {"authorization": "Bearer rk_x"}),
        ("127.0.0.1", {"authorization": ""}),
    ],
)
def test_others_need_one(opened, client, headers):
    assert log_openly(opened, client, **headers) == 401


def test_a_name_that_others_know_needs_one(make_service):
    settings = Settings(open_project="default", hosts=("localhost", "rank.example"))
    service = make_service(settings, has_key=False)
    assert log_openly(service, host="rank.example") == 401
    assert log_openly(service, host="localhost") == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_page_can_send_without_asking_is_not_taken(opened, kind):
    assert log_openly(opened, content_type=kind) == 415


def test_the_first_key_closes_it_for_good(opened):
    assert log_openly(opened) == 200
    key = opened.make_key("music", "read")
    assert log_openly(opened) == 401
    opened.store.revoke_key("music", key.split("_")[1], NOW, "test")
    assert log_openly(opened) == 401


def test_the_first_key_does_not_lock_its_maker_out(opened):
    refused = ask_openly(opened, "POST", "/v1/keys", {"name": "log_openly", "scopes": ["ingest"]})
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "no_administrator"
    assert "admin" in refused.json()["error"]["hint"]
    assert log_openly(opened) == 200
    first = ask_openly(opened, "POST", "/v1/keys", {"name": "ann", "scopes": ["read", "admin"]})
    assert first.status_code == 201
    path = f"/v1/keys/{first.json()['key_id']}"
    key = {"authorization": f"Bearer {first.json()['key']}"}
    assert log_openly(opened) == 401
    more = ask_openly(
        opened, "POST", "/v1/keys", {"name": "log_openly", "scopes": ["ingest"]}, **key
    )
    assert more.status_code == 201
    assert ask_openly(opened, "DELETE", path, {}, **key).status_code == 409
    assert ask_openly(opened, "GET", "/v1/keys", {}, **key).status_code == 200
    ask_openly(opened, "POST", "/v1/keys", {"name": "ben", "scopes": ["admin"]}, **key)
    assert ask_openly(opened, "DELETE", path, {}, **key).status_code == 204
    assert ask_openly(opened, "GET", "/v1/keys", {}, **key).status_code == 401


def test_a_key_that_was_revoked_before_keeps_it_closed(make_service):
    service = make_service(Settings(open_project="default"))
    service.store.revoke_key("music", service.key.split("_")[1], NOW, "test")
    assert log_openly(service) == 401
