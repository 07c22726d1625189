from __future__ import annotations

import base64
import json
from unittest.mock import Mock

import pytest
from rankscope.monitor.notify.channels import Channel, Channels
from rankscope.monitor.notify.http import Poster, PostError, Reply
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.keys import Secret

from tests.monitor.notify.test_channel_delivery import Services
from tests.monitor.server.service import Service

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
URL = "https://example.com/hook/of/the/team?token=abc"


class Recording(Poster):
    """Calls nobody; names that are not known stand for a private address."""

    def __init__(self):
        known = {"example.com": ["93.184.216.34"], "rebound.example": ["93.184.216.34", "::1"]}
        super().__init__(resolve=lambda host, _: known.get(host, ["192.168.1.1"]))
        self.posted = []

    def post(self, target, headers, body):
        self.check(target)
        self.posted.append((target.authority + target.path, dict(headers), body))
        return Reply(204)


TOKEN = "the-token-of-the-team"  # noqa: S105 - of nobody
CHANNELS = Channels(
    channels=(
        Channel(name="hook", url=Secret(f"{URL}{TOKEN}"), kind="webhook", secret=Secret(SECRET)),
        Channel(
            name="inner",
            url=Secret("https://inner.example/"),
            kind="webhook",
            secret=Secret(SECRET),
        ),
        Channel(name="oncall", url=Secret(f"slack://{TOKEN}"), severity="critical"),
    )
)


class Operated:
    def __init__(self, folder):
        self.services = Services()
        self.poster = Recording()
        settings = Settings(notifying=CHANNELS)
        self.service = Service(folder, settings, poster=self.poster, sender=self.services)
        self.key = self.service.make_key("music", "read", "admin")
        self.reader = self.service.make_key("music", "read")

    def ask(self, method, path, body=None, key=""):
        sent = b"" if body is None else json.dumps(body).encode()
        return self.service.ask(method, path, sent, key=key or self.key)


@pytest.fixture
def admin(tmp_path):
    made = Operated(tmp_path)
    yield made
    made.service.store.close()


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """One that never has a webhook."""
    made = Operated(tmp_path_factory.mktemp("refused"))
    yield made
    made.service.store.close()


def test_it_is_set_tested_shown_in_part_and_removed(admin):
    assert admin.ask("GET", "/v1/webhook").json() == {"webhook": None}
    answer = admin.ask("PUT", "/v1/webhook", {"url": URL})
    assert answer.status_code == 200
    made = answer.json()["secret"]
    assert len(base64.b64decode(made.removeprefix("whsec_"))) == 32
    told = admin.ask("GET", "/v1/webhook")
    assert told.json()["webhook"] | {"created": ""} == {
        "host": "example.com",
        "allows_http": False,
        "created": "",
        "disabled": None,
        "needs_secret": False,
    }
    assert admin.ask("POST", "/v1/webhook/test").json() == {
        "is_delivered": True,
        "told": "status 204",
    }
    [(where, headers, body)] = admin.poster.posted
    assert where == URL.removeprefix("https://")
    assert headers["webhook-signature"].startswith("v1,")
    said = json.loads(body)
    assert (said["type"], said["project"]) == ("webhook.test", "music")
    assert admin.ask("DELETE", "/v1/webhook").status_code == 204
    assert admin.ask("DELETE", "/v1/webhook").status_code == 404
    assert admin.ask("POST", "/v1/webhook/test").status_code == 404
    done = [(one.action, one.subject) for one in admin.service.store.audit("music")]
    assert done[-3::2] == [("webhook.set", "example.com"), ("webhook.remove", "music")]
    assert done[-2][0] == "channel.test"
    for line in admin.service.log:
        assert made not in line
        assert "token=abc" not in line
    assert made not in told.text
    assert "token" not in told.text


def test_a_secret_that_was_given_is_not_given_back(admin):
    answer = admin.ask("PUT", "/v1/webhook", {"url": URL, "secret": SECRET})
    assert answer.json()["secret"] is None
    for path in ("/v1/webhook", "/v1/notifications", "/v1/audit", "/v1/configuration"):
        assert SECRET not in admin.ask("GET", path).text


