from __future__ import annotations

import json
import smtplib
import subprocess
from email import message_from_string
from email.header import decode_header, make_header
from types import SimpleNamespace

import pytest
import requests
from rankscope.monitor.notify import apprise_process
from rankscope.monitor.notify.apprise_process import ALLOWED, REFUSED, Guard, describe, send
from rankscope.monitor.notify.channels import (
    Channel,
    Channels,
)
from rankscope.monitor.notify.message import write_message, write_test
from rankscope.monitor.notify.sending import AppriseSender, check_services
from rankscope.monitor.store.keys import Secret

from tests.monitor.notify.listener import listening
from tests.monitor.notify.notices import HOSTILE, NOW, make, make_incident
from tests.monitor.notify.test_posting import PRIVATE, PUBLIC

# Apprise imports it where it is still there, for a library that isn't installed here.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
DISCORD = "discord://1234567890123/abcdefghijklmnopqrst"
MATTERMOST = "mmost://chat.example/3ccdd113474722377935511fc85d3dd4"
MAIL = "mailto://user:pass@mail.example?from=rankscope@mail.example&to=team@mail.example"
TOKEN = SLACK.rpartition("/")[2]


def make_channel(url, *, allows_private=False):
    return Channel(name="team", url=Secret(url), allows_private=allows_private)


def ask(url, message):
    said = {
        name: getattr(message, name) for name in ("title", "text", "markdown", "html", "urgency")
    }
    return {
        "url": url,
        "allows_private": False,
        "seconds": 5.0,
        "most_seconds": 60.0,
        **said,
    }


class Posted:
    def __init__(self, monkeypatch, status=200):
        self.bodies = []

        def take(*_args, **said):
            self.bodies.append(said.get("data") or said.get("json"))
            assert said.get("allow_redirects") is False
            return SimpleNamespace(
                status_code=status,
                content=b"ok",
                text="ok",
                headers={},
                iter_content=lambda *_: iter([b"ok"]),
                json=lambda: {"ok": True},
            )

        for name in ("post", "request", "get", "put"):
            monkeypatch.setattr(requests, name, take)


@pytest.mark.parametrize("address", PRIVATE)
def test_the_guard_refuses_what_is_not_public(address):
    guard = Guard(allows_private=False)
    with pytest.raises(PermissionError):
        guard.judge("socket.connect", (None, (address, 443)))
    assert guard.has_refused


def test_the_guard_lets_public_addresses_pass():
    guard = Guard(allows_private=False)
    for address in PUBLIC:
        guard.judge("socket.connect", (None, (address, 443)))
    guard.judge("socket.getaddrinfo", ("hooks.slack.com", 443, 0, 0, 0))
    guard.judge("socket.sendmsg", (None, None))
    assert not guard.has_refused


@pytest.mark.parametrize(
    ("event", "args"),
    [
        ("socket.connect", (None, ("hooks.slack.com", 443))),
        ("socket.connect", (None, "/var/run/docker.sock")),
        ("socket.connect", (None, ("fe80::1", 443, 0, 2))),
        ("socket.sendto", (None, ("169.254.169.254", 80))),
        ("socket.sendmsg", (None, ("169.254.169.254", 80))),
        ("socket.getaddrinfo", ("Metadata.Google.Internal.", 80, 0, 0, 0)),
        ("socket.getaddrinfo", (b"metadata", 80, 0, 0, 0)),
        ("subprocess.Popen", ("sh", ["sh"], None, None)),
        ("os.system", (b"sh",)),
    ],
)
def test_the_guard_refuses_other_ways_even_where_private_addresses_are_allowed(event, args):
    guard = Guard(allows_private=True)
    with pytest.raises(PermissionError):
        guard.judge(event, args)


def test_a_message_arrives_at_a_private_address_where_that_is_allowed():
    message = write_test("team", "https://rankscope.example.com")
    with listening() as listener:
        url = f"json://127.0.0.1:{listener.port}/in"
        assert AppriseSender().send(make_channel(url, allows_private=True), message).problem == ""
        (request,) = listener.requests
        refused = AppriseSender().send(make_channel(url), message)
        assert refused.problem == REFUSED
        assert len(listener.requests) == 1
    said = json.loads(request.partition(b"\r\n\r\n")[2])
    assert (said["title"], said["message"]) == (message.title, message.text)


def test_a_redirect_is_not_followed():
    message = write_test("team")
    with listening() as other:
        answer = f"HTTP/1.1 307 x\r\nLocation: http://127.0.0.1:{other.port}/\r\n\r\n".encode()
        with listening(answer) as listener:
            # The address can't ask for it, either.
            url = f"json://127.0.0.1:{listener.port}/?redirect=yes"
            sent = AppriseSender().send(make_channel(url, allows_private=True), message)
        assert sent.problem == "status 307"
        assert len(listener.requests) == 1
        assert not other.requests


@pytest.mark.parametrize(
    "url", ["json://169.254.169.254/latest", "json://metadata.google.internal/"]
)
def test_metadata_services_are_not_called_by_any_service(url):
    sent = AppriseSender().send(make_channel(url, allows_private=True), write_test("team"))
    assert sent.problem == ALLOWED


def test_what_hangs_is_given_up():
    with listening(lambda connection: connection.recv(1)) as listener:
        url = f"json://127.0.0.1:{listener.port}/"
        sender = AppriseSender(seconds=0.5)
        sent = sender.send(make_channel(url, allows_private=True), write_test("team"))
    assert sent.problem


