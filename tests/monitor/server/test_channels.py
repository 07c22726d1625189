"""Channels are listed for readers, tested by administrators, and their tokens are hidden."""

from __future__ import annotations

import pytest
from rankscope.monitor.notify.channels import Channel, Channels
from rankscope.monitor.notify.sender import Attempt
from rankscope.monitor.server.settings import Settings
from rankscope.monitor.store.keys import Secret

from tests.monitor.server.service import Service
from tests.monitor.server.test_webhook import SECRET, URL, Recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rankscope.monitor.notify.chart import Chart
    from rankscope.monitor.notify.message import Message

TOKEN = "the-token-of-the-team"  # noqa: S105 - of nobody
CHANNELS = Channels(
    channels=(
        Channel(name="hook", url=Secret(f"{URL}{TOKEN}"), secret=Secret(SECRET)),
        Channel(name="inner", url=Secret("https://inner.example/"), secret=Secret(SECRET)),
        Channel(name="oncall", url=Secret(f"slack://{TOKEN}"), severity="critical"),
    )
)


class Services:
    """Services that refuse when they are told to."""

    problem = ""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Message]] = []

    def send(self, channel: Channel, message: Message, chart: Chart | None = None) -> Attempt:
        assert chart is None
        self.sent.append((channel.name, message))
        return Attempt(self.problem)

    def name_services(self, channels: Sequence[Channel]) -> tuple[str | None, ...]:
        return tuple("Slack" for _ in channels)


class Operated:
    """A service with channels, and an administrator."""

    def __init__(self, folder: Path) -> None:
        self.services = Services()
        self.poster = Recording()
        self.service = Service(
            folder,
            settings=Settings(notifying=CHANNELS),
            poster=self.poster,
            sender=self.services,
        )
        self.admin = self.service.make_key("music", "read", "admin")
        self.reader = self.service.make_key("music", "read")


@pytest.fixture
def operated(tmp_path: Path) -> Iterator[Operated]:
    made = Operated(tmp_path)
    yield made
    made.service.store.close()


def test_channels_are_listed_without_their_addresses(operated: Operated) -> None:
    answer = operated.service.ask("GET", "/v1/channels", key=operated.reader)
    assert [
        (one["name"], one["kind"], one["service"], one["severity"])
        for one in answer.json()["channels"]
    ] == [
        ("log", "log", "", "warning"),
        ("hook", "webhook", "", "warning"),
        ("inner", "webhook", "", "warning"),
        ("oncall", "service", "Slack", "critical"),
    ]
    assert TOKEN not in answer.text
    assert "whsec" not in answer.text


def test_a_test_message_is_sent_by_an_administrator(operated: Operated) -> None:
    path = "/v1/channels/oncall/test"
    assert operated.service.ask("POST", path, key=operated.reader).status_code == 403
    answer = operated.service.ask("POST", path, key=operated.admin)
    assert answer.json() == {"is_delivered": True, "told": "delivered"}
    ((name, message),) = operated.services.sent
    assert (name, message.title) == ("oncall", "Test message from rankscope")
    operated.services.problem = "status 403"
    answer = operated.service.ask("POST", path, key=operated.admin)
    assert answer.json() == {"is_delivered": False, "told": "status 403"}


def test_a_webhook_of_the_operator_is_tested_by_the_rules_of_all(operated: Operated) -> None:
    answer = operated.service.ask("POST", "/v1/channels/hook/test", key=operated.admin)
    assert answer.json() == {"is_delivered": True, "told": "delivered"}
    ((_, headers, _),) = operated.poster.posted
    assert headers["webhook-signature"].startswith("v1,")
    answer = operated.service.ask("POST", "/v1/channels/inner/test", key=operated.admin)
    assert not answer.json()["is_delivered"]
    assert len(operated.poster.posted) == 1


def test_a_channel_that_is_not_there_is_404(operated: Operated) -> None:
    for name in ("none", "log", "webhook", "*", "%2e%2e", "a%0ab"):
        answer = operated.service.ask("POST", f"/v1/channels/{name}/test", key=operated.admin)
        assert answer.status_code in {404, 422}
    assert not operated.services.sent
