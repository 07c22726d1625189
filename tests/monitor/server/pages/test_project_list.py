from __future__ import annotations

import math
import re
import shutil
from dataclasses import replace
from urllib.parse import urlencode, urlsplit

import pytest
from rankscope import UsageError
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.http.proxies import read_prefix, read_proxies
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.pages.projects import WORST, list_projects
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor import many_projects
from tests.monitor.server.pages.site import Reader, check_page, find_links
from tests.monitor.server.service import NOW, Service, find_token
from tests.monitor.server.test_people import ANN, PASSWORD, invite, set_password
from tests.monitor.server.test_routes import list_endpoints


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """A service on three projects with values and one that isn't set up; two models in one."""
    folder = tmp_path_factory.mktemp("projects")
    made = Service(folder, Settings(open_project="music"), has_key=False)
    many_projects.log_days(made.store, "music", days=20, values=3, models=2)
    many_projects.evaluate(made.store, "music")
    for name in ("films", "a/b"):
        many_projects.copy_project(made.store, "music", name)
    many_projects.log_days(made.store, "new", days=1, values=1)
    many_projects.put_incidents(
        made.store, "films", many_projects.make_fall(1), many_projects.make_fall(2)
    )
    yield made
    made.store.close()


def test_values_are_those_of_the_series(projects):
    (row,) = list_projects(projects.store, ["music"], NOW)
    monitor = Monitor(projects.store, "music", clock=lambda: NOW)
    series = monitor.series(row.measure, every="day")
    assert row.measure == "nDCG@10"
    final = zip(series.values, series.is_final, strict=True)
    assert row.value == [value for value, is_final in final if is_final][-1]
    assert row.newest == max(version.last for version in projects.store.versions("music"))


def test_those_that_need_most_care_come_first(projects):
    rows = list_projects(projects.store, projects.store.projects(), NOW)
    assert (rows[0].project, rows[0].state, rows[0].incidents) == ("films", "ALERT", 2)
    states = [WORST.index(row.state) for row in rows]
    assert states == sorted(states)
    (new,) = [row for row in rows if row.project == "new"]
    assert (new.state, new.reason) == ("INSUFFICIENT", "not set up yet")
    assert math.isnan(new.value)


@pytest.mark.parametrize("hours", [23, 24, 25])
def test_a_day_without_rankings_is_said(tmp_path, hours):
    with SQLiteStore(tmp_path / "events.db") as store:
        many_projects.log_days(store, "music", days=3, values=1)
        monitor = Monitor(store, "music", clock=lambda: NOW)
        monitor.configure(many_projects.SEARCH)
        monitor.evaluate()
        newest = max(version.last for version in store.versions("music"))
        (row,) = list_projects(store, ["music"], newest + hours * 3600 * 10**6)
        assert (row.state == "NO_DATA") == (hours >= 24)
        if hours == 24:
            assert row.reason == "no rankings for 1 day"


@pytest.mark.slow
def test_the_page_leads_to_each_project_and_its_incidents(projects):
    reader = check_page(projects.browser().get("/").text)
    assert len(reader.all("tr")) == 5
    links = find_links(reader)
    assert "/projects/a%2Fb/" in links
    assert "/projects/films/incidents" in links
    for link in {link for link in links if link.startswith("/projects/")}:
        assert projects.browser().get(link).status_code == 200
    # From a project there is a way back.
    inside = projects.browser().get("/projects/a%2Fb/incidents").text
    assert "/" in find_links(check_page(inside))
    assert "All projects" in inside


def test_who_may_see_one_project_goes_on_to_it_and_sees_no_other(tmp_path):
    service = Service(tmp_path)
    with service.store:
        for name in ("music", "films"):
            many_projects.log_days(service.store, name, days=1, values=1)
        key = service.make_key("films", "read")
        away = service.ask("GET", "/", key=key)
        assert (away.status_code, away.headers["location"]) == (303, "/projects/films/")
        told = service.ask("GET", "/v1/projects", key=key).json()["projects"]
        assert [one["project"] for one in told] == ["films"]
        assert service.ask("GET", "/v1/projects", key=service.key).status_code == 403
        assert service.ask("GET", "/", key=None).status_code == 303


def test_callers_with_other_projects_share_no_answer(tmp_path):
    service = Service(tmp_path)
    with service.store:
        keys = {}
        for name in ("music", "films"):
            many_projects.log_days(service.store, name, days=1, values=1)
            keys[name] = service.make_key(name, "read")
        asked = [("GET", "/v1/projects", b"", service.headers(key)) for key in keys.values()]
        answers = service.ask_all(asked * 20)
        for name, answer in zip([*keys] * 20, answers, strict=True):
            assert {one["project"] for one in answer.json()["projects"]} == {name}


