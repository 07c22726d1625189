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
