from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import argon2
import pyotp
import pytest
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.server.access import accounts
from rankscope.monitor.server.access.passwords import LONGEST, SHORTEST, Passwords, find_step
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.people import LINK_LIFE, SESSION_IDLE, SESSION_LIFE, hash_secret

from tests.monitor.server.music import MUSIC, open_monitor
from tests.monitor.server.pages.test_rules import FIELDS
from tests.monitor.server.service import NOW, Service, find_token

ANN, PASSWORD = "ann@example.com", "correct horse battery staple"
COOKIE = "rankscope-session"
WRONG = "a wrong password"
OFTEN = {"sign_in_burst": 10**6, "account_burst": 10**6, "open_burst": 10**6}


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch):
    """Only one test is about what a hash costs."""
    cheap = partial(argon2.PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(argon2, "PasswordHasher", cheap)


@pytest.fixture
def service(make_service):
    return make_service(Settings(**OFTEN))


def invite(service, email=ANN, **roles):
    """Add a person, and return what the link has."""
    person, link = accounts.add_person(
        service.store, email, name="Ann", now=service.now, actor="test"
    )
    for project, role in ({"music": "viewer"} | roles).items():
        service.store.set_roles(project, {person.email: role}, service.now, "test")
    return link


def join(service, email=ANN, **roles):
    """Add a person who sets a password, and return the browser."""
    browser = service.browser()
    link = invite(service, email, **roles)
    assert set_password(browser, link).status_code == 303
    return browser


def set_password(browser, link, password=PASSWORD, path="/set-password"):
    return browser.send(path, {"link": link, "password": password})


def sign_in(browser, email=ANN, password=PASSWORD, **more):
    return browser.send("/sign-in", {"email": email, "password": password, **more})


def token_of(browser):
    return find_token(browser.get("/account").text)


def act(browser, path, **fields):
    return browser.send(path, {"csrf": token_of(browser), **fields})


def actions(service):
    return [each.entry.action for each in service.store.read_audit(None) if not each.project]


def test_a_link_sets_a_password_once_and_signs_in(service):
    link, browser = invite(service), service.browser()
    page = browser.get(f"/set-password?link={link}")
    assert ANN in page.text
    assert service.store.find_person(email=ANN).link == hash_secret(link)  # looking isn't using
    assert set_password(browser, link).status_code == 303
    assert browser.is_in()
    assert is_in_as(service.browser())
    for again in (service.browser(), browser):
        assert set_password(again, link, "another password than that").status_code == 404
        assert again.get(f"/set-password?link={link}").status_code == 404
    assert actions(service)[:2] == ["sign_in", "person.set_password"]


def is_in_as(browser, password=PASSWORD):
    return sign_in(browser, password=password).status_code == 303 and browser.is_in()


@pytest.mark.parametrize(("after", "status"), [(-1, 200), (0, 404), (1, 404)])
def test_a_link_expires(service, after, status):
    link = invite(service)
    service.seconds = (LINK_LIFE + after * SECOND) / SECOND
    assert service.browser().get(f"/set-password?link={link}").status_code == status
    assert set_password(service.browser(), link).status_code == {200: 303}.get(status, status)


def test_a_new_link_ends_the_one_before_and_everything_else(service):
    browser = join(service)
    _, first = accounts.reset_password(service.store, ANN, now=NOW, actor="test")
    _, second = accounts.reset_password(service.store, ANN, now=NOW, actor="test")
    assert not browser.is_in()
    assert sign_in(service.browser()).status_code == 401
    assert set_password(service.browser(), first).status_code == 404
    assert set_password(service.browser(), second).status_code == 303


@pytest.mark.parametrize(
    ("password", "is_taken"),
    [
        ("a" * (SHORTEST - 1), False),
        ("a" * SHORTEST, True),
        ("a" * LONGEST, True),
        ("a" * (LONGEST + 1), False),
        (ANN, False),
        (ANN.upper(), False),
        ("pässwörter\u0000\U0001f600", True),
    ],
)
def test_a_password_has_a_length(service, password, *, is_taken):
    link = invite(service)
    assert set_password(service.browser(), link, password).status_code == (303 if is_taken else 422)
    assert is_in_as(service.browser(), password) == is_taken


def test_passwords_and_addresses_are_read_however_a_keyboard_writes_them(service):
    assert set_password(service.browser(), invite(service), "Gr\u00f6\u00dfe 12345678")
    assert is_in_as(service.browser(), "Gro\u0308\u00dfe 12345678")
    join(service, "kim@example.com")
    assert sign_in(service.browser(), " Kim@Example.COM ").status_code == 303
    # The Kelvin sign is a small k in lower case.
    assert sign_in(service.browser(), "\u212aim@example.com").status_code == 401


def test_whatever_is_wrong_gets_one_answer_and_the_same_work(service, monkeypatch):
    join(service)
    join(service, "gone@example.com")
    accounts.disable_person(service.store, "gone@example.com", now=NOW, actor="test")
    invite(service, "new@example.com")  # without a password yet
    service.store.add_person(
        replace(service.store.find_person(email=ANN), email="idp@example.com", password=""),
        service.store.read_audit(None)[0].entry,
    )
    work = []
    hasher = argon2.PasswordHasher.func
    verify = hasher.verify
    monkeypatch.setattr(hasher, "verify", lambda *given: work.append(1) or verify(*given))
    told = set()
    cases = (
        (ANN, "wrong password"),
        (ANN, ""),
        (ANN, PASSWORD + "a" * LONGEST),
        ("nobody@example.com", PASSWORD),
        ("gone@example.com", PASSWORD),
        ("new@example.com", ""),
        ("new@example.com", PASSWORD),
        ("idp@example.com", ""),
        ("no address", PASSWORD),
        ("\u212aann@example.com", PASSWORD),
        ("", ""),
        ("a" * 5000, PASSWORD),
    )
    for at, (email, password) in enumerate(cases, start=1):
        answer = sign_in(service.browser(), email, password)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        told.add(re.sub(r' value="[^"]*" required autocomplete="username"', "", answer.text))
        assert len(work) == at
    assert len(told) == 1


def test_a_session_begins_with_a_cookie_that_nobody_knew(service):
    browser = join(service)
    mine, theirs = service.browser(), "0" * 64
    mine.cookies[COOKIE] = theirs  # an attacker has put it there
    assert sign_in(mine).status_code == 303
    assert mine.cookies[COOKIE] not in {theirs, browser.cookies[COOKIE]}
    before = mine.cookies[COOKIE]
    sign_in(mine)
    assert mine.cookies[COOKIE] != before
    old = service.browser()
    old.cookies[COOKIE] = before
    assert not old.is_in()  # who signs in again has left the session before
    assert before not in repr(service.store.list_sessions(1))


@pytest.mark.parametrize(
    ("client", "headers", "name", "is_secure"),
    [
        ("127.0.0.1", {}, COOKIE, False),
        ("::1", {}, COOKIE, False),
        ("10.1.2.3", {}, f"__Host-{COOKIE}", True),
        ("", {}, f"__Host-{COOKIE}", True),
        ("127.0.0.1", {"x_forwarded_for": "192.0.2.1"}, f"__Host-{COOKIE}", True),
    ],
)
def test_only_this_machine_gets_a_cookie_that_plain_http_carries(
    service, client, headers, name, *, is_secure
):
    join(service)
    fields = {"email": ANN, "password": PASSWORD}
    answer = service.browser(client).send("/sign-in", fields, **headers)
    cookie = answer.headers.get_list("set-cookie")[0]
    kept, *said = cookie.split("; ")
    assert re.fullmatch(rf"{name}=[0-9a-f]{{64}}", kept)
    expected = {"HttpOnly", "SameSite=lax", "Path=/", f"Max-Age={7 * 86_400}"}
    assert set(said) == expected | ({"Secure"} if is_secure else set())


def test_cookies_that_are_no_sessions_open_nothing(service):
    cookie = join(service).cookies[COOKIE]
    for kept in ("", "0" * 64, cookie[:-1], cookie + "0", hash_secret(cookie), "\ufffd"):
        other = service.browser()
        other.cookies[COOKIE] = kept.encode("ascii", "replace").decode()
        assert not other.is_in()


@pytest.mark.parametrize(
    ("uses", "is_open"),
    [
        ([SESSION_IDLE - 1], True),
        ([SESSION_IDLE], False),
        ([HOUR * at for at in range(6, 160, 6)], True),
        ([*(HOUR * at for at in range(6, 168, 6)), SESSION_LIFE - 1], True),
        ([*(HOUR * at for at in range(6, 168, 6)), SESSION_LIFE], False),
    ],
)
def test_a_session_ends_unused_and_in_any_case(service, uses, *, is_open):
    browser = join(service)
    for use in uses:
        service.seconds = use / SECOND
        found = browser.is_in()
        service.store.transact(lambda _: None).result()
    assert found == is_open


def test_the_last_use_is_written_once_a_minute(service):
    browser, seen = join(service), []
    for use in (0, MINUTE - SECOND, MINUTE, 2 * MINUTE - SECOND, 3 * MINUTE):
        service.seconds = use / SECOND
        assert browser.is_in()
        service.store.transact(lambda _: None).result()
        seen.append(service.store.list_sessions(1)[0].seen - NOW)
    assert seen == [0, 0, MINUTE, MINUTE, 3 * MINUTE]


def test_who_is_disabled_is_out_at_once(service):
    browser = join(service)
    accounts.disable_person(service.store, ANN, now=NOW, actor="test")
    assert not browser.is_in()
    assert sign_in(service.browser()).status_code == 401
    _, link = accounts.add_person(service.store, ANN, name="", now=NOW, actor="test")
    assert sign_in(service.browser()).status_code == 401
    assert set_password(service.browser(), link).status_code == 303


def test_a_role_that_is_taken_away_acts_at_once_and_a_new_one_changes_the_cookie(service):
    browser = join(service, music="admin")
    before = browser.cookies[COOKIE]
    assert browser.get("/audit").status_code == 200
    service.store.set_roles("music", {ANN: "viewer"}, NOW, "test")
    assert browser.get("/audit").status_code == 403
    assert browser.cookies[COOKIE] != before
    old = service.browser()
    old.cookies[COOKIE] = before
    assert not old.is_in()
    service.store.set_roles("music", {ANN: None}, NOW, "test")
    assert browser.get("/").status_code in {400, 403, 404}
    assert browser.is_in()


def test_wrong_passwords_of_an_account_are_slowed_down_and_do_not_lock_it_out(make_service):
    service = make_service(Settings(sign_in_burst=10**6, account_burst=3, account_rate=0.1))
    mine = join(service)
    fresh = service.browser()
    attacker = service.browser("10.9.9.9")
    told = [sign_in(attacker, password=str(at)).status_code for at in range(6)]
    assert told == [401] * 3 + [429] * 3
    refused = sign_in(attacker)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
    assert sign_in(fresh).status_code == 429
    # The browser in which ann has signed in before is not held up by what others do.
    assert is_in_as(mine)
    assert [sign_in(attacker, "nobody@example.com").status_code for _ in range(4)][-1] == 429
    service.seconds = 10
    assert is_in_as(fresh)


def test_the_cookie_of_a_browser_is_void_with_a_new_password(make_service):
    service = make_service(Settings(sign_in_burst=10**6, account_burst=1, account_rate=0.01))
    browser = join(service)
    _, link = accounts.reset_password(service.store, ANN, now=NOW, actor="test")
    set_password(service.browser(), link)
    assert sign_in(service.browser("10.9.9.9"), password=WRONG).status_code == 401
    assert sign_in(browser).status_code == 429


def test_an_address_that_tries_many_accounts_is_slowed_down(make_service):
    service = make_service(Settings(sign_in_burst=3, sign_in_rate=0.1))
    join(service)
    tries = [sign_in(service.browser("10.9.9.9"), f"a{at}@example.com") for at in range(4)]
    assert [answer.status_code for answer in tries] == [401, 401, 401, 429]
    # Networks of IPv6 are given out as a whole.
    tries = [sign_in(service.browser(f"2001:db8::{at}"), f"b{at}@example.com") for at in range(4)]
    assert [answer.status_code for answer in tries] == [401, 401, 401, 429]
    right = [sign_in(service.browser("10.8.8.8")) for _ in range(5)]
    assert [answer.status_code for answer in right] == [303] * 5  # these cost nothing


def add_app(service, browser):
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", browser.get("/account").text)
    assert secret is not None
    app = pyotp.TOTP(secret[1])
    code = app.at(service.now // SECOND)
    page = act(browser, "/account/app", secret=secret[1], code=code)
    assert page.status_code == 200
    return app, re.findall(r"<code>([a-z2-7]{4}(?:-[a-z2-7]{4}){3})</code>", page.text)


def test_a_code_of_the_app_is_needed_and_taken_once(service):
    browser = join(service)
    app, codes = add_app(service, browser)
    assert len(set(codes)) == 10
    service.seconds = 60
    now = service.now // SECOND
    assert sign_in(service.browser()).status_code == 401
    for wrong in (
        "",
        "000000",
        app.at(now - 90),
        app.at(now + 90),
        app.at(now) + "0",
        "\u0661" * 6,
    ):
        assert sign_in(service.browser(), code=wrong).status_code == 401
    assert sign_in(service.browser(), password=WRONG, code=app.at(now)).status_code == 401
    assert sign_in(service.browser(), code=app.at(now)).status_code == 303
    assert sign_in(service.browser(), code=app.at(now)).status_code == 401  # heard by somebody
    assert sign_in(service.browser(), code=app.at(now - 30)).status_code == 401  # and before
    service.seconds = 120
    assert sign_in(service.browser(), code=app.at(service.now // SECOND)).status_code == 303


def test_a_recovery_code_takes_the_place_of_the_app_once(service):
    browser = join(service)
    _, codes = add_app(service, browser)
    assert sign_in(service.browser(), code=f" {codes[3].upper()} ").status_code == 303
    assert sign_in(service.browser(), code=codes[3]).status_code == 401
    assert sign_in(service.browser(), code=codes[4]).status_code == 303
    assert codes[5] not in repr(service.store.people())
    assert len(service.store.people()[0].recovery) == 8


def test_an_app_is_added_with_its_code_and_removed_with_the_password(service):
    browser = join(service)
    secret = pyotp.random_base32()
    for bad, code in ((secret, "000000"), ("no base 32!", "000000"), ("", "")):
        assert act(browser, "/account/app", secret=bad, code=code).status_code == 422
    assert service.store.people()[0].totp == ""
    add_app(service, browser)
    totp = service.store.people()[0].totp
    assert act(browser, "/account/app/remove", password=WRONG).status_code == 422
    assert service.store.people()[0].totp == totp
    assert act(browser, "/account/app/remove", password=PASSWORD).status_code == 303
    assert (service.store.people()[0].totp, service.store.find_secret(totp)) == ("", None)
    assert is_in_as(service.browser())


def test_an_app_whose_secret_is_lost_lets_nobody_in_without_a_recovery_code(service):
    browser = join(service)
    app, codes = add_app(service, browser)
    person = service.store.people()[0]
    # As in a store that was restored from a backup, which has no secrets.
    service.store.change_person(person, {"totp": "lost"}, service.store.read_audit(None)[0].entry)
    service.seconds = 120
    code = app.at(service.now // SECOND)
    assert sign_in(service.browser(), code=code).status_code == 401
    assert sign_in(service.browser(), code=codes[0]).status_code == 303


@pytest.mark.parametrize("last", [0, 99, 100, 101])
def test_codes_up_to_the_last_one_taken_are_void(last):
    secret = pyotp.random_base32()
    steps = {
        find_step(secret, pyotp.TOTP(secret).generate_otp(step), 100 * 30 * SECOND, last)
        for step in range(97, 104)
    } - {None}
    assert steps == {step for step in (99, 100, 101) if step > last}


def test_a_new_password_needs_the_old_one_and_ends_other_sessions(service):
    browser, other = join(service), service.browser()
    sign_in(other)
    before = browser.cookies[COOKIE]
    new = "a completely new password"
    assert act(browser, "/account/password", password=WRONG, new=new).status_code == 422
    assert act(browser, "/account/password", password=PASSWORD, new="short").status_code == 422
    assert other.is_in()
    assert act(browser, "/account/password", password=PASSWORD, new=new).status_code == 303
    assert (browser.is_in(), other.is_in()) == (True, False)
    assert browser.cookies[COOKIE] != before
    assert sign_in(service.browser()).status_code == 401
    assert is_in_as(service.browser(), new)


def test_sessions_are_listed_and_end_one_by_one_or_all(service):
    browsers = [join(service), service.browser(), service.browser()]
    for browser in browsers[1:]:
        sign_in(browser)
    digests = [hash_secret(browser.cookies[COOKIE]) for browser in browsers]
    assert browsers[0].get("/account").text.count('name="session"') == 3
    assert act(browsers[0], "/account/sessions", session=digests[1]).status_code == 303
    assert [browser.is_in() for browser in browsers] == [True, False, True]
    ben = join(service, "ben@example.com")
    assert act(ben, "/account/sessions", session=digests[2]).status_code == 303  # not ben's
    assert browsers[2].is_in()
    assert act(browsers[0], "/account/sessions").status_code == 303
    assert [browser.is_in() for browser in (*browsers, ben)] == [False, False, False, True]


def test_a_form_needs_the_token_of_its_own_session(service):
    browser, other = join(service), join(service, "ben@example.com")
    for fields in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": token_of(other)}):
        answer = browser.send("/sign-out", fields)
        assert (answer.status_code, service.last_line()["code"]) == (403, "csrf")
    assert browser.is_in()
    assert act(browser, "/sign-out").status_code == 303
    assert not browser.is_in()
    assert service.store.list_sessions(1) == []


@pytest.mark.parametrize("path", ["/sign-in", "/set-password", "/sign-out", "/account/password"])
@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_a_form_of_another_page_is_refused(service, path, site):
    browser = join(service)
    fields = {"email": ANN, "password": PASSWORD, "csrf": token_of(browser)}
    before = dict(browser.cookies)
    answer = browser.send(path, fields, sec_fetch_site=site)
    assert (answer.status_code, service.last_line()["code"]) == (403, "origin")
    assert browser.cookies == before


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
def test_nobody_is_sent_elsewhere(service, wanted):
    join(service)
    browser = service.browser()
    assert sign_in(browser, next=wanted).headers["location"] == "/"
    if len(wanted) < 2048:
        answer = browser.get(f"/sign-in?{urlencode({'next': wanted})}")
        assert answer.headers["location"] == "/"


@pytest.mark.parametrize(
    "wanted", ["/trace?measure=nDCG%405", "/slices?a=%C3%A4&b=//x", "/rules/a%20b"]
)
def test_who_signs_in_goes_on_where_they_wanted_to_go(service, wanted):
    join(service)
    sent = service.browser().get(wanted)
    assert sent.status_code == 303
    [back] = parse_qs(urlsplit(sent.headers["location"]).query)["next"]
    found = urlsplit(sign_in(service.browser(), next=back).headers["location"])
    asked = urlsplit(wanted)
    assert (unquote(found.path), found.query) == (unquote(asked.path), asked.query)


def test_a_failed_sign_in_is_noted_without_its_password_and_boundedly(service):
    join(service)
    count = 104
    for at in range(count):
        sign_in(service.browser(), f"a{at}@example.com", "hunter2 hunter2")
    sign_in(service.browser(), "hunter2 in the wrong field", "x")
    service.seconds = 60
    sign_in(service.browser(), ANN, "hunter2 hunter2")
    listed = [
        each for each in service.store.read_audit(None) if each.entry.action == "sign_in.fail"
    ]
    assert len(listed) == 101
    assert (listed[0].entry.actor, listed[0].entry.after) == (ANN, '{"not_listed_before": 5}')
    assert "hunter2" not in repr(listed)
    assert "hunter2" not in "".join(service.log)


def test_operators_add_and_disable_people_and_admins_do_not(service):
    boss = join(service, "boss@example.com")
    service.store.set_roles(None, {"boss@example.com": "operator"}, NOW, "test")
    page = act(boss, "/operator/people", email="New@example.com", name="New")
    link = re.search(r"http://localhost:8000(/set-password\?link=[0-9a-f]{64})", page.text)
    assert link is not None
    assert service.browser().get(link[1]).status_code == 200
    assert act(boss, "/operator/people", email="new@example.com").status_code == 422
    assert act(boss, "/operator/people/disable", email="new@example.com").status_code == 303
    assert service.browser().get(link[1]).status_code == 404
    answer = act(boss, "/operator/people/operator", member="boss@example.com", role="none")
    assert answer.status_code == 422
    admin = join(service, music="admin")
    for path in ("", "/reset", "/disable", "/operator"):
        fields = {"email": "boss@example.com", "member": ANN, "role": "operator"}
        assert act(admin, f"/operator/people{path}", **fields).status_code == 403
    assert service.store.roles(None) == {"boss@example.com": "operator"}
    assert boss.is_in()


def test_the_audit_log_says_who_changed_a_rule_and_what_it_was(service):
    open_monitor(service, "music").configure(MUSIC, actor="test")
    browser = join(service, music="editor")
    fields = {**FIELDS, "name": "quality"}
    for path, tolerance in (("/rules/new", "0.02"), ("/rules/quality/change", "0.05")):
        assert act(browser, path, **fields | {"tolerance": tolerance}).status_code == 303
    made, changed = service.store.read_audit("music")[1::-1]
    assert (made.entry.actor, made.entry.action) == (ANN, "rule.create")
    said = changed.to_dict()
    assert (said["actor"], said["subject"]) == (ANN, "quality")
    assert (said["before"]["tolerance"], said["after"]["tolerance"]) == (0.02, 0.05)
    service.store.set_roles("music", {ANN: "admin"}, NOW, "test")
    assert "tolerance: 0.02 → 0.05" in browser.get("/audit").text
    lines = browser.get("/v1/audit.ndjson").text.splitlines()
    assert len(lines) == len(service.store.read_audit("music"))


def test_a_person_ends_the_open_mode_for_good(make_service):
    service = make_service(Settings(open_project="music"), has_key=False)
    assert service.browser().get("/rules").status_code == 200
    invite(service)
    assert service.browser().get("/rules").status_code == 303
    accounts.disable_person(service.store, ANN, now=NOW, actor="test")
    assert service.browser().get("/rules").status_code == 303


def test_a_hash_costs_what_the_standard_asks_for(monkeypatch):
    monkeypatch.undo()
    asked, used = argon2.profiles.RFC_9106_LOW_MEMORY, Passwords()._load()
    assert (used.type, used.time_cost, used.memory_cost) == (
        argon2.Type.ID,
        asked.time_cost,
        asked.memory_cost,
    )


@pytest.mark.parametrize("library", ["argon2", "pyotp", "segno"])
def test_without_the_extra_it_is_said_what_to_install(service, monkeypatch, library):
    browser = join(service)
    monkeypatch.setitem(sys.modules, library, None)
    link, answers = invite(service, "ben@example.com"), []
    fresh = Service(service.store.path.parent, store=service.store, has_key=False).browser()
    fresh.cookies = browser.cookies
    answers = [set_password(fresh, link), sign_in(fresh), fresh.get("/account")]
    refused = [answer for answer in answers if answer.status_code == 503]
    assert len(refused) == (2 if library == "argon2" else 1)
    for answer in refused:
        assert "rankscope[people]" in answer.text
        assert library in answer.text


def test_days_are_as_long_as_they_are():
    assert (SESSION_LIFE, SESSION_IDLE, LINK_LIFE) == (7 * DAY, 12 * HOUR, 3 * DAY)
