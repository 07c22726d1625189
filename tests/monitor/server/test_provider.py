from __future__ import annotations

import asyncio
import base64
import hmac
import json
import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from rankscope.errors import FormatError
from rankscope.monitor.notify.channels import Channels
from rankscope.monitor.server.access import accounts, provider
from rankscope.monitor.server.http.provider import Provider, read_provider
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.pages.sign_in import DENIED
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.people import hash_secret

from tests.monitor.server.service import NOW
from tests.monitor.store.processes import run_python

CLIENT, SECRET = "rankscope", "the secret of the client"
BASE = "http://localhost:8000"
SECONDS = NOW // 1_000_000
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OTHER = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})


class Login:
    def __init__(self):
        self.claims = {}
        self.key = KEY
        self.keys = [KEY]
        self.header = {"alg": "RS256", "kid": "one"}
        self.described = {}
        self.asked = {}
        self.told = []
        self.token = lambda token: token
        self.location = ""
        self.status = 200
        login = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                found = {
                    "/.well-known/openid-configuration": login.describe,
                    "/jwks": lambda: {"keys": [key.as_dict(private=False) for key in login.keys]},
                }
                self.answer(found[urlsplit(self.path).path]())

            def do_POST(self):
                size = int(self.headers["content-length"])
                said = {
                    name: each[0] for name, each in parse_qs(self.rfile.read(size).decode()).items()
                }
                if login.location:
                    self.send_response(307)
                    self.send_header("location", login.location)
                    self.end_headers()
                    return
                self.answer(login.issue(said, self.headers.get("authorization", "")))

            def answer(self, said):
                body = json.dumps(said).encode()
                self.send_response(login.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_said):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"

    def describe(self):
        paths = {
            "authorization_endpoint": "/authorize",
            "token_endpoint": "/token",
            "jwks_uri": "/jwks",
        }
        said = {name: self.issuer + path for name, path in paths.items()}
        return {"issuer": self.issuer, **said, **self.described}

    def authorize(self, address, code="a code"):
        said = {name: each[0] for name, each in parse_qs(urlsplit(address).query).items()}
        assert said["response_type"] == "code"
        assert said["redirect_uri"] == f"{BASE}/sign-in/callback"
        assert said["code_challenge_method"] == "S256"
        assert "openid" in said["scope"].split()
        self.asked[code] = said
        return f"/sign-in/callback?code={code.replace(' ', '+')}&state={said['state']}&prompt=x"

    def issue(self, said, authorization):
        asked = self.asked.pop(said["code"])
        challenge = base64.urlsafe_b64encode(sha256(said["code_verifier"].encode()).digest())
        assert challenge.decode().rstrip("=") == asked["code_challenge"]
        expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        assert authorization == f"Basic {expected}"
        self.told.append(said)
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "7",
            "iat": SECONDS,
            "exp": SECONDS + 300,
            "nonce": asked["nonce"],
            "email": "ann@example.com",
            "email_verified": True,
            "name": "Ann",
            "groups": ["search"],
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not ...}
        token = jwt.encode(self.header, claims, self.key, algorithms=[self.header["alg"]])
        return {"access_token": "a", "token_type": "Bearer", "id_token": self.token(token)}


@pytest.fixture
def login():
    made = Login()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def service(make_service, login):
    made = make_service(make_settings(login))
    made.store.set_roles("music", {"group:search": "viewer"}, NOW, "test")
    return made


def make_settings(login):
    provider = Provider(issuer=login.issuer, client_id=CLIENT, secret=Secret(SECRET))
    return Settings(provider=provider, notifying=Channels(public_url=BASE))


def begin(browser, wanted="/"):
    answer = browser.get(f"/sign-in/provider?next={wanted}")
    assert answer.status_code == 303
    return str(answer.headers["location"])


def sign_in(browser, login, wanted="/"):
    return browser.get(login.authorize(begin(browser, wanted)), sec_fetch_site="cross-site")