def test_the_process_gets_no_secrets_of_the_service(monkeypatch):
    seen = {}

    def run(command, **said):
        seen.update(said, command=command)
        return SimpleNamespace(stdout=b'{"problem": ""}')

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("RANKSCOPE_CHANNEL_TEAM", SLACK)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.internal:3128")
    AppriseSender().send(make_channel(SLACK), write_test("team"))
    assert TOKEN not in f"{seen['command']} {seen['env']}"
    assert "HTTPS_PROXY" not in seen["env"]
    AppriseSender().send(make_channel(SLACK, allows_private=True), write_test("team"))
    assert seen["env"]["HTTPS_PROXY"] == "http://proxy.internal:3128"


def test_services_have_names_and_addresses_of_none_are_refused():
    channels = Channels(channels=(make_channel(SLACK),))
    assert check_services(channels, AppriseSender()) == {"team": "Slack"}
    urls = [MAIL, MATTERMOST, "nothing://hush", "syslog://hush", "dbus://hush"]
    assert describe(urls) == {"services": ["E-Mail", "Mattermost", None, None, None]}


@pytest.mark.parametrize("status", [401, 429, 500])
def test_the_status_of_a_refusal_is_told_and_nothing_else(monkeypatch, status):
    Posted(monkeypatch, status)
    guard = Guard(allows_private=False)
    said = send(ask(SLACK, write_test("team")), guard)
    assert said == {"problem": f"status {status}"}


def test_a_plugin_that_fails_tells_no_token(monkeypatch, capfdbinary):
    def fail(_asked):
        raise RuntimeError(TOKEN)

    monkeypatch.setattr(apprise_process, "send", fail)
    ended = []
    monkeypatch.setattr("os._exit", ended.append)
    monkeypatch.setattr("os.dup2", lambda *_: None)
    body = json.dumps(ask(SLACK, write_test("team"))).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=SimpleNamespace(read=lambda: body)))
    apprise_process.main()
    assert ended == [0]
    out, err = capfdbinary.readouterr()
    assert json.loads(out) == {"problem": "the message could not be sent (RuntimeError)"}
    assert TOKEN.encode() not in out + err


def make_hostile(name):
    incident = make_incident(
        rule=name, model=name, slice=(("device", name),), reason=f"{name} fell.", cause={}
    )
    return write_message([make(("opened", incident)).to_json()], "https://rankscope.example.com")


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_calls_nobody_on_slack(monkeypatch, name):
    posted = Posted(monkeypatch)
    assert send(ask(SLACK, make_hostile(name)), Guard(allows_private=False)) == {"problem": ""}
    text = "\n".join(str(body) for body in posted.bodies)
    said = json.loads(posted.bodies[0])
    texts = [part["text"] for part in said["attachments"]] if "attachments" in said else [text]
    for one in texts:
        # Everything between < and > is a command of Slack: there is only the link.
        rest = one.replace("<https://rankscope.example.com/projects/music/incidents/incident_1", "")
        assert "<" not in rest
    assert "<!" not in text
    assert "<@" not in text


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
@pytest.mark.parametrize("url", [DISCORD, MATTERMOST])
def test_a_hostile_name_calls_nobody_in_other_chats(monkeypatch, url, name):
    posted = Posted(monkeypatch)
    assert send(ask(url, make_hostile(name)), Guard(allows_private=False)) == {"problem": ""}
    for body in posted.bodies:
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        for call in ("@everyone", "@here", "@channel", "<@", "<!", "<#", "](https://evil"):
            assert call not in text
        assert "allow_mentions" not in text


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_adds_no_header_to_a_mail(monkeypatch, name):
    sent = []

    class Server:
        def __init__(self, *_args, **_said):
            pass

        def __getattr__(self, _name):
            return lambda *_args, **_said: (250, b"ok")

        def sendmail(self, _sender, _to, text):
            sent.append(text.decode() if isinstance(text, bytes) else text)
            return {}

    monkeypatch.setattr(smtplib, "SMTP", Server)
    monkeypatch.setattr(smtplib, "SMTP_SSL", Server)
    plain = send(ask(MAIL, make_hostile("tv")), Guard(allows_private=False))
    hostile = send(ask(MAIL, make_hostile(name)), Guard(allows_private=False))
    assert (plain, hostile) == ({"problem": ""}, {"problem": ""})
    expected, found = map(message_from_string, sent)
    assert sorted(found.keys()) == sorted(expected.keys())
    assert found.get_all("To") == expected.get_all("To")
    subject = str(make_header(decode_header(found["Subject"])))
    assert subject.isprintable() or "\u200b" in subject
    assert "\n" not in subject


def test_a_process_that_sends_ends_after_30_seconds(monkeypatch):
    asked = {}

    def run(*_, **said):
        asked.update(said)
        return SimpleNamespace(stdout=b"{}")

    monkeypatch.setattr("subprocess.run", run)
    AppriseSender()._ask({})
    assert asked["timeout"] == 30.0
    assert b'"seconds": 15.0' in asked["input"]


@pytest.mark.parametrize("scheme", ["opsgenie", "jira"])
def test_a_tool_with_aliases_opens_an_alert_for_each_message(monkeypatch, scheme):
    bodies = []

    def post(*_args, **said):
        bodies.append(json.loads(said["data"]))
        return SimpleNamespace(status_code=202, content=b'{"requestId": "1"}')

    monkeypatch.setattr(requests, "post", post)
    recovered = write_message([make(("recovered", make_incident(recovered=NOW))).to_json()])
    for message in (write_test("chat"), recovered):
        asked = ask(f"{scheme}://{'a' * 20}", message)
        assert send(asked, Guard(allows_private=True)) == {"problem": ""}
    assert [said["message"].partition(" ")[0] for said in bodies] == ["Test", "Recovered:"]
