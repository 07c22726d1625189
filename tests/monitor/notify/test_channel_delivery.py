from __future__ import annotations

import json
import re
import threading
from itertools import count

import pytest
from rankscope.monitor.events.limits import HOUR, SECOND
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.notify import delivery
from rankscope.monitor.notify.attempt import Attempt
from rankscope.monitor.notify.channels import Channel, Channels, list_channel_states
from rankscope.monitor.notify.delivery import MOST_AGE
from rankscope.monitor.notify.http import Reply
from rankscope.monitor.store.keys import Secret

from tests.monitor.notify.listener import listening, make_poster
from tests.monitor.notify.notices import make, make_incident
from tests.monitor.notify.test_delivery import Delivering, Other, put_notice
from tests.monitor.rules.world import (
    PROJECT,
    START,
)

URL = "https://rankscope.example.com"
PAGES = f"{URL}/projects/music"
INCIDENT = re.compile(r"incident_\d+")
SECRET = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")


class Services:
    def __init__(self):
        self.sent = []
        self.failing = {}
        self.refuses = lambda _message: False
        self.before = lambda _name: None

    def send(self, channel, message):
        self.before(channel.name)
        self.sent.append((channel.name, message))
        return Attempt(self.failing.get(channel.name, "status 400" * self.refuses(message)))

    def name_services(self, channels):
        return tuple("Slack" for _ in channels)

    def names(self):
        return [name for name, _ in self.sent]

    def titles(self, channel):
        return [message.title for name, message in self.sent if name == channel]

    def incidents(self, channel):
        return [word for title in self.titles(channel) for word in INCIDENT.findall(title)]


class World(Delivering):
    def __init__(self, store, *channels, poster=None, **more):
        self.services = Services()
        self.numbers = count(1)
        self.channels = Channels(channels=channels, public_url=URL)
        more |= {"channels": self.channels, "sender": self.services}
        super().__init__(store, poster or Other(Reply(200)), **more)

    def tell(self, *channels, **said):
        name = f"incident_{next(self.numbers)}"
        incident = make_incident(incident_id=name, rule=name, model=name, **said)
        body = make(("opened", incident)).to_json()
        put_notice(self.store, name, self.now, body, channels or ("*",))
        return name

    def step(self):
        """Deliver what is due, until there is nothing."""
        for _ in range(20):
            if not self.deliverer.step():
                return

    def rows(self):
        """The ID, the channel and the status of each notification, the oldest first."""
        rows = self.store.list_notifications(PROJECT, 100)[::-1]
        return [(row.notification_id, row.channel, row.status) for row in rows]


def service(name, **said):
    return Channel(name=name, url=Secret(f"slack://token/of/{name}"), **said)


@pytest.mark.parametrize(
    ("severity", "channels", "names"),
    [
        ("warning", ("*",), ["all"]),
        ("critical", ("*",), ["all", "pager"]),
        ("warning", ("pager",), ["pager"]),
        ("warning", ("*", "all"), ["all"]),
    ],
)
def test_a_notification_goes_once_to_every_channel_that_takes_it_or_is_named(
    store, severity, channels, names
):
    world = World(store, service("all"), service("pager", severity="critical"))
    world.tell(*channels, severity=severity)
    world.step()
    assert sorted(world.services.names()) == names
    assert {status for _, _, status in world.rows()} == {"delivered"}
    assert "*" not in {channel for _, channel, _ in world.rows()}


def test_without_channels_nothing_waits_and_one_that_nobody_has_defined_is_named(store):
    world = World(store)
    world.tell()
    world.step()
    assert world.rows() == []
    world.tell("gone")
    world.step()
    (row,) = store.list_notifications(PROJECT, 9)
    assert (row.status, row.problem) == (
        "waiting",
        "the operator has defined no channel with this name",
    )
    (_, gone) = list_channel_states(store, PROJECT, world.channels, {})
    assert (gone.name, gone.kind, gone.waiting) == ("gone", "unknown", 1)


def test_a_message_has_the_absolute_address_of_the_incident(store):
    world = World(store, service("all"))
    name = world.tell()
    world.step()
    ((_, message),) = world.services.sent
    assert f"{PAGES}/incidents/{name}" in message.text


def test_a_dead_channel_holds_up_no_other(store, monkeypatch):
    # More wait for the dead channel than are looked at together.
    monkeypatch.setattr(delivery, "AT_ONCE", 10)
    world = World(store, service("dead"), service("good"))
    world.services.failing["dead"] = "status 500"
    names = [world.tell() for _ in range(20)]
    world.step()
    assert len(world.services.titles("good")) == len(names)
    assert world.services.names().count("dead") == 1


def test_channels_are_called_at_the_same_time(store):
    world = World(store, service("a"), service("b"))
    meeting = threading.Barrier(2, timeout=60)
    # Each waits for the other, which would never come if they were called in turn.
    world.services.before = lambda _name: meeting.wait()
    world.tell()
    world.step()
    assert sorted(world.services.names()) == ["a", "b"]


