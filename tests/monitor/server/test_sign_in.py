"""People sign in with a key: sessions, their cookies, and the forms of pages."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import httpx
import pytest
from rankscope.monitor.server.http.settings import Settings

from tests.monitor.server.service import NOW, Browser, Service, make_ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def service(shared: Service) -> Service:
    """None of these tests stores events."""
    return shared


def is_in(browser: Browser) -> bool:
    """Whether a browser is signed in: it is sent on from where one signs in."""
    return browser.get("/sign-in").status_code == 303


def test_a_key_for_reading_signs_in_and_opens_pages(service: Service) -> None:
    browser = service.browser()
    assert not is_in(browser)
    answer = browser.sign_in(service.make_key("music", "read"), "/trace?measure=nDCG%405")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/trace?measure=nDCG%405"
    assert (service.last_line()["route"], service.last_line()["project"]) == ("/sign-in", "music")
    assert is_in(browser)


@pytest.mark.parametrize(
    ("client", "name", "is_secure"),
    [
        ("127.0.0.1", "rankscope-session", False),
        ("::1", "rankscope-session", False),
        ("10.1.2.3", "__Host-rankscope-session", True),
        ("", "__Host-rankscope-session", True),
    ],
)
def test_only_this_machine_gets_a_cookie_that_plain_http_carries(
    service: Service, client: str, name: str, *, is_secure: bool
) -> None:
    answer = service.browser(client).sign_in(service.make_key("music", "read"))
    [cookie] = answer.headers.get_list("set-cookie")
    kept, *said = cookie.split("; ")
    assert re.fullmatch(rf"{name}=[0-9a-f]{{64}}", kept)
    expected = {"HttpOnly", "SameSite=lax", "Path=/", f"Max-Age={12 * 3600}"}
    assert set(said) == expected | ({"Secure"} if is_secure else set())


def test_a_proxy_on_this_machine_gets_the_secure_cookie(service: Service) -> None:
    fields = {"key": service.make_key("music", "read")}
    answer = service.browser().send("/sign-in", fields, x_forwarded_for="192.0.2.1")
    assert answer.headers["set-cookie"].startswith("__Host-")


def test_a_key_for_events_signs_nobody_in(service: Service) -> None:
    browser = service.browser()
    answer = browser.sign_in(service.make_key("music", "ingest"))
    assert (answer.status_code, browser.cookies) == (403, {})
    assert "scope read or admin" in answer.text


def test_a_key_that_opens_nothing_is_told_alike_and_not_shown(service: Service) -> None:
    revoked = service.make_key("music", "read")
    service.store.revoke_key("music", revoked.split("_")[1], NOW, "test")
    told = set()
    for key in ("", "a", revoked, revoked[:-1], "<b>", "a" * 5000):
        answer = service.browser().sign_in(key)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        told.add(answer.text)
    assert len(told) == 1


def test_too_many_bad_keys_from_an_address_come_back_later(tmp_path: Path) -> None:
    service = Service(tmp_path, Settings(failure_rate=1, failure_burst=3))
    answers = [service.browser().sign_in("a") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    assert answers[-1].headers["retry-after"] == "1"
    assert service.browser().sign_in(service.make_key("music", "read")).status_code == 303
    service.store.close()


def test_a_key_that_is_revoked_ends_its_sessions(service: Service) -> None:
    key, other = service.make_key("music", "read"), service.make_key("music", "read")
    browsers = [service.browser() for _ in range(3)]
    for browser, used in zip(browsers, (key, key, other), strict=True):
        browser.sign_in(used)
    service.store.revoke_key("music", key.split("_")[1], NOW, "test")
    assert [is_in(browser) for browser in browsers] == [False, False, True]


def test_who_signs_in_again_has_left_the_session_before(service: Service) -> None:
    browser = service.browser()
    key = service.make_key("music", "read")
    browser.sign_in(key)
    before = dict(browser.cookies)
    browser.sign_in(key)
    assert browser.cookies != before
    browser.cookies = before
    assert not is_in(browser)


def test_sessions_are_of_random_ids_and_no_others(service: Service) -> None:
    browser = service.browser()
    browser.sign_in(service.make_key("music", "read"))
    [name] = browser.cookies
    for kept in ("", "0" * 64, browser.cookies[name][:-1], browser.cookies[name] + "0", "\ufffd"):
        other = service.browser()
        other.cookies[name] = kept.encode("ascii", "replace").decode()
        assert not is_in(other)


@pytest.mark.parametrize(
    "said",
    [
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
    ],
)
def test_a_form_of_another_page_is_refused(service: Service, said: dict[str, str]) -> None:
    browser = service.browser()
    answer = browser.send("/sign-in", {"key": service.make_key("music", "read")}, **said)
    assert (answer.status_code, service.last_line()["code"]) == (403, "origin")
    assert browser.cookies == {}


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:8000", 303),
        ("https://localhost:8000", 303),
        ("http://localhost:9000", 403),
        ("http://localhost", 403),
        ("http://localhost:8000.evil.example", 403),
        ("http://evil.example", 403),
        ("null", 403),
        ("", 403),
        ("http://[", 403),
        (None, 403),
    ],
)
def test_a_browser_without_fetch_metadata_is_known_by_its_origin(
    service: Service, origin: str | None, status: int
) -> None:
    key = service.make_key("music", "read")
    headers = {"content-type": "application/x-www-form-urlencoded"}
    headers |= {} if origin is None else {"origin": origin}
    [answer] = service.ask_all([("POST", "/sign-in", f"key={key}".encode(), headers)])
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"key=%ff", "application/x-www-form-urlencoded", 400),
        (b"key=\xff", "application/x-www-form-urlencoded", 400),
        (b"a=1&" * 501, "application/x-www-form-urlencoded", 400),
        (b"key=" + b"a" * (1 << 19), "application/x-www-form-urlencoded", 413),
        (b"{}", "application/json", 415),
        (b"", "", 415),
        (b"", "multipart/form-data; boundary=a", 415),
        (b"", "text/plain", 415),
    ],
)
def test_what_is_no_form_is_refused(service: Service, body: bytes, kind: str, status: int) -> None:
    said = {"sec-fetch-site": "same-origin", "content-type": kind}
    [answer] = service.ask_all([("POST", "/sign-in", body, said)])
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")


def test_a_form_without_the_token_of_the_session_is_refused(service: Service) -> None:
    browser = service.browser()
    browser.sign_in(service.make_key("music", "read"))
    for fields in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "\u00e4"}):
        answer = browser.send("/sign-out", fields)
        assert (answer.status_code, service.last_line()["code"]) == (403, "csrf")
    assert is_in(browser)


def test_a_key_in_the_header_sends_no_forms(service: Service) -> None:
    key = service.make_key("music", "read")
    answer = service.browser().send("/sign-out", {"csrf": ""}, authorization=f"Bearer {key}")
    assert (answer.status_code, service.last_line()["code"]) == (403, "csrf")


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/a\r\nset-cookie: a=b",
        "/" + "a" * 5000,
        "",
    ],
)
def test_nobody_is_sent_elsewhere(service: Service, wanted: str) -> None:
    browser = service.browser()
    assert browser.sign_in(service.make_key("music", "read"), wanted).headers["location"] == "/"
    if len(wanted) < 2048:
        answer = browser.get(f"/sign-in?{urlencode({'next': wanted})}")
        assert answer.headers["location"] == "/"


def test_what_is_wanted_is_shown_as_text(service: Service) -> None:
    answer = service.browser().get("/sign-in?next=/%22%3E%3Cscript%3E")
    assert answer.status_code == 200
    assert answer.text.count("<script") == 1
    assert "&#34;&gt;&lt;script&gt;" in answer.text


@pytest.mark.parametrize(
    "wanted",
    [
        "/",
        "/incidents",
        "/trace?measure=nDCG%405&after_version=a%26b",
        "/rules/a%3Fb%23c%26%20%25d",
    ],
)
def test_who_has_to_sign_in_comes_back_to_the_page(service: Service, wanted: str) -> None:
    browser = service.browser()
    sent = browser.get(wanted)
    assert sent.status_code == 303
    [back] = parse_qs(urlsplit(sent.headers["location"]).query)["next"]
    answer = browser.sign_in(service.make_key("music", "read"), back)
    found = urlsplit(answer.headers["location"])
    asked = urlsplit(wanted)
    assert (unquote(found.path), found.query) == (unquote(asked.path), asked.query)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path, Settings(open_project="default"), has_key=False)
    yield made
    made.store.close()


def log_openly(service: Service, client: str = "127.0.0.1", **headers: str) -> int:
    """Log a ranking without a key, and give the status."""
    said = {"content-type": "application/json"}
    said |= {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps(make_ranking(1)).encode()
    [answer] = service.ask_all([("POST", "/v1/rankings", body, said)], client)
    return int(answer.status_code)


def test_this_machine_needs_no_key(opened: Service) -> None:
    assert log_openly(opened) == 200
    assert opened.store.counters("default") == {"accepted": 1}
    line = opened.last_line()
    assert (line["project"], line["key_id"]) == ("default", "local")
    assert opened.browser().get("/sign-in?next=/quality").headers["location"] == "/quality"


def test_it_is_closed_unless_it_was_opened(tmp_path: Path) -> None:
    service = Service(tmp_path, has_key=False)
    assert log_openly(service) == 401
    service.store.close()


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
def test_others_need_one(opened: Service, client: str, headers: dict[str, str]) -> None:
    assert log_openly(opened, client, **headers) == 401


def test_a_name_that_others_know_needs_one(tmp_path: Path) -> None:
    settings = Settings(open_project="default", hosts=("localhost", "rank.example"))
    service = Service(tmp_path, settings, has_key=False)
    assert log_openly(service, host="rank.example") == 401
    assert log_openly(service, host="localhost") == 200
    service.store.close()


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_page_can_send_without_asking_is_not_taken(opened: Service, kind: str) -> None:
    assert log_openly(opened, content_type=kind) == 415


def test_the_first_key_closes_it_for_good(opened: Service) -> None:
    assert log_openly(opened) == 200
    key = opened.make_key("music", "read")
    assert log_openly(opened) == 401
    opened.store.revoke_key("music", key.split("_")[1], NOW, "test")
    assert log_openly(opened) == 401


def ask_openly(
    service: Service, method: str, path: str, said: object, key: str = ""
) -> httpx.Response:
    """Ask from this machine, without a key unless there is one."""
    headers = {"content-type": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    asked = (method, path, json.dumps(said).encode(), headers)
    [answer] = service.ask_all([asked], "127.0.0.1")
    assert isinstance(answer, httpx.Response)
    return answer


def test_the_first_key_does_not_lock_its_maker_out(opened: Service) -> None:
    refused = ask_openly(opened, "POST", "/v1/keys", {"name": "log_openly", "scopes": ["ingest"]})
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "no_administrator"
    assert "admin" in refused.json()["error"]["hint"]
    assert log_openly(opened) == 200
    first = ask_openly(opened, "POST", "/v1/keys", {"name": "ann", "scopes": ["read", "admin"]})
    assert first.status_code == 201
    key, path = first.json()["key"], f"/v1/keys/{first.json()['key_id']}"
    assert log_openly(opened) == 401
    more = ask_openly(opened, "POST", "/v1/keys", {"name": "log_openly", "scopes": ["ingest"]}, key)
    assert more.status_code == 201
    assert ask_openly(opened, "DELETE", path, {}, key).status_code == 409
    assert ask_openly(opened, "GET", "/v1/keys", {}, key).status_code == 200
    ask_openly(opened, "POST", "/v1/keys", {"name": "ben", "scopes": ["admin"]}, key)
    assert ask_openly(opened, "DELETE", path, {}, key).status_code == 204
    assert ask_openly(opened, "GET", "/v1/keys", {}, key).status_code == 401


def test_a_key_that_was_revoked_before_keeps_it_closed(tmp_path: Path) -> None:
    service = Service(tmp_path, Settings(open_project="default"))
    service.store.revoke_key("music", service.key.split("_")[1], NOW, "test")
    assert log_openly(service) == 401
    service.store.close()