def reason(service):
    entry = service.store.read_audit(None, limit=1)[0].entry
    assert entry.action == "sign_in.fail"
    return str(json.loads(entry.after)["reason"])


def test_who_has_a_role_is_let_in_and_gets_an_account(service, login):
    browser = service.browser()
    answer = sign_in(browser, login, "%2Frules%3Fa%3D1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/rules?a=1")
    assert browser.get("/rules").status_code == 200
    [person] = service.store.people()
    assert (person.email, person.name, person.groups) == ("ann@example.com", "Ann", ("search",))
    assert person.subject == f"{login.issuer} 7"
    assert sign_in(service.browser(), login).status_code == 303
    assert len(service.store.people()) == 1
    log = "".join(service.log)
    assert not any(
        secret in log for secret in (SECRET, "a+code", *filter(None, browser.cookies.values()))
    )


def test_two_services_share_the_flow_and_the_session(make_service, service, login):
    other = make_service(make_settings(login), service.store)
    browser, second = service.browser(), other.browser()
    address = begin(browser)
    second.cookies = browser.cookies
    assert second.get(login.authorize(address)).status_code == 303
    browser.cookies = second.cookies
    assert browser.is_in()


def test_groups_are_those_of_the_last_sign_in(service, login):
    browser = service.browser()
    sign_in(browser, login)
    login.claims = {"groups": ["other"]}
    assert sign_in(service.browser(), login).status_code == 401
    assert reason(service) == "no role in any project"
    service.store.set_roles("films", {"ann@example.com": "editor"}, NOW, "test")
    other = service.browser()
    assert sign_in(other, login).status_code == 303
    assert service.store.people()[0].groups == ("other",)
    # The session from before has no other rights than the new one.
    assert browser.get("/projects/music/").status_code == 404
    assert browser.get("/projects/films/").status_code == 200


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"groups": []}, "no role in any project"),
        ({"groups": ["searching", "Search"]}, "no role in any project"),
        ({"groups": ...}, "no role in any project"),
        ({"groups": "search"}, "the groups can't be read"),
        ({"groups": [["search"], 7, None]}, "no role in any project"),
        ({"groups": ["search"] * 1001}, "the groups can't be read"),
        ({"email_verified": False}, "the provider has not verified the email address"),
        ({"email_verified": "true"}, "the provider has not verified the email address"),
        ({"email_verified": ...}, "the provider has not verified the email address"),
        ({"email": ...}, "the provider has not verified the email address"),
        ({"email": "\u212aim@example.com"}, "the email address can't be used"),
        ({"email": "group:search"}, "the email address can't be used"),
        ({"iss": "https://evil.example"}, "InvalidClaimError"),
        ({"iss": ...}, "MissingClaimError"),
        ({"aud": "another"}, "InvalidClaimError"),
        ({"aud": ["another"], "azp": CLIENT}, "InvalidClaimError"),
        ({"aud": [CLIENT, "another"], "azp": "another"}, "InvalidClaimError"),
        ({"aud": ...}, "MissingClaimError"),
        ({"exp": SECONDS - 61}, "ExpiredTokenError"),
        ({"exp": ...}, "MissingClaimError"),
        ({"iat": SECONDS + 3600}, "InvalidClaimError"),
        ({"nbf": SECONDS + 3600}, "InvalidClaimError"),
        ({"nonce": "0" * 64}, "InvalidClaimError"),
        ({"nonce": ...}, "MissingClaimError"),
        ({"nonce": ""}, "InvalidClaimError"),
        ({"sub": ...}, "MissingClaimError"),
        ({"sub": ""}, "the provider names nobody"),
        ({"sub": 7}, ""),
        ({"at_hash": "AAAA"}, "InvalidClaimError"),
    ],
)
def test_claims_that_are_not_right_let_nobody_in(service, login, claims, said):
    login.claims = claims
    browser = service.browser()
    answer = sign_in(browser, login)
    assert answer.status_code == 401
    assert said in reason(service)
    assert DENIED in answer.text  # the same for all
    assert not browser.is_in()
    assert service.store.people() == []


