"""People in a real browser: a real provider of sign-ins, and pages at all sizes and colors."""

from __future__ import annotations

import json
from datetime import timedelta

import oidc_provider_mock
import pyotp
import pytest

from tests.services.conftest import DESKTOP, PHONE, take_picture, watch_pages
from tests.services.contrast import SCHEMES, find_faint_texts
from tests.services.running import command, find_port, run_service

# The provider of the tests uses what its own library is about to drop.
pytestmark = [pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore")]

PASSWORD = "correct horse battery staple"  # noqa: S105 - of a test
PATHS = ("/operator/people", "/projects/music/people", "/projects/music/audit", "/account")


@pytest.fixture
def issuer():
    """The address of a provider with two people, one of whom has a group."""

    def person(name, *groups):
        said = {"email": f"{name}@example.com", "email_verified": True, "name": name.title()}
        return oidc_provider_mock.User(sub=name, claims={**said, "groups": list(groups)})

    people = (person("ann", "search"), person("eve"))
    with oidc_provider_mock.run_server_in_thread(
        require_nonce=True, user_claims=people, access_token_max_age=timedelta(minutes=5)
    ) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def visit(browser):
    # The browser reports the status of who isn't let in, and what the provider's own pages lack.
    with watch_pages(browser, lambda _: True, lambda text: "Failed to load" in text) as make:

        def open_page(**settings):
            page = make(**settings)
            page.context.set_default_timeout(60_000)
            return page

        yield open_page


def test_people_sign_in_through_a_real_provider(tmp_path, issuer, visit, monkeypatch):
    store, port = tmp_path / "music.db", find_port()
    file = tmp_path / "rankscope.toml"
    file.write_text(
        f'public_url = "http://localhost:{port}"\n'
        f'[sign-in.oidc]\nissuer = "{issuer}"\nclient_id = "rankscope"\nname = "Example"\n'
        "[projects.music.definition]\n"
        'window = "24h"\nattribution.positive = {click = 1}\n'
        '[projects.music.roles]\nviewer = ["group:search"]\n'
    )
    command("monitor", "apply", str(store), str(file))
    words = ("--project", "music", "--scope", "admin", "read", "--json")
    made = json.loads(command("monitor", "key", "make", str(store), "ops", *words))
    monkeypatch.setenv("RANKSCOPE_KEY", made["key"])
    monkeypatch.setenv("RANKSCOPE_OIDC_SECRET", "a secret")
    with run_service(store, "--config", str(file), port=port) as url:
        home, page = url.replace("127.0.0.1", "localhost"), visit()
        page.goto(f"{home}/projects/music/rules")
        assert "/sign-in" in page.url
        page.get_by_role("link", name="Continue with Example").click()
        page.get_by_role("button", name="ann").click()
        page.wait_for_url("**/projects/music/rules")
        assert page.get_by_role("link", name="Account of Ann").count() == 1
        cookies = {each["name"]: each for each in page.context.cookies(home)}
        assert cookies["rankscope-session"]["httpOnly"]
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/sign-in")
        other = visit()
        other.goto(f"{home}/sign-in")
        other.get_by_role("link", name="Continue with Example").click()
        other.get_by_role("button", name="eve").click()
        other.get_by_text("You were not signed in").wait_for()
        # A role acts at once, from the command line over HTTP.
        command("monitor", "people", "role", url, "eve@example.com", "editor")
        other.get_by_role("link", name="Continue with Example").click()
        other.get_by_role("button", name="eve").first.click()
        other.get_by_role("link", name="Account of Eve").wait_for()
    lines = command("monitor", "audit", str(store), "--ndjson").splitlines()
    told = [(each["actor"], each["action"]) for each in map(json.loads, lines)]
    assert ("ann@example.com", "sign_in") in told
    assert ("", "sign_in.fail") in told
    assert ("eve@example.com", "sign_in") in told


@pytest.mark.slow
def test_the_pages_of_people_are_legible_and_work_by_keyboard(tmp_path, visit):
    store = tmp_path / "music.db"
    link = command(
        "monitor", "people", "add", str(store), "ann@example.com", "--role", "operator"
    ).strip()
    for member, role in (
        ("ben.with-a-long-name@search.example.com", "editor"),
        ("group:search", "viewer"),
    ):
        command("monitor", "people", "role", str(store), member, role, "--project", "music")
    for window in ("24h", "48h"):
        configure = ("monitor", "configure", str(store), "--project", "music")
        command(*configure, "--positive", "click=1", "--window", window)
    with run_service(store) as url:
        page = visit(java_script_enabled=False)
        page.goto(url + link)
        take_picture(page, "set-password")
        page.get_by_label("Password").press_sequentially(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Sign out").wait_for()
        page.goto(f"{url}/account")
        secret = page.locator("section code").first.inner_text()
        page.get_by_label("Code").press_sequentially(pyotp.TOTP(secret).now())
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Recovery codes").wait_for()
        assert page.locator(".codes code").count() == 10
        assert find_faint_texts(visit_again(visit, page, url, "/operator/people")) == []
        state = page.context.storage_state()
        for size in (DESKTOP, PHONE):
            for scheme in SCHEMES:
                name = f"{size['width']}-{scheme}"
                seen = visit(viewport=size, color_scheme=scheme, storage_state=state)
                for path in PATHS:
                    seen.goto(url + path)
                    check(seen)
                    take_picture(seen, f"{path.split('/')[-1]}-{path.split('/')[1]}-{name}")
                anonymous = visit(viewport=size, color_scheme=scheme)
                anonymous.goto(f"{url}/sign-in")
                check(anonymous)
                take_picture(anonymous, f"sign-in-{name}")


def visit_again(visit, page, url, path):
    again = visit(storage_state=page.context.storage_state())
    again.goto(url + path)
    return again


def check(page):
    """Nothing is faint, nothing is wider than the window, and every field has a label."""
    assert find_faint_texts(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    fields = "[...document.querySelectorAll('input:not([type=hidden], [hidden]), select')]"
    assert page.evaluate(f"{fields}.every((each) => each.labels.length > 0)")
