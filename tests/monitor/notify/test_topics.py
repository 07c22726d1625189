"""Tools for incidents have one incident for a group, which changes with it and ends with it."""

from __future__ import annotations

import json
from datetime import timedelta
from types import SimpleNamespace

import pytest
import requests
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.notify.apprise_process import Guard, _find_service, _follow, send
from rankscope.monitor.notify.message import Topic, write_message, write_test
from rankscope.records import as_dict, replace

from tests.monitor.notify.notices import NOW, make, make_incident
from tests.monitor.notify.test_alertmanager import put
from tests.monitor.notify.test_channel_delivery import World, service
from tests.monitor.notify.test_delivery import put_notice
from tests.monitor.notify.test_sending import SLACK, Posted, ask
from tests.monitor.rules.world import PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.incidents.incident import Event, Incident
    from rankscope.monitor.store.sqlite.store import SQLiteStore

# A library of Apprise imports a module that Python is going to remove.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

PAGER = f"pagerduty://{'i' * 32}@{'a' * 20}"
TOOLS = (
    "squadcast://abcdefghijklmnopqrstuvwxyz",
    "ilert://abcdefghijklmnopqrstuvwxyz",
    "incidentio://source/token",
    "goalert://goalert.example/token",
    "firehydrant://token",
)
GROUP = "group_1"


def tell_tool(
    monkeypatch: pytest.MonkeyPatch, url: str, event: Event, *, topic: Topic | None
) -> dict[str, Any]:
    """What a tool gets when it is told of an event."""
    posted = Posted(monkeypatch, 202)
    message = write_message([make((event, make_incident(recovered=NOW))).to_json()])
    asked = ask(url, message, topic=None if topic is None else as_dict(topic))
    assert send(asked, Guard(allows_private=True)) == {"problem": ""}
    (body,) = posted.bodies
    said = json.loads(body)
    assert isinstance(said, dict)
    return said


def test_pagerduty_changes_one_incident_and_resolves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, worse, recovered = (
        tell_tool(monkeypatch, PAGER, event, topic=Topic(GROUP, is_over=event == "recovered"))
        for event in ("opened", "worsened", "recovered")
    )
    assert [one["event_action"] for one in (opened, worse)] == ["trigger", "trigger"]
    assert opened["dedup_key"] == worse["dedup_key"] == GROUP
    assert recovered == {
        "routing_key": "i" * 32,
        "event_action": "resolve",
        "dedup_key": GROUP,
    }


def test_pagerduty_keeps_an_incident_while_one_of_the_group_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = tell_tool(monkeypatch, PAGER, "recovered", topic=Topic(GROUP, is_over=False))
    assert (said["event_action"], said["dedup_key"]) == ("trigger", GROUP)


def test_other_tools_have_the_same_keys() -> None:
    for url in TOOLS:
        plugin = _find_service(url)
        topic = as_dict(Topic(GROUP, is_over=True))
        assert _follow(plugin, topic, "info") == "success"
        assert (plugin.dedup, plugin.action) == (GROUP, "map")