def test_times_may_differ_by_a_minute(service, login):
    login.claims = {"exp": SECONDS - 30, "iat": SECONDS + 30}
    assert sign_in(service.browser(), login).status_code == 303


def forge_unsigned(token):
    head = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    return f"{head}.{token.split('.')[1]}."


def change_name(token):
    head, body, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    changed = json.dumps(claims | {"email": "boss@example.com"}).encode()
    return f"{head}.{base64.urlsafe_b64encode(changed).decode().rstrip('=')}.{signature}"


def sign_with_the_public_key(token):
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"one"}').decode().rstrip("=")
    signed = f"{head}.{token.split('.')[1]}"
    mac = hmac.new(KEY.as_pem(private=False), signed.encode(), sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"


@pytest.mark.parametrize(
    ("token", "key"),
    [
        *((forge, KEY) for forge in (forge_unsigned, change_name, sign_with_the_public_key)),
        *((forge, KEY) for forge in (lambda _: "", lambda _: "a.b.c")),
        (lambda token: token, OTHER),
    ],
)
def test_a_token_that_the_provider_has_not_signed_lets_nobody_in(service, login, token, key):
    login.token, login.key = token, key
    login.described = {"id_token_signing_alg_values_supported": ["RS256", "HS256", "none"]}
    browser = service.browser()
    assert sign_in(browser, login).status_code == 401
    assert not browser.is_in()


def test_a_new_key_of_the_provider_is_looked_up(service, login, monkeypatch):
    sign_in(service.browser(), login)
    login.key = RSAKey.generate_key(2048, {"kid": "two"})
    login.header, login.keys = {"alg": "RS256", "kid": "two"}, [login.key]
    # Not more often than once a minute, however many tokens name a key that isn't there.
    assert sign_in(service.browser(), login).status_code == 401
    monkeypatch.setattr("rankscope.monitor.server.access.provider.AGAIN_SECONDS", -1.0)
    assert sign_in(service.browser(), login).status_code == 303


@pytest.mark.parametrize(
    "answer",
    [
        "code=a+code&state=0",
        "code=a+code",
        "state={state}",
        "error=access_denied&state={state}",
        "code=a+code&state={state}&iss=https://evil.example",
        "",
    ],
)
def test_an_answer_to_another_question_lets_nobody_in(service, login, answer):
    browser = service.browser()
    address = begin(browser)
    login.authorize(address)
    state = parse_qs(urlsplit(address).query)["state"][0]
    path = f"/sign-in/callback?{answer.format(state=state)}"
    assert browser.get(path).status_code == 401
    assert not browser.is_in()
    assert login.told == []


def test_an_answer_is_for_the_browser_that_asked_and_once(service, login):
    victim, attacker = service.browser(), service.browser()
    back = login.authorize(begin(attacker))
    assert victim.get(back).status_code == 401  # who follows a link of somebody else
    begin(victim)
    assert victim.get(back).status_code == 401
    assert login.told == []
    assert attacker.get(back).status_code == 303
    attacker.cookies = {}
    assert attacker.get(back).status_code == 401


def test_a_session_that_somebody_planted_is_not_continued(service, login):
    browser = service.browser()
    browser.cookies["rankscope-session"] = "0" * 64
    sign_in(browser, login)
    assert browser.cookies["rankscope-session"] != "0" * 64


@pytest.mark.parametrize(
    "described",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": None},
    ],
)
def test_a_provider_that_is_not_the_one_is_not_asked(service, login, described):
    login.described = described
    assert service.browser().get("/sign-in/provider").status_code == 401
    assert "the provider" in reason(service)


def test_a_provider_that_sends_elsewhere_gets_no_secret_there(service, login):
    login.location = f"{login.issuer}/elsewhere"
    assert sign_in(service.browser(), login).status_code == 401
    assert login.told == []


