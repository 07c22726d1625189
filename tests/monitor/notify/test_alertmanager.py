"""Incidents are alerts of Alertmanager as they stand, and are sent again while they last."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.incidents.incident import Incident, Notified, write_incident
from rankscope.monitor.notify.alertmanager import AGAIN, LASTS, AlertSchedule, write_alert
from rankscope.monitor.notify.channels import Channel
from rankscope.monitor.notify.http import PostError, Reply
from rankscope.monitor.notify.message import LOST
from rankscope.monitor.notify.sending import send_test
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.store.tables import incidents as table
from rankscope.records import replace

from tests.monitor.notify.listener import listening, make_poster
from tests.monitor.notify.notices import BEGAN, HOSTILE, NOW, make, make_incident
from tests.monitor.notify.test_channel_delivery import URL, World
from tests.monitor.notify.test_channels import TOKEN
from tests.monitor.notify.test_delivery import Other, put_notice
from tests.monitor.rules.world import PROJECT, START

ADDRESS = "https://alerts.example/am"
CHANGING = {"severity"}
"""Labels that may change during an incident."""


def manager(**said: Any) -> Channel:  # noqa: ANN401 - whatever a channel has
    given = {"name": "alerts", "url": Secret(ADDRESS), "kind": "alertmanager"}
    return Channel(**given | said)


def put(store: SQLiteStore, incident: Incident) -> None:
    row = write_incident(incident)
    store.transact(
        lambda transaction: table.put_incidents(
            transaction.connection, transaction.project(PROJECT), [row], []
        )
    ).result()


def tell(world: World, event: Any, incident: Incident) -> None:  # noqa: ANN401 - of a literal
    """Let a notification about an incident wait for the channel."""
    name = f"notice_{next(world.numbers)}"
    put_notice(world.store, name, world.now, make((event, incident)).to_json(), ("alerts",))


def list_alerts(other: Other) -> list[dict[str, Any]]:
    """All alerts that were posted, in order."""
    return [alert for _, body in other.taken for alert in json.loads(body)]


def test_an_alert_says_what_is_wrong_and_lasts_for_an_hour() -> None:
    now = NOW + timedelta(days=3)
    alert = write_alert(make_incident(severity="critical"), _micros(now), URL)
    assert alert["labels"] == {
        "alertname": "RankscopeIncident",
        "incident": "incident_1",
        "project": "music",
        "rule": "quality",
        "kind": "quality",
        "severity": "critical",
        "measure": "nDCG@5",
        "model": "gbdt",
        "version": "42",
        "slice": "device=tv",
        "group": "group_1",
    }
    assert alert["annotations"]["summary"] == "nDCG@5 fell for device=tv, gbdt 42 (music)"
    assert alert["annotations"]["description"] == "nDCG@5 is 0.7045, below the floor of 0.7976."
    assert alert["startsAt"] == format_time(_micros(BEGAN))
    assert alert["endsAt"] == format_time(_micros(now) + LASTS)
    assert alert["generatorURL"] == f"{URL}/projects/music/incidents/incident_1"


def _micros(moment: Any) -> int:  # noqa: ANN401 - a datetime
    return round(moment.timestamp()) * SECOND


@pytest.mark.parametrize(
    ("state", "field"),
    [
        *((state, "") for state in ("open", "acknowledged", "snoozed")),
        *(("recovered", "recovered"), ("superseded", "resolved"), ("resolved", "resolved")),
    ],
)
def test_an_alert_lasts_as_long_as_its_incident(state: str, field: str) -> None:
    now, ended = _micros(NOW + timedelta(days=1)), NOW + timedelta(hours=2)
    alert = write_alert(make_incident(state=state, **({field: ended} if field else {})), now)
    assert alert["endsAt"] == format_time(_micros(ended) if field else now + LASTS)
    assert "generatorURL" not in alert


def test_an_alert_never_ends_before_it_starts() -> None:
    early = BEGAN - timedelta(days=1)
    alert = write_alert(make_incident(state="recovered", recovered=early), 0)
    assert alert["endsAt"] == alert["startsAt"]


def test_labels_stay_the_same_whatever_becomes_of_an_incident() -> None:
    first = make_incident()
    later = replace(
        first,
        state="recovered",
        recovered=NOW,
        updated=NOW + timedelta(days=1),
        began=NOW,
        reason="another",
        cause={"sentence": "found later"},
        acknowledged_by="ann",
        severity="critical",
    )
    labels = [write_alert(one, at)["labels"] for at, one in enumerate((first, later))]
    changed = {name for name in labels[0] if labels[0][name] != labels[1][name]}
    assert changed <= CHANGING
    assert labels[0].keys() == labels[1].keys()


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_values_of_labels_and_nothing_else(name: str) -> None:
    incident = make_incident(model=name, version=name, slice=(("device", name),))
    labels = json.loads(json.dumps(write_alert(incident, 0)))["labels"]
    assert (labels["model"], labels["slice"]) == (name, f"device={name}")


def test_what_is_posted_is_how_an_incident_stands_and_not_what_was_told(
    store: SQLiteStore,
) -> None:
    other = Other(Reply(503), Reply(200))
    world = World(store, manager(), poster=other)
    incident = make_incident(project=PROJECT, began=to_datetime(START - HOUR))
    put(store, incident)
    tell(world, "opened", incident)
    world.step()
    # It ends before the notification that it began could be delivered.
    put(store, replace(incident, state="recovered", recovered=to_datetime(START)))
    world.now += HOUR
    world.step()
    first, second = list_alerts(other)
    assert first["endsAt"] == format_time(START + LASTS)
    assert second["endsAt"] == format_time(START)
    assert first["labels"] == second["labels"]
    assert [status for _, _, status in world.rows()] == ["delivered"]


def test_a_notification_that_is_not_about_incidents_is_not_posted(store: SQLiteStore) -> None:
    other = Other(Reply(200))
    world = World(store, manager(), poster=other)
    body = json.dumps({"type": LOST, "project": PROJECT, "count": 2})
    put_notice(store, "lost", world.now, body, ("alerts",))
    world.step()
    assert other.taken == []
    assert world.rows() == [("lost", "alerts", "delivered")]


def told_of(incident: Incident, channel: str) -> Incident:
    """The same incident after a notification to a channel."""
    return replace(incident, notified=(Notified(NOW, "opened", channel),))


def test_incidents_that_last_are_sent_again_every_five_minutes(store: SQLiteStore) -> None:
    other = Other(Reply(200))
    world = World(store, manager(severity="critical"), poster=other, alerts=AlertSchedule())
    named = make_incident(project=PROJECT)
    for number, (channel, said) in enumerate(
        (
            ("alerts", {}),
            ("*", {"severity": "critical"}),
            ("*", {}),  # below what the channel takes
            ("chat", {"severity": "critical"}),
            ("alerts", {"state": "acknowledged"}),
            ("alerts", {"state": "recovered", "recovered": NOW}),
        )
    ):
        incident = replace(named, incident_id=f"incident_{number}", **said)
        put(store, told_of(incident, channel))
    for wait, posts in ((0, 1), (AGAIN - 1, 1), (1, 2), (DAY, 3)):
        world.now += wait
        world.step()
        assert len(other.taken) == posts
    for _, body in other.taken:
        posted = [alert["labels"]["incident"] for alert in json.loads(body)]
        assert sorted(posted) == ["incident_0", "incident_1", "incident_4"]
    assert list_alerts(other)[-1]["endsAt"] == format_time(world.now + LASTS)


def test_an_alertmanager_that_is_down_stops_nothing(store: SQLiteStore) -> None:
    other = Other(PostError("nothing was answered in time", code="webhook_timeout"))
    world = World(store, manager(), poster=other, alerts=AlertSchedule())
    put(store, told_of(make_incident(project=PROJECT), "alerts"))
    world.tell("log")
    world.step()
    assert len(other.taken) == 1
    assert [status for _, _, status in world.rows()] == ["delivered"]


def test_without_incidents_nothing_is_posted(store: SQLiteStore) -> None:
    other = Other(Reply(200))
    world = World(store, manager(), poster=other, alerts=AlertSchedule())
    world.step()
    assert other.taken == []


def test_the_token_and_the_path_are_in_the_request_and_private_networks_have_to_be_allowed() -> (
    None
):
    with listening() as listener:
        url = Secret(f"http://alerts.example:{listener.port}/am/")
        for is_private in (False, True):
            channel = manager(
                url=url, secret=Secret(TOKEN), allows_http=True, allows_private=is_private
            )
            outcome = send_test(
                channel,
                PROJECT,
                sender=None,  # type: ignore[arg-type]  # it sends no messages
                poster=make_poster(allows_loopback=False),
                public_url=None,
                now=START,
            )
            assert (outcome.problem == "") == is_private
            assert TOKEN not in outcome.problem
    (request,) = listener.requests
    head, _, body = request.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /am/api/v2/alerts HTTP/1.1")
    assert f"Authorization: Bearer {TOKEN}".encode() in head
    (alert,) = json.loads(body)
    assert alert["labels"]["alertname"] == "RankscopeTest"
    assert alert["endsAt"] == format_time(START + AGAIN)