@pytest.mark.parametrize("scheme", ["opsgenie", "jira"])
def test_a_tool_with_aliases_has_one_alert_and_gets_tests(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    bodies: list[dict[str, Any]] = []

    def post(*_args: object, **said: Any) -> SimpleNamespace:  # noqa: ANN401 - of requests
        bodies.append(json.loads(said["data"]))
        return SimpleNamespace(status_code=202, content=b'{"requestId": "1"}')

    monkeypatch.setattr(requests, "post", post)
    url = f"{scheme}://{'a' * 20}"
    opened = write_message([make(("opened", make_incident())).to_json()])
    topic = as_dict(Topic(GROUP, is_over=False))
    for message, more in ((opened, {"topic": topic}), (write_test("chat"), {})):
        asked = ask(url, message, **more)
        assert send(asked, Guard(allows_private=True)) == {"problem": ""}
    said, tested = bodies
    assert said["alias"] == GROUP
    assert "Test message" in tested["message"]


def test_a_key_of_the_operator_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"{PAGER}?dedup=mine"
    said = tell_tool(monkeypatch, url, "opened", topic=Topic(GROUP, is_over=False))
    assert said["dedup_key"] == "mine"


@pytest.mark.parametrize("topic", [None, Topic(GROUP, is_over=True)])
def test_chats_get_a_message_for_each_notification(
    monkeypatch: pytest.MonkeyPatch, topic: Topic | None
) -> None:
    posted = Posted(monkeypatch)
    message = write_message([make(("opened", make_incident())).to_json()])
    asked = ask(SLACK, message, topic=None if topic is None else as_dict(topic))
    assert send(asked, Guard(allows_private=False)) == {"problem": ""}
    assert len(posted.bodies) == 1
    assert "New incident" in posted.bodies[0]


BOT = "slack://xoxb-1234-1234-4ddbc191d40ee098cbaae6f3523ada2d/#ops"


class Slack:
    """What a bot of Slack has posted, and its answers.

    Attributes:
        calls: The methods that were called, each with what it got.
        refuses: Methods that are answered with an error.
        more: What else is answered.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.refuses: set[str] = set()
        self.more: dict[str, object] = {}
        monkeypatch.setattr(requests, "request", self.take)
        monkeypatch.setattr(requests, "post", lambda url, **said: self.take("post", url, **said))

    def take(self, _verb: str, url: str, **said: Any) -> SimpleNamespace:  # noqa: ANN401 - of requests
        method = url.rpartition("/")[2]
        self.calls.append((method, json.loads(said["data"])))
        answer = {"ok": method not in self.refuses, "channel": "C1", "ts": f"{len(self.calls)}.5"}
        answer |= self.more
        return SimpleNamespace(status_code=200, content=json.dumps(answer).encode())

    def send(self, event: Event, receipt: str = "") -> str:
        """Send a message, and return its receipt."""
        message = write_message([make((event, make_incident(recovered=NOW))).to_json()])
        topic = Topic(GROUP, is_over=False, receipt=receipt)
        said = send(ask(BOT, message, topic=as_dict(topic)), Guard(allows_private=False))
        assert said["problem"] == ""
        return str(said.get("receipt", ""))


def test_a_bot_of_slack_changes_its_message_and_replies_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slack = Slack(monkeypatch)
    receipt = slack.send("opened")
    assert [method for method, _ in slack.calls] == ["chat.postMessage"]
    assert slack.calls[0][1]["channel"] == "#ops"
    assert slack.send("recovered", receipt) == receipt
    assert [method for method, _ in slack.calls[1:]] == ["chat.update", "chat.postMessage"]
    update, reply = (said for _, said in slack.calls[1:])
    assert (update["channel"], update["ts"]) == ("C1", "1.5")
    assert (reply["channel"], reply["thread_ts"]) == ("C1", "1.5")
    assert "Recovered" in json.dumps(update)
    assert "Recovered" in json.dumps(reply)


def test_a_message_that_is_gone_is_posted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    slack = Slack(monkeypatch)
    receipt = slack.send("opened")
    slack.refuses.add("chat.update")
    assert slack.send("worsened", receipt) not in {"", receipt}
    assert [method for method, _ in slack.calls[1:]] == ["chat.update", "chat.postMessage"]
    assert slack.calls[2][1]["channel"] == "#ops"


@pytest.mark.parametrize("more", [{"ts": None}, {"ts": 5}, {"channel": "C" * 101}, {"channel": {}}])
def test_an_answer_that_makes_no_sense_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, more: dict[str, object]
) -> None:
    slack = Slack(monkeypatch)
    slack.more = more
    assert slack.send("opened") == ""
    assert len(slack.calls) == 1


def test_a_receipt_is_kept_until_its_topic_is_over(store: SQLiteStore) -> None:
    world = World(store, service("chat"))
    world.services.receipt = "receipt"
    incident = make_incident(project=PROJECT)
    put(store, incident)
    for _ in range(2):
        tell(world, ("opened", incident))
        assert store.find_receipt(PROJECT, "chat", GROUP) == "receipt"
    assert [message.topic.receipt for _, message in world.services.sent] == ["", "receipt"]
    ended = replace(incident, state="recovered", recovered=NOW)
    put(store, ended)
    assert tell(world, ("recovered", ended)) == Topic(GROUP, is_over=True, receipt="receipt")
    assert store.find_receipt(PROJECT, "chat", GROUP) == ""


def test_a_message_that_failed_leaves_no_receipt(store: SQLiteStore) -> None:
    world = World(store, service("chat"))
    world.services.receipt = "receipt"
    world.services.failing["chat"] = "status 500"
    put(store, make_incident(project=PROJECT))
    tell(world, ("opened", make_incident(project=PROJECT)))
    assert store.find_receipt(PROJECT, "chat", GROUP) == ""


def tell(world: World, *parts: tuple[Event, Incident]) -> Topic | None:
    """The topic of what a channel gets when it is told of events."""
    name = f"notice_{next(world.numbers)}"
    body = make(*parts, group=parts[0][1].group).to_json()
    put_notice(world.store, name, world.now, body, ("chat",))
    world.step()
    topic: Topic | None = world.services.sent[-1][1].topic
    return topic


def test_a_group_is_over_when_none_of_its_incidents_lasts(store: SQLiteStore) -> None:
    world = World(store, service("chat"))
    first = make_incident(project=PROJECT)
    second = replace(first, incident_id="incident_2")
    other = replace(first, incident_id="incident_3", group="group_2")
    for incident in (first, second, other):
        put(store, incident)
    assert tell(world, ("opened", first), ("opened", second)) == Topic(GROUP, is_over=False)
    ended = {"state": "recovered", "recovered": NOW + timedelta(hours=1)}
    put(store, replace(first, **ended))
    assert tell(world, ("recovered", replace(first, **ended))) == Topic(GROUP, is_over=False)
    put(store, replace(second, **ended))
    assert tell(world, ("recovered", replace(second, **ended))) == Topic(GROUP, is_over=True)


def test_reminders_of_several_groups_belong_to_the_first(store: SQLiteStore) -> None:
    world = World(store, service("chat"))
    first = make_incident(project=PROJECT)
    second = replace(first, incident_id="incident_2", group="group_2")
    put(store, second)
    body = make(("reminded", first), ("reminded", second), group="").to_json()
    put_notice(store, "digest", world.now, body, ("chat",))
    world.step()
    assert world.services.sent[-1][1].topic == Topic(GROUP, is_over=False)


def test_messages_that_were_collected_have_a_topic_if_they_are_about_one_group(
    store: SQLiteStore,
) -> None:
    world = World(store, service("chat", digest=HOUR))
    for groups, topic in (
        ((GROUP, GROUP), Topic(GROUP, is_over=True)),
        ((GROUP, "group_2"), None),
    ):
        for group in groups:
            incident = make_incident(project=PROJECT, group=group)
            name = f"notice_{next(world.numbers)}"
            body = make(("opened", incident), group=group).to_json()
            put_notice(store, name, world.now, body, ("chat",))
        world.step()
        world.now += HOUR
        world.step()
        assert world.services.sent[-1][1].topic == topic