@pytest.mark.parametrize("is_begun", [False, True])
def test_a_provider_that_is_down_lets_nobody_in(service, login, *, is_begun):
    browser = service.browser()
    path = login.authorize(begin(browser)) if is_begun else "/sign-in/provider"
    login.server.server_close()
    answer = browser.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, str(provider.PAUSE))
    assert reason(service) == "the provider can't be reached: ConnectionError"


def test_a_provider_that_fails_is_asked_again_after_a_pause(service, login):
    calls, describe = [], login.describe

    def count():
        calls.append(service.seconds)
        return describe()

    login.describe, login.status = count, 503
    answers = []
    for seconds in (0.0, 0.5, provider.PAUSE - 0.5, provider.PAUSE):
        service.seconds = seconds
        login.status = 200 if seconds == provider.PAUSE else 503
        answer = service.browser().get("/sign-in/provider")
        answers.append((answer.status_code, answer.headers.get("retry-after")))
    pause = str(provider.PAUSE)
    assert answers == [(503, pause), (503, pause), (503, "1"), (303, None)]
    assert calls == [0.0, provider.PAUSE]
    assert sign_in(service.browser(), login).status_code == 303


def test_a_code_that_the_provider_refuses_keeps_nobody_else_out(service, login, monkeypatch):
    for status in (400, 500):
        with monkeypatch.context() as patched:
            browser = service.browser()
            back = login.authorize(begin(browser))
            patched.setattr(login, "issue", lambda *_: {"error": "invalid_grant"})
            patched.setattr(login, "status", status)
            assert browser.get(back).status_code == 401
        assert sign_in(service.browser(), login).status_code == 303


@pytest.fixture
def hang(login, monkeypatch):
    """Makes the provider accept requests and not answer them until it is called again."""
    ended = threading.Event()

    def change(method="", seconds=60.0):
        monkeypatch.setattr(provider, "SECONDS", seconds)
        if method:
            inner = getattr(login, method)
            monkeypatch.setattr(login, method, lambda *given: ended.wait() and inner(*given))
        else:
            ended.set()

    yield change
    ended.set()


@pytest.mark.parametrize("method", ["describe", "issue"])
def test_a_provider_that_hangs_lets_nobody_in_until_it_answers(service, login, hang, method):
    browser, path = service.browser(), "/sign-in/provider"
    if method == "issue":
        path = login.authorize(begin(browser))
    hang(method, 0.05)
    answer = browser.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, str(provider.PAUSE))
    assert reason(service) in {
        f"the provider can't be reached: {name}" for name in ("TimeoutError", "ReadTimeout")
    }
    assert not browser.is_in()
    assert service.browser().get("/sign-in/provider").status_code == 503
    assert reason(service) == "the provider hasn't answered earlier sign-ins"
    hang()
    service.seconds = provider.PAUSE
    assert sign_in(service.browser(), login).status_code == 303


def test_while_a_provider_hangs_few_ask_it_and_everybody_can_sign_out(service, hang):
    browser = service.browser()
    browser.enter(service.make_person(music="viewer"))
    [(name, cookie)] = browser.cookies.items()
    form = {"csrf": hash_secret(f"csrf {cookie}")}
    headers = {"cookie": f"{name}={cookie}", "sec-fetch-site": "same-origin", "origin": "null"}
    hang("describe")

    async def ask():
        transport = httpx.ASGITransport(service.app, client=("127.0.0.1", 5))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            waiting = {asyncio.create_task(client.get("/sign-in/provider")) for _ in range(45)}
            refused = []
            while len(waiting) > provider.MOST_ASKING:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                refused += [task.result() for task in done]
            answer = await client.post("/sign-out", data=form, headers=headers)
            assert not any(task.done() for task in waiting)
            hang()
            assert {answer.status_code for answer in await asyncio.gather(*waiting)} == {303}
        return refused, answer

    refused, answer = asyncio.run(ask())
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert not browser.is_in()
    assert {(each.status_code, each.headers["retry-after"]) for each in refused} == {(503, "1")}
    assert len(refused) == 45 - provider.MOST_ASKING