def test_what_is_read_is_not_what_another_configuration_left(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        many_projects.log_days(store, "music", days=5, values=2)
        many_projects.evaluate(store, "music")
        (before,) = list_projects(store, ["music"], NOW)
        monitor = Monitor(store, "music", clock=lambda: NOW)
        monitor.configure(replace(many_projects.SEARCH, attributes=()))
        (after,) = list_projects(store, ["music"], NOW)
        assert not math.isnan(before.value)
        assert math.isnan(after.value)
        monitor.evaluate()
        (again,) = list_projects(store, ["music"], NOW)
        assert again.value == before.value


PROXY = "10.1.2.3"
"""The address that a service of the tests sees, unless told otherwise."""
NAMED = Settings(proxies=read_proxies([PROXY]), hosts=("localhost", "rank.example.com"))
HTTPS = {"x-forwarded-proto": "https", "x-forwarded-host": "rank.example.com"}


def find_addresses(page):
    names = ("href", "src", "action", "formaction", "data-trace")
    found = {attrs.get(name) for _, attrs in Reader(page).elements for name in names}
    return {address for address in found if address is not None}


@pytest.fixture
def prefixed(tmp_path, watched_story, make_service):
    """A service at a prefix, with a project that has all there is to link to."""
    shutil.copytree(watched_story, tmp_path, dirs_exist_ok=True)
    return make_service(Settings(open_project="default", prefix="/a/ranking"), has_key=False)


def test_every_address_of_every_page_has_the_prefix_and_leads_somewhere(prefixed):
    browser = prefixed.browser()
    waiting = ["/a/ranking/"]
    seen = set(waiting)
    templates = set()
    while waiting:
        address = waiting.pop()
        answer = browser.get(address)
        if answer.status_code == 303:
            found = {answer.headers["location"]}
        else:
            assert answer.status_code == 200, address
            is_page = answer.headers["content-type"].startswith("text/html")
            found = find_addresses(answer.text) if is_page else set()
        # Of pages that differ in their parameters, some of each kind are enough.
        for link in found:
            if link.startswith(("#", "data:")):
                continue
            assert link.startswith("/a/ranking/"), (address, link)
            path = urlsplit(link).path
            kind = re.sub(r"[0-9a-f]{16,}", "", path) + "?".join(
                sorted(name for name in ("measure=", "slice=", "id=", "model=") if name in link)
            )
            is_form = path.endswith(("/acknowledge", "/snooze", "/resolve", "/remove", "/silence"))
            is_form |= "/operator/people/" in path
            if not is_form and not path.endswith(("/change", "/test", "/sign-out")):
                if kind not in templates and link not in seen:
                    waiting.append(link)
                templates.add(kind)
                seen.add(link)
    pages = {
        one.path: "" if one.is_global else "/projects/default"
        for one in list_endpoints()
        if one.kind == "page" and "{" not in one.path
    }
    nobody = {"/sign-in", "/set-password", "/account"}
    for path in pages.keys() - {"/", "/rankings", "/comparison", "/slices", *nobody}:
        assert f"/a/ranking{pages[path]}{path}" in {urlsplit(each).path for each in seen}, path


def test_forms_and_sign_in_go_on_below_the_prefix(make_service):
    service = make_service(Settings(prefix="/ranking"))
    browser = service.browser("192.0.2.7")
    wanted = "/ranking/projects/music/trace?measure=MRR"
    away = browser.get(wanted)
    assert away.headers["location"] == (
        "/ranking/sign-in?next=%2Franking%2Fprojects%2Fmusic%2Ftrace%3Fmeasure%3DMRR"
    )
    set_password(service.browser(), invite(service, music="admin"), path="/ranking/set-password")
    for asked, goes in ((wanted, wanted), ("/other/", "/ranking/"), ("//evil", "/ranking/")):
        fields = {"email": ANN, "password": PASSWORD, "next": asked}
        answer = browser.send("/ranking/sign-in", fields)
        assert answer.headers["location"] == goes
        # Other services of the same host don't get the cookie.
        cookie = answer.headers["set-cookie"].lower()
        assert cookie.startswith("__secure-rankscope-session=")
        assert "; path=/ranking;" in cookie
        assert "; secure" in cookie
    page = browser.get("/ranking/projects/music/settings").text
    assert 'action="/ranking/projects/music/settings"' in page
    left = browser.send("/ranking/sign-out", {"csrf": find_token(page)})
    assert left.headers["location"] == "/ranking/sign-in"
    assert "path=/ranking;" in left.headers["set-cookie"].lower()


@pytest.mark.parametrize("path", ["/ranking/healthz", "/healthz"])
def test_a_proxy_may_take_the_prefix_off_or_not(make_service, path):
    service = make_service(Settings(prefix="/ranking"))
    assert service.ask("GET", path, key=None).status_code == 200
    assert service.last_line()["route"] == "/healthz"
    assert service.ask("GET", f"/rankings{path}", key=None).status_code == 404


def test_a_named_proxy_says_how_the_service_is_reached(make_service):
    service = make_service(NAMED)
    key = service.make_key("music", "read")
    said = HTTPS | {"x-forwarded-prefix": "/ranking/"}
    page = service.ask("GET", "/projects/music/incidents", key=key, headers=said)
    assert page.status_code == 200
    assert 'href="/ranking/projects/music/rules"' in page.text
    # What a page of its own origin sends is known by the host that the proxy names.
    form = {"content-type": "application/x-www-form-urlencoded"} | said
    origin = {"origin": "https://rank.example.com"}
    set_password(service.browser(), invite(service))
    fields = urlencode({"email": ANN, "password": PASSWORD, "next": ""}).encode()
    answer = service.ask("POST", "/sign-in", fields, key=None, headers=form | origin)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/ranking/"
    other = {"origin": "https://localhost:8000"}
    assert (
        service.ask("POST", "/sign-in", fields, key=None, headers=form | other).status_code == 403
    )
    # Names that the service doesn't answer for stay unknown.
    named = {"x-forwarded-host": "evil.example"}
    assert service.ask("GET", "/healthz", key=None, headers=named).status_code == 421


@pytest.mark.parametrize("prefix", ["//evil.example", "/a/../b", "/a b", "ranking", '/"><b>', "/."])
def test_a_prefix_that_is_no_path_is_ignored(make_service, prefix):
    service = make_service(NAMED)
    headers = {"x-forwarded-prefix": prefix, "accept": "text/html"}
    away = service.ask("GET", "/projects/music/rules", key=None, headers=headers)
    assert away.headers["location"] == "/sign-in?next=%2Fprojects%2Fmusic%2Frules"


def test_nothing_of_an_unnamed_proxy_is_believed(make_service):
    service = make_service(Settings(proxies=read_proxies(["10.9.9.9", "192.0.2.0/24"])))
    key = service.make_key("music", "read")
    said = HTTPS | {"x-forwarded-prefix": "/ranking", "x-forwarded-for": "127.0.0.1"}
    page = service.ask("GET", "/projects/music/incidents", key=key, headers=said)
    assert page.status_code == 200  # the host that is forwarded isn't looked at
    assert 'href="/projects/music/rules"' in page.text


@pytest.mark.parametrize("proxies", [(), ("127.0.0.1",), ("127.0.0.0/8", "::1")])
@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost", "", "192.0.2.1, 127.0.0.1"])
def test_no_header_makes_a_caller_one_of_this_machine(make_service, proxies, address):
    settings = Settings(open_project="music", proxies=read_proxies(proxies))
    service = make_service(settings, has_key=False)
    for name in ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded"):
        asked = ("GET", "/v1/versions", b"", {name: address, "host": "localhost"})
        [answer] = service.ask_all([asked], "127.0.0.1")
        assert answer.status_code in {401, 421}
    if proxies:
        # A named proxy that says nothing is one all the same.
        [answer] = service.ask_all([("GET", "/v1/versions", b"", {})], "127.0.0.1")
        assert answer.status_code == 401


def test_each_client_of_a_named_proxy_has_limits_of_its_own(make_service):
    settings = Settings(proxies=NAMED.proxies, failure_burst=2)
    service = make_service(settings)

    def ask(client):
        # A client may begin the header, and the proxy ends it.
        headers = {"x-forwarded-for": f"198.51.100.9, {client}"}
        return service.ask("GET", "/v1/versions", key="rk_x", headers=headers).status_code

    assert [ask("192.0.2.1") for _ in range(3)] == [401, 401, 429]
    assert ask("192.0.2.2") == 401


@pytest.mark.parametrize("name", ["10.0.0.1/8", "proxy.example", "", "*", "10.0.0.0/33"])
def test_a_proxy_is_an_address(name):
    with pytest.raises(UsageError, match="--proxy must be an IP address"):
        read_proxies([name])


@pytest.mark.parametrize("prefix", ["ranking", "//a", "/a/../b", "/a?b", "/a%20b", "/ä", "/a\n"])
def test_a_prefix_is_a_plain_path(prefix):
    with pytest.raises(UsageError, match="the prefix must be a path"):
        read_prefix(prefix)


@pytest.mark.parametrize("prefix", ["/projects", "/v1/ranking", "/static", "/incidents"])
def test_a_prefix_is_no_path_of_the_service(tmp_path, prefix):
    # Of /v1/values nobody could say whether the prefix is still there.
    with pytest.raises(UsageError, match="must not begin with a path of the service"):
        Service(tmp_path, Settings(prefix=prefix))