@pytest.mark.parametrize(
    "body",
    [
        *({"url": url} for url in ("", "http://example.com/hook", "https://127.0.0.1/")),
        *({"url": f"https://{host}/"} for host in ("[64:ff9b::7f00:1]", "2130706433", "0177.1")),
        *({"url": f"https://{name}.example/"} for name in ("rebound", "inside")),
        {"url": "https://example.com:22/"},
        {"url": "https://example.com/\r\nx: y"},
        {"url": "a" * 5000},
        {},
        {"url": 5},
        *({"url": URL, "secret": text} for text in ("", "short", "whsec_", "whsec_!!")),
        {"url": URL, "secret": "whsec_" + "A" * 20},
        {"url": URL, "secret": 5},
        {"url": URL, "allows_http": "yes"},
        {"url": URL, "project": "films"},
        {"url": None},
    ],
)
def test_a_webhook_that_cannot_be_or_may_not_be_called_is_not_kept(refused, body):
    answer = refused.ask("PUT", "/v1/webhook", body)
    assert answer.status_code == 422
    assert refused.ask("GET", "/v1/webhook").json() == {"webhook": None}
    assert "192.168" not in answer.text


def test_that_of_another_project_is_not_there(admin):
    admin.ask("PUT", "/v1/webhook", {"url": URL})
    other = admin.service.make_key("films", "read", "admin")
    assert admin.ask("GET", "/v1/webhook", key=other).json() == {"webhook": None}
    assert admin.ask("POST", "/v1/webhook/test", key=other).status_code == 404
    assert admin.ask("DELETE", "/v1/webhook", key=other).status_code == 404
    assert admin.ask("GET", "/v1/webhook").json()["webhook"] is not None
    assert admin.poster.posted == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Reply(500), "status 500"),
        (PostError("TLS failed", code="webhook_tls"), "TLS failed"),
    ],
)
def test_what_a_webhook_answers_is_told_to_nobody(admin, answer, told):
    admin.ask("PUT", "/v1/webhook", {"url": URL})
    admin.poster.post = Mock(side_effect=[answer])
    tried = admin.ask("POST", "/v1/webhook/test")
    assert tried.json() == {"is_delivered": False, "told": told}


def test_channels_are_listed_without_their_addresses(admin):
    answer = admin.ask("GET", "/v1/channels", key=admin.reader)
    assert [
        (one["name"], one["kind"], one["service"], one["severity"])
        for one in answer.json()["channels"]
    ] == [
        ("log", "log", "", "info"),
        ("hook", "webhook", "", "info"),
        ("inner", "webhook", "", "info"),
        ("oncall", "service", "Slack", "critical"),
    ]
    assert TOKEN not in answer.text
    assert "whsec" not in answer.text


def test_a_test_message_is_sent_by_an_administrator(admin):
    path = "/v1/channels/oncall/test"
    assert admin.ask("POST", path, key=admin.reader).status_code == 403
    answer = admin.ask("POST", path)
    assert answer.json() == {"is_delivered": True, "told": "delivered"}
    ((name, message),) = admin.services.sent
    assert (name, message.title) == ("oncall", "Test message from rankscope")
    admin.services.failing["oncall"] = "status 403"
    answer = admin.ask("POST", path)
    assert answer.json() == {"is_delivered": False, "told": "status 403"}


def test_a_webhook_of_the_operator_is_tested_by_the_rules_of_all(admin):
    answer = admin.ask("POST", "/v1/channels/hook/test")
    assert answer.json() == {"is_delivered": True, "told": "delivered"}
    ((_, headers, _),) = admin.poster.posted
    assert headers["webhook-signature"].startswith("v1,")
    answer = admin.ask("POST", "/v1/channels/inner/test")
    assert not answer.json()["is_delivered"]
    assert len(admin.poster.posted) == 1


def test_a_channel_that_is_not_there_is_404(admin):
    for name in ("none", "log", "webhook", "*", "%2e%2e", "a%0ab"):
        answer = admin.ask("POST", f"/v1/channels/{name}/test")
        assert answer.status_code in {404, 422}
    assert not admin.services.sent