def test_who_has_left_does_not_wait_for_a_provider_that_hangs(service, hang):
    hang("describe")
    assert service.abandon("GET", "/sign-in/provider", {"type": "http.request"}) == []
    assert service.last_line()["status"] == 499


HANGING = """
import asyncio, threading
from rankscope.monitor.server.access import provider
from rankscope.monitor.server.http.provider import Provider

provider.SECONDS = 0.01
said = Provider(issuer="https://login.example.com", client_id="a", secret=None)
openid = provider.OpenID(said, "", lambda: 0.0, lambda: 0)
try:
    asyncio.run(openid.ask(lambda _: threading.Event().wait()))
except provider.SignInError as error:
    print(error.reason)
"""


def test_a_provider_that_hangs_for_ever_does_not_keep_the_process_alive(tmp_path):
    script = tmp_path / "hanging.py"
    script.write_text(HANGING)
    done = run_python(script)
    assert done.stdout == "the provider can't be reached: TimeoutError\n", done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example", "/%5Cevil.example"])
def test_nobody_is_sent_elsewhere(service, login, wanted):
    assert sign_in(service.browser(), login, wanted).headers["location"] == "/"


def test_an_account_is_joined_by_a_verified_address_once(service, login):
    accounts.add_person(service.store, "ann@example.com", name="", now=NOW, actor="test")
    sign_in(service.browser(), login)
    [person] = service.store.people()
    assert person.subject.endswith(" 7")
    login.claims = {"sub": "8"}  # somebody else, who has the address now
    assert sign_in(service.browser(), login).status_code == 401
    assert reason(service) == "the account belongs to somebody else at the provider"
    login.claims = {"email": "ann.smith@example.com"}  # the same person, renamed
    assert sign_in(service.browser(), login).status_code == 303
    assert service.store.people()[0].email == "ann@example.com"


def test_who_is_disabled_is_not_let_in(service, login):
    browser = service.browser()
    sign_in(browser, login)
    accounts.disable_person(service.store, "ann@example.com", now=NOW, actor="test")
    assert not browser.is_in()
    assert sign_in(service.browser(), login).status_code == 401
    assert reason(service) == "the account is disabled"


GOOD = '[sign-in.oidc]\nissuer = "https://login.example.com"\nclient_id = "a"\n'


def test_the_provider_is_read_from_the_file_and_its_secret_from_the_environment(tmp_path):
    file = tmp_path / "rankscope.toml"
    file.write_text(GOOD + 'groups = "roles"\n')
    found = read_provider(str(file), {"RANKSCOPE_OIDC_SECRET": "hidden"})
    assert found is not None
    assert (found.issuer, found.client_id, found.groups) == (
        "https://login.example.com",
        "a",
        "roles",
    )
    assert "hidden" not in repr(found)
    file.write_text("")
    assert read_provider(str(file)) is None
    assert read_provider(None) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('sign-in = "oidc"', "expected one table"),
        ("[sign-in]", "expected one table"),
        ("[sign-in.saml]", "expected one table"),
        ("[sign-in.oidc]\nclient_id = 'a'", "issuer: expected a value"),
        (GOOD.replace("https", "http"), "expected an address"),
        (GOOD.replace("https://", "https://me@"), "expected an address"),
        (GOOD + 'secret = "hidden"', "no other fields"),
        (GOOD + "groups = 7", "groups"),
    ],
)
def test_a_provider_that_is_not_described_is_refused(tmp_path, text, said):
    file = tmp_path / "rankscope.toml"
    file.write_text(text)
    with pytest.raises(FormatError) as refused:
        read_provider(str(file))
    assert said in refused.value.message
    assert (refused.value.code, refused.value.file) == ("bad_sign_in", str(file))
    assert "hidden" not in str(refused.value)