def test_the_order_of_a_channel_is_kept_while_it_fails_for_a_short_time(store):
    world = World(store, service("chat"))
    world.services.failing["chat"] = "status 500"
    names = [world.tell() for _ in range(3)]
    world.step()
    assert len(world.services.sent) == 1
    world.services.failing.clear()
    world.step()
    assert len(world.services.sent) == 1  # the others wait for the first
    world.now += 10 * SECOND
    world.step()
    assert world.services.incidents("chat") == [names[0], *names]


def test_a_message_that_is_never_taken_delays_the_others_for_minutes_only(store):
    world = World(store, service("chat"))
    poison = world.tell()
    good = world.tell()

    world.services.refuses = lambda message: poison in message.title
    while (good, "chat", "delivered") not in world.rows():
        world.step()
        world.now += 5 * SECOND
        assert world.now - START < HOUR
    assert (poison, "chat", "waiting") in world.rows()


def test_a_notification_that_cannot_be_written_stops_nobody(store):
    world = World(store, service("chat"), service("other"))

    def fail(name):
        if name == "chat":
            raise KeyError(name)

    world.services.before = fail
    world.tell()
    world.step()
    assert world.services.names() == ["other"]
    problems = {row.problem for row in store.list_notifications(PROJECT, 9)}
    assert problems == {"", "the message could not be written (KeyError)"}


def test_a_digest_collects_what_is_not_critical(store):
    world = World(store, service("chat", digest=HOUR))
    world.now = START + HOUR // 2
    world.tell()
    world.tell()
    urgent = world.tell(severity="critical")
    world.step()
    ((_, message),) = world.services.sent
    assert urgent in message.title
    world.now = START + HOUR - 1
    world.step()
    assert len(world.services.sent) == 1
    world.now = START + HOUR
    world.step()
    assert [title.partition(":")[0] for title in world.services.titles("chat")[1:]] == [
        "2 notifications"
    ]
    assert {status for _, _, status in world.rows()} == {"delivered"}


def test_lost_notifications_are_reported_by_channel(store):
    world = World(store, service("bad"), service("good"))
    world.services.failing["bad"] = "status 500"
    world.tell()
    world.step()
    world.now += MOST_AGE
    world.step()
    assert ("incident_1", "bad", "dead") in world.rows()
    world.services.failing.clear()
    world.tell()
    world.step()
    assert world.services.titles("bad")[-1] == "1 notifications were not delivered (music)"
    assert len(world.services.titles("good")) == 2


def test_a_crash_after_sending_sends_again(store, monkeypatch):
    world = World(store, service("chat"))
    world.tell("chat")
    with monkeypatch.context() as broken:
        broken.setattr(store, "transact", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            world.deliverer.step()
    world.step()
    assert world.services.names() == ["chat", "chat"]
    assert world.rows() == [("incident_1", "chat", "delivered")]


def test_a_webhook_of_the_operator_is_signed_and_may_be_private(store):
    with listening() as listener:
        hook = Channel(
            name="hook",
            url=Secret(listener.url),
            kind="webhook",
            secret=SECRET,
            allows_http=True,
            allows_private=True,
        )
        world = World(store, hook, poster=make_poster(allows_loopback=False))
        name = world.tell("hook")
        world.step()
    (request,) = listener.requests
    head, _, body = request.partition(b"\r\n\r\n")
    assert b"webhook-signature: v1," in head
    said = json.loads(body)
    assert said["url"] == f"{PAGES}/incidents/{name}"
    assert world.rows() == [(name, "hook", "delivered")]


def test_a_webhook_of_the_operator_is_not_private_unless_that_is_said(store):
    hook = Channel(
        name="hook", url=Secret("https://hook.internal/x"), kind="webhook", secret=SECRET
    )
    world = World(store, hook, poster=make_poster("10.0.0.1"))
    world.tell("hook")
    world.step()
    (row,) = store.list_notifications(PROJECT, 9)
    assert row.problem.startswith("expected a host on the public Internet")


def test_states_say_when_and_what_failed_and_no_token(store):
    world = World(store, service("good"), service("bad", severity="critical"))
    world.services.failing["bad"] = "status 403"
    world.tell("good", "bad", "log")
    world.step()
    states = list_channel_states(store, PROJECT, world.channels, {"good": "Slack", "bad": "Slack"})
    said = [
        (one.name, one.kind, one.service, one.severity, one.last_delivered, one.last_problem)
        for one in states
    ]
    now = to_datetime(START)
    assert said == [
        ("log", "log", "", "info", now, ""),
        ("good", "service", "Slack", "info", now, ""),
        ("bad", "service", "Slack", "critical", None, "status 403"),
    ]
    assert [one.waiting for one in states] == [0, 0, 1]
    assert "token" not in repr(states)
